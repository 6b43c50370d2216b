//! What of a pipeline is read before anything else of its command: that stages have the form and the names of stages,
//! which collections they are about, and the pipelines within them.
//!
//! So a `$merge` without a target is refused before a `$match` in front of it is looked at, and before the command's
//! collation and variables are.

use bson::raw::{RawArray, RawBsonRef};
use odm_language::error::{Code, ServerError};
use odm_language::value::raw::values;

use crate::pipeline::{single, stages};

/// Where a pipeline is to run: what names of other collections are read by.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place<'p> {
    pub(crate) database: &'p str,
    /// Whether a database and a collection may have these names.
    pub(crate) is_name: fn(&str, &str) -> bool,
}

impl Place<'_> {
    /// Refuses a name that no collection can have, in the words of the stage that has it.
    pub(super) fn check(
        &self,
        database: Option<&str>,
        collection: &str,
        invalid: impl Fn(&str) -> String,
    ) -> Result<(), ServerError> {
        let database = database.unwrap_or(self.database);
        check_readable(database, collection)?;
        if (self.is_name)(database, collection) {
            return Ok(());
        }
        refuse(invalid(&format!("{database}.{collection}")))
    }
}

/// Refuses a name that cannot even be read as one.
pub(crate) fn check_readable(database: &str, collection: &str) -> Result<(), ServerError> {
    if database.contains('.') {
        return refuse(format!(
            "'.' is an invalid character in the database name: {database}"
        ));
    }
    if database.contains('\0') || collection.contains('\0') {
        return refuse("namespaces cannot have embedded null characters");
    }
    if collection.starts_with('.') {
        return refuse(format!(
            "Collection names cannot start with '.': {collection}"
        ));
    }
    Ok(())
}

fn refuse(message: impl Into<String>) -> Result<(), ServerError> {
    Err(ServerError::new(Code::INVALID_NAMESPACE, message))
}

/// Reads the outline of every stage, one after the other.
pub(crate) fn check(pipeline: &RawArray, place: Place<'_>) -> Result<(), ServerError> {
    values(pipeline).try_for_each(|stage| check_stage(stage, place))
}

fn check_stage(stage: RawBsonRef<'_>, place: Place<'_>) -> Result<(), ServerError> {
    let (name, spec) = single(stage)?;
    match stages::outline(name)? {
        Some(outline) => outline(spec, place),
        None => Ok(()),
    }
}
