//! Stored documents of other versions of a schema.

use std::fmt;

use bson::Bson;

use super::{Error, Kind};

/// The document, its version, and what is wrong with it.
#[derive(Debug)]
pub(crate) struct SchemaError {
    id: Option<Bson>,
    cause: Cause,
}

#[derive(Debug)]
enum Cause {
    /// The version of the document, and that of the program.
    Newer {
        found: i64,
        known: i32,
    },
    Step {
        from: i64,
        step: &'static str,
        message: String,
    },
    Other(String),
}

impl SchemaError {
    pub(crate) fn newer(id: Option<Bson>, found: i64, known: i32) -> Self {
        let cause = Cause::Newer { found, known };
        Self { id, cause }
    }

    /// A step from this version failed.
    pub(crate) fn step(id: Option<Bson>, from: i64, step: &'static str, message: String) -> Self {
        let cause = Cause::Step {
            from,
            step,
            message,
        };
        Self { id, cause }
    }

    pub(crate) fn new(id: Option<Bson>, message: impl Into<String>) -> Self {
        let cause = Cause::Other(message.into());
        Self { id, cause }
    }

    pub(super) fn id(&self) -> Option<&Bson> {
        self.id.as_ref()
    }
}

impl fmt::Display for SchemaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.id {
            Some(id) => write!(f, "the document with _id {id} ")?,
            None => f.write_str("the document ")?,
        }
        match &self.cause {
            Cause::Newer { found, known } => write!(
                f,
                "has version {found}, and this program knows versions up to {known}: run a newer program, or declare \
                 `newer = read` to read such documents as they are"
            ),
            Cause::Step {
                from,
                step,
                message,
            } => write!(
                f,
                "has version {from}, and the step `{step}` failed: {message}"
            ),
            Cause::Other(message) => f.write_str(message),
        }
    }
}

impl From<SchemaError> for Kind {
    fn from(error: SchemaError) -> Self {
        Self::Schema(error)
    }
}

impl Error {
    /// Whether a stored document has a newer version of its schema than the program knows: `schema(version = …)`.
    ///
    /// A read returns this error unless the model declares `newer = read`. An update, a replacement and a save return it in
    /// either case, because they would write an older form into a newer document. Nothing was written.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/people.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, people) = two_people().await?;
    /// let newer = doc! {"_id": 3, "given_name": "Emmy", "schema_version": 3};
    /// db.run_command(doc! {"insert": "people", "documents": [newer]}).await?;
    /// let error = people.get(&3).await.unwrap_err();
    /// assert!(error.is_newer_schema());
    /// # Ok(())
    /// # }
    /// ```
    pub fn is_newer_schema(&self) -> bool {
        matches!(self.kind(), Kind::Schema(error) if matches!(error.cause, Cause::Newer { .. }))
    }

    /// Whether a stored document of an older version could not be made one of the version that the program writes: a step
    /// failed, or the version is not a number.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/people.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, people) = two_people().await?;
    /// // The step to version 2 splits the name.
    /// db.run_command(doc! {"insert": "people", "documents": [{"_id": 3}]}).await?;
    /// let error = people.get(&3).await.unwrap_err();
    /// assert!(error.is_schema_upgrade() && !error.is_newer_schema());
    /// assert_eq!(error.document_id(), Some(&odm::bson::Bson::Int32(3)));
    /// # Ok(())
    /// # }
    /// ```
    pub fn is_schema_upgrade(&self) -> bool {
        matches!(self.kind(), Kind::Schema(error) if !matches!(error.cause, Cause::Newer { .. }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_name_the_document_the_version_and_the_step() {
        let error = Error::new(SchemaError::newer(Some(Bson::Int32(7)), 4, 3)).with_model("Person");
        assert!(error.is_newer_schema() && !error.is_schema_upgrade());
        assert!(
            error.to_string().starts_with("Person: the document with _id 7 has version 4, and this program knows versions up to 3"),
            "{error}"
        );
        let step = SchemaError::step(None, 1, "split_name", "no name".to_owned());
        let error = Error::new(step);
        assert!(error.is_schema_upgrade() && !error.is_newer_schema());
        assert_eq!(
            error.to_string(),
            "the document has version 1, and the step `split_name` failed: no name"
        );
    }
}
