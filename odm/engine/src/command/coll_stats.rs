//! `collStats`, `dbStats`, `dataSize`. Sizes are those of the documents and of the index entries, since there is no
//! disk.

use bson::raw::{RawBsonRef, RawDocumentBuf};
use bson::{Bson, Document, doc};
use odm_language::error::{Code, ServerError};
use odm_language::value::raw;

use crate::catalog::collection::Collection;
use crate::catalog::namespace::Namespace;
use crate::command::args::{Kind, field, whole};
use crate::command::declare::{Command, CommandTarget};
use crate::command::generic_arguments::InTransaction;
use crate::command::invocation::Invocation;
use crate::command::reply::reply;

pub(crate) const COLL_STATS: Command = Command {
    name: "collStats",
    idl: "collStats",
    fields: &[field("scale", Kind::SafeInt)],
    target: CommandTarget::Collection,
    transaction: InTransaction::Refused,
    retryable: false,
    writes: false,
    run: coll_stats,
    explain: None,
};

fn coll_stats(call: &mut Invocation<'_>) -> Result<RawDocumentBuf, ServerError> {
    let namespace = call.namespace();
    let scale = call.args.int("scale").unwrap_or(1);
    if scale < 1 {
        return Err(ServerError::new(
            Code::location(51024),
            format!("BSON field 'scale' value must be >= 1, actual value '{scale}'"),
        ));
    }
    call.check_not_view(&namespace)?;
    let collection = call.find_collection(&namespace);
    let mut fields = doc! { "ns": namespace.to_string() };
    fields.extend(storage(collection.as_deref(), scale));
    reply(fields)
}

/// The sizes of a collection; all 0 if it does not exist.
pub(crate) fn storage(collection: Option<&Collection>, scale: i64) -> Document {
    let int = |value: usize| number(i64::try_from(value).unwrap_or(i64::MAX));
    let mut fields = Document::new();
    match collection {
        None => fields.extend(doc! {
            "size": 0, "count": 0, "numOrphanDocs": 0, "storageSize": 0, "totalSize": 0, "nindexes": 0,
            "totalIndexSize": 0, "indexDetails": {}, "indexSizes": {},
        }),
        Some(collection) => {
            let bytes = i64::try_from(collection.bytes()).unwrap_or(i64::MAX);
            let count = i64::try_from(collection.len()).unwrap_or(i64::MAX);
            fields.insert("size", number(bytes / scale));
            fields.insert("count", number(count));
            if count > 0 {
                fields.insert("avgObjSize", number(bytes / count));
            }
            fields.insert("numOrphanDocs", 0);
            fields.insert("storageSize", number(bytes / scale));
            fields.insert("freeStorageSize", 0);
            fields.insert("capped", collection.options.capped.is_some());
            if let Some(capped) = collection.options.capped {
                let whole = |value: u64| number(i64::try_from(value).unwrap_or(i64::MAX));
                fields.insert("max", whole(capped.max.unwrap_or(0)));
                let largest = i64::try_from(capped.size).unwrap_or(i64::MAX);
                fields.insert("maxSize", number(largest / scale));
            }
            let mut sizes = Document::new();
            let mut total = 0;
            for index in &collection.indexes {
                let size = i64::try_from(index.bytes()).unwrap_or(i64::MAX) / scale;
                total += size;
                sizes.insert(index.spec.name.clone(), number(size));
            }
            fields.insert("nindexes", int(collection.indexes.len()));
            fields.insert("indexBuilds", Bson::Array(Vec::new()));
            fields.insert("totalIndexSize", number(total));
            fields.insert("totalSize", number(bytes / scale + total));
            fields.insert("indexSizes", sizes);
        }
    }
    fields.insert("scaleFactor", number(scale));
    fields
}

fn number(value: i64) -> Bson {
    i32::try_from(value).map_or(Bson::Int64(value), Bson::Int32)
}

pub(crate) const DB_STATS: Command = Command {
    name: "dbStats",
    idl: "dbStats",
    fields: &[field("scale", Kind::Any), field("freeStorage", Kind::Any)],
    target: CommandTarget::Database,
    transaction: InTransaction::Refused,
    retryable: false,
    writes: false,
    run: db_stats,
    explain: None,
};

#[expect(
    clippy::cast_precision_loss,
    reason = "the server gives these sizes as doubles, too"
)]
fn db_stats(call: &mut Invocation<'_>) -> Result<RawDocumentBuf, ServerError> {
    let refuse = |message| Err(ServerError::new(Code::COMMAND_FAILED, message));
    let given = call.args.get("scale");
    let scale = match given.filter(|scale| *scale != RawBsonRef::Null).map(whole) {
        None => 1,
        Some(None) => return refuse("scale has to be a number > 0"),
        Some(Some(scale)) if scale < 1 => return refuse("scale has to be > 0"),
        Some(Some(scale)) => scale,
    };
    let root = call.root();
    let (mut collections, mut objects, mut indexes) = (0_i64, 0_u64, 0_i64);
    let (mut data, mut keys) = (0_u64, 0_u64);
    let wide = |length: usize| u64::try_from(length).unwrap_or(u64::MAX);
    for collection in root.database(call.database) {
        collections += 1;
        objects += wide(collection.len());
        data += collection.bytes();
        for index in &collection.indexes {
            indexes += 1;
            keys += wide(index.bytes());
        }
    }
    let scaled = |bytes: u64| bytes as f64 / scale as f64;
    let average = if objects == 0 {
        0.0
    } else {
        data as f64 / objects as f64
    };
    // The engine keeps no unused space, so the free storage is 0.
    let is_free_requested = call.args.flag("freeStorage");
    let mut stats = doc! {
        "db": call.database,
        "collections": number(collections),
        "views": i32::try_from(root.views(call.database).count()).unwrap_or(i32::MAX),
        "objects": number(i64::try_from(objects).unwrap_or(i64::MAX)),
        "avgObjSize": average,
        "dataSize": scaled(data),
        "storageSize": scaled(data),
    };
    if is_free_requested {
        stats.insert("freeStorageSize", 0.0);
    }
    stats.insert("indexes", number(indexes));
    stats.insert("indexSize", scaled(keys));
    if is_free_requested {
        stats.insert("indexFreeStorageSize", 0.0);
    }
    stats.insert("totalSize", scaled(data + keys));
    if is_free_requested {
        stats.insert("totalFreeStorageSize", 0.0);
    }
    stats.insert("scaleFactor", scale as f64);
    reply(stats)
}

pub(crate) const DATA_SIZE: Command = Command {
    name: "dataSize",
    idl: "dataSize",
    fields: &[
        field("estimate", Kind::Any),
        field("keyPattern", Kind::Unsupported),
        field("min", Kind::Unsupported),
        field("max", Kind::Unsupported),
        field("maxSize", Kind::Unsupported),
        field("maxObjects", Kind::Unsupported),
    ],
    target: CommandTarget::Database,
    transaction: InTransaction::Refused,
    retryable: false,
    writes: false,
    run: data_size,
    explain: None,
};

fn data_size(call: &mut Invocation<'_>) -> Result<RawDocumentBuf, ServerError> {
    let target = raw::elements(call.command)
        .next()
        .map_or(RawBsonRef::Null, |(_, value)| value);
    let name = crate::command::args::collection(DATA_SIZE.name, target)?;
    let Some(namespace) = Namespace::split(name) else {
        return Err(ServerError::new(
            Code::INVALID_NAMESPACE,
            format!("Invalid namespace specified '{name}'"),
        ));
    };
    call.check_not_view(&namespace)?;
    let mut fields = Document::new();
    let (mut size, mut count) = (0, 0);
    if let Some(collection) = call.find_collection(&namespace) {
        fields.insert("estimate", call.args.flag("estimate"));
        size = i64::try_from(collection.bytes()).unwrap_or(i64::MAX);
        count = i64::try_from(collection.len()).unwrap_or(i64::MAX);
    }
    fields.insert("size", number(size));
    fields.insert("numObjects", number(count));
    fields.insert("millis", 0);
    reply(fields)
}
