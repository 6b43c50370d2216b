//! `update_one`, `update_many` and `update_all`.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use bson::Document as BsonDocument;

use super::call::{Call, Defaults, Reach, operands};
use super::guarded::Guards;
use super::options::{action, options};
use super::stale::Stale;
use super::{ActionFuture, Collection, UpdateResult, guarded};
use crate::error::{Error, Result};
use crate::exec::Channel;
use crate::model::Document;
use crate::query::{Filter, FilterFn, fields};
use crate::store::options::{Chosen, Options};
use crate::store::{CollectionName, Operation, Session, Store};
use crate::update::{Update as Change, UpdateFn};

/// Updates documents: [`Collection::update_one`], [`Collection::update_many`],
/// [`Collection::update_all`].
#[must_use = "nothing is changed until it is awaited"]
pub struct UpdateDocuments<'s, M: Document> {
    call: Call<'s>,
    of: PhantomData<fn() -> M>,
}

/// An update as part of several writes, which may run more than once.
pub(crate) struct Repeated<M> {
    store: Store,
    defaults: Option<Arc<Defaults>>,
    collection: CollectionName,
    operation: Operation,
    options: Chosen,
    guards: Option<Box<Guards>>,
    /// The copies that the update would leave stale.
    pub(crate) stale: Stale,
    of: PhantomData<fn() -> M>,
}

impl<M: Document> Repeated<M> {
    /// A channel whose writes have the same write concern.
    pub(crate) fn channel(&self) -> Channel<'static> {
        let defaults = self.defaults.as_deref();
        let concern = defaults.and_then(|defaults| defaults.write_concern.clone());
        Channel::new(self.store.clone(), None).with_write_concern(concern)
    }

    /// Whether every document that matches is updated.
    pub(crate) fn is_multi(&self) -> bool {
        matches!(&self.operation, Operation::Update(update) if update.multi)
    }

    /// The read of what the update matches, with this projection.
    pub(crate) fn find(&self, projection: BsonDocument) -> (Operation, Options) {
        let filter = match &self.operation {
            Operation::Update(update) => update.filter.clone(),
            _ => BsonDocument::new().into(),
        };
        let find = Operation::Find {
            filter,
            one: !self.is_multi(),
        };
        let options = Options {
            hint: self.options.hint.clone(),
            collation: self.options.collation.clone(),
            let_vars: self.options.let_vars.clone(),
            comment: self.options.comment.clone(),
            projection: Some(projection),
            ..Options::default()
        };
        (find, options)
    }

    /// The update, of documents that meet the condition as well.
    pub(crate) fn update<'s>(
        &self,
        session: Option<&'s mut Session>,
        condition: Option<BsonDocument>,
    ) -> UpdateDocuments<'s, M> {
        let mut operation = self.operation.clone();
        if let (Operation::Update(update), Some(condition)) = (&mut operation, condition) {
            update.filter.join(condition);
        }
        let (defaults, collection) = (self.defaults.as_ref(), self.collection.clone());
        let mut call = Call::new(&self.store, defaults, M::model(), collection, Ok(operation));
        call.request.options = self.options.clone();
        call.guards.clone_from(&self.guards);
        call.session = session;
        call.leaves_stale = true;
        UpdateDocuments {
            call,
            of: PhantomData,
        }
    }
}

impl<M: Document> Collection<M> {
    /// Updates the first document that matches.
    ///
    /// Additions to lists with a declared maximum carry a condition ([`push`](crate::query::Field::push)): a document
    /// whose list has no room does not match. If nothing matched, one more command for each such list finds out whether
    /// that is why ([`UpdateResult::withheld`]).
    ///
    /// As an upsert, such an update must name its document, by equality on `_id` or on the field of a declared unique
    /// index; otherwise it could insert a second document beside the full one, and is refused. The index must exist: sync
    /// creates it.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// let result = books.update_one(|b| b.title.eq("Emma"), |b| b.year.set(1816) & b.tags.push("novel")).await?;
    /// assert_eq!((result.matched, result.modified), (1, 1));
    /// assert_eq!(books.get(&1).await?.ok_or("no book")?.tags, ["novel"]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn update_one<'s>(
        &self,
        condition: impl FilterFn<M>,
        change: impl UpdateFn<M>,
    ) -> UpdateDocuments<'s, M> {
        let condition = condition(fields::<M>());
        self.update(condition, change(fields::<M>()), Reach::One)
    }

    /// Updates every document that matches. A filter that matches everything is an error: use
    /// [`update_all`](Self::update_all).
    ///
    /// If the update adds to lists with a declared maximum, a count of the documents that have no room goes before it
    /// ([`UpdateResult::withheld`]); the count is exact in a transaction.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// let result = books.update_many(|b| b.year.lt(1900), |b| b.tags.add_to_set("classic")).await?;
    /// assert_eq!(result.modified, 2);
    /// # Ok(())
    /// # }
    /// ```
    pub fn update_many<'s>(
        &self,
        condition: impl FilterFn<M>,
        change: impl UpdateFn<M>,
    ) -> UpdateDocuments<'s, M> {
        let condition = condition(fields::<M>());
        self.update(condition, change(fields::<M>()), Reach::Many)
    }

    /// Updates every document of the collection.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// let result = books.update_all(|b| b.year.inc(1)).await?;
    /// assert_eq!(result.modified, 3);
    /// # Ok(())
    /// # }
    /// ```
    pub fn update_all<'s>(&self, change: impl UpdateFn<M>) -> UpdateDocuments<'s, M> {
        self.update(Filter::all(), change(fields::<M>()), Reach::All)
    }

    fn update<'s>(
        &self,
        condition: Filter<M>,
        change: Change<M>,
        reach: Reach,
    ) -> UpdateDocuments<'s, M> {
        let ready = operands(
            condition.into_node(),
            change.into_changes(),
            M::model(),
            reach,
        );
        UpdateDocuments {
            call: self.update_call(ready, Operation::Update),
            of: PhantomData,
        }
    }
}

impl<'s, M: Document> UpdateDocuments<'s, M> {
    options!(
        session command explain upsert hint comment collation let_vars bypass_document_validation
        write_concern leave_stale
    );

    /// The update, to be made as part of several writes, and the session.
    pub(crate) fn repeated(self) -> Result<(Repeated<M>, Option<&'s mut Session>)> {
        let mut call = self.call;
        let options = &call.request.options;
        if options.write_concern.is_some() {
            return Err(Error::usage(
                "`propagate` runs in a transaction, which has the write concern of the client: set it there",
            ));
        }
        if options.upsert == Some(true) {
            return Err(Error::usage(
                "an upsert does not propagate: it may insert a document, whose copies `insert_one(…).propagate()` fills",
            ));
        }
        call.leaves_stale = true;
        let (defaults, options) = (call.defaults.clone(), call.request.options.clone());
        let guards = call.guards.clone();
        let stale = match &call.error {
            None => Stale::of(M::model(), &call.request.operation)?,
            Some(_) => Stale::default(),
        };
        let operation = call.request.operation.clone();
        let (store, request, session) = call.prepare()?;
        let repeated = Repeated {
            store,
            defaults,
            collection: request.collection,
            operation,
            options,
            guards,
            stale,
            of: PhantomData,
        };
        Ok((repeated, session))
    }

    fn run(self) -> ActionFuture<'s, UpdateResult<M::Id>> {
        if self.call.guards.is_some() {
            return ActionFuture::several(Box::pin(guarded::update::<M>(self.call)));
        }
        self.call
            .future(|response, ()| UpdateResult::new::<M>(response.written()?))
    }
}

action!(UpdateDocuments => ActionFuture<UpdateResult<M::Id>>);

impl<M: Document> fmt::Debug for UpdateDocuments<'_, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.call, f)
    }
}
