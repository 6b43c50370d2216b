//! Reads failures from replies.

use bson::raw::{RawBsonRef, RawDocument};
use bson::{Bson, Document};

use super::{Code, ServerError};

impl ServerError {
    /// The failure that a reply reports; `None` if the command succeeded.
    #[doc(hidden)]
    pub fn of_reply(reply: &RawDocument) -> Option<Self> {
        let failed = match reply.get("ok").ok().flatten() {
            Some(RawBsonRef::Double(ok)) => ok < 0.5,
            Some(RawBsonRef::Int32(ok)) => ok == 0,
            Some(RawBsonRef::Int64(ok)) => ok == 0,
            Some(RawBsonRef::Boolean(ok)) => !ok,
            _ => true,
        };
        failed.then(|| Self::of_document(reply))
    }

    /// The error that a reply, an element of `writeErrors` or a `writeConcernError` describes.
    #[doc(hidden)]
    #[must_use]
    pub fn of_document(document: &RawDocument) -> Self {
        let mut code = Code::UNKNOWN_ERROR;
        let mut message = String::new();
        let mut details = Document::new();
        let mut labels = Vec::new();
        for element in document {
            let Ok((key, value)) = element else { break };
            match (key.as_str(), value) {
                ("code", value) => {
                    code = number(value).map_or(Code::UNKNOWN_ERROR, Code::from);
                }
                ("errmsg", RawBsonRef::String(text)) => text.clone_into(&mut message),
                ("errorLabels", RawBsonRef::Array(names)) => {
                    labels.extend(names.into_iter().filter_map(|name| match name {
                        Ok(RawBsonRef::String(name)) => Some(name.to_owned()),
                        _ => None,
                    }));
                }
                // These fields belong to the protocol, not to the error.
                (
                    "ok" | "codeName" | "index" | "$clusterTime" | "operationTime"
                    | "topologyVersion",
                    _,
                ) => {}
                (name, value) => {
                    if let Ok(value) = Bson::try_from(value) {
                        details.insert(name, value);
                    }
                }
            }
        }
        let mut error = Self::new(code, message);
        for label in &labels {
            error = error.with_label(label);
        }
        if details.is_empty() {
            error
        } else {
            error.with_details(details)
        }
    }
}

/// Reads a code's number; codes are never negative.
fn number(value: RawBsonRef<'_>) -> Option<i32> {
    match value {
        RawBsonRef::Int32(n) => Some(n),
        RawBsonRef::Int64(n) => i32::try_from(n).ok(),
        #[expect(clippy::cast_possible_truncation, reason = "codes are whole")]
        RawBsonRef::Double(n) => Some(n as i32),
        _ => None,
    }
    .filter(|n| *n >= 0)
}
