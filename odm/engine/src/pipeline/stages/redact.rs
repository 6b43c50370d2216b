//! `$redact`: drops documents, and documents within documents.

use bson::Document;
use bson::raw::RawBsonRef;
use odm_language::error::ServerError;
use odm_language::expression::Globals;
use odm_language::expression::redact::Redact;

use crate::pipeline::shown::{Printer, stage};
use crate::pipeline::source::{Documents, made};
use crate::pipeline::stage::{Cx, Stage};

pub(super) fn parse(
    _name: &str,
    spec: RawBsonRef<'_>,
    globals: &Globals,
) -> Result<Box<dyn Stage>, ServerError> {
    Ok(Box::new(Redact::parse(spec, &globals.scope())?))
}

impl Stage for Redact {
    fn shown(&self, printer: &dyn Printer) -> Result<Vec<Document>, ServerError> {
        Ok(vec![stage("$redact", self.optimized(printer.globals()))])
    }

    fn run<'a>(&'a self, input: Documents<'a>, cx: Cx<'a>) -> Result<Documents<'a>, ServerError> {
        Ok(made(input.filter_map(move |document| {
            document
                .and_then(|document| self.apply(&document, cx.globals))
                .transpose()
        })))
    }

    fn check_constants(&self, globals: &Globals) -> Result<(), ServerError> {
        Self::check_constants(self, globals)
    }
}
