//! Undoes a repair, by the images that it has kept.

use std::collections::HashMap;
use std::fmt;

use bson::oid::ObjectId;
use bson::raw::RawDocumentBuf;
use bson::{Bson, Document, doc};
use futures_core::future::BoxFuture;

use super::images::COLLECTION;
use crate::collection::Db;
use crate::collection::transaction::Tries;
use crate::error::{Error, Result};
use crate::exec::Channel;
use crate::model::ModelMeta;
use crate::plan::shell;
use crate::store::Operation;
use crate::store::options::{Chosen, Options};

/// The most documents that a result lists as changed.
const MOST_LISTED: usize = 100;

/// How many images are read at once.
const BATCH: i64 = 100;

/// An undo of a repair, about to run: [`Db::undo_repair`].
#[must_use = "nothing is written until it is awaited"]
pub struct UndoRepair {
    channel: Channel<'static>,
    models: Vec<&'static ModelMeta>,
    repair: ObjectId,
}

/// What an [undo](Db::undo_repair) has written.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct UndoResult {
    /// How many writes of the repair were undone.
    pub undone: u64,
    /// How many were not, because the document has changed since.
    pub changed: u64,
    /// The first 100 of those documents: their collections and their `_id`s.
    pub listed: Vec<(String, Bson)>,
}

impl Db {
    /// Undoes a repair that has [kept images](super::RunRepair::keep_images): [`RepairReport::images`](super::RepairReport::images)
    /// names it.
    ///
    /// The last write is undone first. A field gets its value back only while it has the one that the repair has written, and a
    /// deleted document comes back only while none has its `_id`: what others have written since stays. The image of a write that
    /// was undone is removed, so that an undo which stops can run again.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/on_delete.rs"));
    /// use odm::repair::Answer;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = a_shelf().await?;
    /// db.collection::<Author>().delete_by_id(&1).leave_dangling().await?;
    /// let repair = db.repair(models![Book]).answer::<Book, _, _>(|b| b.author, Answer::Delete);
    /// let report = repair.plan().await?.run().keep_images().await?;
    /// assert_eq!(db.collection::<Book>().find_all().count().await?, 0);
    ///
    /// let undo = db.undo_repair(models![Book], report.images.ok_or("no images")?);
    /// assert_eq!(undo.await?.undone, 3);
    /// assert_eq!(db.collection::<Book>().find_all().count().await?, 3);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The repair has written documents of a model that is not listed.
    pub fn undo_repair(
        &self,
        models: impl IntoIterator<Item = &'static ModelMeta>,
        repair: ObjectId,
    ) -> UndoRepair {
        UndoRepair {
            channel: Channel::new(self.store.clone(), None),
            models: ModelMeta::wholes(models),
            repair,
        }
    }
}

impl UndoRepair {
    async fn run(self) -> Result<UndoResult> {
        let Some(&any) = self.models.first() else {
            return Err(Error::usage(
                "an undo needs the models of the repair: `models![…]`",
            ));
        };
        let models = self.models.iter().map(|model| (model.collection, *model));
        let models: HashMap<_, _> = models.collect();
        let mut result = UndoResult::default();
        // Images that are not removed are not read again.
        let mut before: Option<Bson> = None;
        loop {
            let mut range = doc! {"$gte": {"repair": self.repair}, "$lte": {"repair": self.repair, "image": Bson::MaxKey}};
            if let Some(before) = before.take() {
                range.insert("$lt", before);
            }
            let find = Operation::Find {
                filter: doc! {"_id": range}.into(),
                one: false,
            };
            let mut outside = self.channel.in_session(None);
            let options = Options {
                sort: Some(doc! {"_id": -1}),
                limit: Some(BATCH),
                ..outside.current()
            };
            let records = outside
                .named(COLLECTION, any)
                .documents(find, options.into());
            let records = records.await?;
            if records.is_empty() {
                return Ok(result);
            }
            for record in records {
                let record = Document::try_from(&record).map_err(Error::encode)?;
                let collection = record.get_str("collection").unwrap_or_default();
                let Some(model) = models.get(collection) else {
                    return Err(Error::usage(format!(
                        "the repair has written documents of `{collection}`: list its model in `models![…]`"
                    )));
                };
                if undo(&self.channel, model, &record).await? {
                    result.undone += 1;
                } else {
                    result.changed += 1;
                    if result.listed.len() < MOST_LISTED {
                        let id = record.get("document").cloned().unwrap_or(Bson::Null);
                        result.listed.push((collection.to_owned(), id));
                    }
                }
                before = record.get("_id").cloned();
            }
        }
    }
}

/// Undoes a write, and removes its image; returns `false` if the document has changed since.
async fn undo(
    channel: &Channel<'static>,
    model: &'static ModelMeta,
    record: &Document,
) -> Result<bool> {
    let mut tries = Tries::joined(channel.store());
    loop {
        let session = tries.begin().await?;
        let mut inside = channel.in_session(Some(session));
        let undone = write(&mut inside, model, record).await;
        if let Some(ended) = tries.end(undone).await {
            return ended.and_then(std::convert::identity);
        }
    }
}

async fn write(
    channel: &mut Channel<'_>,
    model: &'static ModelMeta,
    record: &Document,
) -> Result<bool> {
    let options = Chosen::from(Options {
        bypass_document_validation: Some(true),
        ..Options::default()
    });
    let encoded = |document| RawDocumentBuf::try_from(document).map_err(Error::encode);
    let id = record.get("document").cloned().unwrap_or(Bson::Null);
    let is_undone = if let Ok(deleted) = record.get_document("deleted") {
        let find = Operation::Find {
            filter: doc! {"_id": {"$eq": &id}}.into(),
            one: true,
        };
        let reading = channel.current();
        let found = channel.of(model).documents(find, reading.into()).await?;
        if found.is_empty() {
            let insert = Operation::InsertMany {
                documents: vec![encoded(deleted.clone())?],
            };
            channel.of(model).send(insert, options).await?.written()?;
        }
        found.is_empty()
    } else {
        let update = Operation::Updates {
            statements: vec![encoded(statement(&id, record))?],
        };
        let written = channel.of(model).send(update, options).await?.written()?;
        written.matched() > 0
    };
    if is_undone {
        let image = doc! {"_id": record.get("_id").cloned()};
        channel.named(COLLECTION, model).delete(vec![image]).await?;
    }
    Ok(is_undone)
}

/// The update that gives fields their earlier values, if they still have those of the repair.
fn statement(id: &Bson, record: &Document) -> Document {
    let (mut set, mut unset, mut conditions) = (Document::new(), Document::new(), Vec::new());
    let fields = record
        .get_array("fields")
        .map(Vec::as_slice)
        .unwrap_or_default();
    for field in fields.iter().filter_map(Bson::as_document) {
        let name = field.get_str("name").unwrap_or_default();
        let path = format!("${name}");
        let after = field.get("after");
        conditions.push(after.map_or_else(
            || doc! {"$eq": [{"$type": &path}, "missing"]},
            |after| doc! {"$eq": [&path, {"$literal": after}]},
        ));
        match field.get("before") {
            Some(before) => set.insert(name, before),
            None => unset.insert(name, ""),
        };
    }
    let mut change = Document::new();
    for (operator, operands) in [("$set", set), ("$unset", unset)] {
        if !operands.is_empty() {
            change.insert(operator, operands);
        }
    }
    let filter = doc! {"_id": {"$eq": id}, "$expr": {"$and": conditions}};
    doc! {"q": filter, "u": change, "collation": {"locale": "simple"}}
}

impl IntoFuture for UndoRepair {
    type Output = Result<UndoResult>;
    type IntoFuture = BoxFuture<'static, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.run())
    }
}

impl fmt::Debug for UndoRepair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("UndoRepair").field(&self.repair).finish()
    }
}

impl fmt::Display for UndoResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} undone, {} changed since", self.undone, self.changed)?;
        for (collection, id) in &self.listed {
            writeln!(f, "  {} of `{collection}`", shell::value(id))?;
        }
        Ok(())
    }
}
