//! Records of changes that run without a transaction, and the fences that order changes.
//!
//! A fence is a small document in a collection of its own, for each thing that changes as a whole. Each change writes the
//! fence before it reads anything: of two transactions, one fails and runs again. A change without a transaction writes a
//! record of itself into the fence before its first write, and removes it after the last one. A record that stays tells
//! how to complete the change; what it says is up to the kind of change.

use bson::oid::ObjectId;
use bson::{Bson, DateTime, Document, doc};

use crate::error::{Error, Result};
use crate::exec::Channel;
use crate::model::ModelMeta;
use crate::model::tree::FENCES;
use crate::plan::Step;
use crate::store::options::Chosen;
use crate::store::{CollectionName, Operation};

/// The collection of fences keeps its name: all handles write one fence, whatever names they use.
const COLLECTION: CollectionName = CollectionName::Declared(FENCES.collection);

/// The field of a fence that holds the record.
const RECORD: &str = "unfinished";

/// The field of a fence that names the last change, if it runs without a transaction.
const LAST: &str = "last";

/// A fence, as a change has written it before it read anything.
#[derive(Debug, Clone)]
pub(crate) struct Fence {
    id: Bson,
    change: ObjectId,
}

/// A record in a fence.
#[derive(Debug)]
pub(crate) struct Recorded {
    pub(crate) fence: Fence,
    pub(crate) record: Document,
}

/// The fences of a database. Errors name the model that changes.
#[derive(Debug)]
pub(crate) struct Journal<'c, 's> {
    channel: &'c mut Channel<'s>,
    model: &'static ModelMeta,
}

impl<'c, 's> Journal<'c, 's> {
    pub(crate) fn new(channel: &'c mut Channel<'s>, model: &'static ModelMeta) -> Self {
        Self { channel, model }
    }

    /// Writes the fence with this id; `None` if it has the record of a change that is not complete. Without a
    /// transaction, the change that [begins](Self::begin) is the last one that wrote the fence.
    pub(crate) async fn fence(&mut self, id: Document) -> Result<Option<Fence>> {
        let change = ObjectId::new();
        let is_atomic = self.channel.is_in_transaction();
        // A transaction has no record: without a last change, another's record is refused.
        let last = if is_atomic {
            doc! {"$unset": {LAST: ""}}
        } else {
            doc! {"$set": {LAST: change}}
        };
        let mut write = doc! {"$inc": {"writes": 1_i64}};
        write.extend(last);
        let statement = doc! {
            // A fence with a record does not match, and its `_id` is taken.
            "q": {"_id": {"$eq": &id}, RECORD: {"$exists": false}},
            "u": write,
            "upsert": true,
        };
        loop {
            match self.update(statement.clone()).await {
                Ok(_) => {
                    let id = id.into();
                    return Ok(Some(Fence { id, change }));
                }
                Err(error) if !error.is_duplicate_key() => return Err(error),
                Err(_) => {}
            }
            // Two first changes may insert the fence at the same time.
            let same = doc! {"_id": {"$eq": &id}};
            if is_atomic || !self.recorded(same).await?.is_empty() {
                return Ok(None);
            }
        }
    }

    /// Writes the record of a change before its first write. Returns `false` if another change has written the fence after
    /// this one, so that what this one has read may be out of date.
    pub(crate) async fn begin(&mut self, fence: &Fence, record: Document) -> Result<bool> {
        let mut named = doc! {"change": fence.change};
        named.extend(record);
        let statement = doc! {
            "q": {"_id": {"$eq": &fence.id}, RECORD: {"$exists": false}, LAST: fence.change},
            "u": {"$set": {RECORD: named}},
        };
        Ok(self.update(statement).await? > 0)
    }

    /// Notes in the record how far the change is.
    pub(crate) async fn note(&mut self, fence: &Fence, field: &str) -> Result<()> {
        self.update(fence.note(field)).await.map(drop)
    }

    /// Removes the record of a change after its last write.
    pub(crate) async fn end(&mut self, fence: &Fence) -> Result<()> {
        self.update(fence.end()).await.map(drop)
    }

    /// The records in fences that match, outside of the session: a read in a failed transaction would fail, too.
    pub(crate) async fn recorded(&self, mut filter: Document) -> Result<Vec<Recorded>> {
        filter.insert(RECORD, doc! {"$exists": true});
        let operation = Operation::Find {
            filter: filter.into(),
            one: false,
        };
        let mut outside = self.channel.in_session(None);
        let fences = outside.named(COLLECTION, self.model);
        let mut recorded = Vec::new();
        for fence in fences.documents(operation, Chosen::default()).await? {
            let fence = Document::try_from(&*fence).map_err(Error::encode)?;
            let record = fence.get_document(RECORD).ok();
            let (Some(record), Some(id)) = (record, fence.get("_id")) else {
                continue;
            };
            if let Ok(change) = record.get_object_id("change") {
                let id = id.clone();
                recorded.push(Recorded {
                    fence: Fence { id, change },
                    record: record.clone(),
                });
            }
        }
        Ok(recorded)
    }

    async fn update(&mut self, statement: Document) -> Result<u64> {
        let fences = self.channel.named(COLLECTION, self.model);
        Ok(fences.update(vec![statement]).await?.n)
    }
}

impl Fence {
    /// When the change has begun, by the clock of the machine that runs it.
    pub(crate) fn begun(&self) -> DateTime {
        self.change.timestamp()
    }

    /// The field of the fence's id.
    pub(crate) fn id(&self, field: &str) -> Option<&Bson> {
        self.id.as_document()?.get(field)
    }

    /// The statement that notes in the record how far the change is.
    pub(crate) fn note(&self, field: &str) -> Document {
        doc! {
            "q": {"_id": {"$eq": &self.id}, format!("{RECORD}.change"): self.change},
            "u": {"$set": {format!("{RECORD}.{field}"): true}},
        }
    }

    /// The statement that removes the record.
    pub(crate) fn end(&self) -> Document {
        doc! {
            "q": {"_id": {"$eq": &self.id}, format!("{RECORD}.change"): self.change},
            "u": {"$unset": {RECORD: ""}},
        }
    }
}

/// A step of a plan that sends statements to the fences.
pub(crate) fn step(statements: Vec<Document>, reason: String) -> Step {
    let command = doc! {"update": FENCES.collection, "updates": statements};
    Step::writes(&FENCES, FENCES.collection, vec![command], reason)
}
