//! Runs the cases of `tests/cases/update`, recorded from a real server.

use bson::raw::{RawArrayBuf, RawBson, RawDocumentBuf};
use bson::{Bson, DateTime, Document, RawBsonRef, doc};
use odm_language::error::ServerError;
use odm_language::expression::Globals;
use odm_language::matcher::Matcher;

use super::{Update, upsert};
use crate::cases;

fn run(case: &Document) -> Result<(bool, Document), ServerError> {
    let globals = Globals::new(cases::NOW);
    let update = RawBson::try_from(case.get("update").unwrap().clone()).unwrap();
    let filters = case.get_array("arrayFilters").ok().map(|filters| {
        let raw = filters
            .iter()
            .cloned()
            .map(|f| RawBson::try_from(f).unwrap());
        raw.collect::<RawArrayBuf>()
    });
    let raw = |document: &Document| RawDocumentBuf::try_from(document).unwrap();
    let filter = raw(case.get_document("filter").unwrap_or(&doc! {}));
    let update = Update::parse(update.as_raw_bson_ref(), filters.as_deref(), &globals)?;
    let applied = if let Ok(document) = case.get_document("document") {
        let document = raw(document);
        let position = Matcher::parse(&filter, &globals)?
            .match_position(&document)?
            .and_then(|found| found.array_index);
        update.apply(&document, position, &globals, false)?
    } else {
        let seed = upsert::seed(&filter, &update)?;
        update.apply(&seed, None, &globals, true)?
    };
    Ok((
        applied.modified,
        Document::try_from(applied.document).unwrap(),
    ))
}

fn bytes(document: &Document) -> Vec<u8> {
    RawBson::try_from(cases::canonical(document.clone().into()))
        .unwrap()
        .as_document()
        .unwrap()
        .as_bytes()
        .to_vec()
}

fn check(case: &Document) -> Result<(), String> {
    let wanted = if let Some((code, message)) = cases::error(case) {
        Err((code, message.to_owned()))
    } else {
        let upsert = case.get_bool("upsert").unwrap_or(false);
        let modified = !upsert && case.get_bool("modified").unwrap();
        Ok((modified, case.get_document("result").unwrap().clone()))
    };
    let got = match run(case) {
        Ok((modified, document)) => {
            let upsert = case.get_bool("upsert").unwrap_or(false);
            Ok((!upsert && modified, document))
        }
        Err(error) => Err((error.code().number(), error.message().to_owned())),
    };
    let same = match (&got, &wanted) {
        (Ok((modified, document)), Ok((wanted_modified, wanted))) => {
            modified == wanted_modified && bytes(document) == bytes(wanted)
        }
        (Err(got), Err(wanted)) => got == wanted,
        _ => false,
    };
    if same {
        Ok(())
    } else {
        Err(format!(
            "{}\n    wanted {wanted:?}\n    got    {got:?}",
            case.get("update").unwrap_or(&Bson::Null),
        ))
    }
}

fn file(name: &str) {
    cases::run(&format!("update/{name}"), check);
}

cases::files!("update", file, input: [], [
    add_to_set,
    array_filters,
    arithmetic,
    bit,
    compare,
    conflicts,
    current_date,
    immutable_ids,
    operand_types,
    array_operand_types,
    mixed_types,
    pipeline,
    positional,
    pull,
    pop,
    push,
    rename,
    replacement,
    set,
    unset,
    upsert,
]);

#[test]
fn limits() {
    let globals = Globals::new(DateTime::from_millis(0));
    let apply = |update: Document| {
        let update = RawDocumentBuf::try_from(&update).unwrap();
        let document = RawDocumentBuf::try_from(&doc! { "_id": 1, "x": 5 }).unwrap();
        Update::parse(RawBsonRef::Document(&update), None, &globals)?
            .apply(&document, None, &globals, false)
            .map(|applied| applied.modified)
    };
    let path = |parts: usize| vec!["a"; parts].join(".");
    assert_eq!(apply(doc! { "$set": { path(180): 1 } }), Ok(true));
    let error = apply(doc! { "$set": { path(181): 1 } }).unwrap_err();
    assert_eq!(error.code().number(), 15);
    assert_eq!(
        error.message(),
        "Document exceeds maximum nesting depth of 180"
    );
    let error = apply(doc! { "$set": { "y": "x".repeat(16 * 1024 * 1024) } }).unwrap_err();
    assert_eq!(error.code().number(), 17419);
    let error = apply(doc! { "$set": { "y": "x".repeat(17 * 1024 * 1024) } }).unwrap_err();
    assert_eq!(error.code().number(), 10334);
}
