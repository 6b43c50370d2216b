//! `distinct`.

use std::fmt;
use std::marker::PhantomData;

use bson::Bson;
use serde::de::DeserializeOwned;

use super::Collection;
use super::call::{Call, filter};
use super::decode::said;
use super::options::options;
use crate::codec::decode;
use crate::error::{DecodeError, Error, Result};
use crate::model::{Document, Embedded};
use crate::query::{Decode, Field, FilterFn, fields};
use crate::store::Operation;

/// Returns the distinct values of one field: [`Collection::distinct`].
#[must_use = "nothing is read until it is awaited"]
pub struct Distinct<'s, M: Document, T> {
    call: Call<'s>,
    path: String,
    /// Reads a value as the field does.
    decode: fn(Bson) -> std::result::Result<T, bson::error::Error>,
    of: PhantomData<fn() -> (M, T)>,
}

impl<M: Document> Collection<M> {
    /// Returns the distinct values of a field among the documents that match. For an array field,
    /// these are its elements: choose their type with [`with_type`](Distinct::with_type).
    ///
    /// The values of an optional field have the type `Option`, because some may be `null`. Where an index serves the
    /// command, MongoDB returns `null` for documents without the field, too. A `null` that the type can't hold is left out.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// let mut years = books.distinct(|b| b.year, |b| b.year.lt(1900)).await?;
    /// years.sort_unstable();
    /// assert_eq!(years, [1815, 1854]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn distinct<'s, T: 'static, E: Decode<T>>(
        &self,
        field: impl FnOnce(<M as Embedded>::Fields<M>) -> Field<M, T, E>,
        condition: impl FilterFn<M>,
    ) -> Distinct<'s, M, T> {
        let path = field(fields::<M>()).path().to_string();
        let operation = filter::<M>(condition).map(|filter| Operation::Distinct {
            path: path.clone(),
            filter,
        });
        Distinct {
            call: self.try_call(operation),
            path,
            decode: E::decode,
            of: PhantomData,
        }
    }
}

impl<'s, M: Document, T: 'static> Distinct<'s, M, T> {
    options!(session command hint comment collation max_time read_concern read_preference);

    /// Reads the values as another type.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// let titles = books.distinct(|b| b.title, |b| b.year.lt(1850)).with_type::<odm::bson::Bson>().await?;
    /// assert_eq!(titles, [odm::bson::Bson::from("Emma")]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn with_type<U: DeserializeOwned + 'static>(self) -> Distinct<'s, M, U> {
        Distinct {
            call: self.call,
            path: self.path,
            decode: decode::value,
            of: PhantomData,
        }
    }

    async fn run(self) -> Result<Vec<T>> {
        let (model, path, decode) = (self.call.model.name, self.path, self.decode);
        let values = self.call.send().await?.values()?;
        let mut read = Vec::with_capacity(values.len());
        for value in values {
            match decode(value.clone()) {
                Ok(value) => read.push(value),
                // An index has this key for a document without the field.
                Err(_) if value == Bson::Null => {}
                Err(failure) => {
                    let message = format!(
                        "{value} can't be read as the type of the field: {}; name the type of its values by `with_type`",
                        said(&failure)
                    );
                    let error = DecodeError::new(None, message, Some(Box::new(failure)));
                    return Err(Error::new(error).with_model(model).with_path(path));
                }
            }
        }
        Ok(read)
    }
}

impl<'s, M: Document, T: 'static> IntoFuture for Distinct<'s, M, T> {
    type Output = Result<Vec<T>>;
    type IntoFuture = futures_core::future::BoxFuture<'s, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.run())
    }
}

impl<M: Document, T> fmt::Debug for Distinct<'_, M, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.call, f)
    }
}
