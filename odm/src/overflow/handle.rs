//! The overflow of a list.

use std::borrow::Borrow;
use std::fmt;
use std::future::IntoFuture;

use bson::raw::RawDocument;
use bson::{Bson, Document, doc};
use futures_core::future::BoxFuture;

use super::items::FindItems;
use super::model::OverflowModel;
use super::push::{ItemsPush, PushItems};
use super::update::{ItemsUpdate, UpdateItems};
use crate::collection::{Collection, Db};
use crate::error::{Error, Result};
use crate::exec::{Channel, counted};
use crate::model::{Document as Model, ModelMeta};
use crate::query::encode::encode_field;
use crate::store::options::Chosen;
use crate::store::{Operation, Session};
use crate::types::IntoId;
use crate::update::UpdateFn;
use crate::write::Atomic;

/// The overflow of a list: [`Db::overflow`], or [`Collection::overflow`] for a handle with its own concerns.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/readers.rs"));
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let db = a_book().await?;
/// let overflow = db.overflow::<MoreReaders>();
/// // The book has room for 3 readers, and each overflow document for 4.
/// let result = overflow.push(1, names(0..9)).await?;
/// assert_eq!((result.pushed, result.overflowed, result.opened), (9, 6, 2));
///
/// let book = db.collection::<Book>().get(&1).await?.ok_or("no book")?;
/// assert_eq!((book.readers.len(), book.overflow_count), (3, 2));
/// let mut all = book.readers;
/// if book.overflow_count > 0 {
///     all.extend(overflow.rest(1).all().await?);
/// }
/// assert_eq!(all, names(0..9).collect::<Vec<_>>());
/// # Ok(())
/// # }
/// ```
pub struct Overflow<M> {
    collection: Collection<M>,
}

impl<M> Clone for Overflow<M> {
    fn clone(&self) -> Self {
        Self {
            collection: self.collection.clone(),
        }
    }
}

impl<M: OverflowModel> fmt::Debug for Overflow<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Overflow")
            .field(&self.collection.name())
            .finish()
    }
}

impl Db {
    /// The overflow of a list, to push, read and change its elements.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/readers.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = a_book().await?;
    /// let overflow = db.overflow::<MoreReaders>();
    /// overflow.push(1, ["Ada".to_owned()]).await?;
    /// assert_eq!(overflow.items(1).all().await?, ["Ada"]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn overflow<M: OverflowModel>(&self) -> Overflow<M> {
        self.collection().overflow()
    }
}

impl<M: OverflowModel> Collection<M> {
    /// The overflow whose documents this collection has, with the concerns of this handle.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/readers.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = a_book().await?;
    /// use odm::collection::WriteConcern;
    ///
    /// let majority = db.collection::<MoreReaders>().with_write_concern(WriteConcern::majority());
    /// majority.overflow().push(1, ["Ada".to_owned()]).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn overflow(&self) -> Overflow<M> {
        Overflow {
            collection: self.clone(),
        }
    }
}

impl<M: OverflowModel> Overflow<M> {
    /// The overflow documents, for typed finds, counts and joins.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/readers.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = a_book().await?;
    /// let overflow = db.overflow::<MoreReaders>();
    /// overflow.push(1, names(0..9)).await?;
    /// let with_8 = overflow.collection().find_one(|m| m.readers.any().eq("reader 8")).await?;
    /// assert_eq!(with_8.map(|found| found.number), Some(2));
    /// # Ok(())
    /// # }
    /// ```
    pub fn collection(&self) -> Collection<M> {
        self.collection.clone()
    }

    /// Pushes elements at the end of a document's list: into the document while its list has room, then into overflow documents.
    ///
    /// One update pushes what the document has room for, and one `findAndModify` what the last overflow document with room takes. A
    /// transaction runs only if a push fills more than one document, or opens one; it also writes the `count_of` that the other model
    /// declares. Pushes at the same time never overfill a document.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/readers.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = a_book().await?;
    /// let overflow = db.overflow::<MoreReaders>();
    /// let first = overflow.push(1, names(0..2)).await?;
    /// assert_eq!((first.pushed, first.overflowed), (2, 0));
    /// let second = overflow.push(1, names(2..4)).await?;
    /// assert_eq!((second.pushed, second.overflowed, second.opened), (2, 1, 1));
    ///
    /// assert_eq!(overflow.push(9, names(0..2)).await?.matched, 0); // No book has this id.
    /// # Ok(())
    /// # }
    /// ```
    pub fn push<'s, I: Borrow<M::Item>, By>(
        &self,
        id: impl IntoId<M::Of, By>,
        items: impl IntoIterator<Item = I>,
    ) -> PushItems<'s, M> {
        let id = encode_id::<M, By>(id);
        let writes = id.and_then(|id| ItemsPush::new(self.collection.clone(), id, items));
        Atomic::new(writes, M::model())
    }

    /// Reads the elements of a document's list, and then those of its overflow documents.
    ///
    /// Without removals, elements are in the order in which they were pushed.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/readers.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = a_book().await?;
    /// let overflow = db.overflow::<MoreReaders>();
    /// overflow.push(1, names(0..9)).await?;
    /// let mut items = overflow.items(1).await?;
    /// while let Some(reader) = items.next().await {
    ///     println!("{}", reader?);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn items<'s, By>(&self, id: impl IntoId<M::Of, By>) -> FindItems<'s, M> {
        FindItems::new(self.collection.clone(), encode_id::<M, By>(id), true)
    }

    /// Reads the elements in overflow documents alone: what a document that was read before does not have.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/readers.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = a_book().await?;
    /// let overflow = db.overflow::<MoreReaders>();
    /// overflow.push(1, names(0..5)).await?;
    /// assert_eq!(overflow.rest(1).all().await?, ["reader 3", "reader 4"]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn rest<'s, By>(&self, id: impl IntoId<M::Of, By>) -> FindItems<'s, M> {
        FindItems::new(self.collection.clone(), encode_id::<M, By>(id), false)
    }

    /// Counts the elements of a document's list and of its overflow documents; 0 where no document has this `_id`.
    ///
    /// MongoDB reads the documents, and returns only the number.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/readers.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = a_book().await?;
    /// let overflow = db.overflow::<MoreReaders>();
    /// overflow.push(1, names(0..9)).await?;
    /// assert_eq!(overflow.count(1).await?, 9);
    /// # Ok(())
    /// # }
    /// ```
    pub fn count<'s, By>(&self, id: impl IntoId<M::Of, By>) -> CountItems<'s, M> {
        CountItems {
            collection: self.collection.clone(),
            id: encode_id::<M, By>(id),
            session: None,
        }
    }

    /// Removes or changes elements, in a document's list and in all of its overflow documents, in one transaction. Overflow documents
    /// without an element left are deleted.
    ///
    /// The closure gets the fields of the overflow documents, and changes elements of the list: `pull`, `pull_all`, `pull_where`, or
    /// fields of the elements that `update_where` or `all_elements` choose. Another change is an error.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/readers.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = a_book().await?;
    /// let overflow = db.overflow::<MoreReaders>();
    /// overflow.push(1, names(0..4)).await?;
    /// let result = overflow.update(1, |m| m.readers.pull("reader 3")).await?;
    /// assert_eq!((result.matched, result.modified, result.deleted), (1, 1, 1));
    /// assert_eq!(overflow.count(1).await?, 3);
    /// # Ok(())
    /// # }
    /// ```
    pub fn update<'s, By>(
        &self,
        id: impl IntoId<M::Of, By>,
        change: impl UpdateFn<M>,
    ) -> UpdateItems<'s, M> {
        let id = encode_id::<M, By>(id);
        let change = change(crate::query::fields::<M>());
        let writes = id.and_then(|id| ItemsUpdate::new(self.collection.clone(), id, change));
        Atomic::new(writes, M::model())
    }
}

/// The stored form of the `_id` of a document whose list overflows.
fn encode_id<M: OverflowModel, By>(id: impl IntoId<M::Of, By>) -> Result<Bson> {
    let named = |error: Error| error.with_path("_id").with_model(M::Of::model().name);
    encode_field(&id.into_id()).map_err(named)
}

/// The number of elements that a list has; 0 if the field is not a list.
pub(super) fn size_of(list: &str) -> Document {
    let path = format!("${list}");
    doc! {"$size": {"$cond": [{"$isArray": [&path]}, &path, []]}}
}

/// A count of elements, about to run: [`Overflow::count`].
#[must_use = "nothing is counted until it is awaited"]
pub struct CountItems<'s, M: OverflowModel> {
    collection: Collection<M>,
    id: Result<Bson>,
    session: Option<&'s mut Session>,
}

impl<'s, M: OverflowModel> CountItems<'s, M> {
    /// Runs in this session, and in its transaction if one is under way.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/readers.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = a_book().await?;
    /// let mut session = db.start_session().await?;
    /// let count = db.overflow::<MoreReaders>().count(1).session(&mut session).await?;
    /// assert_eq!(count, 0);
    /// # Ok(())
    /// # }
    /// ```
    pub fn session(self, session: &'s mut Session) -> Self {
        Self {
            session: Some(session),
            ..self
        }
    }

    async fn run(self) -> Result<u64> {
        let meta = M::model().overflow_shape()?.meta;
        let id = self.id?;
        let channel = self.collection.channel();
        let mut channel = channel.in_session(self.session);
        // A transaction takes no `$unionWith`.
        let of_document = doc! {"_id": {"$eq": id.clone()}};
        let inside = sum(&mut channel, M::Of::model(), of_document, meta.list).await?;
        let of_overflow = doc! {meta.by: {"$eq": id}};
        let outside = sum(&mut channel, M::model(), of_overflow, meta.list).await?;
        Ok(inside + outside)
    }
}

/// The number of elements in the lists of documents.
async fn sum(
    channel: &mut Channel<'_>,
    model: &'static ModelMeta,
    filter: Document,
    list: &str,
) -> Result<u64> {
    let pipeline = vec![
        doc! {"$match": filter},
        doc! {"$group": {"_id": null, "n": {"$sum": size_of(list)}}},
    ];
    let mut count = 0;
    let visit = |raw: &RawDocument| {
        count = counted(raw)?;
        Ok(())
    };
    let operation = Operation::Aggregate { pipeline };
    let read = channel
        .of(model)
        .read(operation, Chosen::default(), visit)
        .await;
    read.map(|()| count)
}

impl<'s, M: OverflowModel> IntoFuture for CountItems<'s, M> {
    type Output = Result<u64>;
    type IntoFuture = BoxFuture<'s, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.run())
    }
}

impl<M: OverflowModel> fmt::Debug for CountItems<'_, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CountItems({:?})", self.id)
    }
}
