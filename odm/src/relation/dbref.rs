//! Joins of DBRefs, and reads of the document that one leads to.

use bson::raw::RawBsonRef;

use super::branch::IntoBranch;
use super::reference::{AtMostOneKey, ById, ManyKeys, OneKey, Pointer, Reference, RefersBy};
use super::reference_join::{Joins, JoinsDeeper, ReferenceJoin};
use crate::collection::Db;
use crate::error::Result;
use crate::model::{Document, Embedded, Projection};
use crate::query::FilterFn;
use crate::types::dbref::{DbRef, DbRefFields};

macro_rules! references {
    ($($reference:ty: $arity:ty;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<T: Document> Reference for $reference {
            type Target = T;
            type By = ById;
            type Arity = $arity;

            fn pointer(stored: RawBsonRef<'_>) -> Pointer<'_> {
                pointer(stored, T::model().collection)
            }
        }
    )*};
}

references! {
    DbRef<T>: OneKey;
    Option<DbRef<T>>: AtMostOneKey;
    Vec<DbRef<T>>: ManyKeys;
}

/// Reads a DBRef. Where it leads to another collection, the row holds another variant of an enum.
fn pointer<'a>(stored: RawBsonRef<'a>, collection: &str) -> Pointer<'a> {
    let Some(document) = stored.as_document() else {
        return Pointer::Malformed;
    };
    let field = |name: &str| document.get(name).ok().flatten();
    match field("$ref").and_then(RawBsonRef::as_str) {
        None => Pointer::Malformed,
        Some(name) if name != collection => Pointer::Elsewhere,
        Some(_) => match field("$id") {
            None => Pointer::Malformed,
            Some(key) => Pointer::To {
                key,
                database: field("$db").and_then(RawBsonRef::as_str),
            },
        },
    }
}

type Target<V, E> = <<E as RefersBy<V>>::Reference as Reference>::Target;

impl<M, V, T: Document, E: RefersBy<V>> DbRefFields<M, V, T, E> {
    /// Joins only matching documents; any other reference becomes [`Resolved::Excluded`](super::Resolved::Excluded).
    ///
    /// ```
    /// # use odm::dbref::DbRef;
    /// # use odm::prelude::*;
    /// # #[derive(Serialize, Deserialize, Document)]
    /// # #[odm(collection = "publishers")]
    /// # struct Publisher { #[serde(rename = "_id")] id: i32, name: String }
    /// # #[derive(Serialize, Deserialize, Document)]
    /// # #[odm(collection = "books")]
    /// # struct Book { #[serde(rename = "_id")] id: i32, publisher: DbRef<Publisher> }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = Db::memory();
    /// # let publisher = Publisher { id: 7, name: "Ace".to_owned() };
    /// # db.collection::<Publisher>().insert_one(&publisher).await?;
    /// # let books = db.collection::<Book>();
    /// # books.insert_one(&Book { id: 1, publisher: DbRef::to(&publisher) }).await?;
    /// let find = books.find_all();
    /// let rows = find.join(|b| b.publisher.filter(|p| p.name.eq("Wiley"))).all().await?;
    /// assert!(rows[0].publisher().found().is_none());
    /// assert_eq!(rows[0].publisher().missing(), Some(&7));
    /// # Ok(())
    /// # }
    /// ```
    pub fn filter(self, condition: impl FilterFn<Target<V, E>>) -> Joins<M, V, E> {
        self.into_whole().filter(condition)
    }

    /// Reads the documents as `P`; MongoDB returns only its fields.
    ///
    /// ```
    /// # use odm::dbref::DbRef;
    /// # use odm::prelude::*;
    /// # #[derive(Serialize, Deserialize, Document)]
    /// # #[odm(collection = "publishers")]
    /// # struct Publisher { #[serde(rename = "_id")] id: i32, name: String }
    /// # #[derive(Serialize, Deserialize, Document)]
    /// # #[odm(collection = "books")]
    /// # struct Book { #[serde(rename = "_id")] id: i32, publisher: DbRef<Publisher> }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = Db::memory();
    /// # let publisher = Publisher { id: 7, name: "Ace".to_owned() };
    /// # db.collection::<Publisher>().insert_one(&publisher).await?;
    /// # let books = db.collection::<Book>();
    /// # books.insert_one(&Book { id: 1, publisher: DbRef::to(&publisher) }).await?;
    /// #[derive(Deserialize, Projection)]
    /// #[odm(of = Publisher)]
    /// struct Named { name: String }
    ///
    /// let rows = books.find_all().join(|b| b.publisher.select::<Named>()).all().await?;
    /// assert_eq!(rows[0].publisher().found().map(|it| it.name.as_str()), Some("Ace"));
    /// # Ok(())
    /// # }
    /// ```
    pub fn select<P>(self) -> Joins<M, V, E, P>
    where
        P: Projection<Of = Target<V, E>> + Send + Sync + 'static,
    {
        self.into_whole().select()
    }

    /// Joins a relation of the documents on the other side to them.
    ///
    /// ```
    /// # use odm::dbref::DbRef;
    /// # use odm::prelude::*;
    /// # #[derive(Serialize, Deserialize, Document)]
    /// # #[odm(collection = "cities")]
    /// # struct City { #[serde(rename = "_id")] id: String }
    /// # #[derive(Serialize, Deserialize, Document)]
    /// # #[odm(collection = "publishers")]
    /// # struct Publisher { #[serde(rename = "_id")] id: i32, city: Ref<City> }
    /// # #[derive(Serialize, Deserialize, Document)]
    /// # #[odm(collection = "books")]
    /// # struct Book { #[serde(rename = "_id")] id: i32, publisher: DbRef<Publisher> }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = Db::memory();
    /// # let city = City { id: "Boston".to_owned() };
    /// # db.collection::<City>().insert_one(&city).await?;
    /// # let publisher = Publisher { id: 7, city: Ref::to(&city) };
    /// # db.collection::<Publisher>().insert_one(&publisher).await?;
    /// # let books = db.collection::<Book>();
    /// # books.insert_one(&Book { id: 1, publisher: DbRef::to(&publisher) }).await?;
    /// let rows = books.find_all().join(|b| b.publisher.join(|p| p.city)).all().await?;
    /// let publisher = rows[0].publisher().found().ok_or("no publisher")?;
    /// assert_eq!(publisher.city().found().map(|city| city.id.as_str()), Some("Boston"));
    /// # Ok(())
    /// # }
    /// ```
    pub fn join<B: IntoBranch<Target<V, E>>>(
        self,
        relation: impl FnOnce(<Target<V, E> as Embedded>::Fields<Target<V, E>>) -> B,
    ) -> JoinsDeeper<M, V, E, B> {
        self.into_whole().join(relation)
    }
}

#[diagnostic::do_not_recommend]
impl<M: 'static, V, T: Document, E: RefersBy<V>> IntoBranch<M> for DbRefFields<M, V, T, E> {
    type Branch = Joins<M, V, E>;

    fn into_branch(self) -> Self::Branch {
        ReferenceJoin::new(self.into_whole().path())
    }
}

impl Db {
    /// Reads the document that a DBRef leads to, from the database that it names or else from this one.
    ///
    /// This is one command for each call; a join reads the documents of many references with one.
    ///
    /// ```
    /// use odm::dbref::DbRef;
    /// use odm::prelude::*;
    ///
    /// #[derive(Debug, PartialEq, Serialize, Deserialize, Document)]
    /// #[odm(collection = "creators")]
    /// struct Creator {
    ///     #[serde(rename = "_id")]
    ///     id: i32,
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> odm::Result<()> {
    /// let db = Db::memory();
    /// let creators = db.database("users").collection::<Creator>();
    /// creators.insert_one(&Creator { id: 7 }).await?;
    ///
    /// let creator = DbRef::<Creator>::from(7).in_database("users");
    /// assert_eq!(db.dereference(&creator).await?, Some(Creator { id: 7 }));
    /// assert_eq!(db.dereference(&DbRef::<Creator>::from(7)).await?, None);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn dereference<T: Document>(&self, reference: &DbRef<T>) -> Result<Option<T>> {
        let db = match reference.database() {
            Some(name) => self.database(name),
            None => self.clone(),
        };
        db.collection::<T>().get(reference.id()).await
    }
}
