//! The handshake: `hello`, and its older name `isMaster`.

use std::time::Duration;

use bson::raw::{RawBsonRef, RawDocumentBuf};
use bson::{Bson, DateTime, Document, doc, oid::ObjectId, rawdoc};
use odm_engine::args::{self, Args, Kind};
use odm_language::error::{Code, ServerError};
use odm_language::value::raw;

use super::{Call, Command, sasl};
use crate::state::ServerState;
use crate::wire::{Compressor, MAX_MESSAGE};

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

/// The topology counter: the only member never changes its state.
const COUNTER: i64 = 0;

/// The largest client metadata, in bytes.
const LONGEST_METADATA: usize = 1024;

/// The election term of the only member.
pub(super) const TERM: i64 = 1;

/// The `topologyVersion` of this process.
pub(crate) fn topology_version(state: &ServerState) -> RawDocumentBuf {
    rawdoc! { "processId": state.process, "counter": COUNTER }
}

fn hello(call: &mut Call<'_>, primary: &str) -> Result<Document, ServerError> {
    remember_client(call)?;
    agree_on_compressors(call);
    let speculation = authenticate(call);
    let mechanisms = mechanisms(call)?;
    await_change(call)?;
    let state = call.state;
    let address = state.address.to_string();
    let last = state.service.operation_time();
    let optime = doc! { "ts": last, "t": TERM };
    let written = DateTime::from_millis(i64::from(last.time) * 1000);
    let mut fields = Document::new();
    if raw::get(call.command, "helloOk") == Some(RawBsonRef::Boolean(true)) {
        fields.insert("helloOk", true);
    }
    fields.extend(doc! {
        "topologyVersion": { "processId": state.process, "counter": COUNTER },
        "hosts": [&address],
        "setName": &state.options.replica_set,
        "setVersion": 1,
        primary: true,
        "secondary": false,
        "primary": &address,
        "me": &address,
        // The form of the id of a first election.
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
        "localTime": state.service.now(),
        "logicalSessionTimeoutMinutes": 30,
        "connectionId": i32::try_from(call.client.id).unwrap_or(i32::MAX),
        "minWireVersion": 0,
        "maxWireVersion": state.service.version().wire(),
        "readOnly": false,
    });
    let names = call.client.compressors.iter();
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

/// Begins speculative authentication, if the client requests it. Errors are ignored: the client then sends `saslStart`,
/// which reports them.
fn authenticate(call: &mut Call<'_>) -> Option<Document> {
    let Some(RawBsonRef::Document(start)) = raw::get(call.command, "speculativeAuthenticate")
    else {
        return None;
    };
    sasl::start(call.state, call.client, start).ok()
}

/// The authentication mechanisms of the user in `saslSupportedMechs`, which is named `database.user`.
fn mechanisms(call: &Call<'_>) -> Result<Option<Vec<Bson>>, ServerError> {
    match raw::get(call.command, "saslSupportedMechs") {
        None => Ok(None),
        Some(RawBsonRef::String(name)) => {
            let user = name.strip_prefix("admin.");
            let known = user.is_some_and(|user| call.state.options.users.contains_key(user));
            Ok(known.then(|| vec![sasl::MECHANISM.into()]))
        }
        Some(other) => Err(ServerError::new(
            Code::TYPE_MISMATCH,
            format!(
                "BSON field 'hello.saslSupportedMechs' is the wrong type '{}', expected types '[string, object']",
                odm_language::value::bson_type::alias(other.element_type())
            ),
        )),
    }
}

/// Keeps the client metadata, which a client may send only in its first `hello`.
fn remember_client(call: &mut Call<'_>) -> Result<(), ServerError> {
    let is_first = !std::mem::replace(&mut call.client.greeted, true);
    let Some(RawBsonRef::Document(client)) = raw::get(call.command, "client") else {
        return Ok(());
    };
    if !is_first {
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
    call.client.metadata = Some(client.to_owned());
    Ok(())
}

fn agree_on_compressors(call: &mut Call<'_>) {
    let Some(RawBsonRef::Array(names)) = raw::get(call.command, "compression") else {
        return;
    };
    let compressors = &mut call.client.compressors;
    compressors.clear();
    for name in raw::values(names).filter_map(|name| Compressor::of_name(name.as_str()?)) {
        if !compressors.contains(&name) {
            compressors.push(name);
        }
    }
}

/// A client that sends the current `topologyVersion` waits for a change, until its time is up or the server stops.
fn await_change(call: &Call<'_>) -> Result<(), ServerError> {
    let given = |name| {
        let value = raw::get(call.command, name);
        value.filter(|value| *value != RawBsonRef::Null)
    };
    let invalid = |code, message: String| Err(ServerError::new(Code::location(code), message));
    let known = given("topologyVersion").map(known_version).transpose()?;
    let millis = match given("maxAwaitTimeMS") {
        None => None,
        Some(value) => Some(args::whole(value).ok_or_else(|| {
            args::wrong_type(
                "hello.maxAwaitTimeMS",
                value,
                "types '[long, int, decimal, double']",
            )
        })?),
    };
    let ((process, counter), millis) = match (known, millis) {
        (Some(known), Some(millis)) => (known, millis),
        (None, None) => return Ok(()),
        (Some(_), None) => {
            let why = "A request with a 'topologyVersion' must include 'maxAwaitTimeMS'";
            return invalid(31368, why.to_owned());
        }
        (None, Some(_)) => {
            let why = "A request with 'maxAwaitTimeMS' must include a 'topologyVersion'";
            return invalid(31368, why.to_owned());
        }
    };
    let Ok(limit) = u64::try_from(millis) else {
        return invalid(
            51024,
            format!("BSON field 'maxAwaitTimeMS' value must be >= 0, actual value '{millis}'"),
        );
    };
    if counter < 0 {
        let why = "topologyVersion must have a non-negative counter";
        return invalid(31372, why.to_owned());
    }
    if process != call.state.process {
        return Ok(());
    }
    if counter > COUNTER {
        return invalid(
            31382,
            format!(
                "Received a topology version with counter: {counter} which is greater than the server topology version \
                 counter: {COUNTER}"
            ),
        );
    }
    if counter == COUNTER {
        // No client waits for a day.
        let limit = Duration::from_millis(limit).min(Duration::from_secs(24 * 3600));
        call.state
            .wait_with(call.client.id, limit, &call.client.killed);
    }
    Ok(())
}

/// The process and the counter of a `topologyVersion`.
fn known_version(value: RawBsonRef<'_>) -> Result<(ObjectId, i64), ServerError> {
    let field = |name: &str| format!("hello.topologyVersion{name}");
    let RawBsonRef::Document(version) = value else {
        return Err(args::wrong_type(&field(""), value, "type 'object'"));
    };
    let fields = [
        args::required("processId", Kind::Any),
        args::required("counter", Kind::Any),
    ];
    let fields = Args::of_statement(version, &field(""), &fields)?;
    let process = match fields.get("processId") {
        Some(RawBsonRef::ObjectId(process)) => process,
        other => {
            let found = other.unwrap_or(RawBsonRef::Null);
            let expected = "type 'objectId'";
            return Err(args::wrong_type(&field(".processId"), found, expected));
        }
    };
    match fields.get("counter") {
        Some(RawBsonRef::Int64(counter)) => Ok((process, counter)),
        other => {
            let found = other.unwrap_or(RawBsonRef::Null);
            Err(args::wrong_type(&field(".counter"), found, "type 'long'"))
        }
    }
}
