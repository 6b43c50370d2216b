//! Counters of the stages of an explained pipeline: the documents that they return, and what they read.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};

use bson::raw::{RawDocument, RawDocumentBuf};
use odm_language::error::ServerError;
use odm_language::value::raw::{append, elements};

use crate::pipeline::source::Documents;
use crate::pipeline::stage::{Cx, Stage};

/// The reads of other collections by a stage.
#[derive(Debug, Default, Clone)]
pub(crate) struct Reads {
    pub(crate) keys: u64,
    pub(crate) documents: u64,
    pub(crate) scans: u64,
    pub(crate) indexes: BTreeSet<String>,
}

impl Reads {
    fn add(&mut self, other: Self) {
        self.keys += other.keys;
        self.documents += other.documents;
        self.scans += other.scans;
        self.indexes.extend(other.indexes);
    }
}

/// The counters of one stage.
#[derive(Debug, Default, Clone)]
pub(crate) struct Ran {
    /// The number of documents that the next stage has taken from it.
    pub(crate) returned: u64,
    /// The size of those documents.
    pub(crate) bytes: u64,
    /// The size of the values of each field.
    pub(crate) fields: BTreeMap<String, u64>,
    pub(crate) reads: Reads,
}

impl Ran {
    fn count(&mut self, document: &RawDocument) {
        let size = |bytes: &[u8]| u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        self.returned += 1;
        self.bytes += size(document.as_bytes());
        for (name, value) in elements(document) {
            let mut alone = RawDocumentBuf::new();
            append(&mut alone, "", value);
            *self.fields.entry(name.to_owned()).or_default() += size(alone.as_bytes());
        }
    }
}

/// A stage: the address of its pipeline, which does not move while it runs, and its index; `None` for the input.
type Place = (usize, Option<usize>);

/// The counts of all stages of a pipeline, and of the pipelines in it.
#[derive(Debug, Default)]
pub(crate) struct Counts(Mutex<HashMap<Place, Ran>>);

impl Counts {
    fn lock(&self) -> MutexGuard<'_, HashMap<Place, Ran>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The counters of a stage, or of a pipeline's input.
    pub(crate) fn of(&self, place: Place) -> Ran {
        let counts = self.lock();
        counts.get(&place).cloned().unwrap_or_default()
    }

    fn at<R>(&self, place: Place, change: impl FnOnce(&mut Ran) -> R) -> R {
        change(self.lock().entry(place).or_default())
    }

    /// Counts the documents that the first stage takes.
    pub(super) fn input<'a>(&'a self, pipeline: usize, input: Documents<'a>) -> Documents<'a> {
        let place = (pipeline, None);
        Box::new(input.inspect(move |document| {
            if let Ok(document) = document {
                self.at(place, |ran| ran.count(document));
            }
        }))
    }

    /// Runs a stage. Reads of the stages in front of it, which it asks for documents, count for those stages.
    pub(super) fn run<'a>(
        &'a self,
        place: Place,
        stage: &'a dyn Stage,
        input: Documents<'a>,
        cx: Cx<'a>,
    ) -> Result<Documents<'a>, ServerError> {
        let around = cx.source.exchange_reads(Reads::default());
        let output = stage.run(input, cx);
        let own = cx.source.exchange_reads(around);
        self.at(place, |ran| ran.reads.add(own));
        let mut output = output?;
        Ok(Box::new(std::iter::from_fn(move || {
            let around = cx.source.exchange_reads(Reads::default());
            let next = output.next();
            let own = cx.source.exchange_reads(around);
            self.at(place, |ran| {
                ran.reads.add(own);
                if let Some(Ok(document)) = &next {
                    ran.count(document);
                }
            });
            next
        })))
    }
}
