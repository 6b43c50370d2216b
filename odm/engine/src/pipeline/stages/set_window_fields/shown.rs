//! The functions of windows as mongod's `explain` shows them.

use bson::raw::{RawBsonRef, RawDocument};
use bson::{Bson, Document, doc};
use odm_language::error::ServerError;
use odm_language::expression::{Expression, Globals};
use odm_language::value::number::Number;
use odm_language::value::raw::{elements, get};

/// The `output`, with the operands and the window of each function.
pub(super) fn output(written: &RawDocument, globals: &Globals) -> Result<Document, ServerError> {
    let mut shown = Document::new();
    for (path, spec) in elements(written) {
        if let RawBsonRef::Document(spec) = spec {
            shown.insert(path, function(spec, globals)?);
        }
    }
    Ok(shown)
}

/// The paths that the functions read; `None` if one reads whole documents.
pub(super) fn paths(written: &RawDocument) -> Option<Vec<String>> {
    let mut paths = Vec::new();
    for (_, spec) in elements(written) {
        collect(spec, &mut paths)?;
    }
    Some(paths)
}

fn collect(value: RawBsonRef<'_>, paths: &mut Vec<String>) -> Option<()> {
    match value {
        RawBsonRef::String(text) if text.starts_with("$$") => None,
        RawBsonRef::String(text) => {
            paths.extend(text.strip_prefix('$').map(ToOwned::to_owned));
            Some(())
        }
        RawBsonRef::Document(document) => elements(document)
            .filter(|(name, _)| *name != "$literal")
            .try_for_each(|(name, value)| match (name, value) {
                ("sortBy", RawBsonRef::Document(sort)) => {
                    paths.extend(elements(sort).map(|(path, _)| path.to_owned()));
                    Some(())
                }
                _ => collect(value, paths),
            }),
        RawBsonRef::Array(array) => array
            .into_iter()
            .flatten()
            .try_for_each(|value| collect(value, paths)),
        _ => Some(()),
    }
}

fn owned(value: RawBsonRef<'_>) -> Bson {
    Bson::try_from(value).unwrap_or(Bson::Null)
}

fn function(spec: &RawDocument, globals: &Globals) -> Result<Document, ServerError> {
    let optimized = |value| -> Result<Bson, ServerError> {
        Ok(Expression::parse(value, &globals.scope())?.optimized(globals))
    };
    let called = elements(spec).find(|(name, _)| name.starts_with('$'));
    let Some((operator, argument)) = called else {
        return Ok(Document::new());
    };
    let given = match argument {
        RawBsonRef::Document(given) => Some(given),
        _ => None,
    };
    let part = |name| given.and_then(|given| get(given, name));
    let mut has_window = true;
    let shown = match operator {
        "$denseRank" | "$documentNumber" | "$rank" => return Ok(doc! { operator: {} }),
        "$count" => doc! { "$sum": { "$const": 1 } },
        "$shift" => {
            has_window = false;
            let default = part("default").map_or(Bson::Null, owned);
            let output = part("output").map(optimized).transpose()?;
            doc! { operator: { "by": part("by").map(owned), "output": output, "default": default } }
        }
        "$expMovingAvg" => {
            has_window = false;
            let mut operands = Document::new();
            if let Some(n) = part("N") {
                // mongod shows it in 64 bits.
                let n = Number::from_raw(n).and_then(Number::to_i64_exact);
                operands.insert("N", n);
            }
            operands.extend(part("alpha").map(|alpha| ("alpha".to_owned(), owned(alpha))));
            operands.insert("input", part("input").map(optimized).transpose()?);
            doc! { operator: operands }
        }
        "$linearFill" | "$locf" => {
            has_window = false;
            doc! { operator: optimized(argument)? }
        }
        "$bottom" | "$bottomN" | "$derivative" | "$firstN" | "$integral" | "$lastN" | "$maxN"
        | "$minN" | "$top" | "$topN" => {
            let mut operands = Document::new();
            for name in ["n", "input", "output"] {
                if let Some(value) = part(name) {
                    // mongod computes no part of `n`.
                    let shown = if name == "n" {
                        Expression::parse(value, &globals.scope())?.parsed(globals)
                    } else {
                        optimized(value)?
                    };
                    operands.insert(name, shown);
                }
            }
            for name in ["unit", "sortBy"] {
                operands.extend(part(name).map(|value| (name.to_owned(), owned(value))));
            }
            doc! { operator: operands }
        }
        _ => doc! { operator: optimized(argument)? },
    };
    let mut shown = shown;
    if has_window {
        let whole = || doc! { "documents": ["unbounded", "unbounded"] }.into();
        let window = match get(spec, "window") {
            Some(RawBsonRef::Document(window)) if window.is_empty() => None,
            window => window.map(owned),
        };
        shown.insert("window", window.unwrap_or_else(whole));
    }
    Ok(shown)
}
