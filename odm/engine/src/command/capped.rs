//! `convertToCapped` and `cloneCollectionAsCapped`.

use bson::raw::{RawBsonRef, RawDocumentBuf};
use bson::{DateTime, doc};
use odm_language::error::{Code, ServerError};
use odm_language::version::ServerVersion;

use crate::catalog::Edit;
use crate::catalog::changes::definition;
use crate::catalog::collection::{Collection, document};
use crate::catalog::namespace::Namespace;
use crate::catalog::options::Options;
use crate::command::args::{Args, Field, Kind, field, whole};
use crate::command::create::checks::LARGEST_CAPPED;
use crate::command::create::{int, rounded};
use crate::command::declare::{Command, CommandTarget};
use crate::command::generic_arguments::InTransaction;
use crate::command::invocation::Invocation;
use crate::command::reply::reply;
use crate::index::Index;
use crate::index::spec::Spec;

pub(crate) const CONVERT_TO_CAPPED: Command = Command {
    name: "convertToCapped",
    idl: "convertToCapped",
    fields: &[field("size", Kind::Any)],
    target: CommandTarget::Collection,
    transaction: InTransaction::Refused,
    retryable: false,
    writes: true,
    run: convert,
    explain: None,
};

const CLONE_FIELDS: &[Field] = &[
    field("toCollection", Kind::Any),
    field("size", Kind::Any),
    field("temp", Kind::Unsupported),
];

pub(crate) const CLONE_COLLECTION_AS_CAPPED: Command = Command {
    name: "cloneCollectionAsCapped",
    idl: "cloneCollectionAsCapped",
    fields: CLONE_FIELDS,
    target: CommandTarget::Collection,
    transaction: InTransaction::Refused,
    retryable: false,
    writes: true,
    run: clone,
    explain: None,
};

fn convert(call: &mut Invocation<'_>) -> Result<RawDocumentBuf, ServerError> {
    let namespace = call.namespace();
    let size = size(&call.args)?;
    call.locked.set(true);
    check_database(call)?;
    call.check_not_view(&namespace)?;
    if *namespace.collection == *Namespace::PROFILE && call.find_collection(&namespace).is_some() {
        // mongod fills a collection of this name first.
        return Err(ServerError::new(
            Code::BAD_VALUE,
            format!(
                "Invalid namespace: {}.tmp.convertToCapped.{}",
                namespace.database, namespace.collection
            ),
        ));
    }
    let (uuid, now) = (call.uuid(), call.now);
    let version = call.context.version();
    let converted = call.alter(&namespace, |collection| {
        let made = capped(collection, namespace.clone(), (uuid, now), (size, version))?;
        Ok(Edit::Replace(Box::new(made), ()))
    })?;
    match converted {
        Some(()) => reply(doc! {}),
        None => Err(no_source(&namespace)),
    }
}

fn clone(call: &mut Invocation<'_>) -> Result<RawDocumentBuf, ServerError> {
    let source = call.namespace();
    let Some(RawBsonRef::String(to)) = call.args.get("toCollection") else {
        return Err(ServerError::new(
            Code::TYPE_MISMATCH,
            "'toCollection' must be of type String",
        ));
    };
    let target = Namespace::new(call.database, to);
    target.check_create().map_err(|_| {
        ServerError::new(
            Code::INVALID_NAMESPACE,
            format!("Invalid target collection name: {to}"),
        )
    })?;
    let size = size(&call.args)?;
    call.locked.set(true);
    check_database(call)?;
    call.check_not_view(&source)?;
    let Some(collection) = call.find_collection(&source) else {
        return Err(no_source(&source));
    };
    let exists = |message| Err(ServerError::new(Code::NAMESPACE_EXISTS, message));
    let clone = capped(
        &collection,
        target.clone(),
        (call.uuid(), call.now),
        (size, call.context.version()),
    )?;
    let mut root = call.engine.catalog.publish();
    if root.view(&target).is_some() {
        return exists(format!("A view already exists. NS: {target}"));
    }
    if root.collection(&target).is_some() {
        return exists(format!(
            "cloneCollectionAsCapped failed - destination collection {target} already exists. source collection: \
             {source}"
        ));
    }
    let catalog = &call.engine.catalog;
    catalog.log(&root, || definition::created(&clone, None));
    root.put(clone);
    drop(root);
    reply(doc! {})
}

fn size(args: &Args<'_>) -> Result<i64, ServerError> {
    match args.get("size").and_then(whole) {
        Some(size) if size > LARGEST_CAPPED => {
            Err(ServerError::new(Code::BAD_VALUE, "size cannot exceed 1 PB"))
        }
        Some(size) if size > 0 => Ok(rounded(size)),
        Some(size) if size < 0 => Err(ServerError::new(Code::BAD_VALUE, "size has to be >= 0")),
        _ => Err(ServerError::new(
            Code::COMMAND_FAILED,
            "invalid command spec",
        )),
    }
}

/// Returns an error if the database does not exist.
fn check_database(call: &Invocation<'_>) -> Result<(), ServerError> {
    if call.root().has_database(call.database) {
        return Ok(());
    }
    Err(ServerError::new(
        Code::NAMESPACE_NOT_FOUND,
        format!("database {} not found", call.database),
    ))
}

fn no_source(namespace: &Namespace) -> ServerError {
    ServerError::new(
        Code::NAMESPACE_NOT_FOUND,
        format!("source collection {namespace} does not exist"),
    )
}

/// A capped collection of the last documents that fit. As on mongod, its only index is the `_id` index.
fn capped(
    source: &Collection,
    namespace: Namespace,
    (uuid, now): ([u8; 16], DateTime),
    (size, version): (i64, ServerVersion),
) -> Result<Collection, ServerError> {
    let mut options = doc! { "capped": true, "size": int(size) };
    for (name, value) in &source.options.document {
        if !matches!(name.as_str(), "capped" | "size" | "max") {
            options.insert(name, value);
        }
    }
    let options = Options::compile(options, version)?;
    let id = Index::new(Spec::id(options.collation.as_ref()).into());
    id.spec.uses.begin(now);
    let mut made = Collection::new(namespace, uuid, options, vec![id]);
    // Going backwards copies only the documents that fit.
    let mut left = u64::try_from(size).unwrap_or(0);
    let mut kept = Vec::new();
    let all: Vec<&[u8]> = source.all().map(|stored| stored.bytes).collect();
    for bytes in all.into_iter().rev() {
        let length = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        let Some(rest) = left.checked_sub(length) else {
            break;
        };
        left = rest;
        kept.push(bytes);
    }
    for bytes in kept.into_iter().rev() {
        let record = made.shared.next_record();
        let change = made.change(record, None, document(bytes))?;
        made.apply(&change, Some(bytes));
    }
    Ok(made)
}
