//! The outline of a pipeline, which is checked before everything else of the command: the form and names of the stages,
//! the collections that they name, and nested pipelines.
//!
//! So a `$merge` without a target is an error before a `$match` in front of it is parsed, and before the command's
//! collation and variables are.

use bson::raw::{RawArray, RawBsonRef};
use odm_language::error::{Code, ServerError};
use odm_language::value::raw::values;

use crate::pipeline::{single, stages};

/// The database of a pipeline, and the check of collection names.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place<'p> {
    pub(crate) database: &'p str,
    /// Whether a database and a collection may have these names.
    pub(crate) is_name: fn(&str, &str) -> bool,
}

impl Place<'_> {
    /// Rejects an invalid collection name, with the stage's own message.
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

/// Rejects a name that cannot be parsed as a namespace.
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

/// Checks the outlines of all stages in order.
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
