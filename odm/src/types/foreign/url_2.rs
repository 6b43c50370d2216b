//! `Url` of [url] 2 as text.
//!
//! A `Url` writes itself as text, so a field needs no attribute if the url crate has its feature `serde`. This module is for programs
//! without it, `#[serde(with = "odm::url_2")]`, and stores the same text: the normalized URL, so equal ones are found.
//!
//! ```
//! use odm::prelude::*;
//! use url::Url;
//!
//! #[derive(Debug, Serialize, Deserialize, Document)]
//! #[odm(collection = "links", index(page))]
//! struct Link {
//!     #[serde(rename = "_id")]
//!     id: i32,
//!     page: Url,
//!     #[serde(with = "odm::url_2")]
//!     found_on: Url,
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let link = odm::query::fields::<Link>();
//! let page = Url::parse("https://example.org")?;
//! assert_eq!(link.page.eq(&page).to_document()?, doc! {"page": "https://example.org/"});
//! assert_eq!(link.found_on.eq(&page).to_document()?, doc! {"found_on": "https://example.org/"});
//! # let _ = link.page.starts_with("https:") & link.found_on.starts_with("https:");
//! # Ok(())
//! # }
//! ```

use url::Url;

use super::stored_as::{ConversionError, StoredAs};
use crate::model::{BsonType, TypeMeta};
use crate::query::kind::Text;
use crate::query::scalars::field_type;

/// How this module stores a URL.
#[doc(hidden)]
#[derive(Debug)]
pub enum AsText {}

serializer!(AsText);

field_type!([] Url, TypeMeta::scalar(&[BsonType::String]));

#[diagnostic::do_not_recommend]
impl Text for Url {}

impl StoredAs<Url> for AsText {
    type Stored = String;

    fn to_stored(value: &Url) -> Result<String, ConversionError> {
        Ok(value.as_str().to_owned())
    }

    fn from_stored(text: String) -> Result<Url, ConversionError> {
        Url::parse(&text)
            .map_err(|error| ConversionError::new(format!("{text:?} is not a URL: {error}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_read_back() {
        for text in [
            "https://example.org/a?b=c#d",
            "mailto:ada@example.org",
            "http://[::1]:8080/",
        ] {
            let url = Url::parse(text).unwrap();
            let stored = AsText::to_stored(&url).unwrap();
            assert_eq!(AsText::from_stored(stored), Ok(url));
        }
        let read: Result<Url, _> = AsText::from_stored("no URL".to_owned());
        assert!(read.is_err());
    }
}
