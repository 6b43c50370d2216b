//! `dropIndexes`.

use bson::doc;
use bson::raw::{RawBsonRef, RawDocumentBuf};

use crate::engine::catalog::Edit;
use crate::engine::catalog::changes::definition;
use crate::engine::catalog::collection::Collection;
use crate::engine::command::args::{Kind, required, wrong_type};
use crate::engine::command::call::Call;
use crate::engine::command::create::to_document;
use crate::engine::command::reply::reply;
use crate::engine::command::table::{Command, InTransaction, Target};
use crate::engine::index::spec::{same_key, show};
use crate::error::{Code, ServerError};
use crate::value::raw;

pub(crate) const DROP_INDEXES: Command = Command {
    name: "dropIndexes",
    idl: "dropIndexes",
    fields: &[required("index", Kind::Any)],
    target: Target::Collection,
    transaction: InTransaction::Refused,
    retryable: false,
    writes: true,
    run: drop_indexes,
};

fn drop_indexes(call: &mut Call<'_>) -> Result<RawDocumentBuf, ServerError> {
    let namespace = call.namespace();
    call.check_not_view(&namespace)?;
    let which = call.args.get("index").unwrap_or(RawBsonRef::Null);
    if !matches!(
        which,
        RawBsonRef::String(_) | RawBsonRef::Array(_) | RawBsonRef::Document(_)
    ) {
        return Err(wrong_type(
            "dropIndexes.index",
            which,
            "types '[string, object']",
        ));
    }
    let dropped = call.alter(&namespace, |collection| {
        let names = names(collection, which)?;
        let told = definition::indexes_dropped(collection, &names);
        let before = i32::try_from(collection.indexes.len()).unwrap_or(i32::MAX);
        collection
            .indexes
            .retain(|index| !names.contains(&index.spec.name));
        Ok(Edit::Publish(before, told))
    })?;
    let Some(before) = dropped else {
        return Err(ServerError::new(
            Code::NAMESPACE_NOT_FOUND,
            format!("ns not found {namespace}"),
        ));
    };
    let mut fields = doc! { "nIndexesWas": before };
    if matches!(which, RawBsonRef::String("*")) {
        fields.insert("msg", "non-_id indexes dropped for collection");
    }
    reply(fields)
}

/// The indexes that are meant.
fn names(collection: &Collection, which: RawBsonRef<'_>) -> Result<Vec<String>, ServerError> {
    match which {
        RawBsonRef::String("*") => Ok(collection
            .indexes
            .iter()
            .filter(|index| !index.spec.is_id())
            .map(|index| index.spec.name.clone())
            .collect()),
        RawBsonRef::String(name) => named(collection, name).map(|name| vec![name]),
        RawBsonRef::Array(names) => raw::values(names)
            .map(|name| match name {
                RawBsonRef::String(name) => named(collection, name),
                other => Err(wrong_type(
                    "dropIndexes.index",
                    other,
                    "types '[string, object']",
                )),
            })
            .collect(),
        RawBsonRef::Document(key) => {
            let key = to_document(key)?;
            // A text index is known by the fields that it was made of, too.
            let mut found = collection
                .indexes
                .iter()
                .filter(|index| same_key(&index.spec.key, &key));
            let Some(index) = found.next() else {
                return Err(ServerError::new(
                    Code::INDEX_NOT_FOUND,
                    format!("can't find index with key: {}", show(&key)),
                ));
            };
            if let Some(other) = found.next() {
                return Err(ServerError::new(
                    Code::location(181),
                    format!(
                        "2 indexes found for key: {}, identify by name instead. Conflicting indexes: {}, {}",
                        show(&key),
                        show(&index.spec.document),
                        show(&other.spec.document)
                    ),
                ));
            }
            named(collection, &index.spec.name).map(|name| vec![name])
        }
        other => Err(wrong_type(
            "dropIndexes.index",
            other,
            "types '[string, object']",
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
        None => Err(ServerError::new(
            Code::INDEX_NOT_FOUND,
            format!("index not found with name [{name}]"),
        )),
    }
}
