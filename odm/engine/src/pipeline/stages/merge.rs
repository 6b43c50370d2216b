//! `$merge`: writes each document into a collection, which may contain a matching document.

mod parse;

use bson::raw::{RawArrayBuf, RawBson, RawBsonRef, RawDocument, RawDocumentBuf};
use bson::{Bson, Document, doc};
use odm_language::error::{Code, ServerError};
use odm_language::expression::Expression;
use odm_language::value::raw::append;
use odm_language::value::raw::{elements, get, values};

use crate::pipeline::shown::{Printer, stage};
use crate::pipeline::sink::{MergeWrite, Merging, Sink, WriteTarget};
use crate::pipeline::source::{Documents, drained};
use crate::pipeline::stage::{Cx, Other, Stage, WritingStage};
use crate::pipeline::stages::foreign::one;

pub(super) use self::parse::{outline, parse};

#[derive(Debug)]
struct Merge {
    database: Option<String>,
    collection: String,
    on: Vec<String>,
    /// Whether `on` was given, which requires a unique index.
    is_on_given: bool,
    matched: Matched,
    not_matched: NotMatched,
}

/// A document to write, and the filter for a matching document in the target.
struct Prepared {
    document: RawDocumentBuf,
    filter: RawDocumentBuf,
}

/// The action if a matching document exists.
#[derive(Debug)]
enum Matched {
    Replace,
    Merge,
    KeepExisting,
    Fail,
    Pipeline {
        stages: RawArrayBuf,
        variables: Vec<(String, Expression)>,
    },
}

/// The action if no matching document exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NotMatched {
    Insert,
    Discard,
    Fail,
}

fn refuse<T>(code: i32, message: impl Into<String>) -> Result<T, ServerError> {
    Err(ServerError::new(Code::location(code), message))
}

/// The most documents and bytes in one batch.
const MAX_BATCH: usize = 100_000;
const LARGEST: usize = 16 * 1024 * 1024;

impl Merge {
    /// Splits the input into batches, and returns the error that ended the input, if any.
    fn batches(
        &self,
        input: Documents<'_>,
        cx: Cx<'_>,
    ) -> (Vec<Vec<Prepared>>, Option<ServerError>) {
        let (mut batches, mut batch) = (Vec::new(), Vec::new());
        let mut bytes = 0;
        // If `_id` is not a key, a document without an `_id` keeps the `_id` of the target's document.
        let needs_id = self.on.iter().any(|field| field == "_id");
        for document in input {
            let document = match document {
                Ok(document) if needs_id => with_id(document.into_owned(), cx),
                Ok(document) => document.into_owned(),
                Err(error) => return (batches, Some(error)),
            };
            let size = document.as_bytes().len();
            if batch.len() == MAX_BATCH || !batch.is_empty() && bytes + size > LARGEST {
                batches.push(std::mem::take(&mut batch));
                bytes = 0;
            }
            bytes += size;
            match self.filter(&document) {
                Ok(filter) => batch.push(Prepared { document, filter }),
                Err(error) => return (batches, Some(error)),
            }
        }
        if !batch.is_empty() {
            batches.push(batch);
        }
        (batches, None)
    }

    /// Writes every document of a batch that can be written, then returns the first error.
    fn write_all(
        &self,
        batch: &[Prepared],
        into: &mut dyn Merging,
        cx: Cx<'_>,
    ) -> Result<(), ServerError> {
        let mut first = None;
        for prepared in batch {
            match self.write_one(prepared, into, cx) {
                Err(error)
                    if matches!(
                        error.code(),
                        Code::MAX_TIME_MS_EXPIRED | Code::WRITE_CONFLICT
                    ) =>
                {
                    return Err(error);
                }
                Err(error) => {
                    first.get_or_insert(error);
                }
                Ok(()) => {}
            }
        }
        first.map_or(Ok(()), Err)
    }

    fn write_one(
        &self,
        Prepared { document, filter }: &Prepared,
        into: &mut dyn Merging,
        cx: Cx<'_>,
    ) -> Result<(), ServerError> {
        let inserts = self.inserts();
        let mut update = |update: RawBsonRef<'_>, globals| {
            let write = MergeWrite::Update {
                filter,
                update,
                upsert: inserts,
                otherwise: None,
            };
            into.write(&write, globals)
        };
        let new = RawBsonRef::Document(document);
        let was_there = match &self.matched {
            Matched::Replace => update(new, cx.globals),
            Matched::Merge => update(RawBsonRef::Document(&one("$set", new)), cx.globals),
            Matched::KeepExisting => {
                update(RawBsonRef::Document(&one("$setOnInsert", new)), cx.globals)
            }
            Matched::Fail => into.write(&MergeWrite::Insert(document), cx.globals),
            Matched::Pipeline { stages, variables } => {
                let mut globals = cx.globals.clone();
                globals = globals.with_variable("new", RawBson::Document(document.clone()));
                for (name, expression) in variables {
                    // A missing value stays undefined.
                    if let Some(value) = expression.eval(document, cx.globals)?.into_owned() {
                        globals = globals.with_variable(name, value);
                    }
                }
                let write = MergeWrite::Update {
                    filter,
                    update: RawBsonRef::Array(stages),
                    upsert: false,
                    otherwise: inserts.then_some(document),
                };
                into.write(&write, &globals)
            }
        }
        .map_err(|error| self.explained(error))?;
        if !was_there && self.not_matched == NotMatched::Fail {
            return Err(ServerError::new(
                Code::MERGE_STAGE_NO_MATCHING_DOCUMENT,
                "$merge could not find a matching document in the target collection for at least one document in the source collection",
            ));
        }
        Ok(())
    }

    /// The filter for a matching document: equality of the `on` fields.
    fn filter(&self, document: &RawDocument) -> Result<RawDocumentBuf, ServerError> {
        let mut filter = RawDocumentBuf::new();
        for field in &self.on {
            match follow(document, field) {
                Some(RawBsonRef::Array(_)) => {
                    return refuse(
                        51185,
                        format!("$merge write error: 'on' field '{field}' is an array"),
                    );
                }
                None | Some(RawBsonRef::Null | RawBsonRef::Undefined) => {
                    return refuse(
                        51132,
                        format!(
                            "$merge write error: 'on' field '{field}' cannot be missing, null, undefined or an array"
                        ),
                    );
                }
                Some(value) => {
                    let equal = one("$eq", value);
                    append(&mut filter, field, RawBsonRef::Document(&equal));
                }
            }
        }
        Ok(filter)
    }

    fn explained(&self, error: ServerError) -> ServerError {
        match (error.code(), &self.matched) {
            (Code::DUPLICATE_KEY, Matched::Fail) if self.is_met(&error) => error.within(
                "$merge with whenMatched: fail found an existing document with the same values for the 'on' fields",
            ),
            (Code::DUPLICATE_KEY, _) => error.within("$merge failed due to a DuplicateKey error"),
            (Code::IMMUTABLE_FIELD, _) => error.within(
                "$merge failed to update the matching document, did you attempt to modify the _id or the shard key?",
            ),
            _ => error,
        }
    }

    /// Whether a duplicate key error is about the `on` fields.
    fn is_met(&self, error: &ServerError) -> bool {
        let pattern = error
            .details()
            .and_then(|details| details.get_document("keyPattern").ok());
        pattern.is_some_and(|pattern| {
            pattern.len() == self.on.len()
                && self.on.iter().all(|field| pattern.contains_key(field))
        })
    }

    /// Whether it inserts documents that match nothing.
    fn inserts(&self) -> bool {
        self.not_matched == NotMatched::Insert
    }
}

/// The value at a path that passes through documents only.
fn follow<'d>(document: &'d RawDocument, path: &str) -> Option<RawBsonRef<'d>> {
    match path.split_once('.') {
        None => get(document, path),
        Some((head, rest)) => match get(document, head)? {
            RawBsonRef::Document(inner) => follow(inner, rest),
            _ => None,
        },
    }
}

fn with_id(document: RawDocumentBuf, cx: Cx<'_>) -> RawDocumentBuf {
    if get(&document, "_id").is_some() {
        return document;
    }
    let mut whole = RawDocumentBuf::new();
    append(
        &mut whole,
        "_id",
        RawBsonRef::ObjectId(cx.source.object_id()),
    );
    for (name, value) in elements(&document) {
        append(&mut whole, name, value);
    }
    whole
}

impl Stage for Merge {
    fn shown(&self, printer: &dyn Printer) -> Result<Vec<Document>, ServerError> {
        let database = self.database.as_deref().unwrap_or(printer.database());
        let on = match self.on.as_slice() {
            [only] => Bson::from(only),
            several => Bson::from(several),
        };
        let mut shown = doc! {
            "into": { "db": database, "coll": &self.collection },
            "on": on,
        };
        match &self.matched {
            Matched::Pipeline { stages, variables } => {
                let mut lets: Document = variables
                    .iter()
                    .map(|(name, value)| (name.clone(), value.parsed(printer.globals())))
                    .collect();
                if lets.is_empty() {
                    lets.insert("new", "$$ROOT");
                }
                let stages = values(stages).map(|it| Bson::try_from(it).unwrap_or(Bson::Null));
                shown.extend(doc! { "let": lets, "whenMatched": stages.collect::<Vec<_>>() });
            }
            matched => {
                shown.insert("whenMatched", matched.name());
            }
        }
        shown.insert("whenNotMatched", self.not_matched.name());
        Ok(vec![stage("$merge", shown)])
    }

    fn run<'a>(&'a self, input: Documents<'a>, _cx: Cx<'a>) -> Result<Documents<'a>, ServerError> {
        Ok(drained(input))
    }

    fn collections(&self) -> Vec<Other> {
        vec![Other {
            database: self.database.clone(),
            collection: self.collection.clone(),
            depth: None,
        }]
    }

    fn writing(&self) -> Option<&dyn WritingStage> {
        Some(self)
    }
}

impl WritingStage for Merge {
    fn target(&self) -> WriteTarget<'_> {
        WriteTarget {
            stage: "$merge",
            database: self.database.as_deref(),
            collection: &self.collection,
            unique: self.is_on_given.then_some(self.on.as_slice()),
        }
    }

    fn write(
        &self,
        input: Documents<'_>,
        cx: Cx<'_>,
        sink: &mut dyn Sink,
    ) -> Result<(), ServerError> {
        let (batches, failure) = self.batches(input, cx);
        if !batches.is_empty() {
            let creates = self.inserts() || matches!(self.matched, Matched::Fail);
            sink.merge(self.target(), creates, &mut |into| {
                batches
                    .iter()
                    .try_for_each(|batch| self.write_all(batch, into, cx))
            })?;
        }
        failure.map_or(Ok(()), Err)
    }
}
