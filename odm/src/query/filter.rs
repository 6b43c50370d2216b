//! Filters, for `find` and the other verbs.

use std::fmt;
use std::marker::PhantomData;
use std::mem;
use std::ops::{BitAnd, BitAndAssign, BitOr, BitOrAssign, Not};

use bson::{Document, doc};

use super::deferred::Deferred;
use super::node::Node;
use crate::error::Result;
use crate::model::Embedded;
use crate::store::Condition;

/// A condition on documents of the model `M`.
///
/// The methods of [`Field`](super::Field) make filters; `&` and `|` join them, and `!` negates one. The methods
/// [`and`](Self::and), [`or`](Self::or) and [`not`](Self::not) do the same. `&&`, `||` and `==` don't work: Rust keeps them for `bool`.
/// [`to_document`](Self::to_document) shows the document that is sent.
///
/// ```
/// use odm::prelude::*;
/// use odm::query::fields;
///
/// #[derive(Serialize, Deserialize, Embedded)]
/// struct Book {
///     year: i32,
///     title: String,
/// }
///
/// let book = fields::<Book>();
/// let filter = book.year.gte(1900) & book.year.lt(2000) & !book.title.eq("Ulysses");
/// assert_eq!(
///     filter.to_document()?,
///     doc! {"year": {"$gte": 1900, "$lt": 2000}, "title": {"$ne": "Ulysses"}},
/// );
/// # Ok::<(), odm::Error>(())
/// ```
#[must_use = "a filter does nothing until it is given to `find` or another verb"]
pub struct Filter<M> {
    node: Result<Node, Deferred>,
    of: PhantomData<fn() -> M>,
}

impl<M> Filter<M> {
    pub(crate) fn from_node(node: Result<Node, Deferred>) -> Self {
        Self {
            node,
            of: PhantomData,
        }
    }

    pub(crate) fn into_node(self) -> Result<Node, Deferred> {
        self.node
    }

    /// The filter that every document matches: `{}`.
    ///
    /// ```
    /// use odm::query::Filter;
    /// struct Book;
    /// assert!(Filter::<Book>::all().to_document()?.is_empty());
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn all() -> Self {
        Self::from_node(Ok(Node::All))
    }

    /// Matches where every one of `filters` does; the same as joining them with `&`. A `None` among them adds no condition,
    /// for what a caller may leave out.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::query::fields;
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Book { year: i32 }
    /// let book = fields::<Book>();
    /// let filter = Filter::all_of([book.year.gt(1900), book.year.lt(2000)]);
    /// assert_eq!(filter.to_document()?, doc! {"year": {"$gt": 1900, "$lt": 2000}});
    ///
    /// let (from, to) = (Some(1900), None);
    /// let filter = Filter::all_of([
    ///     from.map(|year| book.year.gte(year)),
    ///     to.map(|year: i32| book.year.lt(year)),
    /// ]);
    /// assert_eq!(filter.to_document()?, doc! {"year": {"$gte": 1900}});
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn all_of<F: Into<Option<Self>>>(filters: impl IntoIterator<Item = F>) -> Self {
        let filters = filters.into_iter().filter_map(Into::into);
        let nodes: Result<Vec<_>, _> = filters.map(Self::into_node).collect();
        Self::from_node(nodes.and_then(Node::and))
    }

    /// Matches where at least one of `filters` does; nothing matches an empty list.
    ///
    /// ```
    /// use odm::prelude::*;
    /// use odm::query::fields;
    ///
    /// #[derive(Serialize, Deserialize, Embedded)]
    /// struct Book {
    ///     year: i32,
    /// }
    ///
    /// let book = fields::<Book>();
    /// let filter = Filter::any_of([1922, 1939].map(|y| book.year.eq(y)));
    /// assert_eq!(filter.to_document()?, doc! {"$or": [{"year": 1922}, {"year": 1939}]});
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn any_of(filters: impl IntoIterator<Item = Self>) -> Self {
        let nodes: Result<Vec<_>, _> = filters.into_iter().map(Self::into_node).collect();
        Self::from_node(nodes.and_then(Node::or))
    }

    /// Matches where none of `filters` does: `$nor`.
    ///
    /// ```
    /// use odm::prelude::*;
    /// use odm::query::fields;
    ///
    /// #[derive(Serialize, Deserialize, Embedded)]
    /// struct Book {
    ///     year: i32,
    /// }
    ///
    /// let book = fields::<Book>();
    /// let filter = Filter::none_of([book.year.lt(1900), book.year.gt(2000)]);
    /// assert_eq!(
    ///     filter.to_document()?,
    ///     doc! {"$nor": [{"year": {"$lt": 1900}}, {"year": {"$gt": 2000}}]},
    /// );
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn none_of(filters: impl IntoIterator<Item = Self>) -> Self {
        let nodes: Result<Vec<_>, _> = filters.into_iter().map(Self::into_node).collect();
        Self::from_node(nodes.and_then(Node::nor))
    }

    /// Matches where this filter and `other` do; the same as `self & other`.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::query::fields;
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Book { year: i32 }
    /// let book = fields::<Book>();
    /// let filter = book.year.gt(1900).and(book.year.lt(2000));
    /// assert_eq!(filter.to_document()?, doc! {"year": {"$gt": 1900, "$lt": 2000}});
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn and(self, other: Self) -> Self {
        self & other
    }

    /// Matches where this filter or `other` does; the same as `self | other`.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::query::fields;
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Book { title: String, year: i32 }
    /// let book = fields::<Book>();
    /// let filter = book.year.eq(1922).or(book.title.eq("Emma"));
    /// assert_eq!(filter.to_document()?, doc! {"$or": [{"year": 1922}, {"title": "Emma"}]});
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn or(self, other: Self) -> Self {
        self | other
    }

    /// Matches where this filter does not; the same as `!self`.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::query::fields;
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Book { title: String }
    /// let filter = fields::<Book>().title.eq("Emma").not();
    /// assert_eq!(filter.to_document()?, doc! {"title": {"$ne": "Emma"}});
    /// # Ok::<(), odm::Error>(())
    /// ```
    #[expect(
        clippy::should_implement_trait,
        reason = "the operator is implemented; the method ends a chain of conditions without parentheses"
    )]
    pub fn not(self) -> Self {
        !self
    }

    /// Matches by the text index of the collection: `{$text: {$search: words}}`.
    ///
    /// Words are joined by *or*, phrases stand in quotation marks, and a word behind `-` excludes documents. The model declares
    /// the index: `text(title(weight = 10), body)`. [`Sort::by_text_score`](super::Sort::by_text_score) sorts by relevance.
    ///
    /// ```
    /// use odm::prelude::*;
    /// use odm::query::{Filter, Sort};
    ///
    /// #[derive(Debug, Serialize, Deserialize, Document)]
    /// #[odm(collection = "articles", text(title(weight = 10), body))]
    /// struct Article {
    ///     #[serde(rename = "_id")]
    ///     id: i32,
    ///     title: String,
    ///     body: String,
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> odm::Result<()> {
    /// # let db = Db::memory();
    /// # db.sync(models![Article]).plan().await?.apply(Allow::CREATE).await?;
    /// let articles = db.collection::<Article>();
    /// # let article = |id, title: &str, body: &str| Article { id, title: title.into(), body: body.into() };
    /// # articles.insert_many([article(1, "Ships", "no whales"), article(2, "Whales", "of the sea")]).await?;
    /// let found = articles.find(|_| Filter::text("whale -fish")).sort(|_| Sort::by_text_score());
    /// assert_eq!(found.first().await?.map(|article| article.id), Some(2));
    /// # Ok(())
    /// # }
    /// ```
    pub fn text(words: impl Into<String>) -> Self {
        Self::from_node(Ok(Node::Raw(doc! {"$text": {"$search": words.into()}})))
    }

    /// Returns the document that is sent.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::query::fields;
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Book { title: String, year: i32 }
    /// let book = fields::<Book>();
    /// let filter = book.year.gte(1900) & book.title.starts_with("U");
    /// let expected = doc! {"year": {"$gte": 1900}, "title": {"$regex": "^U"}};
    /// assert_eq!(filter.to_document()?, expected);
    /// # Ok::<(), odm::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// A value can't be encoded, or MongoDB can't express a condition; the error names the field.
    pub fn to_document(&self) -> Result<Document> {
        self.clone().into_document()
    }

    /// The filter in the form that a store takes.
    pub(crate) fn into_condition(self) -> Result<Condition> {
        match self.node {
            Ok(node) => node.into_condition().map_err(|error| error.to_error()),
            Err(error) => Err(error.to_error()),
        }
    }

    /// [`to_document`](Self::to_document), without a copy.
    pub(crate) fn into_document(self) -> Result<Document> {
        self.node
            .and_then(Node::into_document)
            .map_err(|error| error.to_error())
    }
}

/// A closure that makes a [`Filter`] of the typed fields of `M`: `|book| book.year.gte(1900)`.
///
/// Every closure and function of that signature is one.
///
/// ```
/// use odm::prelude::*;
/// use odm::query::{FilterFn, fields};
///
/// #[derive(Serialize, Deserialize, Embedded)]
/// struct Book {
///     year: i32,
/// }
///
/// fn negated(condition: impl FilterFn<Book>) -> Filter<Book> {
///     !condition(fields::<Book>())
/// }
///
/// let filter = negated(|book| book.year.gte(1900));
/// assert_eq!(filter.to_document()?, doc! {"year": {"$not": {"$gte": 1900}}});
/// # Ok::<(), odm::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a condition on `{M}`",
    label = "write a closure, such as `|b| b.title.eq(\"…\")`",
    note = "a filter that exists already is given as `|_| filter`, and one written by hand as `|_| raw(doc! {{…}})`",
    note = "for one document by its id, there are `get(&id)` and `delete_by_id(&id)`"
)]
pub trait FilterFn<M: Embedded>: FnOnce(<M as Embedded>::Fields<M>) -> Filter<M> {}

#[diagnostic::do_not_recommend]
impl<M: Embedded, F: FnOnce(<M as Embedded>::Fields<M>) -> Filter<M>> FilterFn<M> for F {}

impl<M> BitAnd for Filter<M> {
    type Output = Self;

    fn bitand(self, other: Self) -> Self {
        Self::all_of([self, other])
    }
}

impl<M> BitOr for Filter<M> {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self::any_of([self, other])
    }
}

/// Adds a condition, for filters that grow step by step.
///
/// ```
/// use odm::prelude::*;
/// use odm::query::fields;
///
/// #[derive(Serialize, Deserialize, Embedded)]
/// struct Book {
///     title: String,
///     year: i32,
/// }
///
/// let book = fields::<Book>();
/// let mut filter = book.year.gte(1900);
/// for word in ["a", "b"] {
///     filter &= book.title.contains(word);
/// }
/// filter |= book.year.eq(1865);
/// assert!(filter.to_document()?.contains_key("$or"));
/// # Ok::<(), odm::Error>(())
/// ```
impl<M> BitAndAssign for Filter<M> {
    fn bitand_assign(&mut self, other: Self) {
        let before = mem::replace(self, Self::from_node(Ok(Node::All)));
        *self = before & other;
    }
}

/// Adds an alternative.
impl<M> BitOrAssign for Filter<M> {
    fn bitor_assign(&mut self, other: Self) {
        let before = mem::replace(self, Self::from_node(Ok(Node::All)));
        *self = before | other;
    }
}

impl<M> Not for Filter<M> {
    type Output = Self;

    fn not(self) -> Self {
        Self::from_node(self.node.and_then(Node::not))
    }
}

impl<M> Clone for Filter<M> {
    fn clone(&self) -> Self {
        Self::from_node(self.node.clone())
    }
}

impl<M> fmt::Debug for Filter<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.to_document() {
            Ok(document) => write!(f, "Filter({document})"),
            Err(error) => write!(f, "Filter({error})"),
        }
    }
}
