//! `$clusterTime`: clients tell each server the latest time that any has told them.

use bson::Timestamp;
use bson::raw::{RawBsonRef, RawDocument};
use odm_language::error::{Code, ServerError};
use odm_language::value::{kind, raw};

use crate::host::Host;

/// How far ahead of the clock on the wall a time may be, in seconds: a year, as on a server.
const AHEAD: i64 = 31_536_000;

/// The length of a signature. Nothing is signed here, and no signature looked at.
const HASH: usize = 20;

/// Takes over the time that a command tells, if it is later: whoever asks for what was written until then is answered.
pub(crate) fn hear(host: &Host, command: &RawDocument) -> Result<(), ServerError> {
    let Some(told) = raw::get(command, "$clusterTime") else {
        return Ok(());
    };
    let time = parse(told)?;
    let now = host.service.now().timestamp_millis() / 1000;
    if i64::from(time.time) > now.saturating_add(AHEAD) {
        return Err(ServerError::new(
            Code::CLUSTER_TIME_FAILS_RATE_LIMITER,
            format!(
                "New $clusterTime, {}, is too far from this node's wall clock time, {now}.",
                time.time
            ),
        ));
    }
    host.service.advance(time);
    Ok(())
}

fn parse(told: RawBsonRef<'_>) -> Result<Timestamp, ServerError> {
    let RawBsonRef::Document(told) = told else {
        return Err(ServerError::new(
            Code::location(10065),
            "invalid parameter: expected an object ($clusterTime)",
        ));
    };
    let time = match field(told, "clusterTime")? {
        RawBsonRef::Timestamp(time) => time,
        other => return Err(wrong_type("clusterTime", "timestamp", other)),
    };
    let signature = match field(told, "signature")? {
        RawBsonRef::Document(signature) => signature,
        other => return Err(wrong_type("signature", "object", other)),
    };
    match field(signature, "hash")? {
        RawBsonRef::Binary(hash) if hash.bytes.len() == HASH => Ok(time),
        RawBsonRef::Binary(hash) => Err(ServerError::new(
            Code::UNSUPPORTED_FORMAT,
            format!("Unsupported SHA1Block hash length: {}", hash.bytes.len()),
        )),
        other => Err(wrong_type("hash", "binData", other)),
    }
}

fn field<'a>(document: &'a RawDocument, name: &str) -> Result<RawBsonRef<'a>, ServerError> {
    raw::get(document, name).ok_or_else(|| {
        ServerError::new(
            Code::NO_SUCH_KEY,
            format!("Missing expected field \"{name}\""),
        )
    })
}

fn wrong_type(name: &str, expected: &str, found: RawBsonRef<'_>) -> ServerError {
    ServerError::new(
        Code::TYPE_MISMATCH,
        format!(
            "\"{name}\" had the wrong type. Expected {expected}, found {}",
            kind::alias(found.element_type())
        ),
    )
}
