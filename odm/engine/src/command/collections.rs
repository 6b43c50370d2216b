//! `listCollections`, `drop`, `renameCollection`.

use bson::raw::{RawDocument, RawDocumentBuf, cstr};
use bson::spec::BinarySubtype;
use bson::{Binary, Document, doc};
use odm_language::error::{Code, ServerError};
use odm_language::matcher::Matcher;
use odm_language::value::number::Number;
use odm_language::value::raw;

use crate::catalog::Edit;
use crate::catalog::changes::{ChangeKind, LoggedChange, definition};
use crate::catalog::collection::{Collection, Shared, document};
use crate::catalog::namespace::Namespace;
use crate::catalog::options::to_raw;
use crate::catalog::view::View;
use crate::command::args::{Field, Kind, field, required, unknown, wrong_type};
use crate::command::batch::{first_batch, session_of};
use crate::command::declare::{Command, CommandTarget};
use crate::command::generic_arguments::InTransaction;
use crate::command::invocation::Invocation;
use crate::command::reply::reply;
use crate::cursor::registry::{Cursor, Ready, Tail};

pub(crate) const LIST_COLLECTIONS: Command = Command {
    name: "listCollections",
    idl: "listCollections",
    fields: &[
        field("filter", Kind::Object),
        field("nameOnly", Kind::Bool),
        field("authorizedCollections", Kind::Bool),
        field("cursor", Kind::Object),
        // A drop is never pending here.
        field("includePendingDrops", Kind::SafeBool),
    ],
    target: CommandTarget::Database,
    transaction: InTransaction::Refused,
    retryable: false,
    writes: false,
    run: list_collections,
    explain: None,
};

pub(crate) const DROP: Command = Command {
    name: "drop",
    idl: "drop",
    fields: &[],
    target: CommandTarget::Collection,
    transaction: InTransaction::Refused,
    retryable: false,
    writes: true,
    run: drop_collection,
    explain: None,
};

const RENAME_FIELDS: &[Field] = &[
    required("to", Kind::Str),
    field("dropTarget", Kind::SafeBool),
    // No collection is temporary.
    field("stayTemp", Kind::Bool),
];

pub(crate) const RENAME_COLLECTION: Command = Command {
    name: "renameCollection",
    idl: "renameCollection",
    fields: RENAME_FIELDS,
    target: CommandTarget::Collection,
    transaction: InTransaction::Refused,
    retryable: false,
    writes: true,
    run: rename,
    explain: None,
};

/// The `batchSize` of a `cursor: {…}` option.
pub(crate) fn batch_size(
    cursor: Option<&RawDocument>,
    idl: &str,
) -> Result<Option<u64>, ServerError> {
    let mut size = None;
    for (name, value) in cursor.into_iter().flat_map(raw::elements) {
        if name != "batchSize" {
            return Err(unknown(idl, name));
        }
        if matches!(value, bson::RawBsonRef::Null) {
            continue;
        }
        let Some(number) = Number::from_raw(value).and_then(|_| super::args::whole(value)) else {
            return Err(wrong_type(
                &format!("{idl}.batchSize"),
                value,
                "types '[long, int, decimal, double']",
            ));
        };
        size = Some(u64::try_from(number).map_err(|_| {
            ServerError::new(
                Code::location(51024),
                format!("BSON field 'batchSize' value must be >= 0, actual value '{number}'"),
            )
        })?);
    }
    Ok(size)
}

/// A cursor over a complete list of documents.
pub(crate) fn listing(
    call: &Invocation<'_>,
    namespace: Namespace,
    rows: Vec<RawDocumentBuf>,
    batch_size: Option<u64>,
) -> Result<RawDocumentBuf, ServerError> {
    let cursor = Cursor {
        namespace,
        results: Box::new(Ready(rows.into_iter())),
        held: None,
        collection: None,
        base: None,
        session: session_of(call),
        transaction: None,
        time: None,
        no_timeout: false,
        limited: false,
        tail: Tail::No,
        used: call.now.timestamp_millis(),
        tally: None,
    };
    let page = first_batch(call, cursor, batch_size, false)?;
    Ok(page.to_reply(cstr!("firstBatch")))
}

fn list_collections(call: &mut Invocation<'_>) -> Result<RawDocumentBuf, ServerError> {
    let names_only = call.args.flag("nameOnly");
    let batch_size = batch_size(call.args.document("cursor"), "listCollections.cursor")?;
    let filter = call
        .args
        .filled("filter")
        .map(|filter| Matcher::parse(filter, &call.simple_globals()))
        .transpose()?;
    let mut rows = Vec::new();
    let root = call.root();
    let mut listed: Vec<_> = root
        .database(call.database)
        .map(|collection| row(collection, names_only))
        .collect();
    for view in root.views(call.database) {
        listed.push(view_row(view, names_only)?);
    }
    for row in listed {
        let row = to_raw(&row)?;
        if let Some(filter) = &filter
            && !filter.matches(&row)?
        {
            continue;
        }
        rows.push(row);
    }
    let namespace = Namespace::new(call.database, "$cmd.listCollections");
    listing(call, namespace, rows, batch_size)
}

fn row(collection: &Collection, name_only: bool) -> Document {
    let mut row = doc! { "name": &*collection.namespace.collection, "type": "collection" };
    if name_only {
        return row;
    }
    let uuid = Binary {
        subtype: BinarySubtype::Uuid,
        bytes: collection.uuid.to_vec(),
    };
    row.insert("options", collection.options.document.clone());
    row.insert("info", doc! { "readOnly": false, "uuid": uuid });
    if let Some(index) = collection.index("_id_") {
        row.insert("idIndex", index.spec.document.clone());
    }
    row
}

fn view_row(view: &View, name_only: bool) -> Result<Document, ServerError> {
    let mut row = doc! { "name": &*view.namespace.collection, "type": "view" };
    if !name_only {
        row.insert("options", view.options()?);
        row.insert("info", doc! { "readOnly": true });
    }
    Ok(row)
}

fn drop_collection(call: &mut Invocation<'_>) -> Result<RawDocumentBuf, ServerError> {
    let namespace = call.namespace();
    call.engine.profiler.check_drop(&namespace)?;
    call.locked.set(true);
    if call.find_view(&namespace).is_some() {
        let dropped = call.engine.catalog.change_views(call.database, |root| {
            let known = root.view(&namespace).is_some();
            root.remove_view(&namespace)?;
            let change = known.then(|| definition::view_dropped(&namespace));
            Ok((known, change))
        })?;
        if dropped {
            return reply(doc! { "ns": namespace.to_string() });
        }
    }
    let indexes = call.alter(&namespace, |collection| {
        let indexes = i32::try_from(collection.indexes.len()).unwrap_or(i32::MAX);
        Ok(Edit::Drop(indexes))
    })?;
    match indexes {
        Some(indexes) => reply(doc! { "nIndexesWas": indexes, "ns": namespace.to_string() }),
        None => Err(ServerError::new(Code::NAMESPACE_NOT_FOUND, "ns not found")),
    }
}

fn rename(call: &mut Invocation<'_>) -> Result<RawDocumentBuf, ServerError> {
    if call.database != "admin" {
        return Err(ServerError::new(
            Code::UNAUTHORIZED,
            "renameCollection may only be run against the admin database.",
        ));
    }
    let to = call.args.str("to").unwrap_or_default();
    let (source, target) = parse_names(&call.namespace.collection, to)?;
    let drop_target = call.args.flag("dropTarget");
    call.locked.set(true);
    let catalog = &call.engine.catalog;
    if catalog.view(&source).is_some() {
        return Err(ServerError::new(
            Code::COMMAND_NOT_SUPPORTED_ON_VIEW,
            format!("cannot rename view: {source}"),
        ));
    }
    let Some(collection) = catalog.collection(&source) else {
        let fault = if source.database == target.database {
            format!("Source collection {source} does not exist")
        } else {
            "source namespace does not exist".to_owned()
        };
        return Err(ServerError::new(Code::NAMESPACE_NOT_FOUND, fault));
    };
    if catalog.view(&target).is_some() {
        return Err(view_in_the_way(&target));
    }
    let existing = catalog.collection(&target);
    if existing.is_some() && !drop_target {
        return Err(ServerError::new(
            Code::NAMESPACE_EXISTS,
            "target namespace exists",
        ));
    }
    let both = [Some(&collection), existing.as_ref()].into_iter().flatten();
    let locks = Shared::lock_all(both.map(|collection| &collection.shared));
    if locks.iter().any(|locks| !locks.is_empty()) {
        return Err(crate::txn::write_conflict());
    }
    let mut root = catalog.publish();
    root.check_case(&target.database)?;
    let unchanged = root
        .collection(&source)
        .is_some_and(|now| now.uuid == collection.uuid)
        && root.collection(&target).map(|now| now.uuid) == existing.as_ref().map(|was| was.uuid);
    if !unchanged {
        return Err(crate::txn::write_conflict());
    }
    let mut renamed = root
        .collection(&source)
        .map_or_else(|| (*collection).clone(), |latest| (**latest).clone());
    if root.view(&target).is_some() {
        return Err(view_in_the_way(&target));
    }
    root.remove(&source);
    let is_copied = source.database != target.database;
    if is_copied {
        // A rename between databases copies the documents into a new collection.
        renamed.uuid = call.uuid();
    }
    renamed.namespace = target;
    renamed.version += 1;
    let replaced = existing.as_ref().map(|existing| existing.uuid);
    catalog.log(&root, || {
        if is_copied {
            copied(&source, collection.uuid, &renamed, replaced)
        } else {
            vec![moved(source, &renamed, replaced)]
        }
    });
    let replaced = root.put(renamed);
    drop((root, replaced));
    reply(doc! {})
}

/// The namespaces of a rename, checked.
fn parse_names(from: &str, to: &str) -> Result<(Namespace, Namespace), ServerError> {
    let invalid = |what: &str, name: &str| {
        ServerError::new(
            Code::INVALID_NAMESPACE,
            format!("Invalid {what} namespace: {name}"),
        )
    };
    let source = Namespace::split(from).ok_or_else(|| {
        ServerError::new(
            Code::INVALID_NAMESPACE,
            format!("Invalid namespace specified '{from}'"),
        )
    })?;
    let target = Namespace::split(to).ok_or_else(|| invalid("target", to))?;
    if to.contains('\0') {
        target.check()?;
    }
    if source == target {
        return Err(illegal("Can't rename a collection to itself"));
    }
    for (what, namespace) in [("source", &source), ("target", &target)] {
        namespace
            .check_name()
            .and_then(|()| namespace.check_write())
            .map_err(|error| {
                illegal(format!("error with {what} namespace: {}", error.message()))
            })?;
    }
    Ok((source, target))
}

/// The change event of a renamed collection.
fn moved(from: Namespace, renamed: &Collection, replaced: Option<[u8; 16]>) -> LoggedChange {
    LoggedChange {
        namespace: from,
        uuid: Some(renamed.uuid),
        what: ChangeKind::Rename {
            to: renamed.namespace.clone(),
            replaced,
        },
    }
}

/// The change events of a rename to another database: a new collection is created and filled, then renamed.
fn copied(
    source: &Namespace,
    uuid: [u8; 16],
    renamed: &Collection,
    replaced: Option<[u8; 16]>,
) -> Vec<LoggedChange> {
    let from = renamed.made_as("renameCollection");
    let mut changes = definition::created(renamed, Some(&from));
    let documents = renamed.all().filter_map(|stored| document(stored.bytes));
    changes.extend(documents.map(|document| LoggedChange {
        namespace: from.clone(),
        uuid: Some(renamed.uuid),
        what: ChangeKind::Insert {
            document: document.to_owned(),
        },
    }));
    changes.push(moved(from, renamed, replaced));
    changes.push(LoggedChange {
        namespace: source.clone(),
        uuid: Some(uuid),
        what: ChangeKind::Drop,
    });
    changes
}

fn view_in_the_way(target: &Namespace) -> ServerError {
    ServerError::new(
        Code::NAMESPACE_EXISTS,
        format!("a view already exists with that name: {target}"),
    )
}

fn illegal(message: impl Into<String>) -> ServerError {
    ServerError::new(Code::ILLEGAL_OPERATION, message)
}
