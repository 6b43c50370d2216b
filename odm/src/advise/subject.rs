//! The model that `advise` examines, and the entries that it adds to the report.

use bson::Document;

use super::{Advice, AdviceCode, AdviceReport};
use crate::error::{Code, Error, Result};
use crate::model::ModelMeta;
use crate::store::CollectionName;

/// The model that is examined.
#[derive(Debug, Clone)]
pub(super) struct Subject {
    pub(super) model: &'static ModelMeta,
    pub(super) collection: CollectionName,
}

impl Subject {
    /// Advice about the model, without figures and texts yet.
    pub(super) fn advice(&self, code: AdviceCode) -> Advice {
        Advice {
            model: Some(self.model.name),
            collection: Some(self.collection.to_string()),
            ..Advice::of(code)
        }
    }

    /// How the report names the model.
    pub(super) fn title(&self) -> String {
        format!("{} (`{}`)", self.model.name, self.collection)
    }
}

impl Advice {
    /// Advice without figures and texts yet.
    pub(super) fn of(code: AdviceCode) -> Self {
        Self {
            code,
            model: None,
            collection: None,
            path: None,
            index: None,
            figures: Document::new(),
            message: String::new(),
            remedy: String::new(),
        }
    }
}

impl AdviceReport {
    /// The result of a read. A refusal of the server, such as a missing privilege, is noted in the report as `what`; any other
    /// error ends the call.
    pub(super) fn unless_refused<T>(
        &mut self,
        what: impl FnOnce() -> String,
        result: Result<T>,
    ) -> Result<Option<T>> {
        match result {
            Ok(value) => Ok(Some(value)),
            Err(error) => match refusal(&error) {
                Some(code) => {
                    // The message can repeat the command, with values of documents.
                    let refused = format!("{}: the server refuses to read this: {code}", what());
                    self.not_examined.push(refused);
                    Ok(None)
                }
                None => Err(error),
            },
        }
    }
}

fn refusal(error: &Error) -> Option<Code> {
    error.code().filter(|_| !error.is_retryable())
}
