//! `$densify`: adds documents where values of a field are missing in a sequence.
//!
//! Like mongod, the stage becomes a `$sort` and a stage that expects sorted documents.

mod parse;

pub(super) use self::parse::parse;

use std::cmp::Ordering;
use std::collections::HashMap;

use bson::DateTime;
use bson::Document;
use bson::raw::{RawBson, RawBsonRef, RawDocument, RawDocumentBuf};
use odm_language::error::{Code, ServerError};
use odm_language::expression::units::{self, Unit};
use odm_language::value::number::Number;
use odm_language::value::raw::get;
use odm_language::value::{key, order};

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
    /// Whether a document had a value.
    is_begun: bool,
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

/// A run of the stage.
struct Run<'a> {
    stage: &'a Densify,
    cx: Cx<'a>,
    output: Vec<RawDocumentBuf>,
    added: usize,
}

impl Run<'_> {
    fn compare(&self, one: RawBsonRef<'_>, other: RawBsonRef<'_>) -> Ordering {
        order::compare(one, other, self.cx.globals.collator())
    }

    /// Adds documents until the sequence reaches the end, or passes it if that is part of the sequence.
    fn fill(
        &mut self,
        sequence: &mut Sequence,
        end: RawBsonRef<'_>,
        is_inclusive: bool,
    ) -> Result<(), ServerError> {
        while let Some(next) = &sequence.next {
            match self.compare(next.as_raw_bson_ref(), end) {
                Ordering::Less => {}
                Ordering::Equal if is_inclusive => {}
                _ => break,
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
            if self.stage.partition.contains(&self.stage.field) {
                return refuse(
                    5_733_306,
                    "DocGenerator cannot include field that is being densified",
                );
            }
            let value = Some(next.as_raw_bson_ref());
            self.output
                .push(unwind::with(&sequence.fields, &self.stage.field, value));
            sequence.next = Some(self.stage.step.after(next.as_raw_bson_ref())?);
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
    fn lead(&mut self, sequence: &mut Sequence, value: RawBsonRef<'_>) -> Result<(), ServerError> {
        if sequence.is_done {
            return Ok(());
        }
        check_kind(value, matches!(self.stage.step, Step::Units { .. }))?;
        let mut end = value;
        let mut is_one = self.is_one() && !sequence.is_begun;
        sequence.is_begun = true;
        if let Bounds::Explicit(_, upper) = &self.stage.bounds {
            let upper = upper.as_raw_bson_ref();
            let order = self.compare(value, upper);
            is_one &= order == Ordering::Greater;
            if order != Ordering::Less {
                sequence.is_done = true;
                end = upper;
            }
        }
        self.fill(sequence, end, is_one)?;
        let follows = match &sequence.next {
            None => true,
            Some(next) => self.compare(next.as_raw_bson_ref(), value) == Ordering::Equal,
        };
        if follows && !sequence.is_done {
            sequence.next = Some(self.stage.step.after(value)?);
        }
        Ok(())
    }

    /// Adds the documents behind the last document of a partition.
    fn finish(&mut self, sequence: &mut Sequence) -> Result<(), ServerError> {
        match &self.stage.bounds {
            Bounds::Explicit(_, upper) if !sequence.is_done => {
                let is_one = self.is_one() && !sequence.is_begun;
                self.fill(sequence, upper.as_raw_bson_ref(), is_one)
            }
            _ => Ok(()),
        }
    }

    /// A sequence before its first value.
    fn start(&self, fields: RawDocumentBuf) -> Sequence {
        Sequence {
            fields,
            next: match &self.stage.bounds {
                Bounds::Explicit(lower, _) => Some(lower.clone()),
                Bounds::Full | Bounds::Partition => None,
            },
            is_begun: false,
            is_done: false,
        }
    }

    /// Partitions that follow each other, each with the same bounds or with its own.
    fn by_partition(&mut self, input: Documents<'_>) -> Result<(), ServerError> {
        let mut current: Option<(Vec<u8>, Sequence)> = None;
        for document in input {
            let document = document?;
            let fields = self.stage.partition_of(&document);
            let key = key::of(RawBsonRef::Document(&fields), self.cx.globals.collator());
            let mut sequence = match current.take() {
                Some((other, sequence)) if other == key => sequence,
                Some((_, mut before)) => {
                    self.finish(&mut before)?;
                    self.start(fields)
                }
                None => self.start(fields),
            };
            if let Some(value) = value_of(&document, &self.stage.field) {
                self.lead(&mut sequence, value)?;
            }
            self.output.push(document);
            current = Some((key, sequence));
        }
        let mut last = match current {
            Some((_, sequence)) => sequence,
            None => self.start(RawDocumentBuf::new()),
        };
        self.finish(&mut last)
    }

    /// Partitions that share their bounds: the least and the greatest value of all documents, which are in the order
    /// of these values.
    fn across_partitions(&mut self, input: Documents<'_>) -> Result<(), ServerError> {
        let mut places: HashMap<Vec<u8>, usize> = HashMap::new();
        let mut sequences: Vec<Sequence> = Vec::new();
        let mut least: Option<RawBson> = None;
        let mut greatest: Option<RawBson> = None;
        for document in input {
            let document = document?;
            if let Some(value) = value_of(&document, &self.stage.field) {
                let least = least.get_or_insert_with(|| value.into());
                let fields = self.stage.partition_of(&document);
                let key = key::of(RawBsonRef::Document(&fields), self.cx.globals.collator());
                let place = *places.entry(key).or_insert(sequences.len());
                if place == sequences.len() {
                    check_kind(value, matches!(self.stage.step, Step::Units { .. }))?;
                    sequences.push(Sequence {
                        fields,
                        next: Some(least.clone()),
                        is_begun: false,
                        is_done: false,
                    });
                }
                if let Some(sequence) = sequences.get_mut(place) {
                    self.lead(sequence, value)?;
                }
                greatest = Some(value.into());
            }
            self.output.push(document);
        }
        if let Some(greatest) = greatest {
            for sequence in &mut sequences {
                self.fill(sequence, greatest.as_raw_bson_ref(), true)?;
            }
        }
        Ok(())
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
            output: Vec::new(),
            added: 0,
        };
        if matches!(self.bounds, Bounds::Full) && !self.partition.is_empty() {
            run.across_partitions(input)?;
        } else {
            run.by_partition(input)?;
        }
        Ok(Box::new(run.output.into_iter().map(Ok)))
    }
}
