//! How commands name sessions: by their ids, and by patterns.

use bson::raw::{RawArray, RawBsonRef, RawDocument};
use bson::{Binary, rawdoc, spec::BinarySubtype};
use odm_language::error::{Code, ServerError};
use odm_language::value::raw;

use crate::command::args::{self, null_list, wrong_type};
use crate::txn::lsid::{NOBODY, digest, id_of, uuid};
use crate::txn::session::SessionId;

/// A session, as a command names it.
#[derive(Debug)]
pub(crate) struct SessionName {
    pub(crate) id: [u8; 16],
    user: Option<[u8; 32]>,
    pub(crate) is_child: bool,
}

impl SessionName {
    pub(crate) fn new(id: [u8; 16]) -> Self {
        Self {
            id,
            user: None,
            is_child: false,
        }
    }

    /// The `lsid` that the session's commands carry.
    pub(crate) fn lsid(&self) -> SessionId {
        let id = Binary {
            subtype: BinarySubtype::Uuid,
            bytes: self.id.to_vec(),
        };
        rawdoc! { "id": id }.into_bytes()
    }

    /// Whether the `lsid` belongs to this session.
    pub(crate) fn is(&self, lsid: &[u8]) -> bool {
        self.user.is_none_or(|user| user == NOBODY) && id_of(lsid) == Some(&self.id)
    }

    fn parse(session: &RawDocument, at: &str) -> Result<Self, ServerError> {
        let (mut id, mut user, mut has_number, mut has_uuid) = (None, None, false, false);
        for (name, value) in raw::elements(session) {
            let field = format!("{at}.{name}");
            match name {
                "id" => id = Some(uuid(value, &field)?),
                "uid" => user = Some(digest(value, &field)?),
                "txnNumber" if matches!(value, RawBsonRef::Int64(_)) => has_number = true,
                "txnNumber" => return Err(wrong_type(&field, value, "type 'long'")),
                "txnUUID" => {
                    uuid(value, &field)?;
                    has_uuid = true;
                }
                _ => return Err(args::unknown(at, name)),
            }
        }
        let id = id.ok_or_else(|| missing(at, "id"))?;
        if has_number && !has_uuid {
            return Err(ServerError::new(
                Code::INVALID_OPTIONS,
                "Cannot specify txnNumber in lsid without specifying txnUUID",
            ));
        }
        Ok(Self {
            id,
            user,
            is_child: has_uuid,
        })
    }
}

/// The sessions that `killAllSessionsByPattern` selects. As in mongod, `users` and `roles` do not affect the selection.
#[derive(Debug)]
pub(crate) struct Pattern {
    session: Option<SessionName>,
    user: Option<[u8; 32]>,
}

impl Pattern {
    pub(crate) fn is_child(&self) -> bool {
        self.session
            .as_ref()
            .is_some_and(|session| session.is_child)
    }

    pub(crate) fn matches(&self, lsid: &[u8]) -> bool {
        match (&self.session, &self.user) {
            (Some(session), _) => session.is(lsid),
            (None, Some(user)) => *user == NOBODY,
            (None, None) => true,
        }
    }

    fn parse(pattern: &RawDocument, at: &str) -> Result<Self, ServerError> {
        let mut parsed = Self {
            session: None,
            user: None,
        };
        for (name, value) in raw::elements(pattern) {
            let field = format!("{at}.{name}");
            match (name, value) {
                ("lsid", RawBsonRef::Document(session)) => {
                    let session = SessionName::parse(session, &field)?;
                    if session.user.is_none() {
                        return Err(missing(&field, "uid"));
                    }
                    parsed.session = Some(session);
                }
                ("lsid", _) => return Err(wrong_type(&field, value, "type 'object'")),
                ("uid", _) => parsed.user = Some(digest(value, &field)?),
                ("users", RawBsonRef::Array(users)) => {
                    pairs(users, &field, "user")?;
                }
                ("roles", RawBsonRef::Array(roles)) => {
                    pairs(roles, &field, "role")?;
                }
                ("users" | "roles", RawBsonRef::Null | RawBsonRef::Undefined) => {
                    return Err(null_list(name));
                }
                ("users" | "roles", _) => return Err(wrong_type(&field, value, "type 'array'")),
                _ => return Err(args::unknown(at, name)),
            }
        }
        Ok(parsed)
    }
}

/// The sessions that a command names by their ids.
pub(crate) fn sessions(
    command: &RawDocument,
    idl: &str,
    list: &str,
) -> Result<Vec<SessionName>, ServerError> {
    let at = format!("{idl}.{list}");
    documents(own_list(command, idl)?, &at)
        .map(|session| SessionName::parse(session?, &at))
        .collect()
}

/// The users and databases that `killAllSessions` names.
pub(crate) fn users(command: &RawDocument) -> Result<Vec<(&str, &str)>, ServerError> {
    let idl = "KillAllSessionsCmd";
    pairs(
        own_list(command, idl)?,
        &format!("{idl}.killAllSessions"),
        "user",
    )
}

/// The patterns of `killAllSessionsByPattern`.
pub(crate) fn patterns(command: &RawDocument) -> Result<Vec<Pattern>, ServerError> {
    let idl = "KillAllSessionsByPatternCmd";
    let at = format!("{idl}.killAllSessionsByPattern");
    documents(own_list(command, idl)?, &at)
        .map(|pattern| Pattern::parse(pattern?, &at))
        .collect()
}

/// The array in the command's first field.
fn own_list<'a>(command: &'a RawDocument, idl: &str) -> Result<&'a RawArray, ServerError> {
    match raw::elements(command).next() {
        Some((_, RawBsonRef::Array(list))) => Ok(list),
        Some((name, RawBsonRef::Null | RawBsonRef::Undefined)) => Err(null_list(name)),
        Some((name, other)) => Err(wrong_type(&format!("{idl}.{name}"), other, "type 'array'")),
        None => Err(missing(idl, idl)),
    }
}

fn documents<'a>(
    list: &'a RawArray,
    at: &str,
) -> impl Iterator<Item = Result<&'a RawDocument, ServerError>> {
    raw::values(list)
        .enumerate()
        .filter_map(move |(index, value)| match value {
            RawBsonRef::Document(document) => Some(Ok(document)),
            RawBsonRef::Null | RawBsonRef::Undefined => None,
            other => Some(Err(wrong_type(
                &format!("{at}.{index}"),
                other,
                "type 'object'",
            ))),
        })
}

/// Pairs of a name and its database.
fn pairs<'a>(
    list: &'a RawArray,
    at: &str,
    first: &str,
) -> Result<Vec<(&'a str, &'a str)>, ServerError> {
    let mut pairs = Vec::new();
    for document in documents(list, at) {
        let (mut name, mut database) = (None, None);
        for (key, value) in raw::elements(document?) {
            match value {
                RawBsonRef::String(text) if key == first => name = Some(text),
                RawBsonRef::String(text) if key == "db" => database = Some(text),
                _ if key == first || key == "db" => {
                    return Err(wrong_type(&format!("{at}.{key}"), value, "type 'string'"));
                }
                _ => return Err(args::unknown(at, key)),
            }
        }
        pairs.push((
            name.ok_or_else(|| missing(at, first))?,
            database.ok_or_else(|| missing(at, "db"))?,
        ));
    }
    Ok(pairs)
}

fn missing(at: &str, name: &str) -> ServerError {
    ServerError::new(
        Code::location(40414),
        format!("BSON field '{at}.{name}' is missing but a required field"),
    )
}
