//! [`PageToken`]: the end of a page as text.

use std::fmt;
use std::str::FromStr;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bson::raw::RawDocument;
use bson::{Bson, Document};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::{Key, keys, values};
use crate::error::{Error, Result};

/// The end of a page, for a client that asks for the next one: text that is safe in a URL, made by
/// [`Find::page_token`](crate::collection::Find::page_token) and given to
/// [`Find::after_token`](crate::collection::Find::after_token).
///
/// It holds the values of the sort's fields and the `_id` of the last document, as BSON in the base64 of URLs, so the next
/// page begins at the right place even if that document was changed or deleted meanwhile. A token is neither encrypted nor
/// signed: clients can read and change these values, and thereby begin a page anywhere in the order, but reach no documents
/// that the filter leaves out. Values are compared as data: none becomes an operator.
///
/// It serializes as a string, and parses from one.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let (db, books) = three_books().await?;
/// use odm::collection::PageToken;
///
/// let by_year = || books.find_all().sort(|b| b.year.asc());
/// let first = by_year().limit(2).all().await?;
/// let link = format!("/books?after={}", by_year().page_token(&first[1])?);
///
/// let token: PageToken = link.trim_start_matches("/books?after=").parse()?;
/// let second = by_year().after_token(&token).limit(2).all().await?;
/// assert_eq!((second.len(), second[0].id), (1, 3));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct PageToken(Document);

impl PageToken {
    /// The token of a document in this sort.
    pub(in crate::collection) fn new(sort: &Document, last: &RawDocument) -> Result<Self> {
        let keys = keys(sort)?;
        let values = values(&keys, last)?;
        let paths = keys.into_iter().map(|key| key.path);
        Ok(Self(paths.zip(values).collect()))
    }

    /// The values of the keys.
    pub(super) fn values(self, keys: &[Key]) -> Result<Vec<Bson>> {
        if !self.0.keys().eq(keys.iter().map(|key| &key.path)) {
            let paths: Vec<&str> = keys.iter().map(|key| key.path.as_str()).collect();
            return Err(Error::usage(format!(
                "the page token belongs to another query: this one sorts by {}",
                paths.join(", ")
            )));
        }
        let values = keys.iter().zip(self.0);
        values
            .map(|(key, (_, value))| key.comparable(value))
            .collect()
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
            Error::usage("the text is not a page token: give back one of `page_token` unchanged")
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
    use bson::{doc, rawdoc};

    use super::PageToken;

    #[test]
    fn tokens_are_read_back() {
        let sort = doc! {"size.h": -1, "name": 1};
        let last = rawdoc! {"_id": 7, "name": "postcard", "size": {"h": 10.5}};
        let token = PageToken::new(&sort, &last).unwrap();
        assert_eq!(token.0, doc! {"size.h": 10.5, "name": "postcard", "_id": 7});
        let text = token.to_string();
        let is_safe = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
        assert!(text.chars().all(is_safe), "{text}");
        assert_eq!(text.parse::<PageToken>().unwrap(), token);
    }

    #[test]
    fn other_text_is_refused() {
        let token = PageToken::new(&doc! {}, &rawdoc! {"_id": 7}).unwrap();
        let mut shortened = token.to_string();
        shortened.truncate(8);
        for text in ["", "5", "{}", "BQAAAA", "____", &shortened] {
            let error = text.parse::<PageToken>().unwrap_err();
            assert!(error.is_usage(), "{text}: {error}");
        }
    }
}
