//! Many commands that become visible at once, or not at all: those that load a folder of files.
//!
//! It is no transaction: collections and views are made, and indexes built, of any size.

use std::sync::atomic::Ordering;

use bson::raw::{RawDocument, RawDocumentBuf};
use odm_language::error::ServerError;

use crate::catalog::namespace::Namespace;
use crate::catalog::{Catalog, Root};
use crate::command::request::{Answer, Request};
use crate::command::state::Engine;
use crate::context::Context;

/// An engine that begins with the state of another, until it is [merged](Self::merge) into it.
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
    /// The state with all that was done here.
    pub fn root(&self) -> Root {
        self.copy.catalog.root()
    }

    /// Answers a command that names its database.
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

    /// What expires is the origin's business.
    fn rest(&self) {
        self.copy.ticked.store(0, Ordering::Relaxed);
    }

    /// Makes visible what was done here: all of it, or nothing where somebody else has written to the same collections.
    pub fn merge(self, context: &Context) -> Result<(), ServerError> {
        let now = context.now();
        if self.origin.catalog.changes.is_on() {
            self.origin.catalog.changes.set_now(now);
        }
        let catalog = &self.origin.catalog;
        catalog.merge(&self.base, &self.root())?;
        catalog.clock.tick(now);
        // No lock is held here, and nobody else knows that something was written.
        catalog.changes.signal.wake();
        Ok(())
    }
}
