//! Where a migration that stopped goes on.

use std::collections::VecDeque;
use std::fmt;
use std::str::FromStr;

use bson::{Bson, doc};

use crate::error::{Error, Result};
use crate::types::json::text;

/// The place where a migration stopped: [`MigrationReport::rest`](super::MigrationReport::rest), and
/// [`MigrationProgress::token`](super::MigrationProgress::token).
///
/// Its text is one line of JSON, to keep in a file or to pass on a command line.
///
/// ```
/// use odm::migrate::MigrationToken;
///
/// let text = r#"{"collections":[{"collection":"people","last":{"$numberInt":"9"}}],"after":{"$numberInt":"7"}}"#;
/// let token: MigrationToken = text.parse()?;
/// assert_eq!(token.to_string(), text);
/// # Ok::<(), odm::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct MigrationToken {
    /// The collections that are left; the first has begun.
    pub(super) parts: VecDeque<Part>,
    /// The `_id` of the last document of the first collection that was read.
    pub(super) after: Option<Bson>,
}

/// What is migrated of a collection.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Part {
    /// The declared name.
    pub(super) collection: String,
    /// The largest `_id` of an older document when the migration was planned.
    pub(super) last: Bson,
}

impl fmt::Display for MigrationToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let part = |part: &Part| doc! {"collection": &part.collection, "last": part.last.clone()};
        let parts: Vec<_> = self.parts.iter().map(part).collect();
        let mut token = doc! {"collections": parts};
        if let Some(after) = &self.after {
            token.insert("after", after.clone());
        }
        f.write_str(&text::to_text(&token))
    }
}

impl FromStr for MigrationToken {
    type Err = Error;

    /// Reads the text of a token.
    ///
    /// # Errors
    ///
    /// The text is not one that a token was written as.
    fn from_str(text: &str) -> Result<Self> {
        read(text).ok_or_else(|| {
            let example = r#"{"collections":[{"collection":"people","last":9}],"after":7}"#;
            Error::usage(format!(
                "a token of a migration is a line as {example}, not {text:?}"
            ))
        })
    }
}

fn read(text: &str) -> Option<MigrationToken> {
    let mut token = text::document(text.as_bytes()).ok()?;
    let after = token.remove("after");
    let Some(Bson::Array(parts)) = token.remove("collections") else {
        return None;
    };
    let parts = parts.into_iter().map(part).collect::<Option<_>>()?;
    token.is_empty().then_some(MigrationToken { parts, after })
}

fn part(part: Bson) -> Option<Part> {
    let Bson::Document(mut part) = part else {
        return None;
    };
    let last = part.remove("last")?;
    match part.remove("collection") {
        Some(Bson::String(collection)) if part.is_empty() => Some(Part { collection, last }),
        _ => None,
    }
}
