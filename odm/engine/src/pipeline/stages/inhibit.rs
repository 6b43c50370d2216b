//! `$_internalInhibitOptimization`: passes every document on, and keeps the planner from taking over later stages.

use bson::Document;
use bson::raw::RawBsonRef;
use odm_language::error::{Code, ServerError};
use odm_language::expression::Globals;
use odm_language::value::print;

use crate::pipeline::shown::{Dependencies, Printer, stage};
use crate::pipeline::source::Documents;
use crate::pipeline::stage::{Cx, Stage};

#[derive(Debug)]
struct Inhibit;

pub(super) fn parse(
    name: &str,
    spec: RawBsonRef<'_>,
    _globals: &Globals,
) -> Result<Box<dyn Stage>, ServerError> {
    match spec {
        RawBsonRef::Document(options) if options.is_empty() => Ok(Box::new(Inhibit)),
        RawBsonRef::Document(options) => Err(ServerError::new(
            Code::FAILED_TO_PARSE,
            format!(
                "{name} must take an empty object but found: {}",
                print::document(options)
            ),
        )),
        other => Err(ServerError::new(
            Code::TYPE_MISMATCH,
            format!(
                "{name} must take a nested object but found: {}",
                print::field(name, other)
            ),
        )),
    }
}

impl Stage for Inhibit {
    fn shown(&self, _printer: &dyn Printer) -> Result<Vec<Document>, ServerError> {
        let name = "$_internalInhibitOptimization";
        Ok(vec![stage(name, Document::new())])
    }

    fn dependencies(&self) -> Option<Dependencies> {
        Some(Dependencies::some(Vec::new()))
    }

    fn run<'a>(&'a self, input: Documents<'a>, _cx: Cx<'a>) -> Result<Documents<'a>, ServerError> {
        Ok(input)
    }
}
