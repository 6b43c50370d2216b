//! `$collStats`, `$indexStats` and `$planCacheStats`: statistics of a collection instead of its documents.

use bson::raw::{RawBsonRef, RawDocument};
use bson::{Bson, Document, doc};
use odm_language::error::{Code, ServerError};
use odm_language::expression::{Globals, compat::messages};
use odm_language::value::number::Number;
use odm_language::value::print;
use odm_language::value::raw::elements;

use crate::pipeline::outline::Place;
use crate::pipeline::shown::{Printer, stage};
use crate::pipeline::source::{Documents, Statistics, StatisticsOf, made};
use crate::pipeline::stage::{Cx, Stage};

const COLLECTION: &str = "$collStats";
const INDEXES: &str = "$indexStats";
const PLANS: &str = "$planCacheStats";

/// The parts of `$collStats`; sorted.
pub(super) const PARTS: &[&str] = &["count", "latencyStats", "queryExecStats", "storageStats"];

impl Stage for Statistics {
    fn shown(&self, _printer: &dyn Printer) -> Result<Vec<Document>, ServerError> {
        let (name, asked) = match self {
            Self::Collection(asked) => (COLLECTION, asked.shown()),
            Self::Indexes => (INDEXES, Document::new()),
            Self::Plans => (PLANS, Document::new()),
        };
        Ok(vec![stage(name, asked)])
    }

    fn run<'a>(&'a self, _input: Documents<'a>, cx: Cx<'a>) -> Result<Documents<'a>, ServerError> {
        let reported = cx.source.statistics(cx.collection, self)?;
        Ok(made(reported.into_iter().map(Ok)))
    }

    fn begins(&self) -> Option<&'static str> {
        Some(match self {
            Self::Collection(_) => COLLECTION,
            Self::Indexes => INDEXES,
            Self::Plans => PLANS,
        })
    }
}

/// A number in the smallest type that holds it.
fn int(value: i64) -> Bson {
    i32::try_from(value).map_or(Bson::Int64(value), Bson::Int32)
}

impl StatisticsOf {
    fn shown(&self) -> Document {
        let mut shown = Document::new();
        if let Some(histograms) = self.latency {
            let asked = if histograms {
                doc! { "histograms": true }
            } else {
                doc! {}
            };
            shown.insert("latencyStats", asked);
        }
        if let Some(scale) = self.storage {
            let mut asked = Document::new();
            if scale != 1 {
                asked.insert("scale", int(scale));
            }
            asked.extend(doc! { "verbose": false, "waitForLock": true, "numericOnly": false });
            shown.insert("storageStats", asked);
        }
        if self.count {
            shown.insert("count", doc! {});
        }
        if self.executions {
            shown.insert("queryExecStats", doc! {});
        }
        shown
    }
}

pub(super) fn indexes(
    _name: &str,
    spec: RawBsonRef<'_>,
    _globals: &Globals,
) -> Result<Box<dyn Stage>, ServerError> {
    match spec {
        RawBsonRef::Document(spec) if elements(spec).next().is_none() => {
            Ok(Box::new(Statistics::Indexes))
        }
        _ => Err(ServerError::new(
            Code::location(28803),
            "The $indexStats stage specification must be an empty object",
        )),
    }
}

pub(super) fn plans(
    _name: &str,
    spec: RawBsonRef<'_>,
    _globals: &Globals,
) -> Result<Box<dyn Stage>, ServerError> {
    let refuse = |message: String| Err(ServerError::new(Code::FAILED_TO_PARSE, message));
    match spec {
        RawBsonRef::Document(spec) if elements(spec).next().is_none() => {
            Ok(Box::new(Statistics::Plans))
        }
        RawBsonRef::Document(_) => {
            refuse("$planCacheStats parameters object must be empty. Found: object".to_owned())
        }
        other => refuse(format!(
            "$planCacheStats value must be an object. Found: {}",
            messages::type_name(Some(other))
        )),
    }
}

pub(super) fn outline(spec: RawBsonRef<'_>, _place: Place<'_>) -> Result<(), ServerError> {
    parse_spec(spec).map(drop)
}

pub(super) fn collection(
    _name: &str,
    spec: RawBsonRef<'_>,
    _globals: &Globals,
) -> Result<Box<dyn Stage>, ServerError> {
    Ok(Box::new(Statistics::Collection(parse_spec(spec)?)))
}

fn parse_spec(spec: RawBsonRef<'_>) -> Result<StatisticsOf, ServerError> {
    let RawBsonRef::Document(spec) = spec else {
        return Err(ServerError::new(
            Code::location(5_447_000),
            format!(
                "$collStats must take a nested object but found: {}",
                messages::element(COLLECTION, spec)
            ),
        ));
    };
    let mut asked = StatisticsOf::default();
    for (name, value) in elements(spec) {
        let part = match value {
            _ if !PARTS.contains(&name) => return Err(unknown(COLLECTION, name)),
            RawBsonRef::Null => continue,
            RawBsonRef::Document(part) => part,
            other => return Err(wrong_type(name, other, "type 'object'")),
        };
        match name {
            "count" => asked.count = empty(part)?,
            "queryExecStats" => asked.executions = empty(part)?,
            "latencyStats" => asked.latency = Some(histograms(part)?),
            _ => asked.storage = Some(scale(part)?),
        }
    }
    Ok(asked)
}

fn empty(part: &RawDocument) -> Result<bool, ServerError> {
    if elements(part).next().is_none() {
        return Ok(true);
    }
    Err(ServerError::new(
        Code::location(31170),
        format!(
            "expected an empty object, but got {}",
            print::document(part)
        ),
    ))
}

fn histograms(part: &RawDocument) -> Result<bool, ServerError> {
    let mut wanted = false;
    for (name, value) in elements(part) {
        wanted = match (name, value) {
            ("histograms", RawBsonRef::Boolean(wanted)) => wanted,
            ("histograms", RawBsonRef::Null) => continue,
            ("histograms", other) => {
                return Err(ServerError::new(
                    Code::TYPE_MISMATCH,
                    format!(
                        "Field 'histograms' should be a boolean value, but found: {}",
                        messages::type_name(Some(other))
                    ),
                ));
            }
            _ => return Err(unknown("$collStats.latencyStats", name)),
        };
    }
    Ok(wanted)
}

/// The scale that divides sizes. mongod ignores other options here.
fn scale(part: &RawDocument) -> Result<i64, ServerError> {
    let mut scale = 1;
    for (_, value) in elements(part).filter(|(name, _)| *name == "scale") {
        if value == RawBsonRef::Null {
            continue;
        }
        let Some(number) = Number::from_raw(value) else {
            return Err(wrong_type(
                "storageStats.scale",
                value,
                "types '[long, int, decimal, double']",
            ));
        };
        scale = number.to_i64_truncated().unwrap_or_default();
        if scale < 1 {
            return Err(ServerError::new(
                Code::location(51024),
                format!("BSON field 'scale' value must be >= 1, actual value '{scale}'"),
            ));
        }
    }
    Ok(scale)
}

fn unknown(within: &str, name: &str) -> ServerError {
    ServerError::new(
        Code::location(40415),
        format!("BSON field '{within}.{name}' is an unknown field."),
    )
}

fn wrong_type(name: &str, found: RawBsonRef<'_>, expected: &str) -> ServerError {
    ServerError::new(
        Code::TYPE_MISMATCH,
        format!(
            "BSON field '$collStats.{name}' is the wrong type '{}', expected {expected}",
            messages::type_name(Some(found))
        ),
    )
}
