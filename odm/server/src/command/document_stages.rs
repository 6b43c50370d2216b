//! Runs aggregation stages over documents that are in no collection.

use bson::raw::{RawArrayBuf, RawDocument, RawDocumentBuf, cstr};
use bson::{Bson, Document, doc, rawdoc};

use odm_engine::{Context, Service};
use odm_language::error::{Code, ServerError};

/// A temporary engine that holds the documents.
pub(super) struct TemporaryEngine(Service);

impl TemporaryEngine {
    pub(super) fn of(documents: &[Document]) -> Result<Self, ServerError> {
        let scratch = Self(Service::new(Context::system()));
        if !documents.is_empty() {
            let insert = doc! { "insert": "operations", "documents": documents, "$db": "admin" };
            scratch.run(&insert)?;
        }
        Ok(scratch)
    }

    pub(super) fn aggregate(&self, stages: RawArrayBuf) -> Result<Vec<Bson>, ServerError> {
        let mut command = rawdoc! { "aggregate": "operations" };
        command.append(cstr!("pipeline"), stages);
        command.append(cstr!("cursor"), rawdoc! { "batchSize": i32::MAX });
        command.append(cstr!("$db"), "admin");
        let reply = self.answer(&command)?;
        let cursor = reply.get_document("cursor").ok();
        let batch = cursor.and_then(|cursor| cursor.get_array("firstBatch").ok());
        Ok(batch.cloned().unwrap_or_default())
    }

    fn run(&self, command: &Document) -> Result<Document, ServerError> {
        let command = RawDocumentBuf::try_from(command)
            .map_err(|error| ServerError::new(Code::INVALID_BSON, error.to_string()))?;
        self.answer(&command)
    }

    fn answer(&self, command: &RawDocument) -> Result<Document, ServerError> {
        let reply = self.0.try_run(command)?;
        Document::try_from(&*reply)
            .map_err(|error| ServerError::new(Code::INVALID_BSON, error.to_string()))
    }
}
