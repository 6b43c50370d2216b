//! Two answers to one command: the same, refused by design, or different.

use odm::Error;
use odm::bson::oid::ObjectId;
use odm::bson::spec::BinarySubtype;
use odm::bson::{Bson, DateTime, Document, Timestamp, doc};

use crate::cases::Order;
use crate::documents::oid;
use crate::json::json;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// The engine panicked.
    Panic,
    /// One store answers, the other refuses.
    Refusal,
    /// Other documents or counts.
    Answer,
    /// Another error code.
    Code,
    /// The same but for the text of an error.
    Message,
}

impl Kind {
    pub(crate) fn named(name: &str) -> Result<Self, String> {
        match name {
            "answer" => Ok(Self::Answer),
            "code" => Ok(Self::Code),
            "message" => Ok(Self::Message),
            _ => Err(format!("{name} is no kind of difference")),
        }
    }
}

#[derive(Debug)]
pub(crate) enum Verdict {
    Same,
    /// The engine says that it does not support this.
    Unsupported,
    Different(Kind),
}

/// An error as the reply it was.
pub(crate) fn reply_of(error: &Error) -> Document {
    let Some(server) = error.server() else {
        return doc! { "ok": 0, "code": -1, "errmsg": error.to_string() };
    };
    let mut reply = doc! { "ok": 0, "code": server.code().number(), "errmsg": server.message() };
    if let Some(details) = server.details() {
        reply.insert("errInfo", details.clone());
    }
    reply
}

const VOLATILE: &[&str] = &[
    "$clusterTime",
    "operationTime",
    "electionId",
    "opTime",
    "ok",
];

/// A reply without what differs from run to run.
pub(crate) fn normal(reply: &Document, order: Order) -> Document {
    let mut out: Document = reply
        .iter()
        .filter(|(key, _)| !VOLATILE.contains(&key.as_str()))
        .map(|(key, value)| (key.clone(), value_of(key, value)))
        .collect();
    // Nobody reads the fields of a cursor by their order.
    if let Ok(cursor) = out.get_document("cursor") {
        let mut fields: Vec<_> = cursor.clone().into_iter().collect();
        fields.sort_by(|(one, _), (other, _)| one.cmp(other));
        out.insert("cursor", fields.into_iter().collect::<Document>());
    }
    if order == Order::Any {
        if let Ok(cursor) = out.get_document_mut("cursor")
            && let Ok(batch) = cursor.get_array_mut("firstBatch")
        {
            batch.sort_by_cached_key(|row| json(&doc! { "": row.clone() }));
        }
        if let Ok(values) = out.get_array_mut("values") {
            values.sort_by_cached_key(|row| json(&doc! { "": row.clone() }));
        }
    }
    out
}

fn value_of(key: &str, value: &Bson) -> Bson {
    match value {
        Bson::Document(document) => Bson::Document(
            document
                .iter()
                .map(|(key, value)| (key.clone(), value_of(key, value)))
                .collect(),
        ),
        Bson::Array(values) => values
            .iter()
            .map(|value| value_of("", value))
            .collect::<Vec<_>>()
            .into(),
        Bson::Int64(id) if key == "id" && *id != 0 => Bson::Int64(1),
        Bson::ObjectId(id) if id.bytes()[..11] != oid(0).bytes()[..11] => {
            Bson::ObjectId(ObjectId::from_bytes([0xff; 12]))
        }
        // Those that are drawn have one byte throughout.
        Bson::Binary(binary)
            if binary.subtype == BinarySubtype::Uuid
                && binary.bytes.windows(2).any(|two| two[0] != two[1]) =>
        {
            Bson::from("uuid")
        }
        Bson::DateTime(date) if recent(*date) => Bson::from("now"),
        Bson::Timestamp(Timestamp { time, .. }) if *time > 1_700_000_000 => Bson::from("now"),
        Bson::String(text) => Bson::from(bare(text)),
        other => other.clone(),
    }
}

fn recent(date: DateTime) -> bool {
    let now = DateTime::now().timestamp_millis();
    now.abs_diff(date.timestamp_millis()) < 3_600_000
}

/// A message without the ids that are drawn anew each time.
pub(crate) fn bare(text: &str) -> String {
    if let Some((before, after)) = text.split_once("ObjectId('") {
        return format!(
            "{}ObjectId('{}",
            bare(before),
            bare(after.get(24..).unwrap_or(""))
        );
    }
    // The time of the write.
    if let Some((before, after)) = text.split_once("new Date(179") {
        let rest = after.trim_start_matches(|digit: char| digit.is_ascii_digit());
        return format!("{}new Date(now{}", bare(before), bare(rest));
    }
    let is_uuid =
        |word: &&str| word.trim_end_matches(':').len() == 36 && word.matches('-').count() == 4;
    let is_now = |word: &&str| DateTime::parse_rfc3339_str(word).is_ok_and(recent);
    let words: Vec<_> = text
        .split(' ')
        .map(|word| match word {
            word if is_uuid(&word) => "uuid",
            word if is_now(&word) => "now",
            word => word,
        })
        .collect();
    words.join(" ")
}

pub(crate) fn verdict(memory: &Document, server: &Document, order: Order) -> Verdict {
    let (mut memory, mut server) = (normal(memory, order), normal(server, order));
    let (here, there) = (json(&memory), json(&server));
    if here == there {
        return Verdict::Same;
    }
    if here.contains("in-memory engine") {
        return Verdict::Unsupported;
    }
    if here.contains(PANIC) {
        return Verdict::Different(Kind::Panic);
    }
    if memory.contains_key("code") != server.contains_key("code")
        || memory.contains_key("writeErrors") != server.contains_key("writeErrors")
    {
        return Verdict::Different(Kind::Refusal);
    }
    strip(&mut memory, &["errmsg"]);
    strip(&mut server, &["errmsg"]);
    if json(&memory) == json(&server) {
        return Verdict::Different(Kind::Message);
    }
    strip(&mut memory, &["code", "errInfo", "keyValue", "keyPattern"]);
    strip(&mut server, &["code", "errInfo", "keyValue", "keyPattern"]);
    if json(&memory) == json(&server) {
        return Verdict::Different(Kind::Code);
    }
    Verdict::Different(Kind::Answer)
}

pub(crate) const PANIC: &str = "the engine panicked";

fn strip(reply: &mut Document, keys: &[&str]) {
    for key in keys {
        reply.remove(key);
    }
    if let Ok(errors) = reply.get_array_mut("writeErrors") {
        for error in errors {
            if let Some(error) = error.as_document_mut() {
                for key in keys {
                    error.remove(key);
                }
            }
        }
    }
}
