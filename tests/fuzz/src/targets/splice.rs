//! Updates that are spliced into a document's bytes: what the general way makes of them, which takes the document apart.
//!
//! That way is the one of updates that rename a field. So the same update is run twice, once with a renaming of a
//! field that nothing else names, which must be all that differs.

use odm::bson::raw::{CStr, RawArrayBuf, RawDocument, RawDocumentBuf, cstr};
use odm::bson::{Bson, Document, doc};
use odm_engine::tools::Engine;

use crate::draw::Draw;
use crate::targets::{DEPTH, answered, empty};
use crate::words::PATHS;

/// The field, and its new name: the last of all in every order.
const FROM: &CStr = cstr!("zz1");
const TO: &str = "zz2";

pub fn splice(data: &[u8]) {
    let mut draw = Draw::new(data);
    let mut document = RawDocumentBuf::new();
    document.append(cstr!("_id"), 1);
    for (key, value) in draw.raw_document(PATHS, DEPTH).iter().flatten() {
        if key != "_id" {
            document.append(key, value);
        }
    }
    document.append(FROM, true);
    let mut update = draw.operators();
    if draw.one_in(3) {
        let names: Vec<String> = (0..draw.below(80)).map(|_| draw.index_like()).collect();
        let fields = names.into_iter().map(|name| (name, Bson::Int32(1)));
        update.insert("$set", fields.collect::<Document>());
    }
    if update.contains_key("$rename") {
        return;
    }
    let mut statement = doc! { "q": {}, "u": update.clone() };
    if draw.one_in(2) {
        statement.insert("q", draw.filter(2));
    }
    if draw.one_in(2) {
        statement.insert("arrayFilters", vec![draw.array_filter()]);
    }
    let mut renaming = statement.clone();
    update.insert("$rename", doc! { FROM.as_str(): TO });
    renaming.insert("u", update);
    assert_eq!(
        outcome(&document, statement.clone()),
        outcome(&document, renaming),
        "{statement} on {document:?}"
    );
}

/// What an update does: its failure, how many documents it matched, and what became of the one. `None` where the
/// document can't be stored.
fn outcome(
    document: &RawDocument,
    statement: Document,
) -> Option<(Option<Bson>, Option<Bson>, RawDocumentBuf)> {
    let engine = empty();
    let mut documents = RawArrayBuf::new();
    documents.push(document.to_owned());
    let mut insert = RawDocumentBuf::new();
    insert.append(cstr!("insert"), "c");
    insert.append(cstr!("documents"), documents);
    insert.append(cstr!("$db"), "f");
    engine.run(&insert);
    let before = first(&engine)?;
    let reply = answered(&engine, doc! { "update": "c", "updates": [statement] })?;
    let reply = Document::try_from(&*reply).ok()?;
    let after = first(&engine)?;
    let modified = reply.get_i32("nModified").unwrap_or(0) > 0;
    assert_eq!(modified, after != before, "{reply}");
    let errors = reply.get_array("writeErrors").ok();
    let error = errors.and_then(|errors| errors.first()?.as_document()?.get("code"));
    let error = error.or_else(|| reply.get("code")).cloned();
    Some((error, reply.get("n").cloned(), rest(&after)))
}

/// The one document.
fn first(engine: &Engine) -> Option<RawDocumentBuf> {
    let find = doc! { "find": "c", "limit": 1, "singleBatch": true };
    let found = answered(engine, find)?;
    let cursor = found.get_document("cursor").ok()?;
    let batch = cursor.get_array("firstBatch").ok()?;
    Some(batch.into_iter().next()?.ok()?.as_document()?.to_owned())
}

/// All but the renamed field.
fn rest(document: &RawDocument) -> RawDocumentBuf {
    let mut rest = RawDocumentBuf::new();
    for (key, value) in document.iter().flatten() {
        if key != FROM && key != TO {
            rest.append(key, value);
        }
    }
    rest
}
