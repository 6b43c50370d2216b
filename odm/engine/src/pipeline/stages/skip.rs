//! `$skip`: all but the first documents.

use bson::Document;
use bson::raw::RawBsonRef;
use odm_language::error::ServerError;
use odm_language::expression::Globals;

use crate::pipeline::shown::{Dependencies, Printer, number, stage};
use crate::pipeline::source::Documents;
use crate::pipeline::stage::{Cx, Planned, Stage};
use crate::pipeline::stages::limit::count;

#[derive(Debug)]
struct Skip(u64);

pub(super) fn parse(
    name: &str,
    spec: RawBsonRef<'_>,
    _globals: &Globals,
) -> Result<Box<dyn Stage>, ServerError> {
    Ok(Box::new(Skip(count(name, spec, 5_107_200)?)))
}

impl Stage for Skip {
    fn shown(&self, _printer: &dyn Printer) -> Result<Vec<Document>, ServerError> {
        Ok(vec![stage("$skip", number(self.0))])
    }

    fn dependencies(&self) -> Option<Dependencies> {
        Some(Dependencies::some(Vec::new()))
    }

    fn run<'a>(&'a self, input: Documents<'a>, _cx: Cx<'a>) -> Result<Documents<'a>, ServerError> {
        let mut left = self.0;
        Ok(Box::new(input.filter(move |document| {
            // Errors are never skipped.
            if left > 0 && document.is_ok() {
                left -= 1;
                return false;
            }
            true
        })))
    }

    fn planned(&self) -> Planned<'_> {
        Planned::Skip(self.0)
    }
}
