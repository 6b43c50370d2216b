//! Many commands whose effects become visible together or not at all, such as those that load a folder of files.
//!
//! A fork is not a transaction: it may create collections, views and indexes of any size.

use std::sync::atomic::Ordering;

use bson::raw::{RawDocument, RawDocumentBuf};
use odm_language::error::ServerError;

use crate::catalog::namespace::Namespace;
use crate::catalog::{Catalog, Root};
use crate::command::direct::{Answer, Request};
use crate::command::state::Engine;
use crate::context::Context;

/// A copy of an engine's state, which changes apart from it until it is [merged](Self::merge) back.
#[derive(Debug)]
pub struct Fork<'e> {
    origin: &'e Engine,
    base: Root,
    copy: Engine,
}

impl Engine {
    pub(crate) fn fork(&self) -> Fork<'_> {
        let base = self.catalog.root();
        Fork {
            origin: self,
            copy: Engine {
                catalog: Catalog::fork(base.clone()),
                ..Self::default()
            },
            base,
        }
    }
}

impl Fork<'_> {
    /// The catalog with all changes of the fork.
    pub fn root(&self) -> Root {
        self.copy.catalog.root()
    }

    /// Runs a command, which names its database in `$db`.
    pub fn run(&self, context: &Context, command: &RawDocument) -> RawDocumentBuf {
        self.rest();
        self.copy.run(context, command)
    }

    pub fn answer(
        &self,
        context: &Context,
        namespace: &Namespace,
        request: Request<'_>,
    ) -> Result<Answer, ServerError> {
        self.rest();
        self.copy.answer(context, namespace, request)
    }

    /// Prevents expiry in the fork: only the origin expires documents.
    fn rest(&self) {
        self.copy.ticked.store(0, Ordering::Relaxed);
    }

    /// Publishes all changes of the fork, or none if another writer has changed the same collections.
    pub fn merge(self, context: &Context) -> Result<(), ServerError> {
        let now = context.now();
        if self.origin.catalog.changes.is_on() {
            self.origin.catalog.changes.set_now(now);
        }
        let catalog = &self.origin.catalog;
        catalog.merge(&self.base, &self.root())?;
        catalog.clock.tick(now);
        // No lock is held here. The merge wakes the waiting change streams itself, since no write does.
        catalog.changes.signal.wake();
        Ok(())
    }
}
