//! Rewrites stored documents of older versions as the version that the program knows.
//!
//! A document is replaced as a whole, under the condition that it is as it was read. So it is wholly old or wholly new at any
//! time, and the write of another client is not lost: the document is read again.

use bson::raw::{RawDocument, RawDocumentBuf};
use bson::{Bson, Document, doc};

use super::{after_steps, id_of, newer, upgraded, version_of};
use crate::error::{Error, Kind, Result, SchemaError};
use crate::exec::{Channel, StoredPath, refused};
use crate::model::{ModelMeta, SchemaMeta};
use crate::query::operators::Operators;
use crate::schema::shard_key;
use crate::store::options::{Chosen, Options};
use crate::store::{CollectionName, Condition, Operation, Response, limits};
use crate::update::maintain;

/// How many documents are read and rewritten together.
const TOGETHER: i64 = 100;

/// How often a document is read again that other writers change meanwhile.
const TRIES: usize = 20;

/// Where documents are rewritten, and with which options.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    pub(crate) model: &'static ModelMeta,
    pub(crate) schema: &'static SchemaMeta,
    pub(crate) collection: CollectionName,
    /// The options of the writes.
    pub(crate) options: Chosen,
}

/// A document that was rewritten, or could not be.
pub(crate) enum Outcome {
    Rewritten,
    /// Another writer has made it one of the current version, or removed it.
    Gone,
    /// Its version is newer than the program knows.
    Newer(Error),
    Failed(Error),
}

/// What an update has to do before it is sent.
#[derive(Debug)]
pub(in crate::collection) struct Upgrading {
    pub(in crate::collection) place: Place,
    pub(in crate::collection) filter: Condition,
    /// The options of the reads.
    pub(in crate::collection) reads: Chosen,
    /// Whether all documents that match are rewritten, and not only one.
    pub(in crate::collection) all: bool,
    /// Whether whole documents are replaced: older ones need not be rewritten before.
    pub(in crate::collection) replaces: bool,
}

/// A document that is rewritten, as it was read.
struct Sent {
    position: usize,
    raw: RawDocumentBuf,
    statement: RawDocumentBuf,
}

/// The document after the steps, with what the library maintains, and the statement that writes it.
pub(crate) fn statement(
    place: &Place,
    raw: &RawDocument,
    is_in_transaction: bool,
) -> Result<Document> {
    let model = place.model;
    let next = next(model, place.schema, raw)?;
    let next = Document::try_from(next).map_err(Error::encode)?;
    let id = id_of(raw).ok_or_else(|| Error::malformed_reply("an `_id`"))?;
    let mut filter = doc! {"_id": equal_to(id)};
    for (path, _) in shard_key(model)?.unwrap_or_default() {
        if path != "_id"
            && let Some(value) = StoredPath::at(&path).value(raw)
        {
            let value = Bson::try_from(value).map_err(Error::encode)?;
            filter.insert(path, equal_to(value));
        }
    }
    // A transaction fails if another writer changes what it has read.
    if is_in_transaction {
        filter.extend(place.schema.other());
    } else {
        filter.insert("$expr", unchanged(raw)?);
    }
    let mut stages = vec![doc! {"$replaceWith": {"$literal": next}}];
    stages.extend(count_up(model));
    let mut statement = doc! {"q": filter, "u": stages};
    if model.collation.is_some() {
        // A change that the collation ignores is a change.
        statement.insert("collation", doc! {"locale": "simple"});
    }
    let bytes = bson::serialize_to_vec(&statement).map_err(Error::encode)?;
    if bytes.len() > limits::STATEMENT_BYTES {
        let message = "is too large to be compared and rewritten by one command: rewrite it in a transaction, by `load` and `save`";
        return Err(Error::new(SchemaError::new(id_of(raw), message)));
    }
    Ok(statement)
}

/// The document of the current version, as it is written.
pub(in crate::collection) fn next(
    model: &'static ModelMeta,
    schema: &'static SchemaMeta,
    raw: &RawDocument,
) -> Result<RawDocumentBuf> {
    let version = version_of(raw, model, schema)?;
    let next = upgraded(raw, model, schema, version)?;
    let next = maintain::saved(model, next)?;
    (schema.decodes)(&next).map_err(|error| after_steps(error, version, schema))?;
    Ok(next)
}

/// The condition that a document is as it was read, as an expression.
pub(crate) fn unchanged(raw: &RawDocument) -> Result<Document> {
    let document = Document::try_from(raw).map_err(Error::encode)?;
    Ok(doc! {"$eq": ["$$ROOT", {"$literal": document}]})
}

/// The stage that counts the rewrite in the version field, so that another program notices it when it saves. Times of change
/// stay, because the content is the same.
fn count_up(model: &'static ModelMeta) -> Option<Document> {
    let mut fields = maintain::fields(model);
    fields.retain(|field| Some(field.name) == model.version);
    maintain::stage(&fields)
}

/// Rewrites documents that were read; the outcomes have their order.
pub(crate) async fn rewrite(
    channel: &mut Channel<'_>,
    place: &Place,
    documents: Vec<RawDocumentBuf>,
) -> Result<Vec<Outcome>> {
    let mut outcomes: Vec<Option<Outcome>> = Vec::new();
    outcomes.resize_with(documents.len(), || None);
    let mut open: Vec<(usize, RawDocumentBuf)> = documents.into_iter().enumerate().collect();
    for _ in 0..TRIES {
        if open.is_empty() {
            break;
        }
        let mut set = |position: usize, outcome| {
            if let Some(slot) = outcomes.get_mut(position) {
                *slot = Some(outcome);
            }
        };
        let in_transaction = channel.is_in_transaction();
        let mut sent = Vec::new();
        for (position, raw) in open {
            match prepared(place, &raw, in_transaction) {
                Ok(statement) => sent.push(Sent {
                    position,
                    raw,
                    statement,
                }),
                Err(outcome) => set(position, outcome),
            }
        }
        let unsure = send(channel, place, sent, &mut set).await?;
        open = again(channel, place, unsure, &mut set).await?;
    }
    for (position, raw) in open {
        let message =
            "was changed by other writers each time before it could be rewritten: try again";
        let error = Error::new(SchemaError::new(id_of(&raw), message)).with_model(place.model.name);
        if let Some(slot) = outcomes.get_mut(position) {
            *slot = Some(Outcome::Failed(error));
        }
    }
    let gone = |outcome: Option<Outcome>| outcome.unwrap_or(Outcome::Gone);
    Ok(outcomes.into_iter().map(gone).collect())
}

/// The encoded statement, or why the document is not written.
fn prepared(
    place: &Place,
    raw: &RawDocument,
    in_transaction: bool,
) -> std::result::Result<RawDocumentBuf, Outcome> {
    let (model, schema) = (place.model, place.schema);
    let failed = |error: Error| Outcome::Failed(error.with_model(model.name));
    let version = version_of(raw, model, schema).map_err(failed)?;
    match version.cmp(&i64::from(schema.version)) {
        std::cmp::Ordering::Less => {}
        std::cmp::Ordering::Equal => return Err(Outcome::Gone),
        std::cmp::Ordering::Greater => return Err(Outcome::Newer(newer(raw, model, version))),
    }
    let statement = statement(place, raw, in_transaction).map_err(failed)?;
    RawDocumentBuf::try_from(&statement).map_err(|error| failed(Error::encode(error)))
}

/// The operand of a condition of equality.
fn equal_to(value: Bson) -> Bson {
    Operators::equal(value).into_value()
}

/// Sends statements, and returns the documents of commands that did not match them all.
async fn send(
    channel: &mut Channel<'_>,
    place: &Place,
    sent: Vec<Sent>,
    set: &mut (impl FnMut(usize, Outcome) + Send),
) -> Result<Vec<(usize, RawDocumentBuf)>> {
    let mut unsure = Vec::new();
    let mut left = sent.into_iter().peekable();
    while left.peek().is_some() {
        let (mut documents, mut statements, mut bytes) = (Vec::new(), Vec::new(), 0);
        let fits = |bytes: usize, one: &Sent| {
            let size = one.statement.as_bytes().len() + limits::ELEMENT_BYTES;
            bytes == 0 || bytes + size <= limits::STATEMENT_BYTES
        };
        while let Some(one) = left.next_if(|one| fits(bytes, one)) {
            bytes += one.statement.as_bytes().len() + limits::ELEMENT_BYTES;
            documents.push((one.position, one.raw));
            statements.push(one.statement);
        }
        let count = statements.len() as u64;
        let mut options = place.options.clone();
        options.ordered = Some(false);
        let is_in_transaction = channel.is_in_transaction();
        let raw = channel.named(place.collection.clone(), place.model);
        let response = raw.send(Operation::Updates { statements }, options).await;
        let (matched, errors) = match response.and_then(Response::written) {
            Ok(written) => (written.matched(), Vec::new()),
            Err(error) => match error.kind() {
                Kind::Bulk(bulk) if !is_in_transaction && !bulk.errors.is_empty() => {
                    (bulk.result.matched, bulk.errors.clone())
                }
                _ => return Err(error),
            },
        };
        let is_sure = matched + errors.len() as u64 == count;
        let mut failed = Vec::new();
        for error in errors {
            let index = error.index();
            if let Some((position, raw)) = documents.get(index) {
                let id = id_of(raw).map_or_else(String::new, |id| id.to_string());
                let error = refused(Error::new(error.into_error()), place.model);
                let error = error.context(format!("rewriting the document with _id {id}"));
                set(*position, Outcome::Failed(error));
                failed.push(*position);
            }
        }
        for (position, raw) in documents {
            if failed.contains(&position) {
                continue;
            }
            if is_sure {
                set(position, Outcome::Rewritten);
            } else {
                unsure.push((position, raw));
            }
        }
    }
    Ok(unsure)
}

/// Reads documents again that may not have been rewritten, and returns those that were not.
async fn again(
    channel: &mut Channel<'_>,
    place: &Place,
    unsure: Vec<(usize, RawDocumentBuf)>,
    set: &mut (impl FnMut(usize, Outcome) + Send),
) -> Result<Vec<(usize, RawDocumentBuf)>> {
    let mut open = Vec::new();
    for (position, before) in unsure {
        let id = id_of(&before).ok_or_else(|| Error::malformed_reply("an `_id`"))?;
        let operation = Operation::Find {
            filter: doc! {"_id": equal_to(id)}.into(),
            one: true,
        };
        let options = channel.current().into();
        let raw = channel.named(place.collection.clone(), place.model);
        let found = raw.documents(operation, options).await?;
        match found.into_iter().next() {
            None => set(position, Outcome::Gone),
            Some(now) => {
                let version = version_of(&now, place.model, place.schema);
                if version.is_ok_and(|it| it == i64::from(place.schema.version)) {
                    // By this call or by another.
                    set(position, Outcome::Rewritten);
                } else {
                    open.push((position, now));
                }
            }
        }
    }
    Ok(open)
}

impl Upgrading {
    /// Rewrites what the update would have to change; returns whether there was anything.
    pub(in crate::collection) async fn run(&self, channel: &mut Channel<'_>) -> Result<bool> {
        let mut any = false;
        loop {
            let found = self.found(channel).await?;
            if found.is_empty() {
                return Ok(any);
            }
            expect_rewritten(rewrite(channel, &self.place, found).await?)?;
            any = true;
            if !self.all && self.reads.sort.is_none() {
                return Ok(true);
            }
        }
    }

    /// Some documents of other versions that the update matches.
    async fn found(&self, channel: &mut Channel<'_>) -> Result<Vec<RawDocumentBuf>> {
        let mut filter = self.filter.clone();
        let mut options = self.reads.clone();
        let is_first = !self.all && options.sort.is_some();
        if !is_first {
            filter.join(if self.replaces {
                self.place.schema.newer()
            } else {
                self.place.schema.other()
            });
            options.sort = None;
            options.limit = self.all.then_some(TOGETHER);
        }
        let operation = Operation::Find {
            filter,
            one: !self.all,
        };
        let raw = channel.named(self.place.collection.clone(), self.place.model);
        let mut found = raw.documents(operation, options).await?;
        let known = i64::from(self.place.schema.version);
        let (model, schema) = (self.place.model, self.place.schema);
        found.retain(|raw| match version_of(raw, model, schema) {
            Ok(version) => version > known || version < known && !self.replaces,
            Err(_) => !self.replaces,
        });
        Ok(found)
    }
}

/// Rewrites the documents of other versions that match one of these filters.
pub(in crate::collection) async fn all_that_match(
    channel: &mut Channel<'_>,
    place: &Place,
    reads: Vec<(Operation, Options)>,
) -> Result<()> {
    for (operation, options) in reads {
        loop {
            let mut options = Options {
                read_preference: channel.current().read_preference,
                ..options.clone()
            };
            options.limit = Some(TOGETHER);
            let raw = channel.named(place.collection.clone(), place.model);
            let found = raw.documents(operation.clone(), options.into()).await?;
            if found.is_empty() {
                break;
            }
            expect_rewritten(rewrite(channel, place, found).await?)?;
        }
    }
    Ok(())
}

/// The error of the first document that could not be rewritten.
fn expect_rewritten(outcomes: Vec<Outcome>) -> Result<()> {
    for outcome in outcomes {
        match outcome {
            Outcome::Rewritten | Outcome::Gone => {}
            Outcome::Newer(error) | Outcome::Failed(error) => return Err(error),
        }
    }
    Ok(())
}
