//! `whatsmyuri` and `connectionStatus`: the client's address and user.

use bson::doc;
use bson::raw::RawBsonRef;
use odm_language::value::raw;

use super::Command;

pub(super) const WHATS_MY_URI: Command = Command {
    name: "whatsmyuri",
    run: |call| Ok(doc! { "you": call.client.address.to_string() }),
    is_open: true,
};

pub(super) const CONNECTION_STATUS: Command = Command {
    name: "connectionStatus",
    run: |call| {
        let user = call.client.user.iter();
        let users: Vec<_> = user
            .map(|user| doc! { "user": user, "db": "admin" })
            .collect();
        let roles: Vec<_> = users
            .iter()
            .map(|_| doc! { "role": "root", "db": "admin" })
            .collect();
        let mut info = doc! { "authenticatedUsers": users, "authenticatedUserRoles": roles };
        if raw::get(call.command, "showPrivileges") == Some(RawBsonRef::Boolean(true)) {
            info.insert("authenticatedUserPrivileges", bson::Bson::Array(Vec::new()));
        }
        Ok(doc! { "authInfo": info })
    },
    is_open: true,
};
