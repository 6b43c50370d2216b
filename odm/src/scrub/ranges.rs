//! The ranges of collections, in a collection of odm's.
//!
//! A range begins after its `from` and ends with its `to`. The first begins with `MinKey` and is never removed, so that the ranges
//! of a collection have no gap. Where two overlap, because a process stopped between two writes, the first ends where the second
//! begins.

use std::time::Duration;

use bson::oid::ObjectId;
use bson::{Bson, DateTime, Document, doc};

use crate::error::{Code, Error, Result};
use crate::model::SCRUBS;
use crate::store::Store;

/// A range that this process checks.
#[derive(Debug)]
pub(super) struct Claim {
    /// The declared name of the collection.
    pub(super) collection: String,
    /// `None` for what is not about single documents.
    pub(super) bounds: Option<(Bson, Bson)>,
    id: Bson,
    worker: ObjectId,
    checked: Bson,
    due: Bson,
    due_by: DateTime,
    began: DateTime,
}

/// What a check of a range has found.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) read: u64,
    pub(super) counts: Document,
    /// The `_id` with which the range ends, if it had more documents than it may have.
    pub(super) end: Option<Bson>,
    /// If it is small, it is added to the range before it, if that has fewer documents than this.
    pub(super) joins_below: Option<u64>,
}

/// Creates the first ranges of collections that have none.
pub(super) async fn prepare(store: &Store, collections: &[&str]) -> Result<()> {
    let index = doc! {"key": {"due": 1}, "name": "due_1"};
    let create = doc! {"createIndexes": SCRUBS.collection, "indexes": [index]};
    store.run_command(create).await?;
    let now = DateTime::now();
    let new = |collection: &&str, bounds: Document| {
        let mut id = doc! {"collection": collection};
        id.extend(bounds);
        doc! {
            "_id": id, "collection": collection, "to": Bson::MaxKey, "checked": now, "due": now,
            "lease": DateTime::from_millis(0),
        }
    };
    let documents: Vec<_> = collections
        .iter()
        .flat_map(|name| {
            [
                new(name, doc! {"from": Bson::MinKey}),
                new(name, doc! {"whole": true}),
            ]
        })
        .collect();
    let insert = doc! {"insert": SCRUBS.collection, "documents": documents, "ordered": false};
    let reply = store.run_command(insert).await?;
    let errors = reply
        .get_array("writeErrors")
        .map(Vec::as_slice)
        .unwrap_or_default();
    let duplicate = Code::DUPLICATE_KEY.number();
    let is_other = |error: &&Document| error.get_i32("code").ok() != Some(duplicate);
    match errors.iter().filter_map(Bson::as_document).find(is_other) {
        None => Ok(()),
        Some(error) => Err(Error::usage(format!(
            "the ranges of a scrub can't be stored: {error}"
        ))),
    }
}

/// Takes the range that is due for the longest time, if any was due by then.
pub(super) async fn claim(
    store: &Store,
    collections: &[&str],
    due_by: DateTime,
    lease: Duration,
) -> Result<Option<Claim>> {
    let (worker, now) = (ObjectId::new(), DateTime::now());
    let find_and_modify = doc! {
        "findAndModify": SCRUBS.collection,
        "query": {"collection": {"$in": collections}, "due": {"$lte": due_by}, "lease": {"$lt": now}},
        "sort": {"due": 1},
        "update": {"$set": {"lease": later(now, lease), "worker": worker}},
    };
    let reply = store.run_command(find_and_modify).await?;
    let Some(range) = reply.get("value").and_then(Bson::as_document) else {
        return Ok(None);
    };
    let collection = range.get_str("collection").unwrap_or_default().to_owned();
    let id = range.get("_id").cloned().unwrap_or(Bson::Null);
    let from = id.as_document().and_then(|id| id.get("from")).cloned();
    let bounds = match from {
        None => None,
        Some(from) => {
            let to = range.get("to").cloned().unwrap_or(Bson::MaxKey);
            let next = next(store, &collection, &from).await?;
            let next = next.and_then(|next| from_of(&next).cloned());
            let to = match next {
                Some(next) if next != to && is_before(store, &next, &to).await? => next,
                _ => to,
            };
            Some((from, to))
        }
    };
    Ok(Some(Claim {
        collection,
        bounds,
        id,
        worker,
        checked: range.get("checked").cloned().unwrap_or(Bson::Null),
        due: range.get("due").cloned().unwrap_or(Bson::Null),
        due_by,
        began: now,
    }))
}

fn from_of(range: &Document) -> Option<&Bson> {
    range.get_document("_id").ok()?.get("from")
}

/// The range behind this one.
async fn next(store: &Store, collection: &str, from: &Bson) -> Result<Option<Document>> {
    let is_after = doc! {"$gt": ["$_id.from", {"$literal": from}]};
    let find = doc! {
        "find": SCRUBS.collection,
        "filter": {"collection": collection, "_id.whole": {"$exists": false}, "$expr": is_after},
        "sort": {"_id.from": 1},
        "limit": 1,
    };
    Ok(store.run_cursor(find).await?.into_iter().next())
}

/// Whether a value is before another one in MongoDB's order.
async fn is_before(store: &Store, one: &Bson, other: &Bson) -> Result<bool> {
    let pipeline = vec![
        doc! {"$limit": 1},
        doc! {"$project": {"is": {"$lt": [{"$literal": one}, {"$literal": other}]}}},
    ];
    let aggregate = doc! {"aggregate": SCRUBS.collection, "pipeline": pipeline, "cursor": {}};
    let found = store.run_cursor(aggregate).await?;
    Ok(found
        .first()
        .is_some_and(|one| one.get_bool("is").unwrap_or_default()))
}

impl Claim {
    /// The condition of the range's documents.
    pub(super) fn filter(&self) -> Document {
        let Some((from, to)) = &self.bounds else {
            return Document::new();
        };
        let mut conditions = Vec::new();
        if *from != Bson::MinKey {
            conditions.push(doc! {"$gt": ["$_id", {"$literal": from}]});
        }
        if *to != Bson::MaxKey {
            conditions.push(doc! {"$lte": ["$_id", {"$literal": to}]});
        }
        if conditions.is_empty() {
            Document::new()
        } else {
            doc! {"$expr": {"$and": conditions}}
        }
    }

    /// Stores what was found, and gives the range back.
    pub(super) async fn end(self, store: &Store, found: Found, every: Duration) -> Result<()> {
        // A scrub of what is due now does not check it twice.
        let due = later(self.began, every.max(Duration::from_millis(1)));
        let mut change = doc! {
            "checked": self.began, "due": due, "lease": DateTime::from_millis(0),
            "read": i64::try_from(found.read).unwrap_or(i64::MAX), "counts": found.counts.clone(),
        };
        let Some((from, to)) = &self.bounds else {
            return self.set(store, change).await;
        };
        let to = match found.end {
            None => to.clone(),
            Some(end) => {
                // First, so that no document is ever in no range.
                let rest = doc! {
                    "_id": {"collection": &self.collection, "from": &end}, "collection": &self.collection, "to": to,
                    "checked": &self.checked, "due": &self.due, "lease": DateTime::from_millis(0),
                };
                let insert = doc! {"insert": SCRUBS.collection, "documents": [rest]};
                store.run_command(insert).await?;
                end
            }
        };
        change.insert("to", &to);
        let counts = found.counts.clone();
        self.set(store, change).await?;
        if let Some(most) = found.joins_below.filter(|_| *from != Bson::MinKey) {
            self.join(store, (from, &to), (found.read, counts), most)
                .await?;
        }
        Ok(())
    }

    /// Adds the range to the one before it, if that is small, was checked, too, and nobody checks it.
    async fn join(
        &self,
        store: &Store,
        (from, to): (&Bson, &Bson),
        (read, counts): (u64, Document),
        most: u64,
    ) -> Result<()> {
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        let before = doc! {
            "collection": &self.collection, "to": {"$eq": from}, "_id.whole": {"$exists": false},
            "lease": DateTime::from_millis(0), "due": {"$gt": self.due_by}, "read": {"$lt": most},
        };
        let mut more = doc! {"read": i64::try_from(read).unwrap_or(i64::MAX)};
        more.extend(
            counts
                .into_iter()
                .map(|(code, count)| (format!("counts.{code}"), count)),
        );
        let longer = doc! {"$set": {"to": to}, "$inc": more};
        let update = doc! {"update": SCRUBS.collection, "updates": [{"q": before, "u": longer}]};
        let reply = store.run_command(update).await?;
        if reply.get_i32("n").unwrap_or_default() == 0 {
            return Ok(());
        }
        let own = doc! {"_id": &self.id, "worker": self.worker};
        let delete = doc! {"delete": SCRUBS.collection, "deletes": [{"q": own, "limit": 1}]};
        store.run_command(delete).await.map(drop)
    }

    /// Gives the range back as it was.
    pub(super) async fn give_back(self, store: &Store) -> Result<()> {
        let change = doc! {"lease": DateTime::from_millis(0)};
        self.set(store, change).await
    }

    /// Changes the range, unless its lease is over and another process has taken it.
    async fn set(&self, store: &Store, change: Document) -> Result<()> {
        let filter = doc! {"_id": &self.id, "worker": self.worker};
        let update =
            doc! {"update": SCRUBS.collection, "updates": [{"q": filter, "u": {"$set": change}}]};
        store.run_command(update).await.map(drop)
    }
}

/// Reads all ranges.
pub(super) async fn all(store: &Store, collections: &[&str]) -> Result<Vec<Document>> {
    let find = doc! {"find": SCRUBS.collection, "filter": {"collection": {"$in": collections}}};
    store.run_cursor(find).await
}

fn later(time: DateTime, duration: Duration) -> DateTime {
    let millis = i64::try_from(duration.as_millis()).unwrap_or(i64::MAX);
    DateTime::from_millis(time.timestamp_millis().saturating_add(millis))
}
