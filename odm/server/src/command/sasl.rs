//! Authentication: `saslStart`, `saslContinue` and `logout`.

use bson::raw::{RawBsonRef, RawDocument};
use bson::{Binary, Document, doc, spec::BinarySubtype};
use odm_language::error::{Code, ServerError};
use odm_language::value::raw;

use super::{Call, Command};
use crate::client::{Client, Conversation};
use crate::scram::Opening;
use crate::state::ServerState;

pub(super) const SASL_START: Command = Command {
    name: "saslStart",
    run: |call| start(call.state, call.client, call.command),
    is_open: true,
};

pub(super) const SASL_CONTINUE: Command = Command {
    name: "saslContinue",
    run: go_on,
    is_open: true,
};

pub(super) const LOGOUT: Command = Command {
    name: "logout",
    run: |call| {
        call.client.user = None;
        Ok(doc! {})
    },
    is_open: false,
};

/// The only supported mechanism.
pub(super) const MECHANISM: &str = "SCRAM-SHA-256";

/// The id of every conversation: a connection has only one at a time.
const CONVERSATION: i32 = 1;

/// Begins a conversation; `hello` may carry the same fields.
pub(super) fn start(
    state: &ServerState,
    client: &mut Client,
    command: &RawDocument,
) -> Result<Document, ServerError> {
    client.conversation = None;
    let mechanism = match raw::get(command, "mechanism") {
        Some(RawBsonRef::String(mechanism)) => mechanism,
        Some(other) => {
            return Err(ServerError::new(
                Code::TYPE_MISMATCH,
                format!(
                    "BSON field 'saslStart.mechanism' is the wrong type '{}', expected type 'string'",
                    odm_language::value::bson_type::alias(other.element_type())
                ),
            ));
        }
        None => return Err(missing("saslStart", "mechanism")),
    };
    let payload = payload(command, "saslStart")?;
    let database = raw::get(command, "db").or_else(|| raw::get(command, "$db"));
    match mechanism {
        MECHANISM => {}
        "SCRAM-SHA-1" => return Err(refused()),
        other => {
            return Err(ServerError::new(
                Code::MECHANISM_UNAVAILABLE,
                format!("Received authentication for mechanism {other} which is not enabled"),
            ));
        }
    }
    let opening = Opening::parse(&payload).map_err(|_| refused())?;
    let credentials = state
        .options
        .users
        .get(&opening.user)
        .filter(|_| database == Some(RawBsonRef::String("admin")))
        .ok_or_else(refused)?;
    let (exchange, answer) = opening.answer(credentials);
    let options = raw::get(command, "options").and_then(RawBsonRef::as_document);
    let skips = options.and_then(|options| raw::get(options, "skipEmptyExchange"))
        == Some(RawBsonRef::Boolean(true));
    client.conversation = Some(Conversation::Proving {
        exchange,
        user: opening.user,
        skips,
    });
    Ok(step(false, answer))
}

fn go_on(call: &mut Call<'_>) -> Result<Document, ServerError> {
    let protocol = |message: &str| Err(ServerError::new(Code::PROTOCOL_ERROR, message));
    let id = raw::get(call.command, "conversationId");
    let Some(id) = id else {
        return Err(missing("saslContinue", "conversationId"));
    };
    let payload = payload(call.command, "saslContinue")?;
    let Some(conversation) = call.client.conversation.take() else {
        return protocol("No SASL session state found");
    };
    if id != RawBsonRef::Int32(CONVERSATION) {
        return protocol("sasl: Mismatched conversation id");
    }
    match conversation {
        Conversation::Proving {
            exchange,
            user,
            skips,
        } => {
            let answer = exchange.finish(&payload).map_err(|_| refused())?;
            if skips {
                call.client.user = Some(user);
            } else {
                call.client.conversation = Some(Conversation::Proved { user });
            }
            Ok(step(skips, answer))
        }
        Conversation::Proved { user } => {
            call.client.user = Some(user);
            Ok(step(true, String::new()))
        }
    }
}

/// The client's payload, as bytes or in Base64.
fn payload(command: &RawDocument, name: &str) -> Result<Vec<u8>, ServerError> {
    use base64::Engine as _;
    match raw::get(command, "payload") {
        Some(RawBsonRef::Binary(payload)) => Ok(payload.bytes.to_vec()),
        Some(RawBsonRef::String(payload)) => base64::engine::general_purpose::STANDARD
            .decode(payload)
            .map_err(|_| refused()),
        Some(other) => Err(ServerError::new(
            Code::BAD_VALUE,
            format!(
                "Invalid SASLPayload type. Expected Base64 or BinData, got: {}",
                odm_language::value::bson_type::alias(other.element_type())
            ),
        )),
        None => Err(missing(name, "payload")),
    }
}

fn step(done: bool, payload: String) -> Document {
    let payload = Binary {
        subtype: BinarySubtype::Generic,
        bytes: payload.into_bytes(),
    };
    doc! { "conversationId": CONVERSATION, "done": done, "payload": payload }
}

fn missing(command: &str, field: &str) -> ServerError {
    ServerError::new(
        Code::location(40414),
        format!("BSON field '{command}.{field}' is missing but a required field"),
    )
}

/// One error for all failures: it does not reveal whether the user exists.
fn refused() -> ServerError {
    ServerError::new(Code::AUTHENTICATION_FAILED, "Authentication failed.")
}
