//! An index scan as a step of a plan.

use std::collections::HashSet;
use std::slice;
use std::sync::Arc;

use bson::raw::{RawBsonRef, RawDocumentBuf};
use bson::{Bson, Document};
use odm_language::error::ServerError;
use odm_language::matcher::Matcher;
use odm_language::value::path::Path;
use odm_language::value::raw::{self, DocumentWriter};

use crate::catalog::collection::document;
use crate::cursor::exec::stage::Counters;
use crate::cursor::exec::walk::{StepOutcome, Walk};
use crate::cursor::exec::{Bytes, Lent, Shared, Work};
use crate::index::RecordId;
use crate::planner::conditions;
use crate::planner::plan::IndexScan;

/// What the step returns for an index entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Output {
    /// The document with the one `_id`.
    ById,
    /// Only its existence.
    Count,
    Record,
    /// A result made of its key: the query is covered.
    Key,
    /// The fields of its key.
    WholeKey,
}

#[derive(Debug)]
pub(super) struct IndexScanStep {
    walk: Walk,
    name: String,
    /// The conditions that the index scan tests.
    tests: Option<Matcher>,
    /// The records found so far, for multikey indexes: a record may have several keys.
    seen: Option<HashSet<RecordId>>,
    output: Output,
    done: bool,
    /// The paths of a covered result, in the order of the index; `None` if it has no fields.
    shown: Option<Vec<Path>>,
    /// The memory in which results are made.
    buffer: RawDocumentBuf,
    /// The last result made of a key.
    made: Option<Arc<[u8]>>,
}

impl IndexScanStep {
    /// `None` if the index does not exist.
    pub(super) fn new(scan: &IndexScan, shared: &Shared, output: Output) -> Option<Self> {
        let index = shared.collection.index(&scan.name)?;
        let multikey = match &scan.path {
            Some(path) => {
                index.arrays.has(path) || scan.fields.first().is_some_and(|at| at.len() > 1)
            }
            None => index.multikey(),
        };
        let distinct = scan.distinct.and_then(|field| index.spec.paths.get(field));
        let output = match output {
            // The value is one of several in the document.
            Output::Key if distinct.is_some_and(|path| index.arrays.has(path.as_str())) => {
                Output::WholeKey
            }
            output => output,
        };
        let path = scan.path.as_deref().map(Path::new);
        let own = path.as_ref().map_or(&*index.spec.paths, slice::from_ref);
        let shown = shared.made_of.as_deref().filter(|paths| !paths.is_empty());
        let shown = shown.map(|paths| {
            let own = own.iter().filter(|path| paths.contains(path));
            own.cloned().collect()
        });
        let mut walk = Walk::new(index, scan);
        walk.key = (shared.keys.is_some() || output == Output::WholeKey).then(Vec::new);
        Some(Self {
            walk,
            tests: (!scan.tested.is_empty())
                .then_some(shared.matcher.as_deref())
                .flatten()
                .map(|matcher| only(matcher, &scan.tested)),
            name: scan.name.clone(),
            // A distinct scan returns a record once for each of its values.
            seen: (multikey && scan.distinct.is_none()).then(HashSet::new),
            output,
            done: false,
            shown,
            buffer: RawDocumentBuf::new(),
            made: None,
        })
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.done
    }

    /// Whether an `_id` lookup has found its record.
    pub(super) fn is_exhausted(&self) -> bool {
        self.output == Output::ById && self.done
    }

    pub(super) fn step<'a>(
        &'a mut self,
        counters: &mut Counters,
        shared: &'a Shared,
    ) -> Result<Work<Lent<'a>>, ServerError> {
        if self.done {
            return Ok(Work::End);
        }
        let Some(index) = shared.collection.index(&self.name) else {
            self.done = true;
            return Ok(Work::End);
        };
        let met = self.walk.step(index);
        counters.seeks = self.walk.seeks;
        let record = match met {
            StepOutcome::Record(record) => record,
            StepOutcome::Outside => {
                counters.keys += 1;
                return Ok(Work::Again);
            }
            StepOutcome::Last | StepOutcome::End => {
                // A count also examines the key after its last one, and the end of the index counts as a key.
                let counted = self.output == Output::Count;
                counters.keys += u64::from(matches!(met, StepOutcome::Last) || counted);
                self.done = true;
                return Ok(Work::End);
            }
        };
        counters.keys += 1;
        if let Some(seen) = &mut self.seen {
            counters.dups_tested += 1;
            if !seen.insert(record) {
                counters.dups_dropped += 1;
                return Ok(Work::Again);
            }
        }
        if let Some(key) = &self.walk.key {
            shared.found_by(record, &self.name, key);
        }
        let stored = || shared.collection.stored(record);
        if self.output == Output::ById {
            self.done = true;
            counters.docs += 1;
            return Ok(
                stored().map_or(Work::End, |bytes| Work::Row((record, Bytes::Stored(bytes))))
            );
        }
        if let Some(tests) = &self.tests {
            // Keys keep the order of values but not the values themselves, so the stored document is tested.
            let passes = stored().map(|stored| tests.matches_bytes(stored.bytes));
            if !passes.unwrap_or(Ok(false))? {
                shared.forget(record);
                return Ok(Work::Again);
            }
        }
        if let (Output::WholeKey, Some(key)) = (self.output, &self.walk.key) {
            let shown = stored()
                .and_then(|stored| document(stored.bytes))
                .map(|document| index.shown_key(document, key));
            let Some(shown) = shown.transpose()?.flatten() else {
                return Ok(Work::Again);
            };
            let made = &*self.made.insert(shown.into_bytes().into());
            return Ok(Work::Row((record, Bytes::Made(made))));
        }
        if self.output == Output::Key {
            let Some(stored) = stored() else {
                return Ok(Work::Again);
            };
            let made = self.made_of_key(stored.bytes);
            let made = made.map(|made| &*self.made.insert(made));
            return Ok(Work::Row((record, made.map_or(Bytes::None, Bytes::Made))));
        }
        Ok(Work::Row((record, Bytes::None)))
    }

    /// The values of a key as a document, in the order of the index. Indexes store a missing value as null, so the
    /// result has null, too.
    fn made_of_key(&mut self, bytes: &[u8]) -> Option<Arc<[u8]>> {
        let own = self.shown.as_deref()?;
        let stored = document(bytes)?;
        if own.iter().all(|path| path.only().is_some()) {
            let mut made = DocumentWriter::reusing(std::mem::take(&mut self.buffer));
            for path in own {
                match path
                    .only()
                    .and_then(|name| raw::walk(stored).find_name(name))
                {
                    Some(element) => made.push(&element),
                    None => made.append(path.as_str(), RawBsonRef::Null),
                }
            }
            self.buffer = made.finish();
            return Some(self.buffer.as_bytes().into());
        }
        let value = |path: &Path| path.get_plain(stored).unwrap_or(RawBsonRef::Null);
        let mut made = Document::new();
        for path in own {
            let value = Bson::try_from(value(path)).unwrap_or(Bson::Null);
            place(&mut made, path.as_str(), value);
        }
        let made = RawDocumentBuf::try_from(&made).ok()?;
        Some(made.into_bytes().into())
    }
}

/// A matcher of some of a filter's conditions.
fn only(matcher: &Matcher, children: &[usize]) -> Matcher {
    let all = conditions::children(matcher.predicate());
    matcher.with(
        children
            .iter()
            .filter_map(|child| all.get(*child).copied().cloned())
            .collect(),
    )
}

/// Puts a value at a dotted path.
fn place(document: &mut Document, path: &str, value: Bson) {
    match path.split_once('.') {
        None => {
            document.insert(path, value);
        }
        Some((head, rest)) => {
            let inner = document
                .entry(head.to_owned())
                .or_insert_with(|| Bson::Document(Document::new()));
            if let Bson::Document(inner) = inner {
                place(inner, rest, value);
            }
        }
    }
}
