//! Where raw commands are sent.

use std::sync::{Mutex, PoisonError};

use bson::raw::{RawBsonRef, RawDocument, RawDocumentBuf};
use bson::{DateTime, Document, doc};

use super::explain::Explain;
use super::images::{self, Images};
use crate::error::{Error, Result};
use crate::model::ModelMeta;
use crate::store::limits;
use crate::store::options::{Chosen, Options, ReadPreference, WriteConcern};
use crate::store::{
    CollectionName, Operation, RawCursor, Request, Response, Session, Store, Written,
};

/// A store, with the session and the options of the commands that are sent to it.
#[derive(Debug)]
pub struct Channel<'s> {
    store: Store,
    /// The options of all commands.
    options: Chosen,
    /// The concern of all writes outside of a transaction.
    write_concern: Option<WriteConcern>,
    session: Option<&'s mut Session>,
    /// The plans of the commands that were sent, if they are explained.
    plans: Option<&'s Plans>,
    /// The documents that were written, if they are kept.
    images: Option<&'s Images>,
}

/// The plans of commands, in the order in which they were sent.
#[derive(Debug, Default)]
pub(crate) struct Plans(Mutex<Vec<Explain>>);

impl Plans {
    fn add(&self, plan: Explain) {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(plan);
    }

    pub(crate) fn into_list(self) -> Vec<Explain> {
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<'s> Channel<'s> {
    pub(crate) fn new(store: Store, session: Option<&'s mut Session>) -> Self {
        Self {
            store,
            options: Chosen::default(),
            write_concern: None,
            session,
            plans: None,
            images: None,
        }
    }

    /// Sends these options with each command.
    pub(crate) fn with_options(mut self, options: Chosen) -> Self {
        self.options = options;
        self
    }

    pub(crate) fn with_write_concern(mut self, concern: Option<WriteConcern>) -> Self {
        self.write_concern = concern;
        self
    }

    /// Also explains each command before it is sent.
    pub(crate) fn explained(mut self, plans: Option<&'s Plans>) -> Self {
        self.plans = plans;
        self
    }

    /// Keeps the documents of models as they are before and after each write.
    pub(crate) fn keeping(mut self, images: Option<&'s Images>) -> Self {
        self.images = images;
        self
    }

    /// The same channel, for a shorter time.
    pub(crate) fn reborrow(&mut self) -> Channel<'_> {
        Channel {
            store: self.store.clone(),
            options: self.options.clone(),
            write_concern: self.write_concern.clone(),
            session: self.session.as_deref_mut(),
            plans: self.plans,
            images: self.images,
        }
    }

    /// The same channel to another database, for a shorter time.
    pub(crate) fn at(&mut self, database: &str) -> Channel<'_> {
        Channel {
            store: self.store.sibling(database),
            ..self.reborrow()
        }
    }

    /// A second channel, for commands that run at the same time. A session runs one command after the other, and so do
    /// explained commands, whose plans have an order.
    pub(crate) fn concurrent(&self) -> Option<Self> {
        (self.session.is_none() && self.plans.is_none())
            .then(|| Self::new(self.store.clone(), None).with_options(self.options.clone()))
    }

    /// The same store in this session, or in none.
    pub(crate) fn in_session<'b>(&self, session: Option<&'b mut Session>) -> Channel<'b> {
        Channel {
            store: self.store.clone(),
            options: self.options.clone(),
            write_concern: self.write_concern.clone(),
            session,
            plans: None,
            images: None,
        }
    }

    pub(crate) fn store(&self) -> &Store {
        &self.store
    }

    /// The options that all commands have.
    pub(crate) fn options(&self) -> Chosen {
        self.options.clone()
    }

    /// Whether the commands are explained.
    pub(crate) fn is_explained(&self) -> bool {
        self.plans.is_some()
    }

    pub(crate) fn session(&mut self) -> Option<&mut Session> {
        self.session.as_deref_mut()
    }

    pub(crate) fn is_in_transaction(&self) -> bool {
        self.session.as_ref().is_some_and(|it| it.in_transaction())
    }

    /// A time before the values that the next read returns, by the clock of this machine. A transaction reads a snapshot, whatever
    /// others have written since.
    pub(crate) fn time_of_reads(&self) -> DateTime {
        let attempt = self.session.as_ref().and_then(|it| it.attempt());
        attempt.map_or_else(DateTime::now, |attempt| attempt.started())
    }

    /// Options of a read that decides what is written: it sees the last writes, as each read of a transaction does.
    pub(crate) fn current(&self) -> Options {
        let primary = (!self.is_in_transaction()).then(ReadPreference::primary);
        Options {
            read_preference: primary,
            ..Options::default()
        }
    }

    /// Opens a cursor outside of the session, for a reader that sends other commands between its documents.
    pub(crate) async fn cursor<'c>(
        &self,
        model: &'static ModelMeta,
        operation: Operation,
        options: Chosen,
    ) -> Result<RawCursor<'c>> {
        let mut request = Request::new(self.collection(model), operation);
        request.options = options;
        let response = self.store.clone().exec(request, None).await;
        response
            .and_then(Response::cursor)
            .map_err(|error| refused(error, model))
    }

    /// The name of the model's collection.
    pub(crate) fn collection(&self, model: &ModelMeta) -> CollectionName {
        self.store.names().of_model(model)
    }

    /// The collection of a model.
    pub(crate) fn of(&mut self, model: &'static ModelMeta) -> Raw<'_, 's> {
        let collection = self.collection(model);
        self.named(collection, model)
    }

    /// A collection with a name of its own, for the sake of this model.
    pub(crate) fn named(
        &mut self,
        collection: CollectionName,
        model: &'static ModelMeta,
    ) -> Raw<'_, 's> {
        Raw {
            channel: self,
            collection,
            model,
        }
    }
}

/// An untyped collection. Its errors name the model.
#[derive(Debug)]
pub(crate) struct Raw<'c, 's> {
    channel: &'c mut Channel<'s>,
    collection: CollectionName,
    model: &'static ModelMeta,
}

impl<'c> Raw<'c, '_> {
    /// Sends an operation with options of its own.
    pub(crate) async fn send(self, operation: Operation, options: Chosen) -> Result<Response<'c>> {
        let mut request = Request::new(self.collection, operation);
        request.options = options;
        let store = self.channel.store.clone();
        let response = store.exec(request, self.channel.session.as_deref_mut());
        response.await.map_err(|error| refused(error, self.model))
    }

    /// Explains an operation without sending it.
    pub(crate) async fn explain(&mut self, operation: Operation, options: Chosen) -> Result<()> {
        let Some(plans) = self.channel.plans else {
            return Ok(());
        };
        let mut request = Request::new(self.collection.clone(), operation);
        request.options = options;
        let session = self.channel.session.as_deref_mut();
        let explain = Explain::of(&self.channel.store, request, session, self.model);
        plans.add(explain.await?);
        Ok(())
    }

    /// Opens a cursor.
    pub(crate) async fn open(
        mut self,
        operation: Operation,
        options: Chosen,
    ) -> Result<RawCursor<'c>> {
        if self.channel.plans.is_some() {
            self.explain(operation.clone(), options.clone()).await?;
        }
        self.send(operation, options).await?.cursor()
    }

    /// Runs an operation that returns a cursor, and calls `visit` with each document until it returns `false`.
    pub(crate) async fn read_while(
        self,
        operation: Operation,
        options: Chosen,
        mut visit: impl FnMut(&RawDocument) -> Result<bool> + Send,
    ) -> Result<()> {
        let model = self.model;
        let mut cursor = self.open(operation, options).await?;
        while let Some(raw) = cursor.next().await {
            if !visit(raw.map_err(|error| error.with_model(model.name))?)? {
                break;
            }
        }
        Ok(())
    }

    /// Runs an operation that returns a cursor, and calls `visit` with each document.
    pub(crate) async fn read(
        self,
        operation: Operation,
        options: Chosen,
        mut visit: impl FnMut(&RawDocument) -> Result<()> + Send,
    ) -> Result<()> {
        let visit = |raw: &RawDocument| visit(raw).map(|()| true);
        self.read_while(operation, options, visit).await
    }

    /// Runs an operation that returns a cursor, and returns all documents.
    pub(crate) async fn documents(
        self,
        operation: Operation,
        options: Chosen,
    ) -> Result<Vec<RawDocumentBuf>> {
        let mut documents = Vec::new();
        let visit = |raw: &RawDocument| {
            documents.push(raw.to_owned());
            Ok(())
        };
        self.read(operation, options, visit).await?;
        Ok(documents)
    }

    /// Sends a count, or counts the documents of the pipeline that it became.
    pub(crate) async fn count(self, operation: Operation, options: Chosen) -> Result<u64> {
        let mut pipeline = match operation {
            Operation::Aggregate { pipeline } => pipeline,
            operation => return self.send(operation, options).await?.count(),
        };
        pipeline.push(doc! {"$count": "n"});
        let mut count = 0;
        let visit = |raw: &RawDocument| {
            count = counted(raw)?;
            Ok(())
        };
        self.read(Operation::Aggregate { pipeline }, options, visit)
            .await?;
        Ok(count)
    }

    async fn written(self, operation: Operation) -> Result<Written> {
        let mut options = Chosen::default();
        // A transaction has the concern with which it started.
        if self.channel.write_concern.is_some() && !self.channel.is_in_transaction() {
            options
                .write_concern
                .clone_from(&self.channel.write_concern);
        }
        // The records in odm's own collections have no images.
        let is_of_model = self.collection == self.channel.collection(self.model);
        let Some(images) = self.channel.images.filter(|_| is_of_model) else {
            return self.send(operation, options).await?.written();
        };
        // Few channels keep images: the others need no room for it.
        Box::pin(self.written_with_images(operation, options, images)).await
    }

    async fn written_with_images(
        self,
        operation: Operation,
        options: Chosen,
        images: &Images,
    ) -> Result<Written> {
        let Self {
            channel,
            collection,
            model,
        } = self;
        let written = images::written(channel, model, &operation).await?;
        let raw = channel.named(collection, model);
        let result = raw.send(operation, options).await?.written()?;
        images.add(channel, model, written).await?;
        Ok(result)
    }

    /// Sends the statements of one `update` command: `{q, u, multi, upsert, …}`.
    pub(crate) async fn update(self, statements: Vec<Document>) -> Result<Written> {
        let statements = encoded(statements)?;
        self.written(Operation::Updates { statements }).await
    }

    /// Sends update statements in as many commands as they need; returns how many documents matched.
    pub(crate) async fn update_in_batches(&mut self, statements: &[RawDocumentBuf]) -> Result<u64> {
        let mut matched = 0;
        let statements = statements.iter().cloned();
        for statements in limits::batches(statements, limits::STATEMENTS, limits::LIST_BYTES) {
            let again = Raw {
                channel: &mut *self.channel,
                collection: self.collection.clone(),
                model: self.model,
            };
            let written = again.written(Operation::Updates { statements }).await?;
            matched += written.matched();
        }
        Ok(matched)
    }

    /// Deletes all documents that match one of the filters.
    pub(crate) async fn delete(self, filters: Vec<Document>) -> Result<u64> {
        let statements = filters
            .into_iter()
            .map(|filter| doc! {"q": filter, "limit": 0});
        self.delete_by(statements.collect()).await
    }

    /// Sends the statements of one `delete` command: `{q, limit, collation}`.
    pub(crate) async fn delete_by(self, statements: Vec<Document>) -> Result<u64> {
        let statements = encoded(statements)?;
        Ok(self.written(Operation::Deletes { statements }).await?.n)
    }

    /// Inserts documents by one command; returns how many it inserted.
    pub(crate) async fn insert(self, documents: Vec<RawDocumentBuf>) -> Result<u64> {
        Ok(self.written(Operation::InsertMany { documents }).await?.n)
    }
}

/// Adds the model's name and the names of its rules to an error.
pub(crate) fn refused(error: Error, model: &'static ModelMeta) -> Error {
    let rules = model.whole().rule_names();
    error.with_model(model.name).with_rules(&rules)
}

/// The field `n` of a document that a pipeline has counted.
pub(crate) fn counted(document: &RawDocument) -> Result<u64> {
    let count = match document.get("n") {
        Ok(Some(RawBsonRef::Int32(n))) => u64::try_from(n).ok(),
        Ok(Some(RawBsonRef::Int64(n))) => u64::try_from(n).ok(),
        _ => None,
    };
    count.ok_or_else(|| Error::malformed_reply("a count as `n`"))
}

fn encoded(statements: Vec<Document>) -> Result<Vec<RawDocumentBuf>> {
    statements
        .into_iter()
        .map(|statement| RawDocumentBuf::try_from(statement).map_err(Error::encode))
        .collect()
}
