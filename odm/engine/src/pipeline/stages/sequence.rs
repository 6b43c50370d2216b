//! A stage that stands for several others, as `$fill` stands for `$setWindowFields` and `$addFields`.

use bson::Document;
use odm_language::error::ServerError;
use odm_language::expression::Globals;

use crate::pipeline::shown::Printer;
use crate::pipeline::source::Documents;
use crate::pipeline::stage::{Cx, Stage};

/// The stages to run in its place. The pipeline takes them, so that the planner sees a `$sort` among them.
#[derive(Debug)]
pub(super) struct Sequence(Vec<Box<dyn Stage>>);

impl Sequence {
    /// `stages` must not be empty.
    pub(super) fn boxed(stages: Vec<Box<dyn Stage>>) -> Box<dyn Stage> {
        Box::new(Self(stages))
    }
}

impl Stage for Sequence {
    fn shown(&self, printer: &dyn Printer) -> Result<Vec<Document>, ServerError> {
        let mut shown = Vec::new();
        for stage in &self.0 {
            shown.extend(stage.shown(printer)?);
        }
        Ok(shown)
    }

    fn run<'a>(&'a self, input: Documents<'a>, cx: Cx<'a>) -> Result<Documents<'a>, ServerError> {
        self.0
            .iter()
            .try_fold(input, |input, stage| stage.run(input, cx))
    }

    fn check_constants(&self, globals: &Globals) -> Result<(), ServerError> {
        self.0
            .iter()
            .try_for_each(|stage| stage.check_constants(globals))
    }

    fn parts(&mut self) -> Vec<Box<dyn Stage>> {
        std::mem::take(&mut self.0)
    }
}
