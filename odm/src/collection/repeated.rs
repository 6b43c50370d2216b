//! Updates, replacements and find-and-modify as part of several writes.

use std::marker::PhantomData;

use bson::{Bson, Document as BsonDocument, RawDocumentBuf, doc};
use serde::de::DeserializeOwned;

use super::UpdateDocuments;
use super::call::Call;
use super::find_one_and::{found, found_raw};
use super::guarded::Guards;
use super::stale::Stale;
use super::template::Template;
use crate::error::Result;
use crate::exec::Channel;
use crate::model::Document;
use crate::query::operators::{any_of, stands_for_itself};
use crate::store::options::{Options, ReturnDocument};
use crate::store::{Condition, Operation, Session};

/// A change of stored documents as part of several writes, which may run more than once.
pub(crate) struct Repeated<M> {
    template: Template,
    operation: Operation,
    guards: Option<Box<Guards>>,
    /// The derived data that the change would leave stale.
    pub(crate) stale: Stale,
    /// Whether the caller said `leave_stale()`.
    pub(crate) leaves_stale: bool,
    of: PhantomData<fn() -> M>,
}

impl<M: Document> Repeated<M> {
    /// The change that a call makes, and its session.
    pub(super) fn of(mut call: Call<'_>) -> Result<(Self, Option<&mut Session>)> {
        let template = Template::of(&call)?;
        let leaves_stale = std::mem::replace(&mut call.leaves_stale, true);
        let guards = call.guards.clone();
        let stale = match &call.error {
            None => Stale::of(M::model(), &call.request.operation)?,
            Some(_) => Stale::default(),
        };
        let operation = call.request.operation.clone();
        let (_, _, session) = call.prepare()?;
        let repeated = Self {
            template,
            operation,
            guards,
            stale,
            leaves_stale,
            of: PhantomData,
        };
        Ok((repeated, session))
    }

    /// A channel whose writes have the same write concern.
    pub(crate) fn channel(&self) -> Channel<'static> {
        self.template.channel()
    }

    /// Whether every document that matches is changed.
    pub(crate) fn is_multi(&self) -> bool {
        matches!(&self.operation, Operation::Update(update) if update.multi)
    }

    /// Whether a document is inserted where none matches.
    pub(crate) fn is_upsert(&self) -> bool {
        self.template.options.upsert == Some(true)
    }

    /// Whether find-and-modify returns the document as it is after the change.
    pub(crate) fn returns_after(&self) -> bool {
        self.template.options.return_document == Some(ReturnDocument::After)
    }

    /// The read of what the change matches, with this projection.
    pub(crate) fn find(&self, projection: BsonDocument) -> (Operation, Options) {
        let filter = self.operation.filter().cloned();
        let find = Operation::Find {
            filter: filter.unwrap_or_else(|| BsonDocument::new().into()),
            one: !self.is_multi(),
        };
        let options = &self.template.options;
        let options = Options {
            hint: options.hint.clone(),
            sort: options.sort.clone(),
            collation: options.collation.clone(),
            let_vars: options.let_vars.clone(),
            comment: options.comment.clone(),
            projection: Some(projection),
            ..Options::default()
        };
        (find, options)
    }

    /// The projection of the document that find-and-modify returns.
    pub(crate) fn projection(&self) -> Option<BsonDocument> {
        self.template.options.projection.clone()
    }

    /// The change, of no other documents than these if they are given: it inserts none then.
    fn call<'s>(&self, session: Option<&'s mut Session>, ids: Option<Vec<Bson>>) -> Call<'s> {
        let mut operation = self.operation.clone();
        let is_upsert = self.is_upsert() && ids.is_none();
        if let (Some(filter), Some(ids)) = (operation.filter_mut(), ids)
            && !self.is_of(filter, &ids)
        {
            filter.join(any_of("_id", ids));
        }
        let mut call = self.template.call(M::model(), operation, session);
        if !is_upsert {
            call.options().upsert = None;
        }
        call.guards.clone_from(&self.guards);
        call
    }

    /// Whether the filter is the `_id` of the only one of these documents.
    fn is_of(&self, filter: &Condition, ids: &[Bson]) -> bool {
        let is_exact = self.template.options.collation.is_none() && M::model().collation.is_none();
        match (filter, ids) {
            (Condition::One(path, value), [id]) => {
                path == "_id" && value == id && is_exact && stands_for_itself(value)
            }
            _ => false,
        }
    }

    /// An update or a replacement, of no other documents than these if they are given.
    pub(crate) fn update<'s>(
        &self,
        session: Option<&'s mut Session>,
        ids: Option<Vec<Bson>>,
    ) -> UpdateDocuments<'s, M> {
        UpdateDocuments::of(self.call(session, ids))
    }

    /// The command of the change.
    pub(crate) fn command(&self) -> Result<BsonDocument> {
        self.call(None, None).command()
    }

    /// The operators of the change; `None` for a pipeline or a replacement.
    pub(crate) fn operators(&self) -> Result<Option<BsonDocument>> {
        let mut command = self.command()?;
        let change = match command.remove("update") {
            // `findAndModify` has the change here, `update` the name of the collection.
            Some(Bson::Document(change)) => Some(change),
            _ => match command.get_array_mut("updates").map(Vec::pop) {
                Ok(Some(Bson::Document(mut statement))) => match statement.remove("u") {
                    Some(Bson::Document(change)) => Some(change),
                    _ => None,
                },
                _ => None,
            },
        };
        Ok(change.filter(|change| change.keys().any(|key| key.starts_with('$'))))
    }

    /// Changes one of these documents, and returns it.
    pub(crate) async fn find_and_modify<T: DeserializeOwned>(
        &self,
        session: Option<&mut Session>,
        ids: Vec<Bson>,
    ) -> Result<Option<T>> {
        found(self.call(session, Some(ids))).await
    }

    /// Inserts a document as find-and-modify does where none matches, and returns its `_id`.
    pub(crate) async fn find_and_insert(
        &self,
        session: Option<&mut Session>,
    ) -> Result<Option<RawDocumentBuf>> {
        let mut call = self.call(session, None);
        call.options().return_document = Some(ReturnDocument::After);
        call.options().projection = Some(doc! {"_id": 1});
        found_raw(call).await
    }
}
