//! The in-memory engine's door for this repository's own tools, which send it what no driver would.

use bson::RawDocumentBuf;
use bson::raw::RawDocument;

use crate::Context;
use crate::engine;

/// An engine that answers bytes.
#[derive(Debug)]
pub struct Engine {
    engine: engine::Engine,
    context: Context,
}

impl Engine {
    /// An engine without a collection.
    pub fn new(context: Context) -> Self {
        Self {
            engine: engine::Engine::new(),
            context,
        }
    }

    /// Answers a command, well-formed or not.
    pub fn run(&self, command: &RawDocument) -> RawDocumentBuf {
        self.engine.run(&self.context, command)
    }
}
