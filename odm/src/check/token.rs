//! Where a check that stopped goes on.

use std::fmt;
use std::str::FromStr;

use bson::{Bson, doc};

use crate::error::{Error, Result};
use crate::types::json::text;

/// The place where a check stopped: the collection, and the `_id` of the last document that was checked.
///
/// Its text is one line of JSON, to keep in a file or to pass on a command line.
///
/// ```
/// use odm::check::CheckToken;
///
/// let token: CheckToken = r#"{"collection":"books","after":7}"#.parse()?;
/// assert_eq!(token.to_string(), r#"{"collection":"books","after":{"$numberInt":"7"}}"#);
/// # Ok::<(), odm::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct CheckToken {
    /// The declared name of the collection.
    pub(super) collection: String,
    pub(crate) after: Option<Bson>,
}

impl fmt::Display for CheckToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut token = doc! {"collection": &self.collection};
        if let Some(after) = &self.after {
            token.insert("after", after.clone());
        }
        f.write_str(&text::to_text(&token))
    }
}

impl FromStr for CheckToken {
    type Err = Error;

    /// Reads the text of a token.
    ///
    /// # Errors
    ///
    /// The text is not one that a token was written as.
    fn from_str(text: &str) -> Result<Self> {
        let refused = || {
            let example = r#"{"collection":"books","after":7}"#;
            Error::usage(format!(
                "a token of a check is a line as {example}, not {text:?}"
            ))
        };
        let mut token = text::document(text.as_bytes()).map_err(|_| refused())?;
        let after = token.remove("after");
        match (token.remove("collection"), token.is_empty()) {
            (Some(Bson::String(collection)), true) => Ok(Self { collection, after }),
            _ => Err(refused()),
        }
    }
}
