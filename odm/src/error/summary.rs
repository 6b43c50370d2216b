//! Summaries that their field can't store.

use std::fmt;

use bson::Bson;

use super::{Error, Kind};

/// A summary that its field can't store.
#[derive(Debug)]
pub(crate) struct SummaryError {
    /// What was computed: "sum of `reviews.helpful`".
    pub(crate) what: String,
    pub(crate) value: Bson,
    /// The stored path of the key of the document that holds the summary, and its value.
    pub(crate) key: String,
    pub(crate) of: Bson,
    /// The types that the field can store.
    pub(crate) types: String,
}

impl fmt::Display for SummaryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            what,
            value,
            key,
            of,
            types,
        } = self;
        write!(
            f,
            "the {what} is {value} for the {key} {of}, and the field can't store that as {types}: declare it as a type that can, \
             or correct the documents"
        )
    }
}

impl From<SummaryError> for Kind {
    fn from(error: SummaryError) -> Self {
        Self::Summary(error)
    }
}

impl Error {
    /// Whether a summary, such as a `sum_of`, has a value that its field can't store. No summary of the relation was written.
    /// [`path`](Self::path) is that of the field.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/summaries.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = two_products().await?;
    /// // Another program has written half a vote.
    /// let foreign = doc! {"_id": 3, "product": 1, "stars": 4, "helpful": 0.5};
    /// db.run_command(doc! {"insert": "reviews", "documents": [foreign], "bypassDocumentValidation": true}).await?;
    ///
    /// let error = db.collection::<Product>().refresh_summaries().await.unwrap_err();
    /// assert!(error.is_unfit_summary());
    /// assert_eq!(error.path(), Some("helpful"));
    /// # Ok(())
    /// # }
    /// ```
    pub fn is_unfit_summary(&self) -> bool {
        matches!(self.kind(), Kind::Summary(_))
    }
}
