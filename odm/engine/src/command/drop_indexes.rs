//! `dropIndexes`.

use bson::raw::{RawBsonRef, RawDocumentBuf};
use bson::{Document, doc};
use odm_language::error::{Code, ServerError};
use odm_language::value::raw;

use crate::catalog::Edit;
use crate::catalog::changes::definition;
use crate::catalog::collection::Collection;
use crate::command::args::{Kind, field, required, wrong_type};
use crate::command::create::to_document;
use crate::command::declare::{Command, CommandTarget};
use crate::command::generic_arguments::InTransaction;
use crate::command::invocation::Invocation;
use crate::command::reply::reply;
use crate::index::spec::{same_key, show};

pub(crate) const DROP_INDEXES: Command = Command {
    name: "dropIndexes",
    idl: "dropIndexes",
    fields: &[
        required("index", Kind::Any).checked(is_choice),
        field("isTimeseriesNamespace", Kind::Bool),
    ],
    target: CommandTarget::Collection,
    transaction: InTransaction::Refused,
    retryable: false,
    writes: true,
    run: drop_indexes,
    explain: None,
};

fn drop_indexes(call: &mut Invocation<'_>) -> Result<RawDocumentBuf, ServerError> {
    let namespace = call.namespace();
    if &*namespace.collection == "system.views" {
        return Err(ServerError::new(
            Code::location(51070),
            "Modifications to system.views must take an exclusive lock",
        ));
    }
    call.locked.set(true);
    call.check_not_view(&namespace)?;
    let which = call.args.get("index").unwrap_or(RawBsonRef::Null);
    if let (RawBsonRef::Document(key), Some(collection)) = (which, call.find_collection(&namespace))
    {
        // mongod refuses an unknown key before it waits for a transaction with writes on the collection.
        by_key(&collection, &to_document(key)?)?;
    }
    let dropped = call.alter(&namespace, |collection| {
        let names = names(collection, which)?;
        let change = definition::indexes_dropped(collection, &names);
        let before = i32::try_from(collection.indexes.len()).unwrap_or(i32::MAX);
        collection
            .indexes
            .retain(|index| !names.contains(&index.spec.name));
        Ok(Edit::Publish(before, change))
    })?;
    let Some(before) = dropped else {
        return Err(ServerError::new(
            Code::NAMESPACE_NOT_FOUND,
            format!("ns not found {namespace}"),
        ));
    };
    let mut fields = doc! { "nIndexesWas": before };
    if is_all(which) {
        fields.insert("msg", "non-_id indexes dropped for collection");
    }
    reply(fields)
}

/// Checks the type of `index`: a name, a list of names, or a key.
fn is_choice(_name: &str, which: RawBsonRef<'_>) -> Result<(), ServerError> {
    let values = match which {
        RawBsonRef::String(_) | RawBsonRef::Document(_) => return Ok(()),
        RawBsonRef::Array(values) => values,
        other => {
            return Err(wrong_type(
                "dropIndexes.index",
                other,
                "types '[string, object']",
            ));
        }
    };
    for (at, value) in raw::values(values).enumerate() {
        match (at, value) {
            (_, RawBsonRef::String(_)) | (1.., RawBsonRef::Null | RawBsonRef::Undefined) => {}
            (0, _) => return Err(wrong_type("dropIndexes.index", which, "types '[string']")),
            _ => {
                let field = format!("dropIndexes.index.{at}");
                return Err(wrong_type(&field, value, "type 'string'"));
            }
        }
    }
    Ok(())
}

/// The names of the indexes to drop.
fn names(collection: &Collection, which: RawBsonRef<'_>) -> Result<Vec<String>, ServerError> {
    match which {
        which if is_all(which) => Ok(all(collection)),
        RawBsonRef::String(name) => named(collection, name).map(|name| vec![name]),
        RawBsonRef::Array(names) => {
            let mut found: Vec<String> = Vec::new();
            for name in raw::values(names).filter_map(RawBsonRef::as_str) {
                // A name that occurs twice is not found the second time.
                if found.iter().any(|known| known == name) {
                    return Err(not_found(name));
                }
                found.push(named(collection, name)?);
            }
            Ok(found)
        }
        RawBsonRef::Document(key) => by_key(collection, &to_document(key)?).map(|name| vec![name]),
        _ => Ok(Vec::new()),
    }
}

/// The one index with the key.
fn by_key(collection: &Collection, key: &Document) -> Result<String, ServerError> {
    let indexes = collection.indexes.iter();
    let found: Vec<_> = indexes
        .filter(|index| same_key(&index.spec.key, key))
        .collect();
    match found.as_slice() {
        [] => Err(ServerError::new(
            Code::INDEX_NOT_FOUND,
            format!("can't find index with key: {}", show(key)),
        )),
        [index] => named(collection, &index.spec.name),
        [one, other, ..] => Err(ServerError::new(
            Code::AMBIGUOUS_INDEX_KEY_PATTERN,
            format!(
                "{} indexes found for key: {}, identify by name instead. Conflicting indexes: {}, {}",
                found.len(),
                show(key),
                one.spec.printed(),
                other.spec.printed()
            ),
        )),
    }
}

fn named(collection: &Collection, name: &str) -> Result<String, ServerError> {
    match collection.index(name) {
        Some(index) if index.spec.is_id() => Err(ServerError::new(
            Code::INVALID_OPTIONS,
            "cannot drop _id index",
        )),
        Some(_) => Ok(name.to_owned()),
        None => Err(not_found(name)),
    }
}

/// Whether to drop all indexes: `"*"`, or a list that begins with it.
fn is_all(which: RawBsonRef<'_>) -> bool {
    let first = match which {
        RawBsonRef::Array(names) => raw::values(names).next(),
        which => Some(which),
    };
    matches!(first, Some(RawBsonRef::String("*")))
}

/// The names of all indexes that can be dropped.
fn all(collection: &Collection) -> Vec<String> {
    let indexes = collection.indexes.iter();
    indexes
        .filter(|index| !index.spec.is_id())
        .map(|index| index.spec.name.clone())
        .collect()
}

fn not_found(name: &str) -> ServerError {
    ServerError::new(
        Code::INDEX_NOT_FOUND,
        format!("index not found with name [{name}]"),
    )
}
