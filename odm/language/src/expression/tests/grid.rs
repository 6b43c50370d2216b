//! Runs the grids of `tests/cases/grid`, recorded from a real server: an operator with a value of each kind.

use bson::raw::{RawBson, RawBsonRef, RawDocument, RawDocumentBuf};
use bson::{Bson, Document};

use super::{bytes, globals};
use crate::cases;
use crate::error::ServerError;
use crate::expression::Expression;

/// The placeholder of a missing field in a grid.
fn is_missing(value: &Bson) -> bool {
    value
        .as_document()
        .is_some_and(|document| document.contains_key("$missing"))
}

fn document(a: &Bson, b: &Bson) -> RawDocumentBuf {
    let fields = [("a", a), ("b", b)];
    let mut document = Document::new();
    document.insert("_id", 1);
    document.extend(
        fields
            .into_iter()
            .filter(|(_, value)| !is_missing(value))
            .map(|(name, value)| (name.to_owned(), value.clone())),
    );
    RawDocumentBuf::try_from(&document).unwrap()
}

fn eval(
    expression: RawBsonRef<'_>,
    document: &RawDocument,
) -> Result<Option<RawBson>, ServerError> {
    let globals = globals();
    let expression = Expression::parse(expression, &globals.scope())?;
    Ok(expression.eval(document, &globals)?.into_owned())
}

/// `{expression, a: […], b: […], errors: […], answers: […]}`, an answer for every pair.
fn check(case: &Document, failures: &mut Vec<String>) {
    let expression = RawBson::try_from(case.get("expression").unwrap().clone()).unwrap();
    let errors = case.get_array("errors").unwrap();
    let mut answers = case.get_array("answers").unwrap().iter();
    for a in case.get_array("a").unwrap() {
        for b in case.get_array("b").unwrap() {
            let document = document(a, b);
            let got = eval(expression.as_raw_bson_ref(), &document);
            let wanted = answers.next().unwrap();
            let same = match (&got, wanted) {
                (Ok(got), Bson::Document(wanted)) => {
                    let wanted = wanted.get("v").cloned().map(cases::canonical);
                    let wanted = wanted.map(|value| RawBson::try_from(value).unwrap());
                    let got = got
                        .clone()
                        .map(|value| cases::canonical(Bson::try_from(value).unwrap()));
                    let got = got.map(|value| RawBson::try_from(value).unwrap());
                    bytes(got.as_ref()) == bytes(wanted.as_ref())
                }
                (Err(got), Bson::Int32(at)) => {
                    let wanted = errors[usize::try_from(*at).unwrap()].as_document().unwrap();
                    let (code, message) = cases::parts(got);
                    wanted.get_i32("code").ok() == Some(code)
                        && wanted.get_str("message").ok() == Some(message)
                }
                _ => false,
            };
            if !same {
                let wanted = match wanted {
                    Bson::Int32(at) => &errors[usize::try_from(*at).unwrap()],
                    other => other,
                };
                failures.push(format!(
                    "{}  a: {a}  b: {b}\n    wanted {wanted}\n    got    {got:?}",
                    case.get("expression").unwrap()
                ));
            }
        }
    }
    assert!(answers.next().is_none(), "answers are left over");
}

fn file(name: &str) {
    let cases = cases::read(&format!("grid/{name}"));
    let mut failures = Vec::new();
    for case in &cases {
        check(case, &mut failures);
    }
    cases::report(&failures, cases.len());
}

cases::files!("grid", file, input: [], [
    arithmetic,
    arrays,
    calendar,
    comparison,
    conversions,
    decimal_curves,
    dates,
    decimal_functions,
    decimals,
    unary,
    constant_folding,
    objects,
    binary,
    rounding,
    strings,
    trigonometry,
    zones,
]);
