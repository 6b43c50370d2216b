//! The stages `$listLocalSessions` and `$listSessions`: the known sessions.
//!
//! Sessions do not record their user, so all are listed under the empty user, as in MongoDB without authentication.

use bson::raw::{RawBsonRef, RawDocumentBuf};
use bson::spec::BinarySubtype;
use bson::{Binary, DateTime, Document, doc};
use odm_engine::NOBODY;
use odm_engine::args;
use odm_language::error::{Code, ServerError};
use odm_language::value::{bson_type, raw};

use super::Call;
use super::stage;

/// The documents of both stages.
pub(super) fn documents(call: &mut Call<'_>) -> Result<Vec<Document>, ServerError> {
    let (name, options) = stage::first(call.command).unwrap_or(("", RawBsonRef::Null));
    let shows_any = options_of(name, options)?;
    let text = |name: &str| raw::get(call.command, name).and_then(RawBsonRef::as_str);
    let database = text("$db").unwrap_or_default();
    let misplaced = |message: &str| Err(ServerError::new(Code::INVALID_NAMESPACE, message));
    match (name, text(call.name)) {
        ("$listSessions", Some("system.sessions")) if database == "config" => {}
        ("$listSessions", _) => {
            return misplaced("$listSessions may only be run against config.system.sessions");
        }
        (_, Some(_)) => {
            return misplaced(
                "$listLocalSessions must be run against the database with {aggregate: 1}, not a collection",
            );
        }
        (_, None) => {}
    }
    let sessions = if shows_any {
        call.state.service.sessions()
    } else {
        Vec::new()
    };
    Ok(sessions
        .iter()
        .filter_map(|(id, used)| show(id, *used))
        .collect())
}

/// Whether the options match any sessions. A list of users matches none.
fn options_of(stage: &str, options: RawBsonRef<'_>) -> Result<bool, ServerError> {
    let RawBsonRef::Document(options) = options else {
        return Err(ServerError::new(
            Code::TYPE_MISMATCH,
            format!(
                "{stage} options must be specified in an object, but found: {}",
                bson_type::alias(options.element_type())
            ),
        ));
    };
    let mut shows_any = true;
    for (name, value) in raw::elements(options) {
        match (name, value) {
            ("allUsers", RawBsonRef::Boolean(_)) => {}
            ("allUsers", other) => {
                return Err(args::wrong_type(
                    &format!("{stage}.allUsers"),
                    other,
                    "type 'bool'",
                ));
            }
            ("users", RawBsonRef::Array(users)) => {
                shows_any &= raw::values(users).next().is_none();
            }
            ("users", other) => {
                return Err(args::wrong_type(
                    &format!("{stage}.users"),
                    other,
                    "type 'array'",
                ));
            }
            _ => return Err(args::unknown(stage, name)),
        }
    }
    Ok(shows_any)
}

fn show(id: &[u8], used: DateTime) -> Option<Document> {
    let id = RawDocumentBuf::from_bytes(id.to_vec()).ok()?;
    let RawBsonRef::Binary(uuid) = raw::get(&id, "id")? else {
        return None;
    };
    let nobody = Binary {
        subtype: BinarySubtype::Generic,
        bytes: NOBODY.to_vec(),
    };
    let whose = match raw::get(&id, "uid") {
        Some(RawBsonRef::Binary(given)) => given.to_binary(),
        _ => nobody,
    };
    Some(doc! { "_id": { "id": uuid.to_binary(), "uid": whose }, "lastUse": used })
}
