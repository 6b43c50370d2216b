//! The pages of a find.

use bson::{Bson, Document as BsonDocument};
use serde::de::DeserializeOwned;

use super::place::{Given, Place, keys_of, token};
use super::{Page, PageToken, Paging, can_not_continue};
use crate::collection::call::Call;
use crate::collection::{Find, ReadAs};
use crate::error::{Error, Result};
use crate::model::Document;

impl<M: Document, T: DeserializeOwned + 'static, J> Find<'_, M, T, J> {
    /// The documents of one page: `size` of them, where page 1 is the first.
    ///
    /// The server reads and skips all pages before it, so late pages are slow; [`after`](Self::after) is not. The sort is
    /// continued by `_id`, so that documents which are equal in it have an order: an index of the same fields and the `_id`
    /// serves it, and without one MongoDB sorts in memory ([`Explain::sorts_in_memory`](crate::collection::Explain)). A sort
    /// that has all fields of a unique index stays as it is: the model declares the index, and sync must have created it. [`count`](Self::count) of the same query counts the
    /// documents of all pages.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # #[derive(Debug, Serialize, Deserialize, Document)]
    /// # #[odm(collection = "books")]
    /// # struct Book { #[serde(rename = "_id")] id: i32, year: i32 }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> odm::Result<()> {
    /// # let books = Db::memory().collection::<Book>();
    /// # books.insert_many((1..=5).map(|id| Book { id, year: 1900 })).await?;
    /// let found = || books.find(|b| b.year.gte(1900));
    /// let page = found().sort(|b| b.year.desc()).page(3, 2).all().await?;
    /// assert_eq!(page[0].id, 1);
    /// assert_eq!(found().count().await?.div_ceil(2), 3);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The number or the size is 0.
    #[doc(alias = "paginate")]
    #[doc(alias = "offset")]
    pub fn page(mut self, number: u64, size: u64) -> Self {
        let before = number
            .checked_sub(1)
            .and_then(|before| before.checked_mul(size));
        if size > 0
            && let Some(before) = before
        {
            self.call.paging = Some(Box::new(Paging::Numbered));
            return self.skip(before).limit(size);
        }
        let refusal = Error::usage(format!(
            "page number and size must be at least 1, not {number} and {size}"
        ));
        self.call.error.get_or_insert(refusal);
        self
    }

    /// The documents behind `last` in the order of the sort, for pages of which each begins where the last one ended; `None`
    /// begins with the first document.
    ///
    /// The filter names the place, so a page costs the same wherever it is, and documents that are inserted or deleted between
    /// two pages move no others. The sort is continued by `_id`, to make it unique, as that of [`page`](Self::page): an index
    /// of the same fields and the `_id` serves it.
    ///
    /// The place is in the values that are stored, which the struct may not show: a missing field reads as its default, and
    /// sorts as null. So unless the sort is by `_id` alone, one more query reads `last` by its `_id`;
    /// [`page_after`](Self::page_after) needs none. If `last` was changed or deleted meanwhile, its struct says where it was.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> odm::Result<()> {
    /// #[derive(Debug, Serialize, Deserialize, Document)]
    /// #[odm(collection = "books", index(year = desc, id = desc))]
    /// struct Book {
    ///     #[serde(rename = "_id")]
    ///     id: i32,
    ///     year: i32,
    /// }
    ///
    /// # let books = Db::memory().collection::<Book>();
    /// # books.insert_many((1..=5).map(|id| Book { id, year: 1900 + id / 3 })).await?;
    /// let mut last = None;
    /// let mut ids = Vec::new();
    /// loop {
    ///     let newest = books.find_all().sort(|b| b.year.desc());
    ///     let page = newest.after(last.as_ref()).limit(2).all().await?;
    ///     ids.extend(page.iter().map(|book| book.id));
    ///     last = page.into_iter().last();
    ///     if last.is_none() {
    ///         break;
    ///     }
    /// }
    /// assert_eq!(ids, [5, 4, 3, 2, 1]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The sort can't be continued: by a field that holds an array, or not by the values of fields (`$meta`). If a field's
    /// type allows arrays, such as `Bson`, a query looks for one before each page. `last` was changed or deleted, and a field
    /// of the sort has a default or is stored by a conversion.
    #[doc(alias = "keyset")]
    #[doc(alias = "cursor")]
    pub fn after<'a>(mut self, last: impl Into<Option<&'a M>>) -> Self
    where
        M: 'a,
    {
        match Paging::after(last.into()) {
            Ok(paging) => self.call.paging = Some(Box::new(paging)),
            Err(error) => {
                self.call.error.get_or_insert(error);
            }
        }
        self
    }

    /// The documents after the place of a [`PageToken`], as [`after`](Self::after) returns those after a document; `None`
    /// begins with the first document.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// let newest = || books.find_all().sort(|b| b.year.desc());
    /// let first = newest().page_after(None, 1).await?;
    /// let others = newest().after_token(first.next.as_ref()).all().await?;
    /// assert_eq!(others.iter().map(|book| book.id).collect::<Vec<_>>(), [2, 1]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The token belongs to a query with another sort ([`Error::is_page_token`]). Those of [`after`](Self::after).
    pub fn after_token<'a>(mut self, token: impl Into<Option<&'a PageToken>>) -> Self {
        let place = token.into().cloned().map(Place::Token);
        self.call.paging = Some(Box::new(Paging::After(place)));
        self
    }

    /// Makes the token of a document that this query returned: a client sends it back for the documents
    /// [behind it](Self::after_token). The sort of the query must be set.
    ///
    /// It reads the document by its `_id`, as [`after`](Self::after) does; [`page_after`](Self::page_after) makes tokens
    /// without another query.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// let by_title = || books.find_all().sort(|b| b.title.asc());
    /// let first = by_title().limit(1).all().await?;
    /// let token = by_title().page_token(&first[0]).await?;
    /// assert_eq!(by_title().after_token(&token).all().await?.len(), 2);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As those of [`after`](Self::after).
    pub async fn page_token(mut self, last: &M) -> Result<PageToken> {
        let model = self.call.model.name;
        let given = Given::new(last);
        let token = async {
            let keys = keys_of(&self.call)?;
            token(&mut self.call, &given?, &keys).await
        };
        token.await.map_err(|error: Error| error.with_model(model))
    }
}

impl<M: Document, T: DeserializeOwned + 'static> Find<'_, M, T> {
    /// At most `size` documents after the place of a token, with the token of the page after them; `None` begins with the
    /// first document.
    ///
    /// It is [`after`](Self::after) for callers that no longer have the last document, such as a web service. The token is
    /// made of what MongoDB returned.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// let mut ids = Vec::new();
    /// let mut token = None;
    /// loop {
    ///     let newest = books.find_all().sort(|b| b.year.desc());
    ///     let page = newest.page_after(token.as_ref(), 2).await?;
    ///     ids.extend(page.items.iter().map(|book| book.id));
    ///     token = page.next;
    ///     if token.is_none() {
    ///         break;
    ///     }
    /// }
    /// assert_eq!(ids, [3, 2, 1]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As those of [`after`](Self::after) and [`after_token`](Self::after_token); the size is 0; the projection leaves out a
    /// field of the sort.
    pub async fn page_after<'a>(
        self,
        token: impl Into<Option<&'a PageToken>>,
        size: u64,
    ) -> Result<Page<T>> {
        let find = self.after_token(token);
        let model = find.call.model.name;
        read_page(find.call, size)
            .await
            .map_err(|error| error.with_model(model))
    }
}

/// Reads a page and one document more, which says whether another page follows.
async fn read_page<T: DeserializeOwned>(mut call: Call<'_>, size: u64) -> Result<Page<T>> {
    if let Some(error) = call.error.take() {
        return Err(error);
    }
    if size == 0 {
        let message = "the size of a page must be at least 1";
        return Err(Error::usage(message));
    }
    let most = i64::try_from(size).unwrap_or(i64::MAX).saturating_add(1);
    call.options().limit = Some(most);
    let keys = keys_of(&call)?;
    if let Some(projection) = &call.request.options.projection
        && let Some(key) = keys.iter().find(|key| !shows(projection, &key.path))
    {
        let reason = "the projection omits it, and the page token needs it";
        return Err(can_not_continue(&key.path, reason));
    }
    let read_as = ReadAs::of(&call);
    let mut cursor = call.send().await?.cursor()?;
    let mut page = Page {
        items: Vec::new(),
        next: None,
    };
    let mut last = None;
    for place in 1.. {
        let Some(raw) = cursor.next().await.transpose()? else {
            break;
        };
        if place > size {
            page.next = last.transpose()?;
            break;
        }
        if place == size {
            last = Some(PageToken::new(&keys, raw));
        }
        page.items.push(read_as.decode(raw)?);
    }
    Ok(page)
}

/// Whether documents in this projection have the field as it is stored.
fn shows(projection: &BsonDocument, path: &str) -> bool {
    if path == "_id" {
        return projection.get("_id").is_none_or(is_one);
    }
    let is_at = |name: &str| {
        let inside = path.strip_prefix(name);
        inside.is_some_and(|inside| inside.is_empty() || inside.starts_with('.'))
    };
    let others = projection.iter().filter(|(name, _)| *name != "_id");
    let others: Vec<_> = others.collect();
    if others.iter().all(|(_, value)| is_zero(value)) {
        return !others.iter().any(|(name, _)| is_at(name));
    }
    let mut others = others.iter();
    others.any(|(name, value)| is_at(name) && is_one(value))
}

fn is_zero(value: &Bson) -> bool {
    matches!(
        value,
        Bson::Int32(0) | Bson::Int64(0) | Bson::Boolean(false)
    ) || matches!(value, Bson::Double(number) if *number == 0.0)
}

fn is_one(value: &Bson) -> bool {
    matches!(
        value,
        Bson::Int32(_) | Bson::Int64(_) | Bson::Double(_) | Bson::Boolean(_)
    ) && !is_zero(value)
}
