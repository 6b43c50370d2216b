//! Changes and removes matching documents: the code that `update`, `delete` and `findAndModify` share.

use std::sync::Arc;

use bson::Bson;
use bson::oid::ObjectId;
use bson::raw::{RawArray, RawBsonRef, RawDocument, RawDocumentBuf, cstr};
use odm_language::error::{Code, ServerError};
use odm_language::expression::Globals;
use odm_language::expression::meta::Known;
use odm_language::matcher::Matcher;
use odm_language::value::collation::Collator;
use odm_language::value::raw;
use smallvec::SmallVec;

use crate::catalog::collection::Collection;

use crate::command::compat::canonical_query::{CanonicalQuery, SIMPLE};
use crate::cursor::point::{self, Equality};
use crate::cursor::query::{Deadline, Query, QueryOutput};
use crate::index::{self, RecordId};
use crate::txn::write_conflict;
use crate::txn::writer::Writer;
use crate::updater::{Update, check_id, upsert};

/// The documents to change, and their order if it matters.
#[derive(Debug)]
pub(crate) struct Selection<'a> {
    pub(crate) filter: &'a RawDocument,
    /// The `_id` that the filter asks for, if it has no other condition.
    pub(crate) id: Option<Equality<'a>>,
    pub(crate) sort: Option<&'a RawDocument>,
    pub(crate) hint: Option<RawBsonRef<'a>>,
    pub(crate) globals: Globals,
    /// The default collation of the collection as it was when the command was read.
    pub(crate) collation: Option<Collator>,
    pub(crate) multi: bool,
    /// Whether the command returns the document.
    pub(crate) returns: bool,
    pub(crate) deadline: Deadline,
}

impl<'a> Selection<'a> {
    /// The first document that matches the filter.
    pub(crate) fn new(
        filter: &'a RawDocument,
        globals: Globals,
        collation: Option<Collator>,
        deadline: Deadline,
    ) -> Self {
        Self {
            filter,
            id: Equality::of_id(filter),
            sort: None,
            hint: None,
            globals,
            collation,
            multi: false,
            returns: false,
            deadline,
        }
    }

    /// Runs the checks of the filter that need no document.
    pub(crate) fn check_filter(&self) -> Result<(), ServerError> {
        // A comparison with an `_id` is always valid.
        if self.id.is_some() {
            return Ok(());
        }
        Matcher::parse_query(self.filter, &self.globals)?.check_constants(&self.globals)
    }
}

/// The update to apply.
#[derive(Debug)]
pub(crate) struct UpdateSpec<'a> {
    pub(crate) update: RawBsonRef<'a>,
    pub(crate) array_filters: Option<&'a RawArray>,
    pub(crate) upsert: bool,
}

/// The collation of a collection, if it exists and has a default collation.
pub(crate) fn collation_of(collection: Option<&Collection>) -> Option<Collator> {
    collection?.options.collation.clone()
}

/// The result of a write.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    pub(crate) matched: i64,
    pub(crate) modified: i64,
    /// The `_id` of the upserted document.
    pub(crate) upserted: Option<Bson>,
    /// The last document before and after the change, if the command returns it.
    pub(crate) before: Option<Arc<[u8]>>,
    pub(crate) after: Option<Arc<[u8]>>,
}

/// An update that has passed all checks that need no document.
#[derive(Debug)]
pub(crate) struct CheckedUpdate {
    pub(crate) update: Update,
}

impl UpdateSpec<'_> {
    pub(crate) fn check(&self, target: &Selection<'_>) -> Result<CheckedUpdate, ServerError> {
        let update = Update::parse(self.update, self.array_filters, &target.globals)?;
        if target.multi && update.is_replacement() {
            return Err(ServerError::new(
                Code::FAILED_TO_PARSE,
                "multi update is not supported for replacement-style update",
            ));
        }
        if self.upsert
            && let Err(refusal) = upsert::check_filter(target.filter)
        {
            // mongod parses the filter up to `$expr` first, so its errors take precedence.
            Matcher::parse_query(&upsert::before_expr(target.filter), &target.globals)?;
            return Err(refusal);
        }
        Ok(CheckedUpdate { update })
    }
}

/// Most writes change one document.
type Records = SmallVec<[RecordId; 1]>;

/// The records to change.
#[derive(Debug, Default)]
struct Matching {
    records: Records,
    /// Finds the position of a match in an array; `None` if no array was searched.
    matcher: Option<Arc<Matcher>>,
    /// The error that ended the scan early: the filter failed on a document. As on mongod, the documents before it are
    /// changed all the same.
    failure: Option<ServerError>,
}

/// Finds the matching records of the writer's collection. The scan ends before anything is changed, so it never meets a
/// changed document again.
fn find(
    writer: &mut Writer<'_, '_>,
    target: &Selection<'_>,
    collation: &str,
) -> Result<Matching, ServerError> {
    // The collection was replaced by one with another collation, so the command must be parsed again.
    if writer.collection().options.collation != target.collation {
        return Err(write_conflict());
    }
    // Profiled commands always run a plan, because the shortcut counts nothing for the profiler.
    if target.deadline.tally().is_none()
        && target.sort.is_none()
        && target.hint.is_none()
        && target.globals.collator().is_none()
        && let Some(id) = target.id
        && let Some(found) = id.by_id_to_write(writer.collection())
    {
        let records = match found {
            point::Found::Record(index::LocatedEntry { record, .. }) => {
                if !target.multi {
                    // The projection of the returned document may read this metadata.
                    target.globals.set_known(Known {
                        text_score: None,
                        record: i64::try_from(record).ok(),
                        ..Known::default()
                    });
                }
                Records::from_slice(&[record])
            }
            point::Found::Nothing => Records::new(),
        };
        // The path `_id` enters no array, so there is no position.
        return Ok(Matching {
            records,
            ..Matching::default()
        });
    }
    let query = Query {
        filter: Some(target.filter),
        sort: target.sort,
        hint: target.hint,
        skip: 0,
        limit: (!target.multi).then_some(1),
        globals: target.globals.clone(),
        shape: QueryOutput {
            // The projection of a returned document may read its score.
            scored: !target.multi,
            ..QueryOutput::default()
        },
    };
    let snapshot = writer.draft.snapshot();
    let prepared = query.prepare(Some(&snapshot)).map_err(|error| {
        let pictured = CanonicalQuery {
            namespace: &snapshot.namespace,
            filter: Some(target.filter),
            sort: target.sort,
            projection: None,
            // mongod adds the limit only to a sorted query, and otherwise takes the first match.
            window: target
                .sort
                .map_or_else(String::new, |_| " limit=1".to_owned()),
            collation,
        };
        pictured.explain_hint(error)
    })?;
    let mut matching = Matching {
        matcher: prepared.matcher.clone(),
        ..Matching::default()
    };
    let mut found = prepared.run(snapshot, target.deadline.clone())?;
    while let Some(row) = found.next() {
        let row = match row {
            Ok(row) => row,
            Err(error) => {
                matching.failure = Some(error);
                break;
            }
        };
        if !target.multi {
            // The projection of the returned document may read this metadata.
            target.globals.set_known(found.known(&row));
        }
        matching.records.push(row.0);
    }
    Ok(matching)
}

/// Updates the matching documents, or upserts one if none matches.
pub(crate) fn update(
    writer: &mut Writer<'_, '_>,
    target: &Selection<'_>,
    change: &UpdateSpec<'_>,
    checked: &CheckedUpdate,
    new_id: impl FnOnce() -> ObjectId,
) -> Result<Outcome, ServerError> {
    check_capped(writer)?;
    let Matching {
        records,
        matcher,
        failure,
    } = find(writer, target, SIMPLE)?;
    let mut outcome = Outcome::default();
    for record in records {
        writer.settle();
        let Some(before) = writer.settled().document(record) else {
            continue;
        };
        let position = match &matcher {
            Some(matcher) if checked.update.needs_position() => matcher
                .match_position(before)?
                .and_then(|found| found.array_index),
            _ => None,
        };
        let applied = checked
            .update
            .apply(before, position, &target.globals, false)?;
        outcome.matched += 1;
        if target.returns {
            outcome.before = Some(before.as_bytes().into());
            outcome.after = Some(applied.document.as_bytes().into());
        }
        if applied.modified || is_resorted(writer.settled(), &applied.resorted) {
            outcome.modified += 1;
            let description = if writer.is_watched() {
                checked
                    .update
                    .describe(before, &applied.document, position)?
            } else {
                None
            };
            writer.replace(record, applied.document, description)?;
        }
    }
    if let Some(failure) = failure {
        return Err(failure);
    }
    if outcome.matched == 0 && change.upsert {
        let inserted = inserted(target, checked, new_id)?;
        let id = raw::get(&inserted, "_id").and_then(|id| Bson::try_from(id).ok());
        writer.insert(&inserted)?;
        outcome.upserted = Some(id.unwrap_or(Bson::Null));
        if target.returns {
            outcome.after = Some(inserted.into_bytes().into());
        }
    }
    Ok(outcome)
}

/// Whether the collection validates documents, or an index may cover one of the re-sorted arrays.
fn is_resorted(collection: &Collection, paths: &[String]) -> bool {
    let mut indexes = collection.indexes.iter();
    let is_validated = !paths.is_empty() && collection.options.is_validated();
    is_validated || indexes.any(|index| paths.iter().any(|path| index.spec.may_cover(path)))
}

/// The error code of an update that makes a document too large.
const TOO_LARGE: Code = Code::location(17419);

/// The document that an upsert inserts.
fn inserted(
    target: &Selection<'_>,
    checked: &CheckedUpdate,
    new_id: impl FnOnce() -> ObjectId,
) -> Result<RawDocumentBuf, ServerError> {
    let seed = upsert::seed(target.filter, &checked.update)?;
    let document = checked
        .update
        .apply(&seed, None, &target.globals, true)
        .map_err(|error| {
            if error.code() == TOO_LARGE {
                return ServerError::new(
                    Code::location(17420),
                    error
                        .message()
                        .replace("Resulting document after update", "Document to upsert"),
                );
            }
            error
        })?
        .document;
    if let Some(id) = raw::get(&document, "_id") {
        check_id(id)?;
        return Ok(document);
    }
    let mut with_id = RawDocumentBuf::new();
    with_id.append(cstr!("_id"), new_id());
    for (name, value) in document.iter().flatten() {
        with_id.append(name, value);
    }
    Ok(with_id)
}

/// Removes the matching documents. With `target.returns`, the outcome holds the last of them.
pub(crate) fn delete(
    writer: &mut Writer<'_, '_>,
    target: &Selection<'_>,
) -> Result<Outcome, ServerError> {
    check_capped(writer)?;
    let found = find(writer, target, "")?;
    let mut outcome = Outcome::default();
    for record in found.records {
        if target.returns {
            outcome.before = writer.collection().get(record).map(Arc::from);
        }
        writer.remove(record)?;
        outcome.matched += 1;
    }
    found.failure.map_or(Ok(outcome), Err)
}

/// Refuses writes to a capped collection inside a transaction.
pub(crate) fn check_capped(writer: &mut Writer<'_, '_>) -> Result<(), ServerError> {
    if writer.is_in_transaction() && writer.collection().options.capped.is_some() {
        return Err(ServerError::new(
            Code::OPERATION_NOT_SUPPORTED_IN_TRANSACTION,
            format!(
                "Collection '{}' is a capped collection. Writes in transactions are not allowed on capped collections.",
                writer.collection().namespace
            ),
        ));
    }
    Ok(())
}
