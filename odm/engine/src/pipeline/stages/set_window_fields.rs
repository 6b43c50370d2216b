//! `$setWindowFields`: adds fields that are computed over windows of documents, in partitions that are sorted.
//!
//! Like mongod, the stage becomes a `$sort` and a stage that expects sorted documents, so that the planner can use an
//! index for the sort. A partition is a run of documents with equal values of the partition's expression.

mod bounds;
mod common;
mod function;
mod integral;
mod output;
mod parse;
mod sequential;
mod shown;
mod sliding;

#[cfg(test)]
pub(crate) use self::parse::runs;

use std::collections::VecDeque;

use bson::raw::{RawBson, RawBsonRef, RawDocument, RawDocumentBuf};
use bson::{Document, doc};
use odm_language::error::{Code, ServerError};
use odm_language::expression::{Expression, Globals, compat::messages, field_path};
use odm_language::value::key;
use odm_language::value::raw::{append, elements};

use crate::pipeline::document::PipelineDocument;
use crate::pipeline::memory::{self, Memory};
use crate::pipeline::shown::{Dependencies, Printer, stage};
use crate::pipeline::sort::SortPattern;
use crate::pipeline::source::Documents;
use crate::pipeline::stage::{Cx, Stage};
use crate::pipeline::stages::sequence::Sequence;
use crate::pipeline::stages::sort;

pub(super) use self::common::failed_to_parse;

use self::common::{SortBy, refuse};
use self::function::{Function, evaluated};
use self::output::Paths;

/// The options of the stage.
#[derive(Debug, Default)]
pub(super) struct Options<'s> {
    pub(super) partition: Option<RawBsonRef<'s>>,
    pub(super) sort: Option<&'s RawDocument>,
    pub(super) output: Option<&'s RawDocument>,
}

pub(super) fn parse(
    name: &str,
    spec: RawBsonRef<'_>,
    globals: &Globals,
) -> Result<Box<dyn Stage>, ServerError> {
    let RawBsonRef::Document(spec) = spec else {
        return failed_to_parse(format!(
            "the {name} stage specification must be an object, found {}",
            messages::type_name(Some(spec))
        ));
    };
    let mut options = Options::default();
    for (option, value) in elements(spec) {
        match option {
            "partitionBy" => options.partition = Some(value),
            "sortBy" => options.sort = document_option(name, option, value)?,
            "output" => options.output = document_option(name, option, value)?,
            other => return unknown_option(name, other),
        }
    }
    Ok(Sequence::boxed(stages(&options, globals)?))
}

/// Reads an option that must be a document; `None` if it is null.
pub(super) fn document_option<'s>(
    stage: &str,
    option: &str,
    value: RawBsonRef<'s>,
) -> Result<Option<&'s RawDocument>, ServerError> {
    match value {
        RawBsonRef::Document(document) => Ok(Some(document)),
        RawBsonRef::Null | RawBsonRef::Undefined => Ok(None),
        other => wrong_type(stage, option, other, "object"),
    }
}

pub(super) fn wrong_type<T>(
    stage: &str,
    option: &str,
    value: RawBsonRef<'_>,
    expected: &str,
) -> Result<T, ServerError> {
    Err(ServerError::new(
        Code::TYPE_MISMATCH,
        format!(
            "BSON field '{stage}.{option}' is the wrong type '{}', expected type '{expected}'",
            messages::type_name(Some(value))
        ),
    ))
}

pub(super) fn unknown_option<T>(stage: &str, option: &str) -> Result<T, ServerError> {
    refuse(
        40415,
        format!("BSON field '{stage}.{option}' is an unknown field."),
    )
}

pub(super) fn missing_option<T>(stage: &str, option: &str) -> Result<T, ServerError> {
    refuse(
        40414,
        format!("BSON field '{stage}.{option}' is missing but a required field"),
    )
}

/// mongod's error for an array option that is null.
pub(super) fn no_object<T>(option: &str) -> Result<T, ServerError> {
    refuse(
        10065,
        format!("invalid parameter: expected an object ({option})"),
    )
}

/// The stages that `$setWindowFields` becomes.
pub(super) fn stages(
    options: &Options<'_>,
    globals: &Globals,
) -> Result<Vec<Box<dyn Stage>>, ServerError> {
    let Some(output) = options.output else {
        return missing_option("$setWindowFields", "output");
    };
    let given = options
        .partition
        .filter(|spec| !matches!(spec, RawBsonRef::Null | RawBsonRef::Undefined));
    let by = given
        .map(|spec| Expression::parse(spec, &globals.scope()))
        .transpose()?;
    let sort = options.sort.filter(|sort| !sort.is_empty());
    let pattern = sort.map(SortPattern::parse).transpose()?;
    let sort_by = SortBy::parse(sort, globals)?;
    let mut paths = Paths::default();
    let mut functions = Vec::new();
    for (path, spec) in elements(output) {
        functions.push(parse::parse(path, spec, &sort_by, globals)?);
    }
    let partition = match given.zip(by) {
        None => Partition::Whole,
        Some((spec, expression)) => Partition::new(spec, expression, globals)?,
    };
    for (at, (path, _)) in elements(output).enumerate() {
        paths.add(&field_path(path)?, at)?;
    }
    let mut stages = Vec::new();
    if let Some((sort, planned)) = partition.sort(sort) {
        stages.push(sort::of(&sort, planned)?);
    }
    let window: Box<dyn Stage> = Box::new(SetWindowFields {
        partition,
        pattern,
        sort_by,
        functions,
        paths,
        written_sort: sort.and_then(|sort| Document::try_from(sort).ok()),
        written: output.to_owned(),
    });
    stages.push(window);
    Ok(stages)
}

/// How the documents are partitioned.
#[derive(Debug)]
enum Partition {
    Whole,
    /// By a field, which the `$sort` in front sorts by.
    Field {
        path: String,
        expression: Expression,
    },
    /// By an expression, which this stage sorts by.
    Computed(Expression),
}

impl Partition {
    /// That of an expression, and as it was written.
    fn new(
        spec: RawBsonRef<'_>,
        expression: Expression,
        globals: &Globals,
    ) -> Result<Self, ServerError> {
        let constant = expression
            .constant(globals)
            .map_err(|error| error.within("Failed to optimize partitionBy expression"))?;
        if let Some(constant) = constant {
            check_partition(constant.get())?;
            return Ok(Self::Whole);
        }
        let RawBsonRef::String(path) = spec else {
            return Ok(Self::Computed(expression));
        };
        let below = ["$$ROOT", "$$CURRENT"]
            .iter()
            .find_map(|root| path.strip_prefix(root));
        let path = match below {
            Some("") => {
                return refuse(16409, "FieldPath::tail() called on single element path");
            }
            Some(below) => below.strip_prefix('.'),
            None => path.strip_prefix('$').filter(|path| !path.starts_with('$')),
        };
        Ok(match path {
            Some(path) => Self::Field {
                path: path.to_owned(),
                expression,
            },
            None => Self::Computed(expression),
        })
    }

    /// The sort of the stage in front, and as the planner sees it: there, the partition's field takes its direction
    /// from `sortBy`, if it is there.
    fn sort(&self, sort: Option<&RawDocument>) -> Option<(RawDocumentBuf, RawDocumentBuf)> {
        let fields = sort.into_iter().flat_map(elements);
        let path = match self {
            Self::Computed(_) => return None,
            Self::Whole => return sort.map(|sort| (sort.to_owned(), sort.to_owned())),
            Self::Field { path, .. } => path,
        };
        let given = fields.clone().find(|(name, _)| name == path);
        let ascending = RawBsonRef::Int32(1);
        let by = |direction| {
            let mut new = RawDocumentBuf::new();
            append(&mut new, path, direction);
            for (name, direction) in fields.clone().filter(|(name, _)| name != path) {
                append(&mut new, name, direction);
            }
            new
        };
        let planned = given.map_or(ascending, |(_, direction)| direction);
        Some((by(ascending), by(planned)))
    }

    fn expression(&self) -> Option<&Expression> {
        match self {
            Self::Whole => None,
            Self::Field { expression, .. } | Self::Computed(expression) => Some(expression),
        }
    }

    /// The key of a document's partition. A missing value counts as null.
    fn key(&self, document: &RawDocument, globals: &Globals) -> Result<Vec<u8>, ServerError> {
        let Some(expression) = self.expression() else {
            return Ok(Vec::new());
        };
        let value = expression.eval(document, globals)?;
        check_partition(value.get())?;
        Ok(key::of(value.or_null(), globals.collator()))
    }
}

fn check_partition(value: Option<RawBsonRef<'_>>) -> Result<(), ServerError> {
    match value {
        Some(RawBsonRef::Array(_)) => Err(ServerError::new(
            Code::TYPE_MISMATCH,
            "An expression used to partition cannot evaluate to value of type array",
        )),
        _ => Ok(()),
    }
}

/// What mongod adds to the size of a document in a partition.
const HELD: usize = 104;

#[derive(Debug)]
struct SetWindowFields {
    partition: Partition,
    pattern: Option<SortPattern>,
    sort_by: SortBy,
    functions: Vec<Function>,
    paths: Paths,
    /// The `sortBy` and the `output`, as they are written.
    written_sort: Option<Document>,
    written: RawDocumentBuf,
}

/// The field in which `explain` shows the value of an expression that partitions; mongod gives it a random name.
const PARTITION: &str = "partition";

/// A document with the key of its partition.
type Keyed = (Vec<u8>, PipelineDocument);

impl SetWindowFields {
    /// The documents with the keys of their partitions, which follow each other.
    fn keyed<'a>(
        &'a self,
        input: Documents<'a>,
        cx: Cx<'a>,
    ) -> Result<Box<dyn Iterator<Item = Result<Keyed, ServerError>> + Send + 'a>, ServerError> {
        let keyed = input.map(move |document| {
            let document = document?;
            Ok((self.partition.key(&document, cx.globals)?, document))
        });
        if !matches!(self.partition, Partition::Computed(_)) {
            return Ok(Box::new(keyed));
        }
        let mut memory = Memory::new(cx.globals);
        let mut all = Vec::new();
        for document in keyed {
            let (partition, document) = document?;
            let key = match &self.pattern {
                None => Vec::new(),
                Some(pattern) => {
                    pattern.key(&document, cx.globals.collator(), &cx.globals.known())?
                }
            };
            memory.add(memory::SORTED + partition.len() + key.len() + document.as_bytes().len());
            if memory.is_exceeded() {
                return Err(memory::sort_needs_disk(false));
            }
            all.push((partition, key, document));
        }
        if let Some(shuffle) = cx.globals.shuffle() {
            shuffle.shuffle(&mut all);
        }
        all.sort_by(|(p1, k1, _), (p2, k2, _)| p1.cmp(p2).then_with(|| k1.cmp(k2)));
        let keyed = all.into_iter();
        Ok(Box::new(
            keyed.map(|(partition, _, document)| Ok((partition, document))),
        ))
    }

    /// The documents of a partition with the computed fields. `before` is the last value of the sort field in the
    /// partition before, and then that of this one.
    fn computed(
        &self,
        documents: Vec<PipelineDocument>,
        before: &mut Option<RawBson>,
        cx: Cx<'_>,
    ) -> Result<VecDeque<PipelineDocument>, ServerError> {
        if self.functions.is_empty() {
            return Ok(documents.into());
        }
        let sorted = match &self.sort_by.field {
            Some(field) if self.functions.iter().any(Function::is_sorted) => {
                evaluated(field, &documents, cx.globals)?
            }
            _ => vec![None; documents.len()],
        };
        let mut columns = Vec::with_capacity(self.functions.len());
        for function in &self.functions {
            columns.push(
                function
                    .column(&documents, &sorted, before.as_ref(), cx)?
                    .into_iter(),
            );
        }
        *before = sorted.into_iter().next_back().flatten();
        let written = documents.into_iter().map(|document| {
            let values: Vec<_> = columns
                .iter_mut()
                .map(|column| column.next().flatten())
                .collect();
            self.paths.write(&document, &values).into()
        });
        Ok(written.collect())
    }
}

impl Stage for SetWindowFields {
    fn shown(&self, printer: &dyn Printer) -> Result<Vec<Document>, ServerError> {
        let globals = printer.globals();
        let mut window = Document::new();
        let computed = match &self.partition {
            Partition::Computed(expression) => Some(expression.optimized(globals)),
            _ => None,
        };
        if computed.is_some() {
            window.insert("partitionBy", format!("${PARTITION}"));
        } else if let Some(expression) = self.partition.expression() {
            window.insert("partitionBy", expression.optimized(globals));
        }
        if let Some(sort) = &self.written_sort {
            window.insert("sortBy", sort.clone());
        }
        window.insert("output", shown::output(&self.written, globals)?);
        let window = stage("$_internalSetWindowFields", window);
        let Some(computed) = computed else {
            return Ok(vec![window]);
        };
        let mut order = doc! { PARTITION: 1 };
        order.extend(self.written_sort.clone().unwrap_or_default());
        Ok(vec![
            stage("$addFields", stage(PARTITION, computed)),
            stage("$sort", stage("sortKey", order)),
            window,
            stage("$project", doc! { PARTITION: false, "_id": true }),
        ])
    }

    fn dependencies(&self) -> Option<Dependencies> {
        let mut paths = match self.partition.expression() {
            Some(expression) => expression.paths()?,
            None => Vec::new(),
        };
        let sort = self.written_sort.iter().flat_map(Document::keys);
        paths.extend(sort.cloned());
        paths.extend(shown::paths(&self.written)?);
        Some(Dependencies::some(paths))
    }

    fn check_constants(&self, globals: &Globals) -> Result<(), ServerError> {
        if let Some(expression) = self.partition.expression() {
            expression.check_constants(globals)?;
        }
        self.functions
            .iter()
            .try_for_each(|function| function.check_constants(globals))
    }

    fn run<'a>(&'a self, input: Documents<'a>, cx: Cx<'a>) -> Result<Documents<'a>, ServerError> {
        for function in &self.functions {
            function.prepare(cx.globals)?;
        }
        let mut keyed = self.keyed(input, cx)?;
        // Windows that end before their partition let go of the documents in front of them.
        let holds_all = self.functions.iter().any(Function::reads_to_the_end);
        let is_limited = holds_all && !cx.globals.allows_disk_use();
        let mut ready = VecDeque::new();
        let mut before = None;
        // The first document of the next partition.
        let mut next: Option<Keyed> = None;
        let mut partition = move || {
            let first = next.take().map(Ok).or_else(|| keyed.next()).transpose()?;
            let Some((key, first)) = first else {
                return Ok(VecDeque::new());
            };
            let mut memory = Memory::limited(is_limited);
            memory.add(HELD + first.as_bytes().len());
            let mut documents = vec![first];
            for document in keyed.by_ref() {
                let (other, document) = document?;
                if other != key {
                    next = Some((other, document));
                    break;
                }
                memory.add(HELD + document.as_bytes().len());
                if memory.is_exceeded() {
                    return refuse(
                        5_643_011,
                        "Exceeded max memory. Set 'allowDiskUse: true' to spill to disk",
                    );
                }
                documents.push(document);
            }
            self.computed(documents, &mut before, cx)
        };
        Ok(Box::new(std::iter::from_fn(move || {
            if ready.is_empty() {
                match partition() {
                    Ok(documents) => ready = documents,
                    Err(error) => return Some(Err(error)),
                }
            }
            ready.pop_front().map(Ok)
        })))
    }
}
