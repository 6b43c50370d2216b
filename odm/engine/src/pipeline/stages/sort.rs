//! `$sort`: stable unless a [`Shuffle`](odm_language::shuffle::Shuffle) is set, by the order of BSON values.

use bson::raw::{RawBsonRef, RawDocument, RawDocumentBuf};
use bson::{Document, doc};
use odm_language::error::{Code, ServerError};
use odm_language::expression::Globals;
use odm_language::value::raw::elements;

use crate::pipeline::shown::{Dependencies, Printer, stage};
use crate::pipeline::sort::SortPattern;
use crate::pipeline::source::Documents;
use crate::pipeline::stage::{Cx, PathEffect, Planned, Stage, Touched};

/// How many documents a sort with a limit collects at least before it drops those behind the limit.
const LEAST_ROOM: usize = 1_024;

#[derive(Debug)]
struct Sort {
    spec: RawDocumentBuf,
    pattern: SortPattern,
    /// How many of the first documents are needed.
    limit: Option<usize>,
}

pub(super) fn parse(
    _name: &str,
    spec: RawBsonRef<'_>,
    _globals: &Globals,
) -> Result<Box<dyn Stage>, ServerError> {
    let RawBsonRef::Document(spec) = spec else {
        return Err(ServerError::new(
            Code::location(15973),
            "the $sort key specification must be an object",
        ));
    };
    Ok(Box::new(Sort {
        spec: spec.to_owned(),
        pattern: SortPattern::parse(spec)?,
        limit: None,
    }))
}

/// A sort by `spec`, or by `planned` where the planner takes it over. mongod's two sorts differ so where a field is
/// repeated.
pub(super) fn of(
    spec: &RawDocument,
    planned: RawDocumentBuf,
) -> Result<Box<dyn Stage>, ServerError> {
    Ok(Box::new(Sort {
        spec: planned,
        pattern: SortPattern::parse(spec)?,
        limit: None,
    }))
}

impl Stage for Sort {
    fn shown(&self, _printer: &dyn Printer) -> Result<Vec<Document>, ServerError> {
        let key = Document::try_from(&*self.spec).unwrap_or_default();
        Ok(vec![stage("$sort", doc! { "sortKey": key })])
    }

    fn dependencies(&self) -> Option<Dependencies> {
        let paths = elements(&self.spec).map(|(path, direction)| {
            let is_path = direction.as_document().is_none();
            is_path.then(|| path.to_owned())
        });
        paths.collect::<Option<_>>().map(Dependencies::some)
    }

    fn run<'a>(&'a self, input: Documents<'a>, cx: Cx<'a>) -> Result<Documents<'a>, ServerError> {
        let mut keyed = Vec::new();
        for document in input {
            let document = document?;
            let known = cx.globals.known();
            let key = self.pattern.key(&document, cx.globals.collator(), &known)?;
            keyed.push((key, document, known));
            if let Some(limit) = self.limit
                && cx.globals.shuffle().is_none()
                && keyed.len() >= limit.saturating_mul(2).max(LEAST_ROOM)
            {
                keyed.sort_by(|(left, ..), (right, ..)| left.cmp(right));
                keyed.truncate(limit);
            }
        }
        if let Some(shuffle) = cx.globals.shuffle() {
            shuffle.shuffle(&mut keyed);
        }
        keyed.sort_by(|(left, ..), (right, ..)| left.cmp(right));
        Ok(Box::new(keyed.into_iter().map(|(_, document, known)| {
            // Restores the metadata of the document.
            cx.globals.set_known(known);
            Ok(document)
        })))
    }

    fn effect(&self) -> Option<PathEffect> {
        Some(PathEffect::new(Touched::Only(Vec::new())))
    }

    fn bound(&mut self, limit: u64) {
        self.limit = usize::try_from(limit).ok();
    }

    fn planned(&self) -> Planned<'_> {
        Planned::Sort(&self.spec)
    }
}
