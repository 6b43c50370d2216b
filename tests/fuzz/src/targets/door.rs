//! Calls in parts: they answer what the same commands answer, and do the same.

use odm::bson::raw::{RawBsonRef, RawDocument, RawDocumentBuf};
use odm::bson::{Bson, Document, doc};

use crate::draw::Draw;
use crate::targets::{answered, filled};

pub fn door(data: &[u8]) {
    let (commands, parts) = (filled(), filled());
    let mut draw = Draw::new(data);
    let both = |mut command: Document| -> RawDocumentBuf {
        command.insert("$db", "f");
        let Ok(command) = RawDocumentBuf::try_from(&command) else {
            return RawDocumentBuf::new();
        };
        let by_command = commands.run(&command);
        let in_parts = parts.ask(&command).unwrap_or_else(|| parts.run(&command));
        if by_command != in_parts {
            let timeless = [&by_command, &in_parts].map(timeless);
            assert_eq!(timeless[0], timeless[1], "{command:?}");
        }
        by_command
    };
    if draw.one_in(4) {
        let many: Vec<Document> = (0..250)
            .map(|i| doc! { "_id": i + 10, "a": i % 7 })
            .collect();
        both(doc! { "insert": "c", "documents": many });
    }
    let mut cursor = 0;
    for _ in 0..12 {
        if draw.is_empty() {
            break;
        }
        let command = match draw.below(16) {
            0 => draw.command(),
            1 => doc! { "createIndexes": "c", "indexes": [draw.index()] },
            2 => {
                doc! { "getMore": cursor, "collection": draw.pick(&["c", "d"]), "batchSize": draw.below(99) as i32 }
            }
            _ => call(&mut draw, cursor),
        };
        let reply = both(command);
        cursor = open(&reply).unwrap_or(cursor);
    }
    for name in ["c", "d"] {
        let all = |engine| answered(engine, doc! { "find": name, "batchSize": 1000 });
        assert_eq!(all(&commands), all(&parts));
    }
}

/// A reply without the times in it: a write in parts makes none while nobody can be told, so that tokens and times of
/// change streams differ.
fn timeless(reply: &RawDocumentBuf) -> Bson {
    fn strip(value: Bson) -> Bson {
        match value {
            Bson::Document(document) => document
                .into_iter()
                .filter(|(name, _)| !matches!(name.as_str(), "_data" | "clusterTime"))
                .map(|(name, value)| (name, strip(value)))
                .collect::<Document>()
                .into(),
            Bson::Array(values) => values.into_iter().map(strip).collect::<Vec<_>>().into(),
            other => other,
        }
    }
    strip(Document::try_from(&**reply).map_or(Bson::Null, Bson::from))
}

/// A call that has its parts.
fn call(draw: &mut Draw<'_>, cursor: i64) -> Document {
    let name = draw.pick(&["c", "c", "c", "d", "v", "", "a$b", "system.views"]);
    let filter = match draw.below(4) {
        0 => doc! { "_id": draw.leaf() },
        1 => doc! { "_id": draw.below(20) as i32 },
        2 => Document::new(),
        _ => draw.filter(3),
    };
    match draw.below(6) {
        0 => doc! { "find": name, "filter": filter },
        1 => doc! { "find": name, "filter": filter, "limit": 1, "singleBatch": true },
        2 => doc! { "getMore": cursor, "collection": name },
        3 => {
            let one = draw.raw_document(crate::words::PATHS, 3);
            let mut documents = vec![
                Document::try_from(&*one).unwrap_or_default(),
                doc! { "a": draw.value(3) },
            ];
            documents.truncate(draw.below(2) + 1);
            doc! { "insert": name, "documents": documents }
        }
        4 => {
            let mut update = doc! { "q": filter, "u": draw.update() };
            if draw.one_in(2) {
                update.insert("multi", draw.one_in(2));
            }
            doc! { "update": name, "updates": [update] }
        }
        _ => {
            doc! { "delete": name, "deletes": [{ "q": filter, "limit": Bson::Int32(draw.below(2) as i32) }] }
        }
    }
}

/// The cursor that a reply opens.
fn open(reply: &RawDocument) -> Option<i64> {
    let cursor = reply.get_document("cursor").ok()?;
    match cursor.get("id").ok()?? {
        RawBsonRef::Int64(id) if id != 0 => Some(id),
        _ => None,
    }
}
