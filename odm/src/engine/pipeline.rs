//! Aggregation stages.
//!
//! [`Pipeline::parse`] checks every stage; [`Pipeline::run`] streams documents through them. Each stage is a file
//! under `stages/` and a row of its table.
//!
//! What this module is not: it plans nothing and opens no collection. Other collections are reached through
//! [`Source`], which a higher floor implements.

use bson::raw::{RawArray, RawDocument, RawDocumentBuf};

use crate::engine::expression::Globals;
use crate::error::{Code, ServerError};

/// A stream of documents, as it flows between stages.
pub(crate) type Documents<'a> = Box<dyn Iterator<Item = Result<RawDocumentBuf, ServerError>> + 'a>;

/// What stages need beyond their input.
pub(crate) trait Source {
    /// The documents of another collection (of the same database unless one is named) that match a filter, by
    /// whatever plan is best. A collection that does not exist is empty. `globals` carries the collation and the
    /// variables of a `$expr`.
    fn find(
        &self,
        database: Option<&str>,
        collection: &str,
        filter: &RawDocument,
        globals: &Globals,
    ) -> Result<Vec<RawDocumentBuf>, ServerError>;

    /// Random bits, for `$sample` and `$rand`.
    fn random(&self) -> u64;

    /// Replaces a collection's documents (`$out`).
    fn replace_all(
        &self,
        database: Option<&str>,
        collection: &str,
        documents: Vec<RawDocumentBuf>,
    ) -> Result<(), ServerError>;

    /// Writes one document by its `on` fields (`$merge`): `(filter, update, upsert)` as an `update` statement.
    /// The answer is how many documents were matched.
    fn update_one(
        &self,
        database: Option<&str>,
        collection: &str,
        statement: &RawDocument,
    ) -> Result<u64, ServerError>;
}

/// The leading stages that a plan may answer: `[$match] [$sort] [$limit]`.
#[derive(Debug, Default)]
pub(crate) struct Leading {
    pub(crate) filter: Option<RawDocumentBuf>,
    pub(crate) sort: Option<RawDocumentBuf>,
    pub(crate) limit: Option<u64>,
    /// How many stages these are, for [`Pipeline::run`]'s `skip`.
    pub(crate) stages: usize,
}

/// A parsed pipeline.
#[derive(Debug)]
pub(crate) struct Pipeline {}

impl Pipeline {
    pub(crate) fn parse(stages: &RawArray, globals: &Globals) -> Result<Self, ServerError> {
        let _ = (stages, globals);
        Err(ServerError::new(
            Code::COMMAND_NOT_SUPPORTED,
            "pipelines are not supported yet",
        ))
    }

    /// What the planner may take over; pass `stages` of the part that it took to `run`.
    pub(crate) fn leading(&self) -> Leading {
        Leading::default()
    }

    /// Whether it ends in `$out` or `$merge`.
    pub(crate) fn writes(&self) -> bool {
        false
    }

    /// The other collections that it reads or writes: `(database, collection)`.
    pub(crate) fn collections(&self) -> Vec<(Option<String>, String)> {
        Vec::new()
    }

    /// Streams `input` through the stages from number `skip` on.
    pub(crate) fn run<'a>(
        &'a self,
        skip: usize,
        input: Documents<'a>,
        source: &'a dyn Source,
        globals: &'a Globals,
    ) -> Result<Documents<'a>, ServerError> {
        let _ = (skip, source, globals);
        Ok(input)
    }
}
