//! Where a join's commands are sent.

use std::sync::{Mutex, PoisonError};

use bson::doc;
use bson::raw::{RawBsonRef, RawDocument};

use crate::collection::Explain;
use crate::error::Result;
use crate::model::ModelMeta;
use crate::store::operation::{Operation, Request};
use crate::store::options::Chosen;
use crate::store::{CollectionName, CollectionNames, RawCursor, Response, Session, Store};

/// The store, the options and the session of a join's commands.
#[derive(Debug)]
pub struct Source<'a> {
    store: &'a Store,
    options: &'a Chosen,
    session: Option<&'a mut Session>,
    /// The plans of the commands that were sent, if the join is explained.
    plans: Option<&'a Plans>,
}

/// The plans of a join's commands, in the order in which they were sent.
#[derive(Debug, Default)]
pub(super) struct Plans(Mutex<Vec<Explain>>);

impl Plans {
    fn add(&self, plan: Explain) {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(plan);
    }

    pub(super) fn into_list(self) -> Vec<Explain> {
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<'a> Source<'a> {
    pub(super) fn new(
        store: &'a Store,
        options: &'a Chosen,
        session: Option<&'a mut Session>,
    ) -> Self {
        Self {
            store,
            options,
            session,
            plans: None,
        }
    }

    /// Also explains each command before it is sent.
    pub(super) fn explained(mut self, plans: Option<&'a Plans>) -> Self {
        self.plans = plans;
        self
    }

    /// The same source, for a shorter time.
    pub(super) fn reborrow(&mut self) -> Source<'_> {
        Source {
            store: self.store,
            options: self.options,
            session: self.session.as_deref_mut(),
            plans: self.plans,
        }
    }

    /// The store with another database.
    pub(super) fn sibling(&self, database: &str) -> Store {
        self.store.sibling(database)
    }

    /// The same source with another store, for a shorter time.
    pub(super) fn at<'b>(&'b mut self, store: &'b Store) -> Source<'b> {
        Source {
            store,
            options: self.options,
            session: self.session.as_deref_mut(),
            plans: self.plans,
        }
    }

    /// A second source, for commands that run at the same time. A session runs one command after the other, and so does
    /// an explained join, whose plans have an order.
    pub(super) fn concurrent(&self) -> Option<Self> {
        (self.session.is_none() && self.plans.is_none())
            .then(|| Self::new(self.store, self.options, None))
    }

    /// The names of the collections.
    pub(super) fn names(&self) -> &'a CollectionNames {
        self.store.names()
    }

    /// The name of the model's collection.
    pub(super) fn collection(&self, model: &ModelMeta) -> CollectionName {
        self.names().of(model.collection)
    }

    /// The options that all commands of the join have.
    pub(super) fn options(&self) -> Chosen {
        self.options.clone()
    }

    /// Whether the join is explained.
    pub(super) fn is_explained(&self) -> bool {
        self.plans.is_some()
    }

    /// Explains a request without sending it.
    pub(super) async fn explain(
        &mut self,
        model: &'static ModelMeta,
        request: Request,
    ) -> Result<()> {
        if let Some(plans) = self.plans {
            let session = self.session.as_deref_mut();
            plans.add(Explain::of(self.store, request, session, model).await?);
        }
        Ok(())
    }

    /// Sends a request that returns a cursor.
    pub(super) async fn open(
        &mut self,
        model: &'static ModelMeta,
        request: Request,
    ) -> Result<RawCursor<'_>> {
        if self.plans.is_some() {
            self.explain(model, request.clone()).await?;
        }
        open(self.store, request, self.session.as_deref_mut(), model).await
    }

    /// Runs an operation that returns a cursor, and calls `visit` with each document.
    pub(super) async fn read(
        &mut self,
        model: &'static ModelMeta,
        operation: Operation,
        options: Chosen,
        mut visit: impl FnMut(&RawDocument) -> Result<()> + Send,
    ) -> Result<()> {
        let visit = |raw: &RawDocument| visit(raw).map(|()| true);
        self.read_while(model, operation, options, visit).await
    }

    /// Runs an operation that returns a cursor, and calls `visit` with each document until it returns `false`.
    pub(super) async fn read_while(
        &mut self,
        model: &'static ModelMeta,
        operation: Operation,
        options: Chosen,
        mut visit: impl FnMut(&RawDocument) -> Result<bool> + Send,
    ) -> Result<()> {
        let mut request = Request::new(self.collection(model), operation);
        request.options = options;
        let mut cursor = self.open(model, request).await?;
        while let Some(raw) = cursor.next().await {
            if !visit(raw.map_err(|error| error.with_model(model.name))?)? {
                break;
            }
        }
        Ok(())
    }
}

impl Source<'_> {
    /// Counts the documents of a find, or of the pipeline that it became.
    pub(super) async fn count(
        &mut self,
        model: &'static ModelMeta,
        mut request: Request,
    ) -> Result<u64> {
        match &mut request.operation {
            Operation::Aggregate { pipeline } => pipeline.push(doc! {"$count": "n"}),
            Operation::Find { filter, .. } => {
                let filter = filter.clone();
                request.operation = Operation::Count { filter };
                let session = self.session.as_deref_mut();
                let response = self.store.clone().exec(request, session).await;
                return response
                    .and_then(Response::count)
                    .map_err(|error| error.with_model(model.name));
            }
            _ => {}
        }
        let mut count = 0;
        let (operation, options) = (request.operation, request.options);
        let visit = |raw: &RawDocument| {
            count = counted(raw);
            Ok(())
        };
        self.read(model, operation, options, visit).await?;
        Ok(count)
    }
}

/// The field `n` of a document that a pipeline has counted.
pub(super) fn counted(document: &RawDocument) -> u64 {
    match document.get("n") {
        Ok(Some(RawBsonRef::Int32(n))) => u64::try_from(n).unwrap_or_default(),
        Ok(Some(RawBsonRef::Int64(n))) => u64::try_from(n).unwrap_or_default(),
        _ => 0,
    }
}

/// Sends a request that returns a cursor.
pub(super) async fn open<'s>(
    store: &Store,
    request: Request,
    session: Option<&'s mut Session>,
    model: &'static ModelMeta,
) -> Result<RawCursor<'s>> {
    let response = store.clone().exec(request, session).await;
    response
        .and_then(Response::cursor)
        .map_err(|error| error.with_model(model.name))
}
