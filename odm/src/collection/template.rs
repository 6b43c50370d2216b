//! What calls have in common that are sent as part of several writes, and may be sent more than once.

use std::sync::Arc;

use super::call::{Call, Defaults};
use crate::error::{Error, Result};
use crate::exec::Channel;
use crate::model::ModelMeta;
use crate::store::options::Chosen;
use crate::store::{CollectionName, Operation, Session, Store};

/// The store, the collection and the options of a call, from which equal calls are made.
#[derive(Clone)]
pub(crate) struct Template {
    store: Store,
    defaults: Option<Arc<Defaults>>,
    pub(super) collection: CollectionName,
    pub(super) options: Chosen,
}

impl Template {
    /// The template of a call that has set no write concern: the transaction has one.
    pub(super) fn of(call: &Call<'_>) -> Result<Self> {
        if call.request.options.write_concern.is_some() {
            return Err(Error::usage(
                "this write runs in a transaction, which has the write concern of the client: set it there",
            ));
        }
        Ok(Self {
            store: call.store.clone(),
            defaults: call.defaults.clone(),
            collection: call.request.collection.clone(),
            options: call.request.options.clone(),
        })
    }

    /// A channel whose writes have the same write concern.
    pub(super) fn channel(&self) -> Channel<'static> {
        let defaults = self.defaults.as_deref();
        let concern = defaults.and_then(|defaults| defaults.write_concern.clone());
        Channel::new(self.store.clone(), None).with_write_concern(concern)
    }

    /// A call of this operation, whose caller has decided what becomes of derived data.
    pub(super) fn call<'s>(
        &self,
        model: &'static ModelMeta,
        operation: Operation,
        session: Option<&'s mut Session>,
    ) -> Call<'s> {
        let (defaults, collection) = (self.defaults.as_ref(), self.collection.clone());
        let mut call = Call::new(&self.store, defaults, model, collection, Ok(operation));
        call.request.options = self.options.clone();
        call.session = session;
        call.leaves_stale = true;
        call
    }
}
