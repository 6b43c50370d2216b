//! `collStats`.

use bson::raw::RawDocumentBuf;
use bson::{Bson, Document, doc};

use crate::engine::command::args::{Kind, field};
use crate::engine::command::call::Call;
use crate::engine::command::reply::reply;
use crate::engine::command::table::{Command, InTransaction, Target};
use crate::error::{Code, ServerError};

pub(crate) const COLL_STATS: Command = Command {
    name: "collStats",
    idl: "collStats",
    fields: &[field("scale", Kind::SafeInt)],
    target: Target::Collection,
    transaction: InTransaction::Refused,
    retryable: false,
    writes: false,
    run: coll_stats,
};

fn coll_stats(call: &mut Call<'_>) -> Result<RawDocumentBuf, ServerError> {
    let namespace = call.namespace();
    let scale = call.args.int("scale").unwrap_or(1);
    if scale < 1 {
        return Err(ServerError::new(
            Code::location(51024),
            format!("BSON field 'scale' value must be >= 1, actual value '{scale}'"),
        ));
    }
    let int = |value: usize| number(i64::try_from(value).unwrap_or(i64::MAX));
    let mut fields = doc! { "ns": namespace.to_string() };
    match call.find_collection(&namespace) {
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
                if let Some(max) = capped.max {
                    fields.insert("max", whole(max));
                }
                fields.insert("maxSize", whole(capped.size));
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
    reply(fields)
}

fn number(value: i64) -> Bson {
    i32::try_from(value).map_or(Bson::Int64(value), Bson::Int32)
}
