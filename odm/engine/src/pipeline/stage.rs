//! The interface of all stages.

use std::fmt;

use bson::Document;
use bson::raw::{RawDocument, RawDocumentBuf};
use odm_language::error::{Code, ServerError};
use odm_language::expression::Globals;

use crate::pipeline::counts::Counts;
use crate::pipeline::shown::{Dependencies, Printer};
use crate::pipeline::sink::{Sink, WriteTarget};
use crate::pipeline::source::{Documents, Source};

/// One parsed stage.
pub(crate) trait Stage: fmt::Debug + Send + Sync {
    /// Streams documents through the stage.
    fn run<'a>(&'a self, input: Documents<'a>, cx: Cx<'a>) -> Result<Documents<'a>, ServerError>;

    /// The stages that mongod's `explain` shows for it.
    fn shown(&self, printer: &dyn Printer) -> Result<Vec<Document>, ServerError>;

    /// The paths that the stage reads; `None` if it reads whole documents.
    fn dependencies(&self) -> Option<Dependencies> {
        self.needs().map(Dependencies::all)
    }

    /// The projection that a query can make in its place. `is_whole` if the query leaves out and sorts nothing.
    fn inclusion(&self, _globals: &Globals, _is_whole: bool) -> Option<Document> {
        None
    }

    /// Whether its documents are made of several, and have no metadata.
    fn forgets_metadata(&self) -> bool {
        false
    }

    /// The path of the array of joined documents that it adds.
    fn joins_as(&self) -> Option<String> {
        None
    }

    /// The path of the array that it unwinds.
    fn unwinds(&self) -> Option<String> {
        None
    }

    /// Fails if a constant part of its expressions fails.
    fn check_constants(&self, _globals: &Globals) -> Result<(), ServerError> {
        Ok(())
    }

    /// What the stage does to the paths of its documents, for filters, sorts and limits behind it; `None` lets none of
    /// them pass.
    fn effect(&self) -> Option<PathEffect> {
        None
    }

    /// Adds a filter of the documents that the stage reads from another collection, if that finds what a filter behind the stage
    /// finds among them. Returns whether it did.
    fn add_filter(
        &mut self,
        _filter: &RawDocument,
        _globals: &Globals,
    ) -> Result<bool, ServerError> {
        Ok(false)
    }

    /// Keeps only the first documents of a sort, because a limit follows it.
    fn bound(&mut self, _limit: u64) {}

    /// Takes the stages out of a stage that stands for several; empty for any other.
    fn parts(&mut self) -> Vec<Box<dyn Stage>> {
        Vec::new()
    }

    /// The other collections that the stage reads or writes.
    fn collections(&self) -> Vec<Other> {
        Vec::new()
    }

    /// The part of the stage that the planner may take over.
    fn planned(&self) -> Planned<'_> {
        Planned::No
    }

    /// The paths that the stage reads, if nothing else of its documents reaches the stages behind it.
    fn needs(&self) -> Option<Vec<String>> {
        None
    }

    /// The paths that the stage reads, if no other fields reach the stages behind it. Unlike [`needs`](Self::needs), they
    /// must not come from an index, which has null for a missing field.
    fn reads(&self) -> Option<Vec<String>> {
        self.needs()
    }

    /// Whether the stage holds its input documents in memory, whose size then counts.
    fn holds_documents(&self) -> bool {
        false
    }

    /// The path whose values decide which documents the stage reads: of several documents with one value, only the first.
    fn reads_first_by(&self) -> Option<String> {
        None
    }

    /// The stage's name, if it produces its own documents instead of reading the collection; it must then be first.
    fn begins(&self) -> Option<&'static str> {
        None
    }

    /// The filter of the query that finds its documents, for `$geoNear`.
    fn near(
        &self,
        _only_field: &dyn Fn() -> Result<String, ServerError>,
        _globals: &Globals,
    ) -> Option<Result<RawDocumentBuf, ServerError>> {
        None
    }

    /// The collection of a nested pipeline that begins with such a stage, and the name of that stage.
    fn statistics_stages(&self) -> Option<(&str, &'static str)> {
        None
    }

    /// The part of the stage that writes its documents, if it does; it must then be the last.
    fn writing(&self) -> Option<&dyn WritingStage> {
        None
    }
}

/// A stage that writes its documents.
pub(crate) trait WritingStage {
    /// The collection that it writes to.
    fn target(&self) -> WriteTarget<'_>;

    /// Writes the documents.
    fn write(
        &self,
        input: Documents<'_>,
        cx: Cx<'_>,
        sink: &mut dyn Sink,
    ) -> Result<(), ServerError>;
}

/// Another collection that a stage reads or writes.
#[derive(Debug, Clone)]
pub(crate) struct Other {
    /// `None` for the database that the command runs on.
    pub(crate) database: Option<String>,
    pub(crate) collection: String,
    /// The depth of the sub-pipeline that reads it, if the command checks that before it runs.
    pub(crate) depth: Option<usize>,
}

/// The planner's view of a stage.
#[derive(Debug)]
pub(crate) enum Planned<'s> {
    Filter(&'s RawDocument),
    Sort(&'s RawDocument),
    Limit(u64),
    Skip(u64),
    No,
}

/// What a stage does to the paths of documents.
#[derive(Debug)]
pub(crate) struct PathEffect {
    pub(crate) fields: Touched,
    /// Paths of the output that are top-level fields of the input, with the names of those.
    pub(crate) copies: Vec<(String, String)>,
    /// The copy that is null where the field is missing.
    pub(crate) never_missing: Option<&'static str>,
    /// Whether each document becomes one document, in the same order.
    pub(crate) is_one_to_one: bool,
    /// Whether documents that are sorted before the stage are sorted behind it.
    pub(crate) keeps_order: bool,
}

/// The paths of which documents before a stage have other values than behind it.
#[derive(Debug)]
pub(crate) enum Touched {
    Only(Vec<String>),
    /// All but these and what is below them.
    AllBut(Vec<String>),
}

impl PathEffect {
    /// That of a stage that makes several documents of one, or one of several.
    pub(crate) fn new(fields: Touched) -> Self {
        Self {
            fields,
            copies: Vec::new(),
            never_missing: None,
            is_one_to_one: false,
            keeps_order: false,
        }
    }
}

/// The context of a running stage.
#[derive(Clone, Copy)]
pub(crate) struct Cx<'a> {
    pub(crate) source: &'a dyn Source,
    /// The collection that the input documents come from.
    pub(crate) collection: &'a str,
    pub(crate) globals: &'a Globals,
    /// The counters of the stages, if the pipeline is explained.
    pub(crate) counts: Option<&'a Counts>,
}

/// mongod's name for the first of the internal stages that `$changeStream` expands to.
pub(crate) const CHANGE_STREAM: &str = "$_internalChangeStreamOplogMatch";

/// The stage that reads its collection by a geospatial index.
pub(crate) const GEO_NEAR: &str = "$geoNear";

/// The stage that computes its documents.
pub(crate) const DOCUMENTS: &str = "$documents";

/// The error for a stage that must come first but does not.
pub(crate) fn not_first(name: &str) -> ServerError {
    if name == GEO_NEAR {
        return ServerError::new(
            Code::location(40603),
            format!("{name} is only valid as the first stage in an optimized pipeline"),
        );
    }
    ServerError::new(
        Code::location(40602),
        format!("{name} is only valid as the first stage in a pipeline"),
    )
}
