//! The options of a change stream, and the command that opens it.

use std::time::Duration;

use bson::{Document, Timestamp, doc};

use crate::error::Result;
use crate::store::CollectionName;
use crate::store::operation::{Operation, Request};
use crate::store::options::{Chosen, FullDocument, FullDocumentBeforeChange};

/// The target of a change stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Scope {
    Collection(CollectionName),
    Database,
    Cluster,
}

/// A change stream to open.
#[derive(Debug, Clone)]
pub(crate) struct Watch {
    pub(crate) scope: Scope,
    /// The stages after `$changeStream`.
    pub(crate) pipeline: Vec<Document>,
    pub(crate) full_document: Option<FullDocument>,
    pub(crate) full_document_before_change: Option<FullDocumentBeforeChange>,
    /// Whether to return events about definitions, too.
    pub(crate) show_expanded_events: bool,
    pub(crate) resume_after: Option<Document>,
    pub(crate) start_after: Option<Document>,
    pub(crate) start_at_operation_time: Option<Timestamp>,
    pub(crate) max_await_time: Option<Duration>,
    pub(crate) options: Chosen,
}

impl Watch {
    pub(crate) fn new(scope: Scope) -> Self {
        Self {
            scope,
            pipeline: Vec::new(),
            full_document: None,
            full_document_before_change: None,
            show_expanded_events: false,
            resume_after: None,
            start_after: None,
            start_at_operation_time: None,
            max_await_time: None,
            options: Chosen::default(),
        }
    }

    /// The same stream, resumed after the event with this token.
    pub(crate) fn resumed(&self, token: Document) -> Self {
        Self {
            resume_after: None,
            start_after: Some(token),
            start_at_operation_time: None,
            ..self.clone()
        }
    }

    /// The command as a driver sends it, without the database and session fields.
    pub(crate) fn command(&self) -> Result<Document> {
        let (collection, is_whole) = match &self.scope {
            Scope::Collection(name) => (name.clone(), false),
            Scope::Database | Scope::Cluster => (CollectionName::Declared(""), true),
        };
        let mut pipeline = vec![doc! { "$changeStream": self.stage() }];
        pipeline.extend(self.pipeline.iter().cloned());
        let request = Request {
            collection,
            operation: Operation::Aggregate { pipeline },
            options: self.options.clone(),
        };
        let mut command = request.command()?;
        if is_whole {
            command.insert("aggregate", 1);
        }
        Ok(command)
    }

    fn stage(&self) -> Document {
        let mut stage = Document::new();
        if let Some(full_document) = self.full_document {
            stage.insert("fullDocument", full_document.word());
        }
        if let Some(before) = self.full_document_before_change {
            stage.insert("fullDocumentBeforeChange", before.word());
        }
        if self.show_expanded_events {
            stage.insert("showExpandedEvents", true);
        }
        if let Some(token) = &self.resume_after {
            stage.insert("resumeAfter", token.clone());
        }
        if let Some(token) = &self.start_after {
            stage.insert("startAfter", token.clone());
        }
        if let Some(time) = self.start_at_operation_time {
            stage.insert("startAtOperationTime", time);
        }
        if self.scope == Scope::Cluster {
            stage.insert("allChangesForCluster", true);
        }
        stage
    }
}
