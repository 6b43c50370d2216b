//! `distinct`.

use std::collections::BTreeMap;

use bson::raw::{RawArrayBuf, RawBson, RawBsonRef, RawDocumentBuf, cstr};

use crate::engine::catalog::collection::document;
use crate::engine::command::args::{Field, Kind, field, required};
use crate::engine::command::call::Call;
use crate::engine::command::table::{Command, InTransaction, Target};
use crate::engine::cursor::query::Query;
use crate::engine::cursor::sort::check_path;
use crate::error::{Code, ServerError};
use crate::value::key;
use crate::value::path::Path;
use crate::value::raw;

pub(crate) const FIELDS: &[Field] = &[
    required("key", Kind::Str),
    field("query", Kind::Object),
    field("collation", Kind::Object),
];

pub(crate) const DISTINCT: Command = Command {
    name: "distinct",
    idl: "distinct",
    fields: FIELDS,
    target: Target::Collection,
    transaction: InTransaction::Allowed,
    retryable: false,
    writes: false,
    run: distinct,
};

/// The most that the values may take in the reply.
const LARGEST: usize = 16 * 1024 * 1024;

fn distinct(call: &mut Call<'_>) -> Result<RawDocumentBuf, ServerError> {
    let namespace = call.namespace();
    namespace.check_read()?;
    let collection = call.find_collection(&namespace);
    let key = call.args.str("key").unwrap_or_default();
    if key.contains('\0') {
        return Err(ServerError::new(
            Code::location(31032),
            "Key field cannot contain an embedded null byte",
        ));
    }
    check_path(key)?;
    let path = Path::new(key);
    let query = Query {
        filter: call.args.document("query"),
        sort: None,
        hint: None,
        skip: 0,
        limit: None,
        globals: call.globals(call.args.document("collation"), None, collection.as_deref())?,
    };
    let prepared = query.prepare(collection.as_deref())?;
    // In the order of the values, as on the server.
    let mut values = BTreeMap::new();
    if let Some(collection) = collection {
        let collation = query.globals.collator();
        let mut size = 0;
        let mut add = |value: RawBsonRef<'_>| {
            let key = key::of(value, collation);
            size += key.len();
            values.entry(key).or_insert_with(|| RawBson::from(value));
            size
        };
        for row in prepared.run(collection, call.deadline())? {
            let (_, bytes) = row.map_err(|e| e.within("Executor error during distinct command"))?;
            let Some(document) = document(&bytes) else {
                continue;
            };
            for value in path.get_all(document) {
                let size = match value {
                    RawBsonRef::Array(array) => {
                        raw::values(array).map(&mut add).last().unwrap_or(0)
                    }
                    value => add(value),
                };
                if size > LARGEST {
                    return Err(ServerError::new(
                        Code::location(17217),
                        "distinct too big, 16mb cap",
                    ));
                }
            }
        }
    }
    let mut reply = RawDocumentBuf::new();
    reply.append(
        cstr!("values"),
        values.into_values().collect::<RawArrayBuf>(),
    );
    reply.append(cstr!("ok"), 1.0);
    Ok(reply)
}
