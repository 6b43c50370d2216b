//! `validate`: reads every document, and compares every index entry with its document.

use bson::raw::RawDocumentBuf;
use bson::{Bson, Document, doc};
use odm_language::error::{Code, ServerError};
use odm_language::value::raw;

use crate::catalog::collection::{Collection, document};
use crate::command::args::{Field, Kind, field};
use crate::command::declare::{Command, CommandTarget};
use crate::command::generic_arguments::InTransaction;
use crate::command::invocation::Invocation;
use crate::command::reply::{int, reply};
use crate::index::Index;
use crate::index::tree::records::Stored;

const FIELDS: &[Field] = &[
    // These set how thorough mongod is and which locks it takes. The engine always checks everything.
    field("full", Kind::Any),
    field("background", Kind::Any),
    field("enforceFastCount", Kind::Any),
    field("checkBSONConformance", Kind::Any),
    field("repair", Kind::Any),
    field("metadata", Kind::Unsupported),
];

pub(crate) const VALIDATE: Command = Command {
    name: "validate",
    idl: "validate",
    fields: FIELDS,
    target: CommandTarget::Collection,
    transaction: InTransaction::Refused,
    retryable: false,
    writes: false,
    run: validate,
    explain: None,
};

fn validate(call: &mut Invocation<'_>) -> Result<RawDocumentBuf, ServerError> {
    let namespace = call.namespace();
    let args = &call.args;
    let invalid = |message: String| Err(ServerError::new(Code::INVALID_OPTIONS, message));
    if args.flag("background") {
        for other in ["full", "enforceFastCount", "repair"] {
            if args.flag(other) {
                return invalid(format!(
                    "Running the validate command with both {{ background: true }} and {{ {other}: true }} is not \
                     supported."
                ));
            }
        }
    }
    if args.flag("repair") {
        return invalid(
            "Running the validate command with { repair: true } can only be performed in standalone mode."
                .to_owned(),
        );
    }
    if call.find_view(&namespace).is_some() {
        return Err(ServerError::new(
            Code::COMMAND_NOT_SUPPORTED_ON_VIEW,
            "Cannot validate a view",
        ));
    }
    let Some(collection) = call.find_collection(&namespace) else {
        return Err(ServerError::new(
            Code::NAMESPACE_NOT_FOUND,
            format!("Collection '{namespace}' does not exist to validate."),
        ));
    };
    let (mut invalid, mut refused) = (0_i32, 0_i32);
    let mut errors = Vec::new();
    for stored in collection.all() {
        match document(stored.bytes) {
            Some(document) if raw::validate(document.as_bytes()).is_ok() => {
                refused += i32::from(!collection.options.complies(document));
            }
            _ => invalid += 1,
        }
    }
    if invalid > 0 {
        errors.push("Detected one or more invalid documents.".to_owned());
    }
    if refused > 0 {
        errors.push(
            "Detected one or more documents not compliant with the collection's schema. Check logs for log id 5363500."
                .to_owned(),
        );
    }
    let (mut counts, mut details) = (Document::new(), Document::new());
    for index in &collection.indexes {
        let (keys, wrong) = check(&collection, index);
        counts.insert(&index.spec.name, keys);
        let mut detail = doc! { "valid": wrong.is_none() };
        if let Some(wrong) = wrong {
            detail.insert("errors", vec![wrong.clone()]);
            errors.push(wrong);
        }
        details.insert(&index.spec.name, detail);
    }
    let records = i64::try_from(collection.len()).unwrap_or(i64::MAX);
    reply(doc! {
        "ns": namespace.to_string(),
        "nInvalidDocuments": invalid,
        "nNonCompliantDocuments": refused,
        "nrecords": int(records),
        "nIndexes": i32::try_from(collection.indexes.len()).unwrap_or(i32::MAX),
        "keysPerIndex": counts,
        "indexDetails": details,
        "valid": errors.is_empty(),
        "repaired": false,
        "warnings": [],
        "errors": errors,
        "extraIndexEntries": [],
        "missingIndexEntries": [],
        "corruptRecords": [],
    })
}

/// The number of entries of an index, and the error if they do not match the documents.
fn check(collection: &Collection, index: &Index) -> (Bson, Option<String>) {
    let entries = index.len();
    let mut expected = 0;
    let mut missing = false;
    let mut buffer = Vec::new();
    for Stored { record, bytes, .. } in collection.all() {
        let keys = document(bytes).and_then(|document| index.keys(document, &mut buffer).ok());
        for key in keys.map(|(keys, _)| keys).unwrap_or_default() {
            expected += 1;
            missing |= !index.records_of(&key).contains(&record);
        }
    }
    let wrong = (missing || entries != expected)
        .then(|| format!("index '{}' does not match the collection", index.spec.name));
    (int(i64::try_from(entries).unwrap_or(i64::MAX)), wrong)
}
