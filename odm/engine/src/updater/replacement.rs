//! Replacement documents: `{_id: 1, a: 1}` replaced by `{b: 2}` -> `{_id: 1, b: 2}`.

use bson::raw::{RawBsonRef, RawDocument, RawDocumentBuf};
use odm_language::error::{Code, ServerError};
use odm_language::expression::{Globals, compat::messages};
use odm_language::value::print;
use odm_language::value::{order, raw};

use crate::updater::conflicts::dollar_prefixed;
use crate::updater::limits::array_id;
use crate::updater::node::{append, fields};
use crate::updater::{Applied, check_id};

#[derive(Debug)]
pub(super) struct Replacement(RawDocumentBuf);

impl Replacement {
    pub(super) fn new(document: &RawDocument) -> Self {
        Self(document.to_owned())
    }

    pub(super) fn apply(
        &self,
        document: &RawDocument,
        globals: &Globals,
        inserting: bool,
    ) -> Result<Applied, ServerError> {
        // As on mongod, a replacement without the `_id` always counts as a change.
        let modified = self.0.as_bytes() != document.as_bytes();
        // An identical document is not checked.
        if modified && !inserting {
            check_names(&self.0)?;
        }
        let mut new = RawDocumentBuf::new();
        let id = fields(&self.0).find(|(name, _)| *name == "_id");
        if let Some((name, value)) =
            id.or_else(|| fields(document).find(|(name, _)| *name == "_id"))
        {
            append(&mut new, name, value);
        }
        let mut fills_in = false;
        // As on mongod, a second `_id` stays where it is.
        let mut has_id = false;
        let others = fields(&self.0)
            .filter(|(name, _)| *name != "_id" || std::mem::replace(&mut has_id, true));
        for (name, value) in others {
            match value {
                // An empty timestamp at the top level is replaced by the time of the write.
                RawBsonRef::Timestamp(empty) if empty.time == 0 && empty.increment == 0 => {
                    fills_in = true;
                    let time = globals.unique_timestamp();
                    append(&mut new, name, RawBsonRef::Timestamp(time));
                }
                value => append(&mut new, name, value),
            }
        }
        let modified = modified || fills_in;
        check_new_id(document, &new, modified, inserting)?;
        Ok(Applied {
            document: new,
            modified,
            nests: true,
            resorted: Vec::new(),
        })
    }
}

/// Rejects names that start with `$`, except those of a `DBRef` in the right order.
fn check_names(document: &RawDocument) -> Result<(), ServerError> {
    let fault = |message: String| Err(ServerError::new(Code::INVALID_DB_REF, message));
    let no_text = |name: &str, value| {
        fault(format!(
            "The DBRef {name} field must be a String, not a {}",
            messages::type_name(Some(value))
        ))
    };
    let mut before = "";
    let mut all = fields(document).peekable();
    while let Some((name, value)) = all.next() {
        let is_text = matches!(value, RawBsonRef::String(_));
        match name {
            "$ref" | "$db" if !is_text => return no_text(name, value),
            "$ref" if all.peek().is_none_or(|(next, _)| *next != "$id") => {
                return fault("The DBRef $ref field must be followed by a $id field".to_owned());
            }
            "$id" if before != "$ref" => {
                return fault(
                    "Found $id field without a $ref before it, which is invalid.".to_owned(),
                );
            }
            "$db" if before != "$id" => {
                return fault(
                    "Found $db field without a $id before it, which is invalid.".to_owned(),
                );
            }
            "$ref" | "$id" | "$db" => {}
            name if name.starts_with('$') => return Err(dollar_prefixed(name, name)),
            _ => {}
        }
        before = name;
    }
    Ok(())
}

/// Checks the `_id` of a new document. The document of an upsert is checked again when it is inserted.
pub(super) fn check_new_id(
    old: &RawDocument,
    new: &RawDocument,
    modified: bool,
    inserting: bool,
) -> Result<(), ServerError> {
    match raw::get(new, "_id") {
        Some(RawBsonRef::Array(_)) if inserting && modified => {
            return Err(array_id("(immutable) "));
        }
        Some(id) if !inserting => check_id(id)?,
        _ => {}
    }
    unaltered_id(old, new)
}

/// Returns an error if the new document changes the `_id`.
fn unaltered_id(old: &RawDocument, new: &RawDocument) -> Result<(), ServerError> {
    let id = |document| fields(document).find(|(name, _)| *name == "_id");
    match (id(old), id(new)) {
        (Some((_, old)), Some((name, new))) if !order::equal(old, new, None) => {
            Err(ServerError::new(
                Code::IMMUTABLE_FIELD,
                format!(
                    "After applying the update, the (immutable) field '_id' was found to have been altered to {}",
                    print::field(name, new)
                ),
            ))
        }
        _ => Ok(()),
    }
}
