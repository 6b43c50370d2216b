//! Runs pipelines, and keeps the rest of their documents for `getMore`.

use std::sync::{Arc, OnceLock};

use bson::raw::RawDocumentBuf;
use odm_language::error::ServerError;
use odm_language::expression::Globals;
use odm_language::expression::meta::Known;
use odm_language::value::path::{Path, Segment};
use odm_language::value::raw;
use self_cell::self_cell;

use super::{Aggregate, FIRST_BATCH};
use crate::catalog::collection::{Version, document};
use crate::catalog::namespace::Namespace;
use crate::command::batch::{first_batch, session_of, transaction_of};
use crate::command::compat::canonical_query::{CanonicalQuery, SIMPLE};
use crate::command::invocation::Invocation;
use crate::command::reply::Page;
use crate::command::sink::CommandSink;
use crate::command::source::CommandSource;
use crate::cursor::query::{Deadline, Found};
use crate::cursor::registry::{Cursor, Item, Results, Tail};
use crate::pipeline::{Counts, Cx, Documents, Pipeline, PipelineDocument, while_running};

impl Aggregate<'_> {
    /// Opens a cursor and returns its first batch. The cursor runs the pipeline as its batches need documents; a pipeline
    /// that writes, or that a transaction runs, is run to its end.
    pub(crate) fn open(
        self,
        call: &mut Invocation<'_>,
        batch_size: Option<u64>,
    ) -> Result<Page, ServerError> {
        if self.pipeline.target().is_some() {
            self.write(call)?;
            return open(call, self.namespace, Vec::new(), batch_size);
        }
        if call.transaction.is_some() {
            let documents = self.run(call)?;
            return open(call, self.namespace, documents, batch_size);
        }
        let collection = call.find_collection(&self.base);
        let uuid = collection.as_ref().map(|collection| collection.uuid);
        let deadline = call.deadline();
        let dropped = Arc::new(OnceLock::new());
        let input = self.input(call, collection, &deadline)?;
        let input = read_ahead(input, Arc::clone(&dropped));
        let source = self.configured(CommandSource::new(call, deadline));
        let is_query = self.is_query();
        let skip = self.first_to_run();
        let base = (self.base != self.namespace).then(|| self.base.clone());
        let running = Running {
            pipeline: self.pipeline,
            base: self.base,
            globals: self.globals,
            source,
        };
        let stream = Stream::try_new(running, |running| {
            running.pipeline.run(skip, input, running.cx())
        })?;
        let results = Streamed {
            stream,
            is_query,
            dropped,
        };
        let mut cursor = cursor(call, self.namespace, Box::new(results));
        cursor.collection = uuid;
        cursor.base = base;
        let batch_size = batch_size.unwrap_or(FIRST_BATCH);
        first_batch(call, cursor, Some(batch_size), false).map_err(while_running)
    }

    /// Runs a pipeline that does not write to its end.
    pub(crate) fn run(&self, call: &mut Invocation<'_>) -> Result<Vec<Item>, ServerError> {
        let collection = call.find_collection(&self.base);
        let deadline = call.deadline();
        let input = self.input(call, collection, &deadline)?;
        let source = self.configured(CommandSource::following(call, deadline));
        let cx = self.cx(&source, None);
        let documents = self.pipeline.run(self.first_to_run(), input, cx)?;
        documents
            .map(|document| document.map(item).map_err(while_running))
            .collect()
    }

    /// Runs a pipeline whose last stage writes.
    fn write(&self, call: &mut Invocation<'_>) -> Result<(), ServerError> {
        let collection = call.find_collection(&self.base);
        let deadline = call.deadline();
        let input = self.input(call, collection, &deadline)?;
        let source = self.configured(CommandSource::new(call, deadline));
        let cx = self.cx(&source, None);
        let mut sink = CommandSink(call);
        self.pipeline
            .write(self.first_to_run(), input, cx, &mut sink)
    }

    /// Runs the pipeline without writing, and counts what its stages do.
    pub(crate) fn count(
        &self,
        call: &mut Invocation<'_>,
        counts: &Counts,
    ) -> Result<(), ServerError> {
        let collection = call.find_collection(&self.base);
        let deadline = call.deadline();
        let input = self.input(call, collection, &deadline)?;
        let source = self.configured(CommandSource::following(call, deadline).counting());
        let cx = self.cx(&source, Some(counts));
        let mut documents = self
            .pipeline
            .run_explained(self.leading.stages, input, cx)?;
        documents.try_for_each(|document| document.map(drop))
    }

    fn first_to_run(&self) -> usize {
        self.pipeline.first_to_run(&self.leading, &self.globals)
    }

    /// Plans and starts the query that feeds the pipeline.
    fn input(
        &self,
        call: &Invocation<'_>,
        collection: Option<Version>,
        deadline: &Deadline,
    ) -> Result<Documents<'static>, ServerError> {
        let prepared = self
            .query()
            .prepare(collection.as_deref())
            .map_err(|error| {
                let query = CanonicalQuery {
                    namespace: &self.base,
                    filter: self.leading.filter.as_deref(),
                    sort: self.leading.sort.as_deref(),
                    projection: None,
                    window: String::new(),
                    collation: SIMPLE,
                };
                query.explain_hint(error)
            })?;
        let begins = self.pipeline.begins().is_some();
        if collection.is_none() && !begins {
            call.name_plan("EOF");
        }
        let given = call.context.input().cloned();
        let Some(collection) = collection.filter(|_| !begins && given.is_none()) else {
            let given = given.as_deref().unwrap_or_default().to_vec();
            return Ok(Box::new(given.into_iter().map(|it| Ok(it.into()))));
        };
        let found = prepared
            .run(collection, deadline.clone())
            .map_err(|error| error.within("PlanExecutor error during aggregation"))?;
        // mongod reads only these fields, so that only they count against the limit of memory.
        let reads = self.leading.reads.as_deref();
        let reads = reads.filter(|_| !self.globals.allows_disk_use());
        Ok(documents(found, self.globals.clone(), reads))
    }

    fn configured<'t>(&self, source: CommandSource<'t>) -> CommandSource<'t> {
        let requested = self.pipeline.begins().map(|_| &self.base);
        source.requesting(requested).hinted(self.hint)
    }

    fn cx<'a>(&'a self, source: &'a CommandSource<'_>, counts: Option<&'a Counts>) -> Cx<'a> {
        Cx {
            source,
            collection: &self.base.collection,
            globals: &self.globals,
            counts,
        }
    }

    /// Whether mongod runs the pipeline as a query alone.
    fn is_query(&self) -> bool {
        let leading = self.leading.stages;
        let is_whole = self.leading.is_whole();
        let pushed = self.pipeline.pushed(leading, is_whole, &self.globals);
        let is_query = self.pipeline.len() == leading + usize::from(pushed.is_some());
        is_query && self.pipeline.begins().is_none()
    }
}

/// A running pipeline, without its stream.
struct Running {
    pipeline: Pipeline,
    base: Namespace,
    globals: Globals,
    source: CommandSource<'static>,
}

impl Running {
    fn cx(&self) -> Cx<'_> {
        Cx {
            source: &self.source,
            collection: &self.base.collection,
            globals: &self.globals,
            counts: None,
        }
    }
}

self_cell!(
    /// The documents of a running pipeline.
    struct Stream {
        owner: Running,
        #[covariant]
        dependent: Documents,
    }
);

/// The results of a pipeline that runs as batches need documents. As on mongod, the cursor learns of the end only by
/// requesting one more document.
struct Streamed {
    stream: Stream,
    is_query: bool,
    /// Set once the collection is dropped.
    dropped: Arc<OnceLock<ServerError>>,
}

impl Results for Streamed {
    fn next(&mut self) -> Option<Result<Item, ServerError>> {
        let document = self
            .stream
            .with_dependent_mut(|_, documents| documents.next())?;
        Some(document.map(item))
    }

    fn is_at_end(&self) -> bool {
        false
    }

    fn dropped(&mut self, error: ServerError) -> Result<(), ServerError> {
        if self.is_query {
            return Err(error);
        }
        self.dropped.get_or_init(|| error);
        Ok(())
    }

    fn postpone(&mut self, millis: i64) {
        self.stream.borrow_owner().source.postpone(millis);
    }
}

/// Results that were collected. The cursor learns of the end as that of a running pipeline does.
#[derive(Debug)]
struct Collected(std::vec::IntoIter<Item>);

impl Results for Collected {
    fn next(&mut self) -> Option<Result<Item, ServerError>> {
        self.0.next().map(Ok)
    }

    fn is_at_end(&self) -> bool {
        false
    }
}

/// The first batch of collected documents.
pub(crate) fn open(
    call: &Invocation<'_>,
    namespace: Namespace,
    documents: Vec<Item>,
    batch_size: Option<u64>,
) -> Result<Page, ServerError> {
    let cursor = cursor(call, namespace, Box::new(Collected(documents.into_iter())));
    first_batch(call, cursor, Some(batch_size.unwrap_or(FIRST_BATCH)), false)
}

fn cursor(call: &Invocation<'_>, namespace: Namespace, results: Box<dyn Results>) -> Cursor {
    Cursor {
        namespace,
        results,
        held: None,
        collection: None,
        base: None,
        session: session_of(call),
        transaction: transaction_of(&call.mode),
        time: call.read_time(),
        no_timeout: false,
        limited: call.deadline().is_some(),
        tail: Tail::No,
        used: call.now.timestamp_millis(),
        tally: None,
    }
}

fn item(document: PipelineDocument) -> Item {
    document.into_stored().map_or_else(Item::Made, Item::Stored)
}

/// The bytes of documents that mongod reads ahead of the stages. A cursor returns these after its collection is dropped.
const READ_AHEAD: usize = 4 * 1024 * 1024;

/// Ends the documents with an error if their collection was dropped, where mongod would read on.
fn read_ahead(
    mut documents: Documents<'static>,
    dropped: Arc<OnceLock<ServerError>>,
) -> Documents<'static> {
    let mut bytes = 0;
    Box::new(std::iter::from_fn(move || {
        if bytes == 0
            && let Some(error) = dropped.get()
        {
            return Some(Err(error.clone()));
        }
        let document = documents.next()?;
        if let Ok(document) = &document {
            bytes += document.as_bytes().len();
            if bytes > READ_AHEAD {
                bytes = 0;
            }
        }
        Some(document)
    }))
}

/// The documents of a query. Sets the metadata of each document before it yields it.
fn documents(mut found: Found, globals: Globals, reads: Option<&[Path]>) -> Documents<'static> {
    let fields: Option<Vec<Segment>> = reads.map(|paths| {
        let fields = paths.iter().filter_map(|path| path.segments().first());
        fields.cloned().collect()
    });
    Box::new(std::iter::from_fn(move || {
        let row = match found.next()? {
            Ok(row) => row,
            Err(error) => return Some(Err(error)),
        };
        if found.is_scored() {
            globals.set_known(Known {
                record: None,
                ..found.known(&row)
            });
        }
        Some(Ok(match &fields {
            None => PipelineDocument::stored(row.1),
            Some(fields) => only(&row.1, fields).into(),
        }))
    }))
}

/// These fields of a record's document.
fn only(bytes: &[u8], fields: &[Segment]) -> RawDocumentBuf {
    let mut kept = RawDocumentBuf::new();
    for (name, value) in document(bytes).into_iter().flat_map(raw::elements) {
        if fields.iter().any(|field| field.name() == name) {
            raw::append(&mut kept, name, value);
        }
    }
    kept
}
