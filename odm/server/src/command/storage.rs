//! The commands about data files, of which the engine has none: `fsync`, `compact` and `reIndex`.

use bson::raw::RawBsonRef;
use bson::{Document, doc};
use odm_engine::Namespace;
use odm_engine::args;
use odm_language::error::{Code, ServerError};
use odm_language::value::{bson_type, raw};

use super::{Call, Command, only_admin};

/// Succeeds, as there is nothing to flush. The option `lock` is not supported.
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

/// Frees nothing: data in memory needs no compaction.
pub(super) const COMPACT: Command = Command {
    name: "compact",
    run: compact,
    is_open: false,
};

fn compact(call: &mut Call<'_>) -> Result<Document, ServerError> {
    let text = |name: &str| raw::get(call.command, name).and_then(RawBsonRef::as_str);
    let refuse = |code, message: String| Err(ServerError::new(code, message));
    let database = text("$db").unwrap_or_default();
    let Some(name) = text(call.name) else {
        let value = raw::get(call.command, call.name).unwrap_or(RawBsonRef::Null);
        return refuse(
            Code::INVALID_NAMESPACE,
            format!(
                "collection name has invalid type {}",
                bson_type::alias(value.element_type())
            ),
        );
    };
    if name.is_empty() {
        return refuse(
            Code::INVALID_NAMESPACE,
            format!("Invalid namespace specified '{database}.'"),
        );
    }
    if !raw::get(call.command, "force").is_some_and(args::truthy) {
        return refuse(
            Code::COMMAND_FAILED,
            "will not run compact on an active replica set primary as this is a slow blocking operation. use force:true \
             to force"
                .to_owned(),
        );
    }
    let (service, namespace) = (&call.state.service, Namespace::new(database, name));
    if service.has_view(&namespace) {
        return refuse(
            Code::COMMAND_NOT_SUPPORTED_ON_VIEW,
            "can't compact a view".to_owned(),
        );
    }
    if !service.has(&namespace) {
        return refuse(
            Code::NAMESPACE_NOT_FOUND,
            "collection does not exist".to_owned(),
        );
    }
    Ok(doc! { "bytesFreed": 0 })
}

/// MongoDB refuses it on members of a replica set.
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
                bson_type::alias(value.element_type())
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
