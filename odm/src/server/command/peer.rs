//! `whatsmyuri` and `connectionStatus`: who is connected.

use bson::doc;
use bson::raw::RawBsonRef;

use super::Command;
use crate::value::raw;

pub(super) const WHATS_MY_URI: Command = Command {
    name: "whatsmyuri",
    run: |call| Ok(doc! { "you": call.peer.address.to_string() }),
};

pub(super) const CONNECTION_STATUS: Command = Command {
    name: "connectionStatus",
    run: |call| {
        let mut info = doc! { "authenticatedUsers": [], "authenticatedUserRoles": [] };
        if raw::get(call.command, "showPrivileges") == Some(RawBsonRef::Boolean(true)) {
            info.insert("authenticatedUserPrivileges", bson::Bson::Array(Vec::new()));
        }
        Ok(doc! { "authInfo": info })
    },
};
