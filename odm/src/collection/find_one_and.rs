//! `find_one_and_update`, `find_one_and_replace` and `find_one_and_delete`.

use std::borrow::Borrow;
use std::fmt;
use std::marker::PhantomData;

use super::Collection;
use super::call::{Call, encode, filter, modification};
use super::decode::decode;
use super::options::{action, options};
use crate::error::Result;
use crate::model::{Document, Embedded};
use crate::query::Filter;
use crate::store::Operation;
use crate::update::Update as Change;

/// Changes one document and returns it: [`Collection::find_one_and_update`].
#[must_use = "nothing is changed until it is awaited"]
pub struct FindOneAndUpdate<'s, M: Document> {
    call: Call<'s>,
    of: PhantomData<fn() -> M>,
}

/// Replaces one document and returns it: [`Collection::find_one_and_replace`].
#[must_use = "nothing is replaced until it is awaited"]
pub struct FindOneAndReplace<'s, M: Document> {
    call: Call<'s>,
    of: PhantomData<fn() -> M>,
}

/// Removes one document and returns it: [`Collection::find_one_and_delete`].
#[must_use = "nothing is removed until it is awaited"]
pub struct FindOneAndDelete<'s, M: Document> {
    call: Call<'s>,
    of: PhantomData<fn() -> M>,
}

impl<M: Document> Collection<M> {
    /// Changes the first document that matches and returns it, in one step.
    pub fn find_one_and_update<'s>(
        &self,
        condition: impl FnOnce(<M as Embedded>::Fields<M>) -> Filter<M>,
        change: impl FnOnce(<M as Embedded>::Fields<M>) -> Change<M>,
    ) -> FindOneAndUpdate<'s, M> {
        let mut call = self.call(Operation::EstimatedCount);
        let filter = call.keep(filter::<M>(condition));
        let (update, array_filters) = call.keep(modification::<M>(change));
        call.request.operation = Operation::FindAndUpdate { filter, update };
        if array_filters.is_some() {
            call.options().array_filters = array_filters;
        }
        FindOneAndUpdate {
            call,
            of: PhantomData,
        }
    }

    /// Replaces the first document that matches and returns it, in one step.
    pub fn find_one_and_replace<'s>(
        &self,
        condition: impl FnOnce(<M as Embedded>::Fields<M>) -> Filter<M>,
        replacement: impl Borrow<M>,
    ) -> FindOneAndReplace<'s, M> {
        let mut call = self.call(Operation::EstimatedCount);
        let filter = call.keep(filter::<M>(condition));
        let replacement = call.keep(encode(replacement.borrow()));
        call.request.operation = Operation::FindAndReplace {
            filter,
            replacement,
        };
        FindOneAndReplace {
            call,
            of: PhantomData,
        }
    }

    /// Removes the first document that matches and returns it, in one step.
    pub fn find_one_and_delete<'s>(
        &self,
        condition: impl FnOnce(<M as Embedded>::Fields<M>) -> Filter<M>,
    ) -> FindOneAndDelete<'s, M> {
        let mut call = self.call(Operation::EstimatedCount);
        let filter = call.keep(filter::<M>(condition));
        call.request.operation = Operation::FindAndDelete { filter };
        FindOneAndDelete {
            call,
            of: PhantomData,
        }
    }
}

impl<'s, M: Document> FindOneAndUpdate<'s, M> {
    options!(
        session command sort upsert return_document hint comment collation let_vars max_time
        bypass_document_validation write_concern
    );

    async fn run(self) -> Result<Option<M>> {
        found(self.call).await
    }
}

impl<'s, M: Document> FindOneAndReplace<'s, M> {
    options!(
        session command sort upsert return_document hint comment collation let_vars max_time
        bypass_document_validation write_concern
    );

    async fn run(self) -> Result<Option<M>> {
        found(self.call).await
    }
}

impl<'s, M: Document> FindOneAndDelete<'s, M> {
    options!(session command sort hint comment collation let_vars max_time write_concern);

    async fn run(self) -> Result<Option<M>> {
        found(self.call).await
    }
}

async fn found<M: Document>(call: Call<'_>) -> Result<Option<M>> {
    match call.send().await?.document()? {
        Some(raw) => decode(&raw, M::model().name).map(Some),
        None => Ok(None),
    }
}

action!(FindOneAndUpdate => Option<M>);
action!(FindOneAndReplace => Option<M>);
action!(FindOneAndDelete => Option<M>);

impl<M: Document> fmt::Debug for FindOneAndUpdate<'_, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.call, f)
    }
}

impl<M: Document> fmt::Debug for FindOneAndReplace<'_, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.call, f)
    }
}

impl<M: Document> fmt::Debug for FindOneAndDelete<'_, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.call, f)
    }
}
