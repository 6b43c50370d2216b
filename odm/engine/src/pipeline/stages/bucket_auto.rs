//! `$bucketAuto`: divides the documents, in the order of an expression, into groups of about the same size.

mod granularity;

use std::iter::Peekable;
use std::vec::IntoIter;

use bson::raw::{RawBson, RawBsonRef, RawDocument, RawDocumentBuf, cstr};
use bson::{Document, doc};
use odm_language::error::{Code, ServerError};
use odm_language::expression::meta::Known;
use odm_language::expression::{Expression, Globals, Scope, compat::messages};
use odm_language::value::number::Number;
use odm_language::value::raw::{append, elements};
use odm_language::value::{key, order};

use crate::pipeline::document::PipelineDocument;
use crate::pipeline::memory::{self, Memory};
use crate::pipeline::shown::{Dependencies, Printer, stage};
use crate::pipeline::source::{Documents, made};
use crate::pipeline::stage::{Cx, Stage};
use crate::pipeline::stages::bucket::is_computed;
use crate::pipeline::stages::foreign::one;
use crate::pipeline::stages::group::{Field, State};

use self::granularity::Granularity;

#[derive(Debug)]
struct BucketAuto {
    group_by: Expression,
    buckets: usize,
    fields: Vec<Field>,
    granularity: Option<Granularity>,
    /// The name of the granularity.
    named: Option<String>,
}

/// The options, as far as they are checked while they are read.
#[derive(Default)]
struct Spec {
    group_by: Option<Expression>,
    buckets: Option<i64>,
    fields: Vec<Field>,
    granularity: Option<Granularity>,
    named: Option<String>,
}

fn refuse<T>(code: i32, message: impl Into<String>) -> Result<T, ServerError> {
    Err(ServerError::new(Code::location(code), message))
}

pub(super) fn parse(
    _name: &str,
    spec: RawBsonRef<'_>,
    globals: &Globals,
) -> Result<Box<dyn Stage>, ServerError> {
    let RawBsonRef::Document(document) = spec else {
        return refuse(
            40240,
            format!(
                "The argument to $bucketAuto must be an object, but found type: {}",
                messages::type_name(Some(spec))
            ),
        );
    };
    let mut spec = Spec::default();
    let scope = globals.scope();
    for (name, value) in elements(document) {
        spec.read(name, value, &scope, globals)?;
    }
    let (Some(group_by), Some(buckets)) = (spec.group_by, spec.buckets) else {
        return refuse(
            40246,
            "$bucketAuto requires 'groupBy' and 'buckets' to be specified",
        );
    };
    let Some(buckets) = usize::try_from(buckets).ok().filter(|&buckets| buckets > 0) else {
        return refuse(
            40243,
            format!("The $bucketAuto 'buckets' field must be greater than 0, but found: {buckets}"),
        );
    };
    let mut fields = spec.fields;
    if fields.is_empty() {
        let sum = one("$sum", RawBsonRef::Int32(1));
        fields.push(Field::parse("count", RawBsonRef::Document(&sum), &scope)?);
    }
    Ok(Box::new(BucketAuto {
        group_by,
        buckets,
        fields,
        granularity: spec.granularity,
        named: spec.named,
    }))
}

impl Spec {
    fn read(
        &mut self,
        name: &str,
        value: RawBsonRef<'_>,
        scope: &Scope,
        globals: &Globals,
    ) -> Result<(), ServerError> {
        let kind = messages::type_name(Some(value));
        match (name, value) {
            ("groupBy", value) if is_computed(value) => {
                self.group_by = Some(Expression::parse(value, scope)?);
            }
            ("groupBy", other) => {
                return refuse(
                    40239,
                    format!(
                        "The $bucketAuto 'groupBy' field must be defined as a $-prefixed path or an expression object, but found: {}",
                        messages::stored(other)
                    ),
                );
            }
            ("buckets", value) => self.buckets = Some(buckets(value)?),
            ("output", RawBsonRef::Document(output)) => {
                for (name, value) in elements(output) {
                    let field = Field::parse(name, value, scope)?;
                    if !field.has_fixed_size(globals)? {
                        return refuse(4_544_714, "Can't refer to the group key in $bucketAuto");
                    }
                    self.fields.push(field);
                }
            }
            ("output", _) => {
                return refuse(
                    40244,
                    format!(
                        "The $bucketAuto 'output' field must be an object, but found type: {kind}"
                    ),
                );
            }
            ("granularity", RawBsonRef::String(name)) => {
                let Some(granularity) = Granularity::new(name) else {
                    return refuse(40257, format!("Unknown rounding granularity '{name}'"));
                };
                self.granularity = Some(granularity);
                self.named = Some(name.to_owned());
            }
            ("granularity", _) => {
                return refuse(
                    40261,
                    format!(
                        "The $bucketAuto 'granularity' field must be a string, but found type: {kind}"
                    ),
                );
            }
            (other, _) => {
                return refuse(
                    40245,
                    format!("Unrecognized option to $bucketAuto: {other}"),
                );
            }
        }
        Ok(())
    }
}

/// The number of buckets, which must have 32 bits.
fn buckets(value: RawBsonRef<'_>) -> Result<i64, ServerError> {
    let Some(number) = Number::from_raw(value) else {
        return refuse(
            40241,
            format!(
                "The $bucketAuto 'buckets' field must be a numeric value, but found type: {}",
                messages::type_name(Some(value))
            ),
        );
    };
    match number.to_i64_exact() {
        Some(buckets) if i32::try_from(buckets).is_ok() => Ok(buckets),
        _ => refuse(
            40242,
            format!(
                "The $bucketAuto 'buckets' field must be representable as a 32-bit integer, but found {}",
                messages::double(number.to_f64())
            ),
        ),
    }
}

impl Stage for BucketAuto {
    fn shown(&self, printer: &dyn Printer) -> Result<Vec<Document>, ServerError> {
        let globals = printer.globals();
        let mut shown = doc! {
            "groupBy": self.group_by.optimized(globals),
            "buckets": i32::try_from(self.buckets).unwrap_or(i32::MAX),
        };
        if let Some(granularity) = &self.named {
            shown.insert("granularity", granularity);
        }
        let fields = self.fields.iter();
        let output: Document = fields
            .map(|field| (field.name.clone(), field.shown(globals).into()))
            .collect();
        shown.insert("output", output);
        Ok(vec![stage("$bucketAuto", shown)])
    }

    fn dependencies(&self) -> Option<Dependencies> {
        let mut paths = self.group_by.paths()?;
        for field in &self.fields {
            paths.extend(field.paths()?);
        }
        Some(Dependencies::all(paths))
    }

    fn holds_documents(&self) -> bool {
        true
    }

    fn forgets_metadata(&self) -> bool {
        true
    }

    fn run<'a>(&'a self, input: Documents<'a>, cx: Cx<'a>) -> Result<Documents<'a>, ServerError> {
        let mut memory = Memory::new(cx.globals);
        let mut entries = Vec::new();
        for document in input {
            let document = document?;
            let value = self.value(&document, cx.globals)?;
            let key = key::of(value.as_raw_bson_ref(), cx.globals.collator());
            memory.add(memory::SORTED + key.len() + document.as_bytes().len());
            if memory.is_exceeded() {
                return Err(memory::sort_needs_disk(false));
            }
            entries.push(Entry {
                key,
                value,
                document,
                known: cx.globals.known(),
            });
        }
        if let Some(shuffle) = cx.globals.shuffle() {
            shuffle.shuffle(&mut entries);
        }
        entries.sort_by(|left, right| left.key.cmp(&right.key));
        // The quotient, rounded to the nearest integer.
        let size = (2 * entries.len() + self.buckets) / (2 * self.buckets);
        let mut buckets = Buckets {
            stage: self,
            globals: cx.globals,
            rest: entries.into_iter().peekable(),
            size,
            left: self.buckets,
            lower: None,
        };
        Ok(made(std::iter::from_fn(move || buckets.next().transpose())))
    }

    fn reads(&self) -> Option<Vec<String>> {
        let mut paths = self.group_by.paths()?;
        for field in &self.fields {
            paths.extend(field.paths()?);
        }
        Some(paths)
    }

    fn check_constants(&self, globals: &Globals) -> Result<(), ServerError> {
        self.group_by.check_constants(globals)?;
        self.fields
            .iter()
            .try_for_each(|field| field.check_constants(globals))
    }
}

impl BucketAuto {
    /// The value that decides where a document belongs.
    fn value(&self, document: &RawDocument, globals: &Globals) -> Result<RawBson, ServerError> {
        let value = self.group_by.eval(document, globals)?;
        if self.granularity.is_some() {
            check_number(value.get())?;
        }
        Ok(value.into_owned().unwrap_or(RawBson::Null))
    }
}

/// Refuses a value that no granularity can round.
fn check_number(value: Option<RawBsonRef<'_>>) -> Result<(), ServerError> {
    let Some(number) = value.and_then(Number::from_raw) else {
        return refuse(
            40258,
            format!(
                "$bucketAuto can specify a 'granularity' with numeric boundaries only, but found a value with type: {}",
                messages::type_name(value)
            ),
        );
    };
    if number.is_nan() {
        return refuse(
            40259,
            "$bucketAuto can specify a 'granularity' with numeric boundaries only, but found a NaN",
        );
    }
    if number.to_f64() < 0.0 {
        return refuse(
            40260,
            "$bucketAuto can specify a 'granularity' with non-negative numbers only, but found a negative number",
        );
    }
    Ok(())
}

/// A document with the value that decides where it belongs.
struct Entry {
    key: Vec<u8>,
    value: RawBson,
    document: PipelineDocument,
    known: Known,
}

/// The division of sorted documents into buckets.
struct Buckets<'a> {
    stage: &'a BucketAuto,
    globals: &'a Globals,
    rest: Peekable<IntoIter<Entry>>,
    /// The number of documents in a bucket, as far as equal values and rounding allow.
    size: usize,
    /// The number of buckets that may still be made. The last one takes all documents that are left.
    left: usize,
    /// The rounded upper boundary of the bucket before.
    lower: Option<RawBson>,
}

impl Buckets<'_> {
    fn next(&mut self) -> Result<Option<RawDocumentBuf>, ServerError> {
        let Some(first) = self.rest.next() else {
            return Ok(None);
        };
        let mut states = self
            .stage
            .fields
            .iter()
            .map(|field| field.start(RawBsonRef::Null, self.globals))
            .collect::<Result<Vec<_>, _>>()?;
        let lower = match (self.lower.take(), &self.stage.granularity) {
            (Some(lower), _) => lower,
            (None, Some(granularity)) => granularity.round_down(&first.value),
            (None, None) => first.value.clone(),
        };
        self.left -= 1;
        let mut last = self.add(&mut states, first)?;
        let mut count = 1;
        while (count < self.size || self.left == 0)
            && let Some(next) = self.rest.next()
        {
            last = self.add(&mut states, next)?;
            count += 1;
        }
        let upper = self.upper(&mut states, last)?;
        let mut id = one("min", lower.as_raw_bson_ref());
        append(&mut id, "max", upper.as_raw_bson_ref());
        let mut bucket = RawDocumentBuf::new();
        bucket.append(cstr!("_id"), id);
        for (field, state) in self.stage.fields.iter().zip(states) {
            let value = state.finish(self.globals);
            append(&mut bucket, &field.name, value.as_raw_bson_ref());
        }
        Ok(Some(bucket))
    }

    /// Adds a document to a bucket, and returns its key and its value.
    fn add(&self, states: &mut [State], entry: Entry) -> Result<(Vec<u8>, RawBson), ServerError> {
        self.globals.set_known(entry.known);
        for (field, state) in self.stage.fields.iter().zip(states) {
            field.add_classic(state, &entry.document, self.globals)?;
        }
        Ok((entry.key, entry.value))
    }

    /// Adds the next documents as far as they belong to the same bucket, and returns the bucket's upper boundary.
    fn upper(
        &mut self,
        states: &mut [State],
        (key, value): (Vec<u8>, RawBson),
    ) -> Result<RawBson, ServerError> {
        let Some(granularity) = &self.stage.granularity else {
            let mut last = value;
            while let Some(equal) = self.rest.next_if(|next| next.key == key) {
                (_, last) = self.add(states, equal)?;
            }
            return Ok(self.rest.peek().map_or(last, |next| next.value.clone()));
        };
        let mut upper = granularity.round_up(&value);
        while let Some(below) = self.rest.next_if(|next| is_less(&next.value, &upper)) {
            self.add(states, below)?;
        }
        if let Some(next) = self.rest.peek() {
            // Zero rounds to itself, which would leave a bucket without a width.
            if granularity::is_zero(&upper) {
                upper = granularity.round_down(&next.value);
            }
            self.lower = Some(upper.clone());
        }
        Ok(upper)
    }
}

fn is_less(one: &RawBson, other: &RawBson) -> bool {
    order::compare(one.as_raw_bson_ref(), other.as_raw_bson_ref(), None).is_lt()
}
