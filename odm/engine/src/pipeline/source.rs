//! What stages need besides their input: other collections, and the services of the command.

use bson::oid::ObjectId;
use bson::raw::{RawBsonRef, RawDocument, RawDocumentBuf};
use odm_language::error::ServerError;
use odm_language::expression::Globals;
use odm_language::expression::meta::Known;

use crate::pipeline::counts::Reads;
use crate::pipeline::document::PipelineDocument;

/// A stream of documents, as it flows between stages.
pub(crate) type Documents<'a> =
    Box<dyn Iterator<Item = Result<PipelineDocument, ServerError>> + 'a>;

/// A stream of documents that a stage has made.
pub(crate) fn made<'a>(
    documents: impl Iterator<Item = Result<RawDocumentBuf, ServerError>> + 'a,
) -> Documents<'a> {
    Box::new(documents.map(|document| document.map(PipelineDocument::from)))
}

/// A stream of documents with their distances.
pub(crate) type Located = Box<dyn Iterator<Item = Result<(RawDocumentBuf, Known), ServerError>>>;

/// The services that stages need besides their input documents.
pub(crate) trait Source {
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

    /// Opens the target of `$merge` once for all writes, so that a write conflict keeps none of them and the command
    /// runs again. `write` may be called several times.
    fn merge(
        &self,
        target: WriteTarget<'_>,
        creates: bool,
        write: &mut dyn FnMut(&mut dyn Merging) -> Result<(), ServerError>,
    ) -> Result<(), ServerError>;

    /// The full name of another collection of the database, for messages.
    fn name_of(&self, collection: &str) -> String {
        collection.to_owned()
    }

    /// Returns an error if the target of `$out` is not a collection or is capped.
    fn check_replaced(&self, database: Option<&str>, collection: &str) -> Result<(), ServerError>;

    /// Replaces a collection's documents (`$out`), creating the collection if it does not exist.
    fn replace_all(
        &self,
        database: Option<&str>,
        collection: &str,
        documents: Vec<RawDocumentBuf>,
    ) -> Result<(), ServerError>;
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

/// The target of a `$merge`, open for writing.
pub(crate) trait Merging {
    /// Writes one document. Returns false if no document matched. `globals` carries the variables of the update.
    fn write(&mut self, write: &MergeWrite<'_>, globals: &Globals) -> Result<bool, ServerError>;
}

/// One document's write by `$merge`.
#[derive(Debug)]
pub(crate) enum MergeWrite<'w> {
    /// Inserts the document.
    Insert(&'w RawDocument),
    /// Updates the document that matches the filter.
    Update {
        filter: &'w RawDocument,
        update: RawBsonRef<'w>,
        /// Whether the update inserts a document if none matches.
        upsert: bool,
        /// The document to insert as it is if none matches.
        otherwise: Option<&'w RawDocument>,
    },
}

/// The collection that a pipeline writes to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WriteTarget<'s> {
    /// `$merge` or `$out`.
    pub(crate) stage: &'static str,
    /// `None` for the database that the command runs on.
    pub(crate) database: Option<&'s str>,
    pub(crate) collection: &'s str,
    /// The fields that must have a unique index.
    pub(crate) unique: Option<&'s [String]>,
}
