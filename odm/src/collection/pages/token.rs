//! [`PageToken`]: the end of a page as text.

use std::fmt;
use std::str::FromStr;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bson::raw::RawDocument;
use bson::{Bson, Document};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::can_not_continue;
use super::key::Key;
use crate::error::{Error, Result};

/// The end of a page, for a client that asks for the next one: text that is safe in a URL, made by
/// [`Find::page_after`](crate::collection::Find::page_after) and given back to it.
///
/// It holds the stored values of the sort's fields and the `_id` of the last document, as BSON in the base64 of URLs, so the
/// next page begins at the right place even if that document was changed or deleted meanwhile. A token is neither encrypted
/// nor signed: clients can read and change these values, and thereby begin a page anywhere in the order, but reach no
/// documents that the filter leaves out. Values are compared as data: none becomes an operator.
///
/// It serializes as a string, and parses from one. A text that is not a token, and a token of another sort, are errors for
/// which [`Error::is_page_token`](crate::Error::is_page_token) is true.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let (db, books) = three_books().await?;
/// use odm::collection::PageToken;
///
/// let by_year = || books.find_all().sort(|b| b.year.asc());
/// let first = by_year().page_after(None, 2).await?;
/// let link = format!("/books?after={}", first.next.ok_or("the last page")?);
///
/// let token: PageToken = link.trim_start_matches("/books?after=").parse()?;
/// let second = by_year().page_after(&token, 2).await?;
/// assert_eq!((second.items.len(), second.items[0].id), (1, 3));
/// assert_eq!(second.next, None);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct PageToken(Document);

impl PageToken {
    /// The token of a document in the order of these keys.
    pub(super) fn new(keys: &[Key], document: &RawDocument) -> Result<Self> {
        let mut token = Document::new();
        for key in keys {
            let value = key.value(document)?;
            if let Some(objection) = Key::objection(&value) {
                return Err(can_not_continue(&key.path, objection));
            }
            token.insert(key.path.as_str(), value);
        }
        Ok(Self(token))
    }

    /// The values of the keys.
    pub(super) fn values(self, keys: &[Key]) -> Result<Vec<Bson>> {
        if !self.0.keys().eq(keys.iter().map(|key| &key.path)) {
            let paths: Vec<&str> = keys.iter().map(|key| key.path.as_str()).collect();
            return Err(Error::page_token(format!(
                "the page token belongs to another query: this one sorts by {}",
                paths.join(", ")
            )));
        }
        let values = self.0.into_iter().map(|(path, value)| {
            let Some(objection) = Key::objection(&value) else {
                return Ok(value);
            };
            let message =
                format!("the page token has a value that no document is sorted by: {objection}");
            Err(Error::page_token(message).with_path(path))
        });
        values.collect()
    }

    /// Whether the values are equal and of the same types; NaN is equal to itself.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        matches!((self.0.to_vec(), other.0.to_vec()), (Ok(own), Ok(other)) if own == other)
    }
}

impl fmt::Display for PageToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = self.0.to_vec().map_err(|_| fmt::Error)?;
        f.write_str(&URL_SAFE_NO_PAD.encode(bytes))
    }
}

impl FromStr for PageToken {
    type Err = Error;

    /// # Errors
    ///
    /// The text is not a token.
    fn from_str(text: &str) -> Result<Self> {
        let bytes = URL_SAFE_NO_PAD.decode(text).ok();
        let document = bytes.and_then(|bytes| Document::from_reader(&*bytes).ok());
        let document = document.ok_or_else(|| {
            Error::page_token(
                "the text is not a page token: send back the `next` of a page unchanged",
            )
        })?;
        Ok(Self(document))
    }
}

impl Serialize for PageToken {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for PageToken {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use bson::{Bson, doc};

    use super::PageToken;

    #[test]
    fn tokens_are_read_back() {
        let token = PageToken(doc! {"size.h": 10.5, "name": "postcard", "_id": 7});
        let text = token.to_string();
        let is_safe = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
        assert!(text.chars().all(is_safe), "{text}");
        assert_eq!(text.parse::<PageToken>().unwrap(), token);
    }

    #[test]
    fn other_text_is_refused() {
        let token = PageToken(doc! {"_id": 7});
        let mut shortened = token.to_string();
        shortened.truncate(8);
        for text in ["", "5", "{}", "BQAAAA", "____", &shortened] {
            let error = text.parse::<PageToken>().unwrap_err();
            assert!(
                error.is_page_token() && !error.is_usage(),
                "{text}: {error}"
            );
        }
    }

    #[test]
    fn equal_values_of_other_types_are_different() {
        let token = |value: Bson| PageToken(doc! {"n": value});
        assert!(token(f64::NAN.into()).is_same(&token(f64::NAN.into())));
        assert!(!token(1.into()).is_same(&token(1.0.into())));
    }
}
