//! `fsync` and `reIndex`: what is about files, of which there are none.

use bson::raw::RawBsonRef;
use bson::{Document, doc};

use super::{Call, Command, only_admin};
use crate::engine::command::args;
use crate::error::{Code, ServerError};
use crate::value::{kind, raw};

/// There is nothing to write to a disk. Writes are not held up: whoever asks for that is refused.
pub(super) const FSYNC: Command = Command {
    name: "fsync",
    run: |call| {
        only_admin(call)?;
        if raw::get(call.command, "lock").is_some_and(args::truthy) {
            return Err(args::unsupported("to lock against writes: 'fsync.lock'"));
        }
        Ok(doc! { "numFiles": 0 })
    },
    is_open: false,
};

pub(super) const FSYNC_UNLOCK: Command = Command {
    name: "fsyncUnlock",
    run: |call| {
        only_admin(call)?;
        Err(ServerError::new(
            Code::ILLEGAL_OPERATION,
            "fsyncUnlock called when not locked",
        ))
    },
    is_open: false,
};

/// No member of a replica set does it.
pub(super) const RE_INDEX: Command = Command {
    name: "reIndex",
    run: re_index,
    is_open: false,
};

fn re_index(call: &mut Call<'_>) -> Result<Document, ServerError> {
    let text = |name: &str| raw::get(call.command, name).and_then(RawBsonRef::as_str);
    let Some(collection) = text(call.name) else {
        let value = raw::get(call.command, call.name).unwrap_or(RawBsonRef::Null);
        return Err(ServerError::new(
            Code::INVALID_NAMESPACE,
            format!(
                "collection name has invalid type {}",
                kind::alias(value.element_type())
            ),
        ));
    };
    let database = text("$db").unwrap_or_default();
    Err(ServerError::new(
        Code::ILLEGAL_OPERATION,
        format!(
            "reIndex is only allowed on a standalone mongod instance. Cannot reIndex '{database}.{collection}' while \
             replication is active"
        ),
    ))
}
