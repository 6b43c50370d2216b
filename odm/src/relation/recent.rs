//! Lists of the newest documents, kept beside those documents: `recent` and `recent_in`.

use std::borrow::Borrow;
use std::collections::BTreeMap;
use std::fmt;

use bson::raw::{RawBsonRef, RawDocument};
use bson::{Bson, RawDocumentBuf, doc};

use crate::collection::{Collection, encode_with_id, typed_id};
use crate::error::{Error, Result};
use crate::exec::{Channel, Keys, StoredPath};
use crate::model::{
    CounterpartKind, Document, ModelMeta, RecentMeta, ReferenceMeta, RelationMeta, name, projection,
};
use crate::update::maintain;
use crate::write::{Atomic, WriteSeveral};

/// The insert of documents and of their parts in the lists of the newest, about to be sent:
/// [`Collection::insert_one_with_recent`], [`Collection::insert_many_with_recent`].
///
/// [Without a transaction](Atomic::non_atomic), the documents are inserted before the lists change: if an update fails,
/// its list lacks their parts.
pub type InsertWithRecent<'s, M> = Atomic<'s, RecentInsert<M>>;

/// The result of [`Collection::insert_many_with_recent`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct InsertWithRecentResult<I> {
    /// The `_id`s of the new documents, in the order given.
    pub inserted_ids: Vec<I>,
    /// How many documents with lists the new documents refer to.
    pub lists: u64,
    /// How many of them exist, so that their lists were updated.
    pub updated_lists: u64,
}

/// A model with a reference that says `recent_in`; the derive implements it.
#[diagnostic::on_unimplemented(
    message = "documents of `{Self}` are copied into no list",
    label = "no field of it says `recent_in`",
    note = "write `#[odm(recent_in = list)]` on its reference to the model that declares `recent({Self}, max = …, sort = …)` on the field `list`"
)]
pub trait InRecentLists: Document {}

impl<M: Document> Collection<M> {
    /// Inserts a document, and adds a part of it to the list of the newest in each document that it refers to by a field
    /// that says `recent_in`.
    ///
    /// The list is updated by one `$push` with `$each`, `$sort` and `$slice`, so it never has more than `max` elements.
    /// Both writes are one transaction. Where the deployment has no transactions, this fails before anything is written,
    /// unless you say [`non_atomic`](InsertWithRecent::non_atomic).
    ///
    /// ```
    /// use odm::prelude::*;
    ///
    /// #[derive(Debug, Serialize, Deserialize, Document)]
    /// #[odm(collection = "hosts")]
    /// struct Host {
    ///     #[serde(rename = "_id")]
    ///     id: i32,
    ///     #[odm(recent(LogMessage, max = 2, sort = time))]
    ///     logmsgs: Vec<Line>,
    /// }
    ///
    /// #[derive(Debug, Serialize, Deserialize, Document)]
    /// #[odm(collection = "logmsg")]
    /// struct LogMessage {
    ///     #[serde(rename = "_id")]
    ///     id: i32,
    ///     #[odm(index, recent_in = logmsgs)]
    ///     host: Ref<Host>,
    ///     time: i32,
    ///     message: String,
    /// }
    ///
    /// #[derive(Debug, PartialEq, Serialize, Deserialize, Embedded, Projection)]
    /// #[odm(of = LogMessage)]
    /// struct Line {
    ///     time: i32,
    ///     message: String,
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> odm::Result<()> {
    /// # let db = Db::memory();
    /// let hosts = db.collection::<Host>();
    /// hosts.insert_one(&Host { id: 1, logmsgs: Vec::new() }).await?;
    /// let messages = db.collection::<LogMessage>();
    /// for time in 1..=3 {
    ///     let message = LogMessage { id: time, host: Ref::from(1), time, message: format!("message {time}") };
    ///     messages.insert_one_with_recent(&message).await?;
    /// }
    /// let host = hosts.get(&1).await?.expect("it was inserted");
    /// let times: Vec<_> = host.logmsgs.iter().map(|line| line.time).collect();
    /// assert_eq!(times, [2, 3]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn insert_one_with_recent<'s>(&self, document: impl Borrow<M>) -> InsertWithRecent<'s, M>
    where
        M: InRecentLists,
    {
        self.insert_many_with_recent([document])
    }

    /// Inserts documents, and adds their parts to the lists of the newest with one statement for each list; see
    /// [`insert_one_with_recent`](Self::insert_one_with_recent).
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # #[derive(Serialize, Deserialize, Document)]
    /// # #[odm(collection = "hosts")]
    /// # struct Host {
    /// #     #[serde(rename = "_id")] id: i32,
    /// #     #[odm(recent(LogMessage, max = 2, sort = time))] logmsgs: Vec<Line>,
    /// # }
    /// # #[derive(Serialize, Deserialize, Document)]
    /// # #[odm(collection = "logmsg")]
    /// # struct LogMessage {
    /// #     #[serde(rename = "_id")] id: i32,
    /// #     #[odm(index, recent_in = logmsgs)] host: Ref<Host>,
    /// #     time: i32,
    /// # }
    /// # #[derive(Serialize, Deserialize, Embedded, Projection)]
    /// # #[odm(of = LogMessage)]
    /// # struct Line { time: i32 }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = Db::memory();
    /// # let (hosts, messages) = (db.collection::<Host>(), db.collection::<LogMessage>());
    /// # hosts.insert_one(&Host { id: 1, logmsgs: Vec::new() }).await?;
    /// let new = (1..=3).map(|time| LogMessage { id: time, host: Ref::from(1), time });
    /// let result = messages.insert_many_with_recent(new).await?;
    /// assert_eq!((result.inserted_ids, result.updated_lists), (vec![1, 2, 3], 1));
    /// let host = hosts.get(&1).await?.ok_or("no host")?;
    /// assert_eq!((host.logmsgs[0].time, host.logmsgs[1].time), (2, 3));
    /// # Ok(())
    /// # }
    /// ```
    pub fn insert_many_with_recent<'s>(
        &self,
        documents: impl IntoIterator<Item = impl Borrow<M>>,
    ) -> InsertWithRecent<'s, M>
    where
        M: InRecentLists,
    {
        let writes = RecentInsert::new(self.clone(), documents);
        Atomic::new(writes, M::model())
    }
}

/// The writes of an [`InsertWithRecent`]: documents and updates, encoded once.
pub struct RecentInsert<M: Document> {
    collection: Collection<M>,
    documents: Vec<RawDocumentBuf>,
    ids: Vec<M::Id>,
    updates: Vec<Updates>,
}

/// The update statements for the collection of one model.
struct Updates {
    model: &'static ModelMeta,
    statements: Vec<RawDocumentBuf>,
}

impl<M: Document> RecentInsert<M> {
    fn new(
        collection: Collection<M>,
        documents: impl IntoIterator<Item = impl Borrow<M>>,
    ) -> Result<Self> {
        let named = |error: Error| error.with_model(M::model().name);
        let mut writes = Self {
            collection,
            documents: Vec::new(),
            ids: Vec::new(),
            updates: Vec::new(),
        };
        let mut lists = lists(M::model()).map_err(named)?;
        for document in documents {
            let document = document.borrow();
            let (encoded, made_up) = encode_with_id(document).map_err(named)?;
            writes.ids.push(typed_id(document, made_up)?);
            for list in &mut lists {
                list.add(&encoded).map_err(named)?;
            }
            writes.documents.push(encoded);
        }
        for list in lists {
            writes.updates.push(list.into_updates()?);
        }
        Ok(writes)
    }

    /// How many documents have their lists updated.
    fn lists(&self) -> u64 {
        let lists: usize = self.updates.iter().map(|one| one.statements.len()).sum();
        u64::try_from(lists).unwrap_or(u64::MAX)
    }
}

impl<M: Document> WriteSeveral for RecentInsert<M> {
    type Done = InsertWithRecentResult<M::Id>;

    fn model(&self) -> &'static ModelMeta {
        M::model()
    }

    fn channel(&self) -> Channel<'static> {
        self.collection.channel()
    }

    async fn write(&self, channel: &mut Channel<'_>) -> Result<Self::Done> {
        let mut updated_lists = 0;
        if !self.documents.is_empty() {
            let (documents, ids) = (self.documents.clone(), self.ids.clone());
            let insert = self.collection.insert_encoded(documents, ids);
            insert.within(channel.session()).await?;
        }
        for updates in &self.updates {
            let mut lists = channel.of(updates.model);
            updated_lists += lists.update_in_batches(&updates.statements).await?;
        }
        Ok(InsertWithRecentResult {
            inserted_ids: self.ids.clone(),
            lists: self.lists(),
            updated_lists,
        })
    }
}

/// The parts of new documents for one list, by the document that has it.
struct List {
    model: &'static ModelMeta,
    recent: &'static RecentMeta,
    /// The stored path of the reference in the new documents.
    reference: StoredPath,
    /// The stored path of the list.
    path: String,
    keys: Keys,
    elements: BTreeMap<usize, Vec<Bson>>,
}

/// The lists that documents of a model are copied into.
fn lists(model: &'static ModelMeta) -> Result<Vec<List>> {
    let references = model.relations().iter();
    let references = references.filter_map(RelationMeta::as_reference);
    let listed = references.filter_map(|reference| {
        let counterpart = reference.counterpart?;
        (counterpart.kind == CounterpartKind::Recent).then_some((reference, counterpart.name))
    });
    listed
        .map(|(reference, list)| List::new(reference, list))
        .collect()
}

impl List {
    fn new(reference: &ReferenceMeta, list: &str) -> Result<Self> {
        let model = reference.target;
        let mut recents = model.relations().iter().filter_map(RelationMeta::as_recent);
        let Some(recent) = recents.find(|recent| recent.field == list) else {
            let message = format!("`{}` declares no `recent` list `{list}`", model.name);
            return Err(Error::usage(message).with_path(reference.name.clone()));
        };
        let list = name::resolve((model.embedded)(), &[recent.field])?;
        Ok(Self {
            model,
            recent,
            reference: StoredPath::through_arrays(&reference.path),
            path: list.path.to_string(),
            keys: Keys::default(),
            elements: BTreeMap::new(),
        })
    }

    /// Adds the part of a new document to the list of each document that it refers to.
    fn add(&mut self, document: &RawDocument) -> Result<()> {
        let mut referred = Vec::new();
        self.reference.each_value(document, &mut |value| {
            if value != RawBsonRef::Null {
                referred.push(self.keys.add(value));
            }
        });
        for position in referred {
            let element = projection::part(document, self.recent.copied)?;
            self.elements
                .entry(position?)
                .or_default()
                .push(element.into());
        }
        Ok(())
    }

    fn into_updates(self) -> Result<Updates> {
        let sort = name::resolve(((self.recent.source)().embedded)(), &[self.recent.sort])?;
        let max = i32::try_from(self.recent.max).unwrap_or(i32::MAX);
        // The newest have the largest values: at the start of a descending list, and at the end of an ascending one.
        let (direction, slice) = if self.recent.descending {
            (-1, max)
        } else {
            (1, -max)
        };
        let maintained = maintain::fields(self.model);
        let mut statements = Vec::new();
        for (position, elements) in self.elements {
            let Some(id) = self.keys.get(position) else {
                continue;
            };
            let mut update = doc! {"$push": {&self.path: {
                "$each": elements,
                "$sort": {sort.path.to_string(): direction},
                "$slice": slice,
            }}};
            maintain::change(&maintained, &mut update);
            let statement = doc! {"q": {"_id": {"$eq": id.clone()}}, "u": update};
            statements.push(RawDocumentBuf::try_from(statement).map_err(Error::encode)?);
        }
        Ok(Updates {
            model: self.model,
            statements,
        })
    }
}

impl<M: Document> fmt::Debug for RecentInsert<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "InsertWithRecent({})", self.collection.name())
    }
}
