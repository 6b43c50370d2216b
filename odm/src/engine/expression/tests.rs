//! Runs the cases of `tests/cases/expression`, recorded from a real server.

use bson::raw::{RawBson, RawDocumentBuf};
use bson::{Bson, DateTime, Document};

use super::{Expression, Globals};
use crate::error::ServerError;

fn read(name: &str) -> String {
    let path = format!(
        "{}/../tests/cases/expression/{name}.json",
        env!("CARGO_MANIFEST_DIR")
    );
    std::fs::read_to_string(path).unwrap()
}

fn run(expression: &Bson, document: &RawDocumentBuf) -> Result<Option<RawBson>, ServerError> {
    let globals = Globals::new(DateTime::from_millis(1_795_226_809_000));
    let raw = RawBson::try_from(expression.clone()).unwrap();
    let expression = Expression::parse(raw.as_raw_bson_ref(), &globals.scope())?;
    let value = expression.eval(document, &globals)?;
    Ok(value.into_owned())
}

/// The bytes of a value, so that NaN equals itself and 1 is not 1.0.
fn bytes(value: Option<&RawBson>) -> Vec<u8> {
    let mut document = RawDocumentBuf::new();
    if let Some(value) = value {
        document.append(bson::raw::cstr!("v"), value.as_raw_bson_ref());
    }
    document.into_bytes()
}

fn check(case: &Document, document: &RawDocumentBuf) -> Result<(), String> {
    let expression = case.get("expression").unwrap();
    let got = run(expression, document);
    let wanted = match case.get_document("error") {
        Ok(error) => Err((
            error.get_i32("code").unwrap(),
            error.get_str("message").unwrap(),
        )),
        Err(_) => Ok(case
            .get("result")
            .map(|value| RawBson::try_from(value.clone()).unwrap())),
    };
    let same = match (&got, &wanted) {
        (Ok(got), Ok(wanted)) => bytes(got.as_ref()) == bytes(wanted.as_ref()),
        (Err(got), Err(wanted)) => (got.code().number(), got.message()) == *wanted,
        _ => false,
    };
    if same {
        Ok(())
    } else {
        Err(format!(
            "{expression}\n    wanted {wanted:?}\n    got    {got:?}"
        ))
    }
}

fn file(name: &str) {
    let document: Document = serde_json::from_str(&read("document")).unwrap();
    let document = RawDocumentBuf::try_from(&document).unwrap();
    let cases: Vec<Document> = serde_json::from_str(&read(name)).unwrap();
    assert!(!cases.is_empty());
    let failures: Vec<String> = cases
        .iter()
        .filter_map(|case| check(case, &document).err())
        .collect();
    assert!(
        failures.is_empty(),
        "{} of {}:\n{}",
        failures.len(),
        cases.len(),
        failures.join("\n")
    );
}

macro_rules! files {
    ($($name:ident),* $(,)?) => { $(#[test] fn $name() { file(stringify!($name)); })* };
}

files!(
    accumulate,
    arithmetic,
    array,
    boolean,
    comparison,
    date,
    forms,
    object,
    paths,
    replace,
    set,
    sizes,
    string,
    trigonometry,
    types,
);
