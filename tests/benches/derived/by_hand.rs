//! The same work by hand, with the driver.

use futures::future::BoxFuture;
use futures::{FutureExt, TryStreamExt};
use mongodb::bson::oid::ObjectId;
use mongodb::bson::{Bson, DateTime, Document, doc};
use mongodb::error::Result;
use mongodb::{ClientSession, Collection, Database};

use crate::models::{Case, Names};

/// One write and what follows from it.
#[derive(Debug, Clone)]
pub(crate) struct ByHand {
    case: Case,
    names: Names,
    database: Database,
    parents: Collection<Document>,
    children: Collection<Document>,
    fences: Collection<Document>,
    records: Collection<Document>,
}

impl ByHand {
    pub(crate) fn new(database: &Database, case: Case) -> Self {
        let names = case.names();
        Self {
            case,
            names,
            database: database.clone(),
            parents: database.collection(names.parents),
            children: database.collection(names.children),
            fences: database.collection("fences"),
            records: database.collection("records"),
        }
    }

    pub(crate) fn children(&self) -> &Collection<Document> {
        &self.children
    }

    /// Inserts a child without what follows from it.
    pub(crate) async fn plain(&self, id: i32, parent: i32) {
        let child = self.case.child(id, parent);
        self.children.insert_one(child).await.unwrap();
    }

    pub(crate) async fn insert(&self, id: i32, parent: i32) {
        let record = ObjectId::new();
        self.in_transaction(move |by_hand, session| {
            by_hand.inserting(session, id, parent, record).boxed()
        })
        .await;
        if self.case == Case::SettledSummary {
            self.settle(&[parent], record).await;
        }
    }

    pub(crate) async fn reassign(&self, id: i32, to: i32) {
        let record = ObjectId::new();
        let from = self
            .in_transaction(move |by_hand, session| {
                by_hand.reassigning(session, id, to, record).boxed()
            })
            .await;
        if self.case == Case::SettledSummary {
            self.settle(&[from, to], record).await;
        }
    }

    /// Runs the body until its transaction commits, with the pauses of the driver.
    pub(crate) async fn in_transaction<R>(
        &self,
        body: impl for<'b> Fn(&'b Self, &'b mut ClientSession) -> BoxFuture<'b, Result<R>>,
    ) -> R {
        let mut session = self.database.client().start_session().await.unwrap();
        let transaction = session.start_transaction();
        let context = self.clone();
        let run = transaction.and_run(context, |session, by_hand| body(by_hand, session));
        run.await.unwrap()
    }

    async fn inserting(
        &self,
        session: &mut ClientSession,
        id: i32,
        parent: i32,
        record: ObjectId,
    ) -> Result<()> {
        let child = self.case.child(id, parent);
        self.children
            .insert_one(child)
            .session(&mut *session)
            .await?;
        match self.case {
            Case::StrictSummary => {
                self.fence(Some(&mut *session), &[parent]).await?;
                self.summarize(Some(session), &[parent]).await?;
            }
            Case::SettledSummary => self.record(session, &[parent], record).await?,
            Case::TwoWay => {
                let list = doc! {"$addToSet": {"tasks": id}};
                let update = self.parents.update_one(doc! {"_id": parent}, list);
                assert_eq!(update.session(session).await?.matched_count, 1);
            }
            Case::StrictList | Case::SettledList => {
                self.fence(Some(&mut *session), &[parent]).await?;
                let newest = doc! {"$each": [{"time": id}], "$sort": {"time": 1}, "$slice": -10};
                let push = doc! {"$push": {"newest": newest}};
                let update = self.parents.update_one(doc! {"_id": parent}, push);
                assert_eq!(update.session(session).await?.matched_count, 1);
            }
            Case::Followed => {}
        }
        Ok(())
    }

    /// Returns the former parent.
    async fn reassigning(
        &self,
        session: &mut ClientSession,
        id: i32,
        to: i32,
        record: ObjectId,
    ) -> Result<i32> {
        let reference = self.names.reference;
        let set = doc! {"$set": {reference: to}};
        let update = self.children.find_one_and_update(doc! {"_id": id}, set);
        let before = update.session(&mut *session).await?.unwrap();
        let from = before.get_i32(reference).unwrap();
        match self.case {
            Case::StrictSummary => {
                self.fence(Some(&mut *session), &[from, to]).await?;
                self.summarize(Some(session), &[from, to]).await?;
            }
            Case::SettledSummary => self.record(session, &[from, to], record).await?,
            Case::TwoWay => {
                let lists = vec![
                    doc! {"q": {"_id": from}, "u": {"$pull": {"tasks": id}}},
                    doc! {"q": {"_id": to}, "u": {"$addToSet": {"tasks": id}}},
                ];
                self.update(Some(session), "people", lists).await?;
            }
            Case::StrictList | Case::SettledList | Case::Followed => {
                unreachable!("only summaries and two-way references are moved")
            }
        }
        Ok(from)
    }

    /// Writes the fences of these parents.
    pub(crate) async fn fence(
        &self,
        session: Option<&mut ClientSession>,
        parents: &[i32],
    ) -> Result<()> {
        let parents = parents.iter();
        let statements = parents.map(|parent| {
            let id = doc! {"collection": self.names.parents, "fence": parent};
            doc! {"q": {"_id": id}, "u": {"$inc": {"writes": 1_i64}}, "upsert": true}
        });
        let name = self.fences.name();
        self.update(session, name, statements.collect()).await
    }

    /// Stores the record by which another process completes the write, if this one ends before it has.
    async fn record(
        &self,
        session: &mut ClientSession,
        parents: &[i32],
        record: ObjectId,
    ) -> Result<()> {
        let names = self.names;
        let record = doc! {"_id": record, "collection": names.parents, "keys": parents, "at": DateTime::now()};
        let insert = self.records.insert_one(record);
        insert.session(session).await.map(drop)
    }

    /// Writes the summaries of these parents, and removes the record of the write.
    async fn settle(&self, parents: &[i32], record: ObjectId) {
        self.summarize_until_right(parents).await;
        let delete = self.records.delete_one(doc! {"_id": record});
        delete.await.unwrap();
    }

    /// Writes the summaries of these parents until they do not change.
    pub(crate) async fn summarize_until_right(&self, parents: &[i32]) {
        let mut last = Vec::new();
        loop {
            // A strict transaction does not look again, so this look has to meet it.
            if self.case == Case::Followed {
                self.fence(None, parents).await.unwrap();
            }
            let read = self.read(None, parents).await.unwrap();
            if read == last {
                break;
            }
            self.write(None, &read).await.unwrap();
            last = read;
        }
    }

    /// Computes and writes the summaries of these parents.
    pub(crate) async fn summarize(
        &self,
        mut session: Option<&mut ClientSession>,
        parents: &[i32],
    ) -> Result<Vec<Document>> {
        let values = self.read(session.as_deref_mut(), parents).await?;
        self.write(session, &values).await?;
        Ok(values)
    }

    /// The summaries of these parents, in the order of their `_id`s.
    async fn read(
        &self,
        session: Option<&mut ClientSession>,
        parents: &[i32],
    ) -> Result<Vec<Document>> {
        let reference = self.names.reference;
        let group = doc! {
            "_id": format!("${reference}"),
            "count": {"$sum": 1},
            "mean": {"$avg": "$stars"},
        };
        let pipeline = [
            doc! {"$match": {reference: {"$in": parents}}},
            doc! {"$group": group},
        ];
        let aggregate = self.children.aggregate(pipeline);
        let mut found: Vec<Document> = match session {
            Some(session) => {
                let mut cursor = aggregate.session(&mut *session).await?;
                cursor.stream(session).try_collect().await?
            }
            None => aggregate.await?.try_collect().await?,
        };
        for parent in parents {
            let is_found = |one: &Document| one.get("_id") == Some(&Bson::Int32(*parent));
            if !found.iter().any(is_found) {
                found.push(doc! {"_id": parent, "count": 0, "mean": null});
            }
        }
        found.sort_by_key(|one| one.get_i32("_id").ok());
        Ok(found)
    }

    async fn write(&self, session: Option<&mut ClientSession>, values: &[Document]) -> Result<()> {
        let statements = values.iter().map(|one| {
            let count = i64::from(one.get_i32("count").unwrap());
            let set = doc! {"count": count, "mean": one.get("mean").cloned()};
            doc! {"q": {"_id": one.get("_id").cloned()}, "u": {"$set": set}}
        });
        let statements = statements.collect();
        self.update(session, self.names.parents, statements).await
    }

    /// Sends statements in one command.
    pub(crate) async fn update(
        &self,
        session: Option<&mut ClientSession>,
        collection: &str,
        statements: Vec<Document>,
    ) -> Result<()> {
        let command = doc! {"update": collection, "updates": statements};
        let run = self.database.run_command(command);
        let reply = match session {
            Some(session) => run.session(session).await?,
            None => run.await?,
        };
        assert!(!reply.contains_key("writeErrors"), "{reply}");
        Ok(())
    }
}
