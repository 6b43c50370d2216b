//! The stages `$listLocalSessions` and `$listSessions`: the sessions that are remembered.
//!
//! Nothing is known of whose they are but that they are nobody's: a server has them all under one user, too, where it asks
//! nobody who he is.

use bson::raw::{RawArrayBuf, RawBsonRef, RawDocumentBuf};
use bson::spec::BinarySubtype;
use bson::{Binary, DateTime, Document, doc, rawdoc};

use super::scratch::Scratch;
use super::stage;
use super::{Call, Command};
use crate::engine::command::args;
use crate::engine::txn::lsid::NOBODY;
use crate::error::{Code, ServerError};
use crate::value::{kind, raw};

/// An `aggregate` that begins with sessions.
pub(super) const AGGREGATE: Command = Command {
    name: "aggregate",
    run: aggregate,
    is_open: false,
};

fn aggregate(call: &mut Call<'_>) -> Result<Document, ServerError> {
    stage::admit(call)?;
    let (name, options) = stage::first(call.command).unwrap_or(("", RawBsonRef::Null));
    let shows_any = options_of(name, options)?;
    let text = |name: &str| raw::get(call.command, name).and_then(RawBsonRef::as_str);
    let database = text("$db").unwrap_or_default();
    let misplaced = |message: &str| Err(ServerError::new(Code::INVALID_NAMESPACE, message));
    let collection = match (name, text(call.name)) {
        ("$listSessions", Some("system.sessions")) if database == "config" => "system.sessions",
        ("$listSessions", _) => {
            return misplaced("$listSessions may only be run against config.system.sessions");
        }
        (_, Some(_)) => {
            return misplaced(
                "$listLocalSessions must be run against the database with {aggregate: 1}, not a collection",
            );
        }
        (_, None) => "$cmd.aggregate",
    };
    let sessions = if shows_any {
        call.host.memory.sessions()
    } else {
        Vec::new()
    };
    let shown: Vec<Document> = sessions
        .iter()
        .filter_map(|(id, used)| show(id, *used))
        .collect();
    let mut stages = RawArrayBuf::new();
    // The ids of documents are documents here: they stand in a field of another name meanwhile.
    stages.push(rawdoc! { "$replaceWith": "$it" });
    if let Some(RawBsonRef::Array(given)) = raw::get(call.command, "pipeline") {
        raw::values(given)
            .skip(1)
            .for_each(|stage| stages.push(stage));
    }
    let documents: Vec<Document> = shown.into_iter().map(|it| doc! { "it": it }).collect();
    let batch = Scratch::of(&documents)?.aggregate(stages)?;
    let namespace = format!("{database}.{collection}");
    Ok(doc! { "cursor": { "id": 0_i64, "ns": namespace, "firstBatch": batch } })
}

/// Whether the options leave any: those of users that there are not, are none.
fn options_of(stage: &str, options: RawBsonRef<'_>) -> Result<bool, ServerError> {
    let RawBsonRef::Document(options) = options else {
        return Err(ServerError::new(
            Code::TYPE_MISMATCH,
            format!(
                "{stage} options must be specified in an object, but found: {}",
                kind::alias(options.element_type())
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
