//! What stages read besides their input: other collections, and the services of the command.

use bson::oid::ObjectId;
use bson::raw::{RawDocument, RawDocumentBuf};
use odm_language::error::ServerError;
use odm_language::expression::Globals;
use odm_language::expression::meta::Known;

use crate::pipeline::counts::Reads;
use crate::pipeline::document::PipelineDocument;

/// A stream of documents, as it flows between stages.
pub(crate) type Documents<'a> =
    Box<dyn Iterator<Item = Result<PipelineDocument, ServerError>> + Send + 'a>;

/// A stream of documents that a stage has made.
pub(crate) fn made<'a>(
    documents: impl Iterator<Item = Result<RawDocumentBuf, ServerError>> + Send + 'a,
) -> Documents<'a> {
    Box::new(documents.map(|document| document.map(PipelineDocument::from)))
}

/// Nothing but the errors of the documents.
pub(crate) fn drained(documents: Documents<'_>) -> Documents<'_> {
    Box::new(documents.filter(Result::is_err))
}

/// A stream that starts when its first document is requested.
pub(crate) fn deferred<'a>(
    start: impl FnOnce() -> Result<Documents<'a>, ServerError> + Send + 'a,
) -> Documents<'a> {
    let mut start = Some(start);
    let mut documents: Documents<'a> = Box::new(std::iter::empty());
    Box::new(std::iter::from_fn(move || {
        if let Some(start) = start.take() {
            match start() {
                Ok(started) => documents = started,
                Err(error) => return Some(Err(error)),
            }
        }
        documents.next()
    }))
}

/// A stream of documents with their distances.
pub(crate) type Located =
    Box<dyn Iterator<Item = Result<(RawDocumentBuf, Known), ServerError>> + Send>;

/// The services that stages need besides their input documents. A cursor keeps them between its batches.
pub(crate) trait Source: Sync {
    /// Returns the documents of another collection of the database that match a filter, found with the best plan. A
    /// missing collection counts as empty. `depth` is the number of sub-pipelines around this read; `globals` carries
    /// the collation and the variables of a `$expr`. A stage that reads the collection once for each document of its
    /// input names the path whose values the filters ask for, `joined_by`. Documents are read as the caller asks for them.
    fn find<'s>(
        &'s self,
        depth: usize,
        collection: &str,
        joined_by: Option<&str>,
        filter: &RawDocument,
        globals: &Globals,
    ) -> Result<Documents<'s>, ServerError>;

    /// Fails if the command has passed its time limit or was killed. Stages that turn one document into many call this.
    fn check_deadline(&self) -> Result<(), ServerError>;

    /// Returns the documents nearest to a point, nearest first, with their distances. `filter` makes the filter for the
    /// field to search: the given one, or that of the collection's only geospatial index.
    fn nearest(
        &self,
        collection: &str,
        field: Option<&str>,
        filter: &dyn Fn(&str) -> Result<RawDocumentBuf, ServerError>,
        globals: &Globals,
    ) -> Result<Located, ServerError>;

    /// Returns statistics about another collection.
    fn statistics(
        &self,
        collection: &str,
        asked: &Statistics,
    ) -> Result<Vec<RawDocumentBuf>, ServerError>;

    /// Replaces what was read since the last call, where reads are counted, and returns it.
    fn exchange_reads(&self, _reads: Reads) -> Reads {
        Reads::default()
    }

    /// Random bits, for `$sample`.
    fn random(&self) -> u64;

    /// A new `_id`.
    fn object_id(&self) -> ObjectId;

    /// The full name of another collection of the database, for messages.
    fn name_of(&self, collection: &str) -> String {
        collection.to_owned()
    }
}

/// The statistics that a stage requests about a collection.
#[derive(Debug)]
pub(crate) enum Statistics {
    /// `$collStats`: one document.
    Collection(StatisticsOf),
    /// `$indexStats`: a document for each index.
    Indexes,
    /// `$planCacheStats`: a document for each cached plan. There is no plan cache, so there are none.
    Plans,
}

/// The parts of `$collStats`.
#[derive(Debug, Default)]
pub(crate) struct StatisticsOf {
    pub(crate) count: bool,
    /// How many collection scans read the collection.
    pub(crate) executions: bool,
    /// Latencies of the commands; true adds histograms.
    pub(crate) latency: Option<bool>,
    /// Sizes, divided by this scale.
    pub(crate) storage: Option<i64>,
}
