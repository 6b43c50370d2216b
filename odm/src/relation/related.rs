//! Filters and sorts of a find by related documents.

use serde::de::DeserializeOwned;

use super::link::IntoLink;
use crate::collection::Find;
use crate::exec::Quantifier;
use crate::model::{Document, Embedded};
use crate::query::{FilterFn, SortFn, fields};

impl<M: Document, T: DeserializeOwned + 'static, J> Find<'_, M, T, J> {
    /// Reads only the documents that have a related document which matches.
    ///
    /// For a reference, and for `has_one` and `has_many`, this is a semi-join: one query finds the related documents, and
    /// their ids become a condition of the find. If the ids do not fit a command, and for `has_squillions`, one pipeline
    /// looks up the related documents of each document by the index of the relation.
    ///
    /// The find is counted, read in pages, loaded and joined as any other. Only [`command`](Find::command) fails: the command
    /// is known when it is sent.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/authors.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> odm::Result<()> {
    /// # let (authors, books) = two_authors().await?;
    /// let rows = books.find_all().where_any(|b| b.author, |a| a.born.lt(1800)).all().await?;
    /// assert_eq!(rows.len(), 2);
    /// # Ok(())
    /// # }
    /// ```
    pub fn where_any<L: IntoLink<M>>(
        self,
        relation: impl FnOnce(<M as Embedded>::Fields<M>) -> L,
        condition: impl FilterFn<L::Target>,
    ) -> Self {
        self.related(Quantifier::Any, relation, condition)
    }

    /// Reads only the documents that have no related document which matches; see [`where_any`](Self::where_any).
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/authors.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> odm::Result<()> {
    /// # let (authors, books) = two_authors().await?;
    /// let late = authors.find_all().where_none(|a| a.books, |b| b.year.lt(1900)).all().await?;
    /// assert_eq!(late[0].name, "Joyce");
    /// # Ok(())
    /// # }
    /// ```
    pub fn where_none<L: IntoLink<M>>(
        self,
        relation: impl FnOnce(<M as Embedded>::Fields<M>) -> L,
        condition: impl FilterFn<L::Target>,
    ) -> Self {
        self.related(Quantifier::None, relation, condition)
    }

    /// Reads only the documents whose related documents all match; see [`where_any`](Self::where_any).
    ///
    /// A document without related documents is read. A dangling reference does not match.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/authors.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> odm::Result<()> {
    /// # let (authors, books) = two_authors().await?;
    /// let early = authors.find_all().where_all(|a| a.books, |b| b.year.lt(1900)).all().await?;
    /// assert_eq!(early[0].name, "Austen");
    /// # Ok(())
    /// # }
    /// ```
    pub fn where_all<L: IntoLink<M>>(
        self,
        relation: impl FnOnce(<M as Embedded>::Fields<M>) -> L,
        condition: impl FilterFn<L::Target>,
    ) -> Self {
        self.related(Quantifier::All, relation, condition)
    }

    /// Sorts by a field of the related document, before the sort of the find.
    ///
    /// One pipeline looks up the related document of every document that matches, and sorts them all: no index serves
    /// the sort. Of several related documents the first in this order counts; a document without one sorts as null.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/authors.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> odm::Result<()> {
    /// # let (authors, books) = two_authors().await?;
    /// let row = books.find_all().order_by_related(|b| b.author, |a| a.born.desc()).first().await?;
    /// assert_eq!(row.map(|book| book.id), Some(3));
    /// # Ok(())
    /// # }
    /// ```
    pub fn order_by_related<L: IntoLink<M>>(
        mut self,
        relation: impl FnOnce(<M as Embedded>::Fields<M>) -> L,
        sort: impl SortFn<L::Target>,
    ) -> Self {
        let link = relation(fields::<M>()).into_link();
        let sort = sort(fields::<L::Target>()).to_document();
        let sort = sort.map_err(|error| error.with_model(L::Target::model().name));
        let added = link.and_then(|link| {
            self.call.related.get_or_insert_default().order(link, sort?);
            Ok(())
        });
        self.call.keep(added);
        self
    }

    fn related<L: IntoLink<M>>(
        mut self,
        quantifier: Quantifier,
        relation: impl FnOnce(<M as Embedded>::Fields<M>) -> L,
        condition: impl FilterFn<L::Target>,
    ) -> Self {
        let link = relation(fields::<M>()).into_link();
        let filter = condition(fields::<L::Target>()).into_document();
        let filter = filter.map_err(|error| error.with_model(L::Target::model().name));
        let added = link.and_then(|link| {
            let related = self.call.related.get_or_insert_default();
            related.filter(link, quantifier, filter?);
            Ok(())
        });
        self.call.keep(added);
        self
    }
}
