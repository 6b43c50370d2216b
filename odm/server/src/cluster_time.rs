//! `$clusterTime`: clients send each server the latest cluster time that they have received.

use bson::Timestamp;
use bson::raw::{RawBsonRef, RawDocument};
use odm_language::error::{Code, ServerError};
use odm_language::value::{bson_type, raw};

use crate::state::ServerState;

/// How far a cluster time may be ahead of the wall clock, in seconds: a year, as in MongoDB.
const AHEAD: i64 = 31_536_000;

/// The length of a signature. Signatures are neither made nor checked.
const HASH: usize = 20;

/// Advances the cluster time to a command's `$clusterTime`, so that reads after that time can be answered.
pub(crate) fn hear(state: &ServerState, command: &RawDocument) -> Result<(), ServerError> {
    let Some(sent) = raw::get(command, "$clusterTime") else {
        return Ok(());
    };
    let time = parse(sent)?;
    let now = state.service.now().timestamp_millis() / 1000;
    if i64::from(time.time) > now.saturating_add(AHEAD) {
        return Err(ServerError::new(
            Code::CLUSTER_TIME_FAILS_RATE_LIMITER,
            format!(
                "New $clusterTime, {}, is too far from this node's wall clock time, {now}.",
                time.time
            ),
        ));
    }
    state.service.advance(time);
    Ok(())
}

fn parse(sent: RawBsonRef<'_>) -> Result<Timestamp, ServerError> {
    let RawBsonRef::Document(sent) = sent else {
        return Err(ServerError::new(
            Code::location(10065),
            "invalid parameter: expected an object ($clusterTime)",
        ));
    };
    let time = match field(sent, "clusterTime")? {
        RawBsonRef::Timestamp(time) => time,
        other => return Err(wrong_type("clusterTime", "timestamp", other)),
    };
    let signature = match field(sent, "signature")? {
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
            bson_type::alias(found.element_type())
        ),
    )
}
