//! The error of decoding, which is zero-sized for speed, and a trace of it for messages.

use std::cell::RefCell;
use std::fmt::{self, Write};

use bson::error::Error as BsonError;
use odm_language::value::raw::Elements;
use serde::de::Error;

/// The document can't be decoded; [`trace`](super::trace) finds the path and the reason.
///
/// It is zero-sized and formats a message only in a trace, because every visit returns a `Result` with it, and untagged
/// enums fail once for each variant that they try.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Failed;

/// Why a document can't be decoded.
#[derive(Debug, Default)]
pub(crate) struct Reason {
    message: String,
    /// The way from the value that failed up to the root.
    steps: Vec<Step>,
}

#[derive(Debug)]
enum Step {
    Field(String),
    Item(String),
}

thread_local! {
    /// The last failure of the trace that this thread runs.
    static TRACE: RefCell<Option<Reason>> = const { RefCell::new(None) };
}

/// Decodes again a value that failed, and returns why it fails.
pub(super) fn trace<T>(decode: impl FnOnce() -> Result<T, Failed>) -> Result<T, Reason> {
    /// Ends the trace, also if `decode` panics.
    struct Outer(Option<Reason>);

    impl Drop for Outer {
        fn drop(&mut self) {
            TRACE.set(self.0.take());
        }
    }

    let _outer = Outer(TRACE.replace(Some(Reason::default())));
    decode().map_err(|Failed| TRACE.take().unwrap_or_default())
}

/// Whether this thread runs a trace.
pub(super) fn is_traced() -> bool {
    TRACE.with_borrow(Option::is_some)
}

impl Failed {
    /// An error of bson's deserializer.
    #[cold]
    pub(super) fn theirs(failure: BsonError) -> Self {
        match failure.message {
            Some(message) => Self::custom(message),
            None => Self::custom(failure),
        }
    }

    /// The failure of a field's value.
    #[cold]
    pub(super) fn in_field(self, fields: &Elements<'_>) -> Self {
        self.within(fields, Step::Field)
    }

    /// The failure of an element of an array.
    #[cold]
    pub(super) fn in_item(self, items: &Elements<'_>) -> Self {
        self.within(items, Step::Item)
    }

    fn within(self, elements: &Elements<'_>, step: fn(String) -> Step) -> Self {
        TRACE.with_borrow_mut(|trace| {
            if let Some(reason) = trace {
                let key = elements
                    .current()
                    .map_or(&[][..], |element| element.key_bytes());
                reason
                    .steps
                    .push(step(String::from_utf8_lossy(key).into_owned()));
            }
        });
        self
    }
}

impl Reason {
    /// The deserializer's message.
    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    /// The path of the value that can't be decoded, such as `parts[0].name`; `None` for the document itself.
    pub(crate) fn path(&self) -> Option<String> {
        let mut path = String::new();
        for step in self.steps.iter().rev() {
            // Writing to a `String` can't fail.
            let _ = match step {
                Step::Item(index) => write!(path, "[{index}]"),
                Step::Field(name) if path.is_empty() => write!(path, "{name}"),
                Step::Field(name) => write!(path, ".{name}"),
            };
        }
        (!path.is_empty()).then_some(path)
    }
}

impl From<Reason> for BsonError {
    fn from(reason: Reason) -> Self {
        Self::custom(reason.message)
    }
}

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the document can't be read")
    }
}

impl std::error::Error for Failed {}

impl Error for Failed {
    /// A new error replaces the ones that an untagged enum has ignored.
    fn custom<T: fmt::Display>(message: T) -> Self {
        if is_traced() {
            let message = message.to_string();
            let steps = Vec::new();
            TRACE.set(Some(Reason { message, steps }));
        }
        Self
    }
}
