//! `$limit`: the first documents.

use bson::Document;
use bson::raw::RawBsonRef;
use odm_language::error::{Code, ServerError};
use odm_language::expression::{Globals, compat::messages};
use odm_language::value::number::Number;

use crate::pipeline::shown::{Dependencies, Printer, number, stage};
use crate::pipeline::source::Documents;
use crate::pipeline::stage::{Cx, Planned, Stage};

#[derive(Debug)]
struct Limit(u64);

pub(super) fn parse(
    name: &str,
    spec: RawBsonRef<'_>,
    _globals: &Globals,
) -> Result<Box<dyn Stage>, ServerError> {
    match count(name, spec, 5_107_201)? {
        0 => Err(ServerError::new(
            Code::location(15958),
            "the limit must be positive",
        )),
        limit => Ok(Box::new(Limit(limit))),
    }
}

/// The argument of `$limit` and `$skip`.
pub(super) fn count(name: &str, spec: RawBsonRef<'_>, code: i32) -> Result<u64, ServerError> {
    let problem = match (
        Number::from_raw(spec),
        Number::from_raw(spec).and_then(Number::to_i64_exact),
    ) {
        (None, _) => "Expected a number in",
        (Some(_), None) => "Expected an integer",
        (Some(_), Some(count)) => match u64::try_from(count) {
            Ok(count) => return Ok(count),
            Err(_) => "Expected a non-negative number in",
        },
    };
    Err(ServerError::new(
        Code::location(code),
        format!(
            "invalid argument to {name} stage: {problem}: {}",
            messages::element(name, spec)
        ),
    ))
}

impl Stage for Limit {
    fn shown(&self, _printer: &dyn Printer) -> Result<Vec<Document>, ServerError> {
        Ok(vec![stage("$limit", number(self.0))])
    }

    fn dependencies(&self) -> Option<Dependencies> {
        Some(Dependencies::some(Vec::new()))
    }

    fn run<'a>(&'a self, input: Documents<'a>, _cx: Cx<'a>) -> Result<Documents<'a>, ServerError> {
        Ok(Box::new(
            input.take(usize::try_from(self.0).unwrap_or(usize::MAX)),
        ))
    }

    fn planned(&self) -> Planned<'_> {
        Planned::Limit(self.0)
    }
}
