//! Searches in keywords that are computed from other fields.

use bson::Bson;

use super::array::all_of;
use super::field::Field;
use super::filter::Filter;
use super::node::Node;
use super::role::{Keywords, Tagged};
use crate::model::keywords::search_terms;

/// How keywords are computed; a derive implements it for each such field.
pub trait KeywordsOf: 'static {
    /// The language of the text, as a text index names it.
    const LANGUAGE: &'static str;
}

impl<M, S, N: KeywordsOf, E> Field<M, S, Tagged<Keywords<N>, E>> {
    /// Matches documents that have all words of `text`, which is split, folded and stemmed as the keywords are:
    /// `{words: {$all: ["run", "shoe"]}}`. Stop words do not count; a text of nothing else matches no document.
    ///
    /// ```
    /// use odm::prelude::*;
    /// use odm::query::fields;
    ///
    /// #[derive(Serialize, Deserialize, Document)]
    /// #[odm(collection = "articles")]
    /// struct Article {
    ///     #[serde(rename = "_id")]
    ///     id: i32,
    ///     title: String,
    ///     #[serde(default)]
    ///     #[odm(keywords(from(title), language = "english", max = 50))]
    ///     words: Vec<String>,
    /// }
    ///
    /// let article = fields::<Article>();
    /// let filter = article.words.search("the running shoes");
    /// assert_eq!(filter.to_document()?, doc! {"words": {"$all": ["run", "shoe"]}});
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn search(&self, text: &str) -> Filter<M> {
        let words = search_terms(text, N::LANGUAGE);
        let words = words.into_iter().map(Bson::from).collect();
        Filter::from_node(all_of(self.path().to_string().into(), words))
    }

    /// Matches documents that have one of the words of `text`: `{words: {$in: ["run", "shoe"]}}`. See
    /// [`search`](Self::search).
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::query::fields;
    /// # #[derive(Serialize, Deserialize, Document)]
    /// # #[odm(collection = "articles")]
    /// # struct Article {
    /// #     #[serde(rename = "_id")] id: i32,
    /// #     title: String,
    /// #     #[serde(default)]
    /// #     #[odm(keywords(from(title), language = "english", max = 50))]
    /// #     words: Vec<String>,
    /// # }
    /// let filter = fields::<Article>().words.search_any("the running shoes");
    /// assert_eq!(filter.to_document()?, doc! {"words": {"$in": ["run", "shoe"]}});
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn search_any(&self, text: &str) -> Filter<M> {
        let words = search_terms(text, N::LANGUAGE);
        let words = words.into_iter().map(Bson::from).collect();
        Filter::from_node(Ok(Node::operator(
            self.path().to_string().into(),
            "$in",
            Bson::Array(words),
        )))
    }
}
