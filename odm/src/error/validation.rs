//! Documents that break their collection's validator: code 121, and the errors of `validate()`.

use std::fmt;

use bson::{Bson, Document};

use super::{Code, Error, Kind, ServerError};

mod flatten;

/// The reasons why a document is invalid: the server's nested details, and a flat list of violations.
///
/// MongoDB, the in-memory engine and `document.validate()` all report failures in this form.
#[derive(Debug, Clone, PartialEq)]
pub struct ValidationFailure {
    server: ServerError,
    model: Option<String>,
    violations: Vec<Violation>,
}

/// One rule that a document breaks.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Violation {
    /// The declared name of an expression rule, if it is known; otherwise the keyword of
    /// `$jsonSchema` (`minimum`, `required`, …) or the query operator (`$gte`).
    pub rule: String,
    /// The keyword or the operator, as the server names it.
    pub operator: String,
    /// The stored path of the offending value (`contacts.0.name`); empty for the whole document.
    pub path: String,
    /// The offending value, if the server reports it; `None` if a field is missing.
    pub value: Option<Bson>,
    /// The rule's operand in the validator: `1450` in `{minimum: 1450}`.
    pub demanded: Option<Bson>,
    /// The server's reason: `comparison failed`.
    pub reason: String,
}

impl ValidationFailure {
    /// Reads the server's details; `None` if the error has another code or no details.
    pub(crate) fn from_server(error: &ServerError) -> Option<Self> {
        if error.code() != Code::DOCUMENT_VALIDATION_FAILURE {
            return None;
        }
        let details = details_of(error)?;
        let (model, violations) = (
            flatten::title(details).map(str::to_owned),
            flatten::violations(details, &[]),
        );
        Some(Self {
            server: error.clone(),
            model,
            violations,
        })
    }

    pub(crate) fn server(&self) -> &ServerError {
        &self.server
    }

    /// Sets the names of the expression rules: the clauses of the validator's `$and` that follow the schema.
    pub(crate) fn name_rules(&mut self, names: &[&str]) {
        if let Some(details) = details_of(&self.server) {
            self.violations = flatten::violations(details, names);
        }
    }

    /// The Rust name of the model that the validator was generated from.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # #[derive(Debug, Serialize, Deserialize, Document)]
    /// # #[odm(collection = "books")]
    /// # struct Book { #[serde(rename = "_id")] id: i32, #[odm(range(min = 1450))] year: i32 }
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// // `year` has the rule `range(min = 1450)`.
    /// let error = Book { id: 7, year: 150 }.validate().unwrap_err();
    /// let failure = error.validation_failure().ok_or("another error")?;
    /// assert_eq!(failure.model(), Some("Book"));
    /// # Ok(())
    /// # }
    /// ```
    pub fn model(&self) -> Option<&str> {
        self.model.as_deref()
    }

    /// The `_id` of the refused document, if it has one.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// use odm::bson::Bson;
    /// # #[derive(Debug, Serialize, Deserialize, Document)]
    /// # #[odm(collection = "books")]
    /// # struct Book { #[serde(rename = "_id")] id: i32, #[odm(range(min = 1450))] year: i32 }
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// // `year` has the rule `range(min = 1450)`.
    /// let error = Book { id: 7, year: 150 }.validate().unwrap_err();
    /// let failure = error.validation_failure().ok_or("another error")?;
    /// assert_eq!(failure.document_id(), Some(&Bson::Int32(7)));
    /// # Ok(())
    /// # }
    /// ```
    pub fn document_id(&self) -> Option<&Bson> {
        err_info(&self.server)?.get("failingDocumentId")
    }

    /// The server's nested details, as in `errInfo.details`:
    /// `{operatorName: "$jsonSchema", schemaRulesNotSatisfied: […]}`.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # #[derive(Debug, Serialize, Deserialize, Document)]
    /// # #[odm(collection = "books")]
    /// # struct Book { #[serde(rename = "_id")] id: i32, #[odm(range(min = 1450))] year: i32 }
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// // `year` has the rule `range(min = 1450)`.
    /// let error = Book { id: 7, year: 150 }.validate().unwrap_err();
    /// let failure = error.validation_failure().ok_or("another error")?;
    /// let details = failure.details().ok_or("no details")?;
    /// assert_eq!(details.get_str("operatorName")?, "$jsonSchema");
    /// # Ok(())
    /// # }
    /// ```
    pub fn details(&self) -> Option<&Document> {
        details_of(&self.server)
    }

    /// The broken rules, in the order of the validator.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # #[derive(Debug, Serialize, Deserialize, Document)]
    /// # #[odm(collection = "books")]
    /// # struct Book { #[serde(rename = "_id")] id: i32, #[odm(range(min = 1450))] year: i32 }
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// // `year` has the rule `range(min = 1450)`.
    /// let error = Book { id: 7, year: 150 }.validate().unwrap_err();
    /// let failure = error.validation_failure().ok_or("another error")?;
    /// let violation = &failure.violations()[0];
    /// assert_eq!((violation.rule.as_str(), violation.path.as_str()), ("minimum", "year"));
    /// # Ok(())
    /// # }
    /// ```
    pub fn violations(&self) -> &[Violation] {
        &self.violations
    }
}

fn err_info(error: &ServerError) -> Option<&Document> {
    error.details()?.get_document("errInfo").ok()
}

fn details_of(error: &ServerError) -> Option<&Document> {
    err_info(error)?.get_document("details").ok()
}

impl fmt::Display for ValidationFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("document failed validation")?;
        if let Some(id) = self.document_id() {
            write!(f, ", _id {}", Short(id))?;
        }
        for (position, violation) in self.violations.iter().enumerate() {
            f.write_str(if position == 0 { ": " } else { "; " })?;
            fmt::Display::fmt(violation, f)?;
        }
        write!(
            f,
            " ({} {})",
            self.server.code().name(),
            self.server.code().number()
        )
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = if self.path.is_empty() {
            "the document"
        } else {
            &self.path
        };
        write!(f, "{path} breaks `{}`", self.rule)?;
        if let Some(demanded) = &self.demanded
            && self.rule == self.operator
        {
            write!(f, " {}", Short(demanded))?;
        }
        match &self.value {
            Some(value) => write!(f, " with {}", Short(value))?,
            None => write!(f, ": {}", self.reason)?,
        }
        Ok(())
    }
}

/// A value in a message, truncated if it is long; [`Violation::value`] has the whole value.
struct Short<'a>(&'a Bson);

impl fmt::Display for Short<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const LIMIT: usize = 80;
        let text = self.0.to_string();
        if text.chars().nth(LIMIT).is_none() {
            return f.write_str(&text);
        }
        text.chars()
            .take(LIMIT)
            .try_for_each(|c| write!(f, "{c}"))?;
        f.write_str("…")
    }
}

impl Error {
    /// The reasons why a document was refused (code 121), from either store or from `validate()`.
    ///
    /// If several writes failed, each has its own:
    /// [`WriteError::validation_failure`](crate::WriteError::validation_failure).
    ///
    /// ```
    /// # use odm::prelude::*;
    /// use odm::bson::Bson;
    /// # #[derive(Debug, Serialize, Deserialize, Document)]
    /// # #[odm(collection = "books")]
    /// # struct Book { #[serde(rename = "_id")] id: i32, #[odm(range(min = 1450))] year: i32 }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = Db::memory();
    /// # db.sync(models![Book]).plan().await?.apply(Allow::CREATE).await?;
    /// # let books = db.collection::<Book>();
    /// // `year` has the rule `range(min = 1450)`.
    /// let error = books.insert_one(&Book { id: 7, year: 150 }).await.unwrap_err();
    /// let failure = error.validation_failure().ok_or("another error")?;
    /// assert_eq!(failure.violations()[0].value, Some(Bson::Int32(150)));
    /// # Ok(())
    /// # }
    /// ```
    pub fn validation_failure(&self) -> Option<&ValidationFailure> {
        match self.kind() {
            Kind::Validation(failure) => Some(failure),
            _ => None,
        }
    }

    /// Whether the collection's validator refused a document (code 121).
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # #[derive(Debug, Serialize, Deserialize, Document)]
    /// # #[odm(collection = "books")]
    /// # struct Book { #[serde(rename = "_id")] id: i32, #[odm(range(min = 1450))] year: i32 }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = Db::memory();
    /// # db.sync(models![Book]).plan().await?.apply(Allow::CREATE).await?;
    /// # let books = db.collection::<Book>();
    /// // `year` has the rule `range(min = 1450)`.
    /// let error = books.insert_one(&Book { id: 7, year: 150 }).await.unwrap_err();
    /// assert!(error.is_validation_failure());
    /// # Ok(())
    /// # }
    /// ```
    pub fn is_validation_failure(&self) -> bool {
        self.code() == Some(Code::DOCUMENT_VALIDATION_FAILURE)
    }

    /// Sets the names of the model's expression rules, in declaration order.
    #[must_use]
    pub(crate) fn with_rules(mut self, names: &[&'static str]) -> Self {
        match self.kind_mut() {
            Kind::Validation(failure) => failure.name_rules(names),
            Kind::Bulk(bulk) => {
                for error in &mut bulk.errors {
                    error.name_rules(names);
                }
            }
            _ => {}
        }
        self
    }
}

#[cfg(test)]
mod tests;
