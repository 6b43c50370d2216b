//! `$densify`: adds documents where values of a field are missing in a sequence.
//!
//! Like mongod, the stage becomes a `$sort` and a stage that expects sorted documents.

mod parse;

pub(super) use self::parse::parse;

use std::cmp::Ordering;
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bson::DateTime;
use bson::Document;
use bson::raw::{RawBson, RawBsonRef, RawDocument, RawDocumentBuf};
use odm_language::error::{Code, ServerError};
use odm_language::expression::memory_limit::LIMIT;
use odm_language::expression::units::{self, Unit};
use odm_language::value::number::Number;
use odm_language::value::raw::get;
use odm_language::value::{key, order};

use crate::pipeline::document::PipelineDocument;
use crate::pipeline::shown::{Dependencies, Printer, stage};
use crate::pipeline::source::Documents;
use crate::pipeline::stage::{Cx, Stage};
use crate::pipeline::stages::unwind;

/// The largest number of documents that the stage may add: mongod's `internalQueryMaxAllowedDensifyDocs`.
const MOST: usize = 500_000;

#[derive(Debug)]
struct Densify {
    field: Vec<String>,
    partition: Vec<Vec<String>>,
    step: Step,
    bounds: Bounds,
    /// The options, as `explain` shows them.
    written: Document,
}

#[derive(Debug)]
enum Step {
    Number(Number),
    Units {
        amount: i64,
        unit: Unit,
        name: String,
    },
}

#[derive(Debug)]
enum Bounds {
    /// Between the least and the greatest value of all partitions.
    Full,
    /// Between the least and the greatest value of each partition.
    Partition,
    /// From the first value to before the second.
    Explicit(RawBson, RawBson),
}

/// The place of a partition in its sequence.
#[derive(Debug, Default)]
struct Sequence {
    /// The partition's fields, for the documents that are added.
    fields: RawDocumentBuf,
    /// The next value; `None` before the first.
    next: Option<RawBson>,
    /// The value of the last document that had one.
    last: Option<RawBson>,
    /// Whether the upper bound has been reached.
    is_done: bool,
}

impl Step {
    fn after(&self, value: RawBsonRef<'_>) -> Result<RawBson, ServerError> {
        match (self, value) {
            (Self::Units { amount, unit, name }, RawBsonRef::DateTime(date)) => {
                let moved = units::add_units(date.timestamp_millis(), (*unit, name), *amount)?;
                Ok(RawBson::DateTime(DateTime::from_millis(moved)))
            }
            (Self::Number(step), value) => {
                let value = Number::from_raw(value).unwrap_or(Number::Int32(0));
                let sum = value
                    .checked_add(*step)
                    .unwrap_or_else(|| Number::Double(value.to_f64() + step.to_f64()));
                Ok(sum.to_raw().into())
            }
            (Self::Units { .. }, _) => check_kind(value, true).map(|()| RawBson::Null),
        }
    }
}

/// Fails unless the value is a date, if the step has a unit, or otherwise a number.
fn check_kind(value: RawBsonRef<'_>, has_unit: bool) -> Result<(), ServerError> {
    match value {
        RawBsonRef::DateTime(_) if has_unit => Ok(()),
        RawBsonRef::DateTime(_) => refuse(
            6_053_600,
            "Encountered date densify value in collection when step does not have a date unit.",
        ),
        value if Number::from_raw(value).is_none() => {
            refuse(5_733_201, "Densify field type must be numeric or a date")
        }
        _ if has_unit => refuse(
            6_053_600,
            "Encountered numeric densify value in collection when step has a date unit.",
        ),
        _ => Ok(()),
    }
}

fn refuse<T>(code: i32, message: impl Into<String>) -> Result<T, ServerError> {
    Err(ServerError::new(Code::location(code), message))
}

/// The value at a path that passes through documents only.
fn at<'d>(document: &'d RawDocument, path: &[String]) -> Option<RawBsonRef<'d>> {
    let (head, rest) = path.split_first()?;
    match (get(document, head)?, rest) {
        (value, []) => Some(value),
        (RawBsonRef::Document(below), rest) => at(below, rest),
        _ => None,
    }
}

impl Densify {
    /// Whether all partitions have the bounds of all documents together.
    fn shares_bounds(&self) -> bool {
        matches!(self.bounds, Bounds::Full) && !self.partition.is_empty()
    }

    /// The document of the partition's fields. A missing field is left out, but not the documents around it.
    fn partition_of(&self, document: &RawDocument) -> RawDocumentBuf {
        let mut fields = RawDocumentBuf::new();
        for path in &self.partition {
            let value = at(document, path);
            let around = path.split_last().map_or(&[][..], |(_, around)| around);
            if value.is_none() && !around.is_empty() && at(&fields, around).is_none() {
                let empty = RawDocumentBuf::new();
                fields = unwind::with(&fields, around, Some(RawBsonRef::Document(&empty)));
            }
            if value.is_some() {
                fields = unwind::with(&fields, path, value);
            }
        }
        fields
    }
}

/// A sequence whose documents wait to be added.
#[derive(Clone)]
struct Shared(Arc<Mutex<Sequence>>);

impl Shared {
    fn new(sequence: Sequence) -> Self {
        Self(Arc::new(Mutex::new(sequence)))
    }

    fn lock(&self) -> MutexGuard<'_, Sequence> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A part of the output that is still to be made.
enum Part {
    /// Documents until the sequence reaches the end, or passes it if that is part of the sequence.
    Fill {
        sequence: Shared,
        end: RawBson,
        is_inclusive: bool,
    },
    /// The sequence continues behind a document with this value.
    Follow {
        sequence: Shared,
        value: RawBson,
    },
    Document(PipelineDocument),
}

/// A run of the stage. It reads the next document when all parts before it are made.
struct Run<'a> {
    stage: &'a Densify,
    cx: Cx<'a>,
    input: Documents<'a>,
    is_at_end: bool,
    parts: VecDeque<Part>,
    added: usize,
    /// The key of the current partition and its sequence, where partitions follow each other.
    current: Option<(Vec<u8>, Shared)>,
    /// Whether the documents behind the last one of a partition were added.
    has_sequence: bool,
    across: Across,
}

/// Partitions that share their bounds.
#[derive(Default)]
struct Across {
    places: HashMap<Vec<u8>, usize>,
    sequences: Vec<Shared>,
    /// The bytes of the partitions' fields.
    held: usize,
    least: Option<RawBson>,
    greatest: Option<RawBson>,
}

impl Run<'_> {
    fn compare(&self, one: RawBsonRef<'_>, other: RawBsonRef<'_>) -> Ordering {
        order::compare(one, other, self.cx.globals.collator())
    }

    fn next(&mut self) -> Result<Option<PipelineDocument>, ServerError> {
        let is_shared = self.stage.shares_bounds();
        loop {
            match self.parts.pop_front() {
                Some(Part::Document(document)) => return Ok(Some(document)),
                Some(Part::Follow { sequence, value }) => self.follow(&sequence, &value)?,
                Some(Part::Fill {
                    sequence,
                    end,
                    is_inclusive,
                }) => {
                    let added = self.add(&sequence, &end, is_inclusive)?;
                    if added.is_some() {
                        self.parts.push_front(Part::Fill {
                            sequence,
                            end,
                            is_inclusive,
                        });
                        return Ok(added.map(PipelineDocument::from));
                    }
                }
                None if self.is_at_end => return Ok(None),
                None => match self.input.next() {
                    Some(document) if is_shared => self.read_across(document?)?,
                    Some(document) => self.read(document?)?,
                    None => {
                        self.is_at_end = true;
                        self.end(is_shared);
                    }
                },
            }
        }
    }

    /// The next document of the sequence, unless it has reached the end.
    fn add(
        &mut self,
        sequence: &Shared,
        end: &RawBson,
        is_inclusive: bool,
    ) -> Result<Option<RawDocumentBuf>, ServerError> {
        let mut sequence = sequence.lock();
        let Some(next) = sequence.next.take() else {
            return Ok(None);
        };
        let order = self.compare(next.as_raw_bson_ref(), end.as_raw_bson_ref());
        if order.is_gt() || order.is_eq() && !is_inclusive {
            sequence.next = Some(next);
            return Ok(None);
        }
        self.cx.source.check_deadline()?;
        self.added += 1;
        if self.added > MOST {
            return refuse(
                5_897_900,
                format!(
                    "Generated {} documents in $densify, which is over the limit of {MOST}. Increase the 'internalQueryMaxAllowedDensifyDocs' parameter to allow more generated documents",
                    self.added
                ),
            );
        }
        if at(&sequence.fields, &self.stage.field).is_some() {
            return refuse(
                5_733_306,
                "DocGenerator cannot include field that is being densified",
            );
        }
        let value = next.as_raw_bson_ref();
        let document = unwind::with(&sequence.fields, &self.stage.field, Some(value));
        sequence.next = Some(self.stage.step.after(value)?);
        Ok(Some(document))
    }

    /// Moves the sequence behind the value, if it begins there or has reached it.
    fn follow(&self, sequence: &Shared, value: &RawBson) -> Result<(), ServerError> {
        let mut sequence = sequence.lock();
        let value = value.as_raw_bson_ref();
        let follows = match &sequence.next {
            None => true,
            Some(next) => self.compare(next.as_raw_bson_ref(), value).is_eq(),
        };
        if follows && !sequence.is_done {
            sequence.next = Some(self.stage.step.after(value)?);
        }
        Ok(())
    }

    /// Whether the bounds are equal. Then the lower bound counts, as long as no document is below it or at it.
    fn is_one(&self) -> bool {
        match &self.stage.bounds {
            Bounds::Explicit(lower, upper) => self
                .compare(lower.as_raw_bson_ref(), upper.as_raw_bson_ref())
                .is_eq(),
            Bounds::Full | Bounds::Partition => false,
        }
    }

    /// Adds the documents in front of a document, whose value is neither null nor missing.
    fn lead(&mut self, shared: &Shared, value: RawBsonRef<'_>) -> Result<(), ServerError> {
        let mut sequence = shared.lock();
        if sequence.is_done && self.stage.partition.is_empty() {
            return Ok(());
        }
        check_kind(value, matches!(self.stage.step, Step::Units { .. }))?;
        if sequence.is_done {
            return Ok(());
        }
        let mut end = value;
        let mut is_one = self.is_one() && sequence.last.is_none();
        sequence.last = Some(value.into());
        if let Bounds::Explicit(_, upper) = &self.stage.bounds {
            let upper = upper.as_raw_bson_ref();
            let order = self.compare(value, upper);
            is_one &= order == Ordering::Greater;
            if order != Ordering::Less {
                sequence.is_done = true;
                end = upper;
            }
        }
        self.parts.push_back(Part::Fill {
            sequence: shared.clone(),
            end: end.into(),
            is_inclusive: is_one,
        });
        self.parts.push_back(Part::Follow {
            sequence: shared.clone(),
            value: value.into(),
        });
        Ok(())
    }

    /// Adds the documents behind the last document of a partition, if one of its documents had a value.
    fn finish(&mut self, shared: &Shared) {
        let sequence = shared.lock();
        if !self.stage.partition.is_empty() && sequence.last.is_none() {
            return;
        }
        self.has_sequence = true;
        if let Bounds::Explicit(_, upper) = &self.stage.bounds
            && !sequence.is_done
        {
            self.parts.push_back(Part::Fill {
                sequence: shared.clone(),
                end: upper.clone(),
                is_inclusive: self.is_one() && sequence.last.is_none(),
            });
        }
    }

    /// A sequence before its first value.
    fn start(&self, fields: RawDocumentBuf) -> Shared {
        Shared::new(Sequence {
            fields,
            next: match &self.stage.bounds {
                Bounds::Explicit(lower, _) => Some(lower.clone()),
                Bounds::Full | Bounds::Partition => None,
            },
            last: None,
            is_done: false,
        })
    }

    /// Takes a document where partitions follow each other, each with the same bounds or with its own.
    fn read(&mut self, document: PipelineDocument) -> Result<(), ServerError> {
        let fields = self.stage.partition_of(&document);
        let key = key::of(RawBsonRef::Document(&fields), self.cx.globals.collator());
        let sequence = match self.current.take() {
            Some((other, sequence)) if other == key => sequence,
            Some((_, before)) => {
                self.finish(&before);
                self.start(fields)
            }
            None => self.start(fields),
        };
        if let Some(value) = value_of(&document, &self.stage.field) {
            self.lead(&sequence, value)?;
        }
        self.parts.push_back(Part::Document(document));
        self.current = Some((key, sequence));
        Ok(())
    }

    /// Takes a document where partitions share their bounds: the least and the greatest value of all documents, which
    /// are in the order of these values.
    fn read_across(&mut self, document: PipelineDocument) -> Result<(), ServerError> {
        if let Some(value) = value_of(&document, &self.stage.field) {
            let least = self
                .across
                .least
                .get_or_insert_with(|| value.into())
                .clone();
            let fields = self.stage.partition_of(&document);
            let key = key::of(RawBsonRef::Document(&fields), self.cx.globals.collator());
            let count = self.across.sequences.len();
            let place = *self.across.places.entry(key).or_insert(count);
            if place == count {
                self.across.held += fields.as_bytes().len();
                if self.across.held > LIMIT {
                    return refuse(
                        6_007_200,
                        format!("$densify exceeded memory limit of {LIMIT}"),
                    );
                }
                check_kind(value, matches!(self.stage.step, Step::Units { .. }))?;
                self.across.sequences.push(Shared::new(Sequence {
                    fields,
                    next: Some(least),
                    last: None,
                    is_done: false,
                }));
            }
            if let Some(sequence) = self.across.sequences.get(place).cloned() {
                self.lead(&sequence, value)?;
            }
            self.across.greatest = Some(value.into());
        }
        self.parts.push_back(Part::Document(document));
        Ok(())
    }

    /// Adds the documents behind the last document. If no document had a value, there is one sequence without partitions.
    fn end(&mut self, is_shared: bool) {
        if !is_shared {
            if let Some((_, last)) = self.current.take() {
                self.finish(&last);
            }
            if let Bounds::Explicit(_, upper) = &self.stage.bounds
                && !self.has_sequence
            {
                self.parts.push_back(Part::Fill {
                    sequence: self.start(RawDocumentBuf::new()),
                    end: upper.clone(),
                    is_inclusive: self.is_one(),
                });
            }
            return;
        }
        if let Some(greatest) = self.across.greatest.take() {
            for sequence in std::mem::take(&mut self.across.sequences) {
                // A step may be too small to move a large number.
                let is_there = sequence.lock().last.as_ref().is_some_and(|last| {
                    self.compare(last.as_raw_bson_ref(), greatest.as_raw_bson_ref())
                        .is_eq()
                });
                if is_there {
                    continue;
                }
                self.parts.push_back(Part::Fill {
                    sequence,
                    end: greatest.clone(),
                    is_inclusive: true,
                });
            }
        }
    }
}

/// The value of the field, unless it is null.
fn value_of<'d>(document: &'d RawDocument, field: &[String]) -> Option<RawBsonRef<'d>> {
    at(document, field).filter(|value| !matches!(value, RawBsonRef::Null | RawBsonRef::Undefined))
}

impl Stage for Densify {
    fn shown(&self, _printer: &dyn Printer) -> Result<Vec<Document>, ServerError> {
        Ok(vec![stage("$_internalDensify", self.written.clone())])
    }

    fn dependencies(&self) -> Option<Dependencies> {
        let partition = self.partition.iter();
        let paths = partition.chain([&self.field]).map(|path| path.join("."));
        Some(Dependencies::some(paths.collect()))
    }

    fn run<'a>(&'a self, input: Documents<'a>, cx: Cx<'a>) -> Result<Documents<'a>, ServerError> {
        let mut run = Run {
            stage: self,
            cx,
            input,
            is_at_end: false,
            parts: VecDeque::new(),
            added: 0,
            current: None,
            has_sequence: false,
            across: Across::default(),
        };
        Ok(Box::new(std::iter::from_fn(move || run.next().transpose())))
    }
}
