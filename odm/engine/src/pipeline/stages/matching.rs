//! `$match`: keeps the documents that match a filter.

use bson::Document;
use bson::raw::{RawBsonRef, RawDocument, RawDocumentBuf};
use odm_language::error::{Code, ServerError};
use odm_language::expression::Globals;
use odm_language::matcher::{Matcher, without_where};

use crate::pipeline::shown::{Dependencies, Printer, stage};
use crate::pipeline::source::Documents;
use crate::pipeline::stage::{Cx, Planned, Stage};

#[derive(Debug)]
struct Match {
    filter: RawDocumentBuf,
    /// The order of the conditions decides for which documents an expression fails. A query sorts them.
    matcher: Matcher,
}

pub(super) fn parse(
    _name: &str,
    spec: RawBsonRef<'_>,
    globals: &Globals,
) -> Result<Box<dyn Stage>, ServerError> {
    let RawBsonRef::Document(filter) = spec else {
        return Err(ServerError::new(
            Code::location(15959),
            "the match filter must be an expression in an object",
        ));
    };
    of_filter(filter, globals)
}

/// A `$match` with this filter.
pub(in crate::pipeline) fn of_filter(
    filter: &RawDocument,
    globals: &Globals,
) -> Result<Box<dyn Stage>, ServerError> {
    let matcher = Matcher::parse(filter, globals).map_err(without_where)?;
    Ok(Box::new(Match {
        filter: filter.to_owned(),
        matcher: matcher.as_stage(),
    }))
}

impl Stage for Match {
    fn shown(&self, printer: &dyn Printer) -> Result<Vec<Document>, ServerError> {
        Ok(vec![stage("$match", printer.filter(&self.matcher))])
    }

    fn dependencies(&self) -> Option<Dependencies> {
        self.matcher.paths().map(Dependencies::some)
    }

    fn run<'a>(&'a self, input: Documents<'a>, cx: Cx<'a>) -> Result<Documents<'a>, ServerError> {
        Ok(Box::new(input.filter_map(move |document| {
            let document = match document {
                Ok(document) => document,
                Err(error) => return Some(Err(error)),
            };
            match self.matcher.matches_in(&document, cx.globals) {
                Ok(true) => Some(Ok(document)),
                Ok(false) => None,
                Err(error) => Some(Err(error)),
            }
        })))
    }

    fn check_constants(&self, globals: &Globals) -> Result<(), ServerError> {
        self.matcher.check_constants(globals)
    }

    fn planned(&self) -> Planned<'_> {
        Planned::Filter(&self.filter)
    }
}
