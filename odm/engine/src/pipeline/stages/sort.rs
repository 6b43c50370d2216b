//! `$sort`: stable unless a [`Shuffle`](odm_language::shuffle::Shuffle) is set, by the order of BSON values.

use bson::raw::{RawBsonRef, RawDocument, RawDocumentBuf};
use bson::{Document, doc};
use odm_language::error::{Code, ServerError};
use odm_language::expression::Globals;
use odm_language::expression::meta::Known;
use odm_language::value::raw::elements;

use crate::index::key_list::KeyList;
use crate::pipeline::document::PipelineDocument;
use crate::pipeline::memory::{self, Memory};
use crate::pipeline::shown::{Dependencies, Printer, stage};
use crate::pipeline::sort::SortPattern;
use crate::pipeline::source::Documents;
use crate::pipeline::stage::{Cx, PathEffect, Planned, Stage, Touched};

/// The least number of documents that a sort with a limit collects before it drops those behind the limit.
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

/// A document with its metadata.
type Described = (PipelineDocument, Known);

/// The documents of a sort with their keys.
#[derive(Default)]
struct Kept {
    keys: KeyList,
    documents: Vec<Option<Described>>,
    /// The number of the last document that a limit lets pass, once that many are kept.
    last: Option<usize>,
}

impl Kept {
    /// Keeps the document of the last key, unless it is behind a limit; returns whether it is kept.
    fn push(&mut self, document: Described, limit: Option<usize>) -> bool {
        if let Some(last) = self.last
            && self.keys.get(self.documents.len()) >= self.keys.get(last)
        {
            self.keys.remove_last();
            return false;
        }
        self.documents.push(Some(document));
        if let Some(limit) = limit
            && self.documents.len() >= limit.saturating_mul(2).max(LEAST_ROOM)
        {
            self.cut(limit);
        }
        true
    }

    /// The bytes that mongod's sort would hold.
    fn size(&self) -> usize {
        let sizes = self.documents.iter().enumerate().map(|(number, kept)| {
            let document = kept.as_ref().map_or(0, |(it, _)| it.as_bytes().len());
            memory::SORTED + self.keys.get(number).len() + document
        });
        sizes.sum()
    }

    /// Drops the documents behind a limit.
    fn cut(&mut self, limit: usize) {
        let mut order = self.keys.sorted(0..self.keys.len());
        order.truncate(limit);
        let documents = &mut self.documents;
        let first = order
            .iter()
            .map(|number| documents.get_mut(*number).and_then(Option::take))
            .collect();
        self.keys = self.keys.only(&order);
        self.documents = first;
        self.last = limit.checked_sub(1);
    }
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
        let fields = self.pattern.fields();
        let limit = self.limit.filter(|_| cx.globals.shuffle().is_none());
        let mut kept = Kept::default();
        let mut buffer = RawDocumentBuf::new();
        let mut memory = Memory::new(cx.globals);
        for document in input {
            let document = document?;
            let known = cx.globals.known();
            let read = document.with_fields(Some(&fields), &mut buffer);
            kept.keys.add(|key| {
                self.pattern
                    .key_into(read, cx.globals.collator(), &known, key)
            })?;
            let before = kept.documents.len();
            let own = if memory.is_limited() {
                memory::SORTED + kept.keys.get(before).len() + document.as_bytes().len()
            } else {
                0
            };
            if !kept.push((document, known), limit) {
                continue;
            }
            memory.add(own);
            if let Some(limit) = limit
                && (kept.documents.len() <= before || memory.is_exceeded())
            {
                if kept.documents.len() > limit {
                    kept.cut(limit);
                }
                if memory.is_limited() {
                    memory.reset(kept.size());
                }
            }
            if memory.is_exceeded() {
                return Err(memory::sort_needs_disk(self.limit.is_some()));
            }
        }
        let mut numbers: Vec<usize> = (0..kept.keys.len()).collect();
        if let Some(shuffle) = cx.globals.shuffle() {
            shuffle.shuffle(&mut numbers);
        }
        let order = kept.keys.sorted(numbers.into_iter());
        let mut documents = kept.documents;
        Ok(Box::new(order.into_iter().filter_map(move |number| {
            let (document, known) = documents.get_mut(number)?.take()?;
            // Restores the metadata of the document.
            cx.globals.set_known(known);
            Some(Ok(document))
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
