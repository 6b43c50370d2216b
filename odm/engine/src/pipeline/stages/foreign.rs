//! What `$lookup` and `$graphLookup` have in common.

use bson::raw::{RawArray, RawArrayBuf, RawBsonRef, RawDocument, RawDocumentBuf};

use odm_language::error::{Code, ServerError};
use odm_language::expression::compat::messages;
use odm_language::value::path::Path;
use odm_language::value::raw::append;
use odm_language::value::raw::{elements, get, values};

use crate::pipeline::stage::DOCUMENTS;

/// The values at a path; an array at its end is replaced by its elements.
pub(super) fn spread<'d>(path: &Path, document: &'d RawDocument) -> Vec<RawBsonRef<'d>> {
    let mut found = Vec::new();
    for value in path.get_all(document) {
        match value {
            RawBsonRef::Array(items) => found.extend(values(items)),
            value => found.push(value),
        }
    }
    found
}

/// A filter for documents whose field equals one of the values.
pub(super) fn any_of<'v>(
    field: &str,
    wanted: impl Iterator<Item = RawBsonRef<'v>>,
) -> RawDocumentBuf {
    let mut clauses = RawArrayBuf::new();
    let mut plain = RawArrayBuf::new();
    for value in wanted {
        if matches!(value, RawBsonRef::RegularExpression(_)) {
            // `$in` would match by the regular expression, but only an equal one may match here.
            let equal = one("$eq", value);
            clauses.push(one(field, RawBsonRef::Document(&equal)));
        } else {
            plain.push(value);
        }
    }
    let any = one("$in", RawBsonRef::Array(&plain));
    let filter = one(field, RawBsonRef::Document(&any));
    if clauses.is_empty() {
        return filter;
    }
    clauses.push(filter);
    one("$or", RawBsonRef::Array(&clauses))
}

/// The conjunction of two filters.
pub(super) fn both(left: Option<RawDocumentBuf>, right: Option<RawDocumentBuf>) -> RawDocumentBuf {
    match (left, right) {
        (Some(left), Some(right)) => {
            let mut clauses = RawArrayBuf::new();
            clauses.push(left);
            clauses.push(right);
            one("$and", RawBsonRef::Array(&clauses))
        }
        (left, right) => left.or(right).unwrap_or_default(),
    }
}

/// `{name: value}`.
pub(super) fn one(name: &str, value: RawBsonRef<'_>) -> RawDocumentBuf {
    let mut document = RawDocumentBuf::new();
    append(&mut document, name, value);
    document
}

/// mongod's name for the collection of a pipeline that needs none.
pub(super) const NO_COLLECTION: &str = "$cmd.aggregate";

/// Whether a pipeline begins with `$documents`, so that it needs no collection.
pub(super) fn has_documents(stages: Option<&RawArray>) -> bool {
    let first = stages.and_then(|stages| values(stages).next());
    matches!(first, Some(RawBsonRef::Document(stage)) if get(stage, DOCUMENTS).is_some())
}

/// Parses the `from` of a stage, which must be a name. mongod accepts another database only for some internal
/// collections.
pub(super) fn from(stage: &str, value: RawBsonRef<'_>) -> Result<String, ServerError> {
    let refuse = |message| Err(ServerError::new(Code::FAILED_TO_PARSE, message));
    let spec = match value {
        RawBsonRef::String(name) => return Ok(name.to_owned()),
        RawBsonRef::Document(spec) => spec,
        other => {
            return refuse(format!(
                "{stage} 'from' field must be a string, but found {}",
                messages::type_name(Some(other))
            ));
        }
    };
    let (mut database, mut collection) = ("", "");
    for (name, value) in elements(spec) {
        match (name, value) {
            ("db", RawBsonRef::String(name)) => database = name,
            ("coll", RawBsonRef::String(name)) => collection = name,
            ("db" | "coll", other) => {
                return Err(ServerError::new(
                    Code::TYPE_MISMATCH,
                    format!(
                        "BSON field 'from.{name}' is the wrong type '{}', expected type 'string'",
                        messages::type_name(Some(other))
                    ),
                ));
            }
            (other, _) => {
                return Err(ServerError::new(
                    Code::location(40415),
                    format!("BSON field 'from.{other}' is an unknown field."),
                ));
            }
        }
    }
    refuse(format!(
        "{stage} with syntax {{from: {{db:<>, coll:<>}},..}} is not supported for db: {database} and coll: {collection}"
    ))
}
