//! Runs the cases of `tests/cases/expression`, recorded from a real server.

use bson::raw::{RawBson, RawDocumentBuf};
use bson::{Bson, Document};

use super::{Expression, Globals};
use crate::cases;
use crate::error::ServerError;

mod grid;

fn globals() -> Globals {
    Globals::new(cases::NOW).with_random(std::sync::Arc::new(|| u64::MAX))
}

fn run(expression: &Bson, document: &RawDocumentBuf) -> Result<Option<RawBson>, ServerError> {
    let globals = globals();
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
    let wanted = match cases::error(case) {
        Some(error) => Err(error),
        None => Ok(case
            .get("result")
            .map(|value| RawBson::try_from(value.clone()).unwrap())),
    };
    let same = match (&got, &wanted) {
        (Ok(got), Ok(wanted)) => bytes(got.as_ref()) == bytes(wanted.as_ref()),
        (Err(got), Err(wanted)) => cases::parts(got) == *wanted,
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
    let document: Document = serde_json::from_str(&cases::text("expression/document")).unwrap();
    let document = RawDocumentBuf::try_from(&document).unwrap();
    cases::run(&format!("expression/{name}"), |case| check(case, &document));
}

cases::files!("expression", file, input: ["document"], [
    accumulate,
    arithmetic,
    array,
    atan2,
    boolean,
    comparison,
    date,
    date_parts,
    date_steps,
    date_strings,
    first_and_last_n,
    find_regex,
    let_and_control,
    hash,
    evaluation_order,
    object,
    field_paths,
    random,
    replace,
    set,
    sizes,
    string,
    trigonometry,
    types,
    unset_field,
    zones,
]);
