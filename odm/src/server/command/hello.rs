//! The handshake: `hello`, and `isMaster` as it was called.

use std::time::Duration;

use bson::raw::RawBsonRef;
use bson::{Bson, DateTime, Document, doc, oid::ObjectId};

use super::{Call, Command, sasl};
use crate::error::{Code, ServerError};
use crate::server::wire::{Compressor, MAX_MESSAGE};
use crate::value::raw;

pub(super) const HELLO: Command = Command {
    name: "hello",
    run: |call| hello(call, "isWritablePrimary"),
    is_open: true,
};

pub(super) const IS_MASTER: Command = Command {
    name: "isMaster",
    run: |call| hello(call, "ismaster"),
    is_open: true,
};

pub(super) const ISMASTER: Command = Command {
    name: "ismaster",
    ..IS_MASTER
};

/// How often the one member has changed its state: never.
const COUNTER: i64 = 0;

/// How much a client may say of itself.
const LONGEST_METADATA: usize = 1024;

/// The term that the one member was elected in.
pub(super) const TERM: i64 = 1;

fn hello(call: &mut Call<'_>, primary: &str) -> Result<Document, ServerError> {
    remember_client(call)?;
    agree_on_compressors(call);
    let speculation = authenticate(call);
    let mechanisms = mechanisms(call)?;
    await_change(call)?;
    let host = call.host;
    let address = host.address.to_string();
    let last = host.memory.operation_time();
    let optime = doc! { "ts": last, "t": TERM };
    let written = DateTime::from_millis(i64::from(last.time) * 1000);
    let mut fields = Document::new();
    if raw::get(call.command, "helloOk") == Some(RawBsonRef::Boolean(true)) {
        fields.insert("helloOk", true);
    }
    fields.extend(doc! {
        "topologyVersion": { "processId": host.process, "counter": COUNTER },
        "hosts": [&address],
        "setName": &host.options.replica_set,
        "setVersion": 1,
        primary: true,
        "secondary": false,
        "primary": &address,
        "me": &address,
        // The form that a first election gives.
        "electionId": ObjectId::from_bytes([0x7f, 0xff, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 0, 1]),
        "lastWrite": {
            "opTime": optime.clone(),
            "lastWriteDate": written,
            "majorityOpTime": optime,
            "majorityWriteDate": written,
        },
        "maxBsonObjectSize": 16 * 1024 * 1024,
        "maxMessageSizeBytes": i32::try_from(MAX_MESSAGE).unwrap_or(i32::MAX),
        "maxWriteBatchSize": 100_000,
        "localTime": host.memory.now(),
        "logicalSessionTimeoutMinutes": 30,
        "connectionId": i32::try_from(call.peer.id).unwrap_or(i32::MAX),
        "minWireVersion": 0,
        "maxWireVersion": 17,
        "readOnly": false,
    });
    let names = call.peer.compressors.iter();
    let names: Vec<Bson> = names.map(|agreed| agreed.name().into()).collect();
    if !names.is_empty() {
        fields.insert("compression", names);
    }
    if let Some(mechanisms) = mechanisms {
        fields.insert("saslSupportedMechs", mechanisms);
    }
    if let Some(speculation) = speculation {
        fields.insert("speculativeAuthenticate", speculation);
    }
    Ok(fields)
}

/// Begins to authenticate the client in the same round trip, where it asks for that. What fails, fails when it is asked
/// again.
fn authenticate(call: &mut Call<'_>) -> Option<Document> {
    let Some(RawBsonRef::Document(start)) = raw::get(call.command, "speculativeAuthenticate")
    else {
        return None;
    };
    sasl::start(call.host, call.peer, start).ok()
}

/// The mechanisms of a user that the client names with its database.
fn mechanisms(call: &Call<'_>) -> Result<Option<Vec<Bson>>, ServerError> {
    match raw::get(call.command, "saslSupportedMechs") {
        None => Ok(None),
        Some(RawBsonRef::String(name)) => {
            let user = name.strip_prefix("admin.");
            let known = user.is_some_and(|user| call.host.options.users.contains_key(user));
            Ok(known.then(|| vec![sasl::MECHANISM.into()]))
        }
        Some(other) => Err(ServerError::new(
            Code::TYPE_MISMATCH,
            format!(
                "BSON field 'hello.saslSupportedMechs' is the wrong type '{}', expected types '[string, object']",
                crate::value::kind::alias(other.element_type())
            ),
        )),
    }
}

/// Keeps what a client says of itself, which it may say once.
fn remember_client(call: &mut Call<'_>) -> Result<(), ServerError> {
    let Some(RawBsonRef::Document(client)) = raw::get(call.command, "client") else {
        return Ok(());
    };
    if call.peer.metadata.is_some() {
        return Err(ServerError::new(
            Code::CLIENT_METADATA_CANNOT_BE_MUTATED,
            "The client metadata document may only be sent in the first hello",
        ));
    }
    let length = client.as_bytes().len();
    if length > LONGEST_METADATA {
        return Err(ServerError::new(
            Code::CLIENT_METADATA_DOCUMENT_TOO_LARGE,
            format!(
                "The client metadata document must be less then or equal to {LONGEST_METADATA}bytes"
            ),
        ));
    }
    call.peer.metadata = Some(client.to_owned());
    Ok(())
}

fn agree_on_compressors(call: &mut Call<'_>) {
    let Some(RawBsonRef::Array(names)) = raw::get(call.command, "compression") else {
        return;
    };
    let compressors = &mut call.peer.compressors;
    compressors.clear();
    for name in raw::values(names).filter_map(|name| Compressor::of_name(name.as_str()?)) {
        if !compressors.contains(&name) {
            compressors.push(name);
        }
    }
}

/// A client that knows the state waits for another, which only the end of the server brings.
fn await_change(call: &Call<'_>) -> Result<(), ServerError> {
    let Some(RawBsonRef::Document(known)) = raw::get(call.command, "topologyVersion") else {
        return Ok(());
    };
    let invalid = |message: &str| Err(ServerError::new(Code::BAD_VALUE, message));
    let millis = match raw::get(call.command, "maxAwaitTimeMS") {
        Some(RawBsonRef::Int32(millis)) => i64::from(millis),
        Some(RawBsonRef::Int64(millis)) => millis,
        _ => return invalid("A request with a 'topologyVersion' must include 'maxAwaitTimeMS'"),
    };
    let Ok(millis) = u64::try_from(millis) else {
        return invalid("maxAwaitTimeMS must be a non-negative integer");
    };
    let process = raw::get(known, "processId").and_then(RawBsonRef::as_object_id);
    let counter = raw::get(known, "counter").and_then(RawBsonRef::as_i64);
    if process == Some(call.host.process) && counter == Some(COUNTER) {
        // A day is longer than any client waits.
        let limit = Duration::from_millis(millis).min(Duration::from_secs(24 * 3600));
        call.host.wait_with(call.peer.id, limit, &call.peer.killed);
    }
    Ok(())
}
