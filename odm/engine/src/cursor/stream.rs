//! Change streams: cursors over the log of changes.

mod event;
mod token;

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use bson::oid::ObjectId;
use bson::raw::{RawBsonRef, RawDocument, RawDocumentBuf};
use odm_language::error::{Code, ServerError};
use odm_language::expression::Globals;
use odm_language::value::{print, raw};

use crate::catalog::Catalog;
use crate::catalog::changes::{ChangeKind, Event, Place, Read};
use crate::catalog::namespace::Namespace;
use crate::cursor::registry::{Item, Results};
use crate::pipeline::{Cx, Documents, Located, Pipeline, PipelineDocument, Source, Statistics};

pub(crate) use self::token::Token;

/// The label of errors after which a stream can't be resumed.
const FATAL: &str = "NonResumableChangeStreamError";

/// The least and the most events to read from the log at once.
const AT_ONCE: (usize, usize) = (16, 256);

/// What a stream watches.
#[derive(Debug)]
pub(crate) enum Scope {
    Collection(Namespace),
    Database(Arc<str>),
    Cluster,
}

/// `fullDocument`: which document an update event contains.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Lookup {
    Never,
    /// The current document.
    Now,
    /// The post-image; true if it is required.
    Image(bool),
}

/// `fullDocumentBeforeChange`
#[derive(Debug, Clone, Copy)]
pub(crate) enum Images {
    Never,
    /// The pre-image; true if it is required.
    Image(bool),
}

/// Which events are reported, and what they contain.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StreamOptions {
    pub(crate) lookup: Lookup,
    pub(crate) images: Images,
    /// `showExpandedEvents`: reports definitions, too.
    pub(crate) expanded: bool,
}

/// One open change stream.
pub(crate) struct Stream {
    pub(crate) scope: Scope,
    pub(crate) options: StreamOptions,
    pub(crate) pipeline: Pipeline,
    pub(crate) globals: Globals,
    read: Place,
    /// The event to resume after, which must be found first.
    expected: Option<Token>,
    ready: VecDeque<RawDocumentBuf>,
    failed: Option<ServerError>,
    /// The resume token after all of `ready`.
    reached: Token,
    is_over: bool,
}

impl Scope {
    /// Whether the stream covers the event.
    fn watches(&self, event: &Event) -> bool {
        let namespace = &event.change.namespace;
        match self {
            // Streams of a collection report nothing about views.
            Self::Collection(watched) => {
                (namespace == watched && event.change.uuid.is_some())
                    || matches!(&event.change.what, ChangeKind::Rename { to, .. } if to == watched)
            }
            Self::Database(watched) => {
                namespace.database == *watched && !namespace.collection.starts_with("system.")
            }
            Self::Cluster => {
                !matches!(&*namespace.database, "admin" | "config" | "local")
                    && !namespace.collection.starts_with("system.")
            }
        }
    }

    /// Whether the stream ends after reporting the event.
    fn ends_with(&self, event: &Event) -> bool {
        matches!(
            (self, &event.change.what),
            (
                Self::Collection(_),
                ChangeKind::Drop | ChangeKind::Rename { .. } | ChangeKind::DropDatabase
            ) | (Self::Database(_), ChangeKind::DropDatabase)
        )
    }
}

impl Stream {
    /// A stream that begins at a token.
    pub(crate) fn new(
        scope: Scope,
        options: StreamOptions,
        pipeline: Pipeline,
        globals: Globals,
        from: Token,
    ) -> Self {
        let (read, expected) = match from {
            Token::Before(_) => (from.place(), None),
            Token::Of { time, number, .. } => ((time, number), Some(from)),
        };
        Self {
            scope,
            options,
            pipeline,
            globals,
            read,
            expected,
            ready: VecDeque::new(),
            failed: None,
            reached: from,
            is_over: false,
        }
    }

    fn take(&mut self, event: &Event, catalog: &Catalog) -> Result<(), ServerError> {
        self.read = event.place();
        let is_reported = self.options.expanded || !event.change.is_expanded();
        if !is_reported || !self.scope.watches(event) {
            if self.expected.is_none() {
                self.pass(event);
            }
            return Ok(());
        }
        let mut is_new = true;
        if let Some(expected) = self.expected {
            let is_end = matches!(expected, Token::Of { is_end: true, .. });
            if !is_end && !self.lets_pass(event, catalog)? {
                return Ok(());
            }
            self.expected = None;
            let token = event::token(event, is_end);
            if token != expected {
                return Err(ServerError::new(
                    Code::CHANGE_STREAM_FATAL_ERROR,
                    format!(
                        "cannot resume stream; the resume token was not found. {}",
                        compact(&token.document())
                    ),
                )
                .with_label(FATAL));
            }
            if is_end {
                return Ok(());
            }
            is_new = false;
        }
        if is_new {
            let document = event::document(event, catalog, self.options)?;
            self.push(event, document, false)?;
        }
        if self.scope.ends_with(event) {
            self.is_over = true;
            self.push(event, event::end(event), true)?;
        }
        Ok(())
    }

    /// Skips an event. The events of a transaction share one time, and a reported one may already be further on.
    fn pass(&mut self, event: &Event) {
        let before = Token::Before(event.time);
        if before.place() > self.reached.place() {
            self.reached = before;
        }
    }

    /// Whether the pipeline passes an event. MongoDB looks for the resume event after the pipeline.
    fn lets_pass(&self, event: &Event, catalog: &Catalog) -> Result<bool, ServerError> {
        let document = event::document(event, catalog, self.options)?;
        Ok(run(&self.pipeline, document, &self.globals)?.is_some())
    }

    /// Runs the pipeline on a document and queues the result.
    fn push(
        &mut self,
        event: &Event,
        document: RawDocumentBuf,
        is_end: bool,
    ) -> Result<(), ServerError> {
        let token = event::token(event, is_end);
        let Some(document) = run(&self.pipeline, document, &self.globals)? else {
            if is_end {
                self.reached = token;
            } else {
                self.pass(event);
            }
            return Ok(());
        };
        self.reached = token;
        let id = token.document();
        match raw::get(&document, "_id") {
            Some(RawBsonRef::Document(found)) if found.as_bytes() == id.as_bytes() => {
                self.ready.push_back(document);
                Ok(())
            }
            found => {
                let shown = found.map_or_else(
                    || "{}".to_owned(),
                    |found| format!("{{ _id: {} }}", print::value(found)),
                );
                let expected = print::document(&id);
                let expected = expected.trim_matches(['{', '}', ' ']);
                Err(ServerError::new(
                    Code::CHANGE_STREAM_FATAL_ERROR,
                    format!(
                        "Encountered an event whose _id field, which contains the resume token, was modified by the \
                         pipeline. Modifying the _id field of an event makes it impossible to resume the stream from \
                         that point. Only transformations that retain the unmodified _id field are allowed. Expected: \
                         {{ _id: {{ {expected} }} }} but found: {shown}"
                    ),
                )
                .with_label(FATAL))
            }
        }
    }

    fn read_on(&mut self, catalog: &Catalog, wanted: usize) -> Result<(), ServerError> {
        while self.ready.len() < wanted && !self.is_over {
            let (least, most) = AT_ONCE;
            let missing = wanted.saturating_sub(self.ready.len());
            let events = match catalog.changes.read(self.read, missing.clamp(least, most)) {
                Read::Events(events) => events,
                Read::Lost => {
                    return Err(ServerError::new(
                        Code::CHANGE_STREAM_HISTORY_LOST,
                        "Resume of change stream was not possible, as the resume point may no longer be in the oplog.",
                    )
                    .with_label(FATAL));
                }
            };
            if events.is_empty() {
                break;
            }
            for event in events {
                if self.ready.len() >= wanted || self.is_over {
                    break;
                }
                self.take(&event, catalog)?;
            }
        }
        Ok(())
    }
}

impl Results for Stream {
    fn next(&mut self) -> Option<Result<Item, ServerError>> {
        match self.ready.pop_front() {
            Some(document) => Some(Ok(Item::Made(document))),
            None => self.failed.take().map(Err),
        }
    }

    fn is_at_end(&self) -> bool {
        self.is_over && self.ready.is_empty()
    }

    fn has_place(&self) -> bool {
        !self.is_over
    }

    fn is_change_stream(&self) -> bool {
        true
    }

    fn catch_up(&mut self, catalog: &Catalog, wanted: usize) {
        if self.failed.is_none()
            && let Err(error) = self.read_on(catalog, wanted)
        {
            self.failed = Some(error);
        }
    }

    fn resume_token(&self, last: Option<&RawDocument>, is_held: bool) -> Option<RawDocumentBuf> {
        // Documents after the last one have been read but not returned.
        if (is_held || !self.ready.is_empty())
            && let Some(RawBsonRef::Document(token)) = last.and_then(|last| raw::get(last, "_id"))
        {
            return Some(token.to_owned());
        }
        Some(self.reached.document())
    }
}

impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stream")
            .field("scope", &self.scope)
            .finish_non_exhaustive()
    }
}

/// Runs a pipeline on one document.
fn run(
    pipeline: &Pipeline,
    document: RawDocumentBuf,
    globals: &Globals,
) -> Result<Option<RawDocumentBuf>, ServerError> {
    let input = Box::new(std::iter::once(Ok(document.into())));
    let cx = Cx {
        source: &NoCollections,
        collection: "",
        globals,
        counts: None,
    };
    let document = pipeline.run_within(input, cx)?.next().transpose()?;
    Ok(document.map(PipelineDocument::into_owned))
}

/// A document as error messages about change streams show it.
fn compact(document: &RawDocument) -> String {
    print::document(document)
        .replace("{ ", "{")
        .replace(" }", "}")
}

/// The source of a change stream's pipeline, whose stages cannot read other collections.
struct NoCollections;

impl Source for NoCollections {
    fn find<'s>(
        &'s self,
        _depth: usize,
        _collection: &str,
        _joined_by: Option<&str>,
        _filter: &RawDocument,
        _globals: &Globals,
    ) -> Result<Documents<'s>, ServerError> {
        Err(unreachable_here())
    }

    fn nearest(
        &self,
        _collection: &str,
        _field: Option<&str>,
        _filter: &dyn Fn(&str) -> Result<RawDocumentBuf, ServerError>,
        _globals: &Globals,
    ) -> Result<Located, ServerError> {
        Err(unreachable_here())
    }

    fn check_deadline(&self) -> Result<(), ServerError> {
        Ok(())
    }

    fn statistics(
        &self,
        _collection: &str,
        _asked: &Statistics,
    ) -> Result<Vec<RawDocumentBuf>, ServerError> {
        Err(unreachable_here())
    }

    fn random(&self) -> u64 {
        0
    }

    fn object_id(&self) -> ObjectId {
        ObjectId::from_bytes([0; 12])
    }
}

fn unreachable_here() -> ServerError {
    ServerError::new(
        Code::ILLEGAL_OPERATION,
        "a stage behind $changeStream reached for another collection",
    )
}
