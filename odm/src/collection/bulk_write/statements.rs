//! The statements of a bulk write: how they are sent, and what they match.

use bson::raw::{RawBsonRef, RawDocument, RawDocumentBuf};
use bson::{Document as BsonDocument, doc};

use super::super::stale::Stale;
use super::super::template::Template;
use super::group::{self, Group};
use super::write::Prepared;
use crate::collection::Encoded;
use crate::collection::versions::upgrade::{Place, all_that_match};
use crate::error::{BulkError, BulkWriteResult, Error, Kind, Result, WriteError};
use crate::exec::{Channel, Keys, refused};
use crate::model::{Document, ModelMeta};
use crate::store::options::{Chosen, Options};
use crate::store::{CollectionName, Operation, Request, WriteKind, limits};

/// Writes of a bulk write as part of several writes, which may be sent more than once.
#[derive(Clone)]
pub(crate) struct Statements {
    template: Template,
    writes: Vec<Prepared>,
}

/// Writes of one kind that follow each other, by what becomes of other documents.
pub(crate) enum Run {
    /// Documents to insert.
    Inserts(Statements),
    /// Updates and replacements, and what they would leave stale together.
    Updates(Statements, Stale),
    /// Deletes that act on the documents that refer to the deleted ones.
    Deletes(Statements),
    /// Writes of one kind that leave other documents as they are.
    Plain(Statements),
}

/// What a delete matches.
pub(crate) struct Matching {
    pub(crate) filter: BsonDocument,
    pub(crate) multi: bool,
    pub(crate) options: Options,
}

impl Statements {
    pub(super) fn new(template: Template, writes: Vec<Prepared>) -> Self {
        Self { template, writes }
    }

    /// A channel whose writes have the same write concern.
    pub(crate) fn channel(&self) -> Channel<'static> {
        self.template.channel()
    }

    /// The kind of writes, if they are of one.
    pub(crate) fn kind(&self) -> Option<WriteKind> {
        self.writes.first().map(|write| write.kind)
    }

    /// The positions in the bulk write.
    pub(crate) fn positions(&self) -> Vec<usize> {
        self.writes.iter().map(|write| write.index).collect()
    }

    /// Sends the writes.
    pub(crate) async fn send(
        &self,
        channel: &mut Channel<'_>,
        model: &'static ModelMeta,
    ) -> Result<BulkWriteResult> {
        let to = (&self.template.collection, &self.template.options);
        send(channel, model, to, self.writes.clone()).await
    }

    /// The documents to insert.
    pub(crate) fn documents<M: Document>(&self) -> Encoded<M> {
        let documents = self.writes.iter().map(|write| write.statement.clone());
        Encoded::untyped(self.template.clone(), documents.collect())
    }

    /// The writes in the order in which they are sent, as runs of one kind.
    pub(crate) fn runs(self) -> Vec<Run> {
        let Self {
            template,
            mut writes,
        } = self;
        if template.options.ordered == Some(false) {
            writes.sort_by_key(|write| write.kind as u8);
        }
        let is_same = |one: &Prepared, other: &Prepared| {
            one.kind == other.kind && one.is_followed == other.is_followed
        };
        let runs = writes.chunk_by(is_same).map(|run| {
            let statements = Self::new(template.clone(), run.to_vec());
            match run.first() {
                Some(write) if !write.is_followed => Run::Plain(statements),
                Some(write) if write.kind == WriteKind::Insert => Run::Inserts(statements),
                Some(write) if write.kind == WriteKind::Update => {
                    let mut all = Stale::default();
                    for stale in run.iter().filter_map(|write| write.stale.as_deref()) {
                        all.add(stale.clone());
                    }
                    if all.is_empty() {
                        Run::Plain(statements)
                    } else {
                        Run::Updates(statements, all)
                    }
                }
                Some(_) => Run::Deletes(statements),
                None => Run::Plain(statements),
            }
        });
        runs.collect()
    }

    /// The reads that find every document that one of the statements matches before the first of them is sent.
    ///
    /// A statement changes no document that none of these reads has found: until the first statement that matches it, the
    /// document is as it was, or an earlier statement has inserted it.
    pub(crate) fn finds(&self, projection: &BsonDocument) -> Result<Vec<(Operation, Options)>> {
        let mut ids = Keys::default();
        let mut together = Vec::new();
        let mut finds = Vec::new();
        let find = |filter: BsonDocument| Operation::Find {
            filter: filter.into(),
            one: false,
        };
        for write in &self.writes {
            let filter = write.filter()?;
            if !write.is_simple() || stands_alone(filter) {
                let options = Options {
                    projection: Some(projection.clone()),
                    ..self.options_of(write)
                };
                let filter = BsonDocument::try_from(filter).map_err(Error::encode)?;
                finds.push((find(filter), options));
            } else if let Some(id) = one_id(filter) {
                ids.add(id)?;
            } else {
                together.push(filter.to_owned());
            }
        }
        let options = Options {
            projection: Some(projection.clone()),
            ..self.options()
        };
        for part in ids.parts() {
            finds.push((find(doc! {"_id": {"$in": part}}), options.clone()));
        }
        for filters in limits::batches(together, FILTERS, limits::LIST_BYTES) {
            let filters = filters.iter().map(BsonDocument::try_from);
            let filters: Vec<_> = filters.collect::<Result<_, _>>().map_err(Error::encode)?;
            finds.push((find(doc! {"$or": filters}), options.clone()));
        }
        Ok(finds)
    }

    /// What the deletes match, in their order. Those of documents by their `_id`s, which follow each other, are one.
    pub(crate) fn deletes(&self) -> Result<Vec<Matching>> {
        let mut deletes = Vec::new();
        let mut ids = Keys::default();
        let by_ids = |ids: &mut Keys, deletes: &mut Vec<Matching>| {
            for part in std::mem::take(ids).parts() {
                deletes.push(Matching {
                    filter: doc! {"_id": {"$in": part}},
                    multi: true,
                    options: self.options(),
                });
            }
        };
        for write in &self.writes {
            let filter = write.filter()?;
            match one_id(filter) {
                Some(id) if write.is_simple() => drop(ids.add(id)?),
                _ => {
                    by_ids(&mut ids, &mut deletes);
                    deletes.push(Matching {
                        filter: BsonDocument::try_from(filter).map_err(Error::encode)?,
                        multi: write.multi,
                        options: self.options_of(write),
                    });
                }
            }
        }
        by_ids(&mut ids, &mut deletes);
        Ok(deletes)
    }

    /// The commands that are sent.
    pub(crate) fn commands(&self) -> Result<Vec<BsonDocument>> {
        let to = (&self.template.collection, &self.template.options);
        commands(to, self.writes.clone())
    }

    /// The options of the bulk write that also hold for reads.
    fn options(&self) -> Options {
        let options = &self.template.options;
        Options {
            let_vars: options.let_vars.clone(),
            comment: options.comment.clone(),
            ..Options::default()
        }
    }

    /// The options of the read that finds what the statement matches.
    fn options_of(&self, write: &Prepared) -> Options {
        Options {
            collation: write.collation.clone(),
            hint: write.hint.clone(),
            ..self.options()
        }
    }
}

impl Prepared {
    /// The filter of an update or a delete.
    fn filter(&self) -> Result<&RawDocument> {
        let filter = self.statement.get_document("q");
        filter.map_err(|_| Error::malformed_reply("the filter of a statement"))
    }

    /// Whether a read with the options of the bulk write finds what the statement matches.
    fn is_simple(&self) -> bool {
        self.collation.is_none() && self.hint.is_none()
    }
}

/// How many filters one read combines.
const FILTERS: usize = 100;

/// The `_id` of the one document that the filter can match, if it names nothing else.
fn one_id(filter: &RawDocument) -> Option<RawBsonRef<'_>> {
    let mut elements = filter.iter();
    let (name, value) = elements.next()?.ok()?;
    let is_plain = !matches!(
        value,
        RawBsonRef::Document(_)
            | RawBsonRef::Array(_)
            | RawBsonRef::RegularExpression(_)
            | RawBsonRef::Null
            | RawBsonRef::Undefined
    );
    (name.as_str() == "_id" && is_plain && elements.next().is_none()).then_some(value)
}

/// Whether MongoDB refuses the filter within an `$or`, or needs an index for each of its branches.
fn stands_alone(filter: &RawDocument) -> bool {
    filter.iter().flatten().any(|(name, value)| {
        let within = match value {
            RawBsonRef::Document(within) => stands_alone(within),
            RawBsonRef::Array(all) => all
                .into_iter()
                .flatten()
                .any(|one| one.as_document().is_some_and(stands_alone)),
            _ => false,
        };
        matches!(name.as_str(), "$near" | "$nearSphere" | "$text") || within
    })
}

/// The commands of writes.
pub(super) fn commands(
    (collection, options): (&CollectionName, &Chosen),
    writes: Vec<Prepared>,
) -> Result<Vec<BsonDocument>> {
    let groups = group::groups(writes, options.ordered != Some(false));
    let commands = groups.into_iter().map(|group| {
        let command = Request {
            collection: collection.clone(),
            operation: group.operation,
            options: options.clone(),
        };
        command.command()
    });
    commands.collect()
}

/// Sends writes, grouped into as few commands as their order allows.
pub(super) async fn send(
    channel: &mut Channel<'_>,
    model: &'static ModelMeta,
    (collection, options): (&CollectionName, &Chosen),
    writes: Vec<Prepared>,
) -> Result<BulkWriteResult> {
    let ordered = options.ordered != Some(false);
    if let Some(schema) = model.schema {
        let place = Place {
            model,
            schema,
            collection: collection.clone(),
            options: Chosen::from(Options {
                comment: options.comment.clone(),
                bypass_document_validation: options.bypass_document_validation,
                write_concern: options.write_concern.clone(),
                ..Options::default()
            }),
        };
        all_that_match(channel, &place, outdated(&writes, options)?).await?;
    }
    // The first error aborts a transaction.
    let stops = ordered || channel.is_in_transaction();
    let mut done = BulkWriteResult::default();
    let mut failure: Option<BulkError> = None;
    for group in group::groups(writes, ordered) {
        let Group {
            operation,
            kind,
            indexes,
        } = group;
        let position = |index: usize| indexes.get(index).copied().unwrap_or(index);
        let mut options = options.clone();
        if kind == WriteKind::Insert {
            // Only updates and deletes have variables.
            options.let_vars = None;
        } else if kind == WriteKind::Delete {
            options.bypass_document_validation = None;
        }
        let documents = channel.named(collection.clone(), model);
        let written = match documents.send(operation, options).await {
            Ok(response) => response.written(),
            Err(error) => Err(error),
        };
        match written {
            Ok(written) => done.add(written.into_result(kind), position),
            Err(error) => {
                let bulk = match error.kind() {
                    Kind::Bulk(bulk) => bulk.clone(),
                    _ => return Err(refused(unfinished(error, done, failure), model)),
                };
                let stop = stops && !bulk.errors.is_empty();
                failure
                    .get_or_insert_with(BulkError::default)
                    .add(bulk, position);
                if stop {
                    break;
                }
            }
        }
    }
    match failure {
        None => Ok(done),
        Some(mut failure) => {
            failure.result.add(done, |index| index);
            failure.errors.sort_by_key(WriteError::index);
            Err(refused(Error::new(failure), model))
        }
    }
}

/// The reads of the documents of other versions of the schema that the writes match.
fn outdated(writes: &[Prepared], options: &Chosen) -> Result<Vec<(Operation, Options)>> {
    let mut together = Vec::new();
    let mut finds = Vec::new();
    let find = |filter: BsonDocument| Operation::Find {
        filter: filter.into(),
        one: false,
    };
    let shared = || Options {
        let_vars: options.let_vars.clone(),
        comment: options.comment.clone(),
        ..Options::default()
    };
    for write in writes {
        let Some(filter) = &write.outdated else {
            continue;
        };
        let raw = RawDocumentBuf::try_from(&**filter).map_err(Error::encode)?;
        if write.is_simple() && !stands_alone(&raw) {
            together.push(raw);
        } else {
            let options = Options {
                collation: write.collation.clone(),
                hint: write.hint.clone(),
                ..shared()
            };
            finds.push((find((**filter).clone()), options));
        }
    }
    for filters in limits::batches(together, FILTERS, limits::LIST_BYTES) {
        let filters = filters.iter().map(BsonDocument::try_from);
        let filters: Vec<_> = filters.collect::<Result<_, _>>().map_err(Error::encode)?;
        finds.push((find(doc! {"$or": filters}), shared()));
    }
    Ok(finds)
}

/// The failure of a whole command (a broken connection), with the results of the commands before it.
fn unfinished(error: Error, mut done: BulkWriteResult, failure: Option<BulkError>) -> Error {
    if let Some(failure) = failure {
        done.add(failure.result, |index| index);
    }
    if done == BulkWriteResult::default() {
        return error;
    }
    error.context(format!(
        "after {} inserted, {} matched, {} modified, {} deleted, {} upserted",
        done.inserted,
        done.matched,
        done.modified,
        done.deleted,
        done.upserted_ids.len()
    ))
}
