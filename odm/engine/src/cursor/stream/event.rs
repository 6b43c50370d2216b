//! Converts events to documents.

use bson::raw::{CStr, RawBsonRef, RawDocument, RawDocumentBuf, cstr};
use bson::spec::BinarySubtype;
use bson::{Binary, Timestamp, rawdoc};
use odm_language::error::{Code, ServerError};
use odm_language::value::raw;

use crate::catalog::Catalog;
use crate::catalog::changes::definition::Definition;
use crate::catalog::changes::{ChangeKind, Event};
use crate::catalog::namespace::Namespace;
use crate::cursor::point::{Equality, Found};
use crate::cursor::stream::token::Token;
use crate::cursor::stream::{Images, Lookup, StreamOptions, compact};

/// The SHA-256 hash of an empty user name, which MongoDB adds to a session's id.
const NOBODY: [u8; 32] = [
    0xe3, 0xb0, 0xc4, 0x42, 0x98, 0xfc, 0x1c, 0x14, 0x9a, 0xfb, 0xf4, 0xc8, 0x99, 0x6f, 0xb9, 0x24,
    0x27, 0xae, 0x41, 0xe4, 0x64, 0x9b, 0x93, 0x4c, 0xa4, 0x95, 0x99, 0x1b, 0x78, 0x52, 0xb8, 0x55,
];

/// The event's resume token. `is_end` is for the `invalidate` event after it.
pub(super) fn token(event: &Event, is_end: bool) -> Token {
    Token::Of {
        time: event.time,
        number: event.number,
        uuid: event.change.uuid,
        is_end,
    }
}

fn operation(what: &ChangeKind) -> &'static str {
    match what {
        ChangeKind::Insert { .. } => "insert",
        ChangeKind::Update { .. } => "update",
        ChangeKind::Replace { .. } => "replace",
        ChangeKind::Delete { .. } => "delete",
        ChangeKind::Rename { .. } => "rename",
        ChangeKind::Define { kind, .. } => match kind {
            Definition::Create => "create",
            Definition::CreateIndexes => "createIndexes",
            Definition::DropIndexes => "dropIndexes",
            Definition::Modify => "modify",
        },
        ChangeKind::Drop => "drop",
        ChangeKind::DropDatabase => "dropDatabase",
    }
}

fn names(namespace: &Namespace) -> RawDocumentBuf {
    let mut names = rawdoc! { "db": &*namespace.database };
    if !namespace.collection.is_empty() {
        names.append(cstr!("coll"), &*namespace.collection);
    }
    names
}

/// The document of an event.
pub(super) fn document(
    event: &Event,
    catalog: &Catalog,
    StreamOptions {
        lookup,
        images,
        expanded,
    }: StreamOptions,
) -> Result<RawDocumentBuf, ServerError> {
    let change = &event.change;
    let mut document = RawDocumentBuf::new();
    if let Some(origin) = &event.origin {
        document.append(cstr!("txnNumber"), origin.number);
        document.append(cstr!("lsid"), session(&origin.session));
    }
    if let ChangeKind::Rename { to, .. } = &change.what {
        document.append(cstr!("to"), names(to));
    }
    document.append(cstr!("_id"), token(event, false).document());
    document.append(cstr!("operationType"), operation(&change.what));
    document.append(cstr!("clusterTime"), event.time);
    if let Some(uuid) = change.uuid.filter(|_| expanded) {
        document.append(cstr!("collectionUUID"), uuid_of(uuid));
    }
    document.append(cstr!("wallTime"), event.wall);
    match &change.what {
        ChangeKind::Insert { document: whole }
        | ChangeKind::Replace {
            document: whole, ..
        } => {
            document.append(cstr!("fullDocument"), &**whole);
        }
        ChangeKind::Update { key, images, .. } => {
            let after = images.as_ref().map(|(_, after)| after);
            match lookup {
                Lookup::Never => {}
                Lookup::Now => {
                    let current = current(event, key, catalog);
                    append_or_null(&mut document, cstr!("fullDocument"), current.as_deref());
                }
                Lookup::Image(is_required) => {
                    if is_required && after.is_none() {
                        return Err(missing(event, "post-image for all update events", "post"));
                    }
                    append_or_null(&mut document, cstr!("fullDocument"), after.map(|it| &**it));
                }
            }
        }
        _ => {}
    }
    document.append(cstr!("ns"), names(&change.namespace));
    let key = match &change.what {
        ChangeKind::Insert { document } | ChangeKind::Replace { document, .. } => {
            raw::get(document, "_id").map(|id| {
                let mut key = RawDocumentBuf::new();
                key.append(cstr!("_id"), id);
                key
            })
        }
        ChangeKind::Update { key, .. } | ChangeKind::Delete { key, .. } => Some(key.clone()),
        ChangeKind::Rename { .. }
        | ChangeKind::Define { .. }
        | ChangeKind::Drop
        | ChangeKind::DropDatabase => None,
    };
    if let Some(key) = key {
        document.append(cstr!("documentKey"), key);
    }
    if let ChangeKind::Update { description, .. } = &change.what {
        document.append(cstr!("updateDescription"), &**description);
    }
    let before = match &change.what {
        ChangeKind::Update { images, .. } => images.as_ref().map(|(before, _)| before),
        ChangeKind::Replace { before, .. } | ChangeKind::Delete { before, .. } => before.as_ref(),
        _ => {
            if expanded {
                describe(&mut document, &change.what);
            }
            return Ok(document);
        }
    };
    if let Images::Image(is_required) = images {
        if is_required && before.is_none() {
            let what = "pre-image for all update, delete and replace events";
            return Err(missing(event, what, "pre"));
        }
        let before = before.map(|before| &**before);
        append_or_null(&mut document, cstr!("fullDocumentBeforeChange"), before);
    }
    Ok(document)
}

/// Appends the description of a rename or a definition.
fn describe(document: &mut RawDocumentBuf, what: &ChangeKind) {
    match what {
        ChangeKind::Rename { to, replaced } => {
            let mut description = rawdoc! { "to": names(to) };
            if let Some(uuid) = replaced {
                description.append(cstr!("dropTarget"), uuid_of(*uuid));
            }
            document.append(cstr!("operationDescription"), description);
        }
        ChangeKind::Define {
            description,
            before,
            ..
        } => {
            document.append(cstr!("operationDescription"), &**description);
            if let Some(before) = before {
                document.append(cstr!("stateBeforeChange"), &**before);
            }
        }
        _ => {}
    }
}

fn uuid_of(uuid: [u8; 16]) -> Binary {
    Binary {
        subtype: BinarySubtype::Uuid,
        bytes: uuid.to_vec(),
    }
}

/// The `invalidate` event, which ends the stream.
pub(super) fn end(event: &Event) -> RawDocumentBuf {
    rawdoc! {
        "_id": token(event, true).document(),
        "operationType": "invalidate",
        "clusterTime": event.time,
        "wallTime": event.wall,
    }
}

fn append_or_null(document: &mut RawDocumentBuf, name: &CStr, value: Option<&RawDocument>) {
    match value {
        Some(value) => document.append(name, value),
        None => document.append(name, RawBsonRef::Null),
    }
}

fn session(lsid: &[u8]) -> RawDocumentBuf {
    let mut session = RawDocumentBuf::new();
    if let Some(id) = RawDocument::from_bytes(lsid)
        .ok()
        .and_then(|lsid| raw::get(lsid, "id"))
    {
        session.append(cstr!("id"), id);
    }
    let nobody = Binary {
        subtype: BinarySubtype::Generic,
        bytes: NOBODY.to_vec(),
    };
    session.append(cstr!("uid"), nobody);
    session
}

/// The current version of an updated document.
fn current(event: &Event, key: &RawDocument, catalog: &Catalog) -> Option<RawDocumentBuf> {
    let collection = catalog.collection(&event.change.namespace)?;
    if Some(collection.uuid) != event.change.uuid {
        return None;
    }
    match Equality::new("_id", raw::get(key, "_id")?)?.by_id(&collection)? {
        Found::Record(found) => collection.document(found.record).map(RawDocument::to_owned),
        Found::Nothing => None,
    }
}

fn missing(event: &Event, what: &str, which: &str) -> ServerError {
    let Timestamp { time, increment } = event.time;
    let seen = rawdoc! {
        "operationType": operation(&event.change.what),
        "ns": names(&event.change.namespace),
        "clusterTime": Timestamp { time, increment },
    };
    ServerError::new(
        Code::NO_MATCHING_DOCUMENT,
        format!(
            "Change stream was configured to require a {what}, but the {which}-image was not found for event: {}",
            compact(&seen)
        ),
    )
}
