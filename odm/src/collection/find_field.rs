//! `find(…).field(…)`: one field of the documents that match.

use std::fmt;
use std::marker::PhantomData;

use bson::raw::{RawBsonRef, RawDocument};
use bson::{Bson, Document as BsonDocument};

use super::call::Call;
use super::decode::said;
use super::{Find, ReadAs};
use crate::error::{DecodeError, Error, Result};
use crate::model::{Document, Embedded, Path, Segment};
use crate::query::compare::stored_path;
use crate::query::{Decode, Field, fields};

/// Reads one field of the documents that match: [`Find::field`].
#[must_use = "nothing is read until `all` or `first` is awaited"]
pub struct FindField<'s, M: Document, T> {
    call: Call<'s>,
    /// The names from the document to the field.
    names: Vec<String>,
    /// Reads a value as the field does.
    decode: fn(Bson) -> std::result::Result<T, bson::error::Error>,
    of: PhantomData<fn() -> (M, T)>,
}

impl<'s, M: Document> Find<'s, M> {
    /// Reads one field instead of whole documents; MongoDB sends only this field.
    ///
    /// [`distinct`](super::Collection::distinct) returns each value once. For several fields, derive a
    /// [`Projection`](crate::Projection) and [`select`](Self::select) it.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// let old = || books.find(|b| b.year.lt(1900)).sort(|b| b.year.asc());
    /// let titles: Vec<String> = old().field(|b| b.title).all().await?;
    /// assert_eq!(titles, ["Emma", "Walden"]);
    /// assert_eq!(old().field(|b| b.year).first().await?, Some(1815));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// A document without the field can only be read where the field is an `Option`: a `#[serde(default)]` is applied
    /// to whole documents. A field inside of a list has several values in each document, which is an error, too.
    pub fn field<T: 'static, E: Decode<T>>(
        self,
        field: impl FnOnce(<M as Embedded>::Fields<M>) -> Field<M, T, E>,
    ) -> FindField<'s, M, T> {
        let mut call = self.call;
        let names = call.keep(names(field(fields::<M>()).path()));
        let path = names.join(".");
        let mut projection = BsonDocument::new();
        if names.first().is_some_and(|name| name != "_id") {
            projection.insert("_id", 0);
        }
        projection.insert(path, 1);
        call.options().projection = Some(projection);
        FindField {
            call,
            names,
            decode: E::decode,
            of: PhantomData,
        }
    }
}

/// The names on the path of a field that stands in no list.
fn names(path: &Path) -> Result<Vec<String>> {
    stored_path(path).map_err(|it| it.to_error())?;
    let name = |segment: Segment| match segment {
        Segment::Name(name) => Some(name.into_owned()),
        _ => None,
    };
    let names: Option<Vec<_>> = path.segments().map(name).collect();
    names.ok_or_else(|| {
        Error::usage(
            "`field` reads one value of each document: name a field outside of lists; for the list itself leave out \
             `any()` and `at(…)`",
        )
        .with_path(path.to_string())
    })
}

impl<M: Document, T: 'static> FindField<'_, M, T> {
    /// Collects the field of all documents, or returns the first error.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// let years = books.find(|b| b.year.lt(1900)).field(|b| b.year).all().await?;
    /// assert_eq!(years.len(), 2);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn all(self) -> Result<Vec<T>> {
        let read = self.reader();
        let mut cursor = self.call.send().await?.cursor()?;
        let mut all = Vec::new();
        while let Some(raw) = cursor.next().await {
            all.push(read(raw?)?);
        }
        Ok(all)
    }

    /// Returns the field of the first document, if a document matches.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// let title = books.find(|b| b.year.eq(1815)).field(|b| b.title).first().await?;
    /// assert_eq!(title.as_deref(), Some("Emma"));
    /// # Ok(())
    /// # }
    /// ```
    pub async fn first(mut self) -> Result<Option<T>> {
        let read = self.reader();
        self.call.request.operation.only_first();
        let mut cursor = self.call.send().await?.cursor()?;
        match cursor.next().await {
            Some(raw) => read(raw?).map(Some),
            None => Ok(None),
        }
    }

    /// Reads the field of a document.
    fn reader(&self) -> impl Fn(&RawDocument) -> Result<T> + Send + use<M, T> {
        let (model, names, decode) = (self.call.model.name, self.names.clone(), self.decode);
        let read_as = ReadAs::of(&self.call);
        move |stored| {
            let current = read_as.current(stored)?;
            let document = &*current.raw;
            let value = at(document, &names).map_or(Ok(Bson::Null), Bson::try_from);
            value.and_then(decode).map_err(|failure| {
                let path = names.join(".");
                let message = match at(document, &names) {
                    Some(_) => said(&failure),
                    None => format!(
                        "a document has no field `{path}`: ask for `.exists(true)`, or read whole documents, which get the \
                         field's default"
                    ),
                };
                let error = DecodeError::new(None, message, Some(Box::new(failure)));
                Error::new(error).with_model(model).with_path(path)
            })
        }
    }
}

fn at<'d>(document: &'d RawDocument, names: &[String]) -> Option<RawBsonRef<'d>> {
    let (first, rest) = names.split_first()?;
    let value = document.get(first).ok().flatten()?;
    if rest.is_empty() {
        return Some(value);
    }
    at(value.as_document()?, rest)
}

impl<M: Document, T> fmt::Debug for FindField<'_, M, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.call, f)
    }
}
