//! `touch`: writes to a document without changing its fields.

use std::fmt;
use std::marker::PhantomData;

use bson::Document as BsonDocument;

use super::call::{Call, by_id};
use super::options::{action, options};
use super::{ActionFuture, Collection, UpdateResult};
use crate::model::{Document, Versioned, Writable};
use crate::store::{Modification, Operation, Update as Operands};
use crate::types::IntoId;
use crate::update::maintain;

/// Writes to a document without changing its fields: [`Collection::touch`].
#[must_use = "nothing is changed until it is awaited"]
pub struct Touch<'s, M: Document> {
    call: Call<'s>,
    of: PhantomData<fn() -> M>,
}

impl<M: Document> Collection<M> {
    /// Increments the version of the document with this `_id`, and sets its time of change if it has one.
    ///
    /// In a transaction this locks the document, as `SELECT … FOR UPDATE` does in SQL: if another transaction writes to it,
    /// one of the two fails with a write conflict and runs again. MongoDB does not protect what a transaction only reads,
    /// and a `$set` to the stored value is no write. Touch a document before a decision that depends on it.
    ///
    /// ```
    /// use odm::prelude::*;
    ///
    /// #[derive(Debug, Serialize, Deserialize, Document)]
    /// #[odm(collection = "rooms")]
    /// struct Room {
    ///     #[serde(rename = "_id")]
    ///     id: i32,
    ///     seats: u64,
    ///     #[odm(version)]
    ///     version: i64,
    /// }
    ///
    /// #[derive(Debug, Serialize, Deserialize, Document)]
    /// #[odm(collection = "bookings")]
    /// struct Booking {
    ///     #[serde(rename = "_id")]
    ///     id: i32,
    ///     #[odm(index)]
    ///     room: Ref<Room>,
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> odm::Result<()> {
    /// # let db = Db::memory();
    /// # db.collection::<Room>().insert_one(&Room { id: 7, seats: 1, version: 0 }).await?;
    /// let is_booked: bool = odm::transaction!(db, |session| {
    ///     let rooms = db.collection::<Room>();
    ///     // Two bookings at the same time would both count one seat as free.
    ///     rooms.touch(&7).session(session).await?;
    ///     let Some(room) = rooms.get(&7).session(session).await? else {
    ///         return Ok(false);
    ///     };
    ///     let bookings = db.collection::<Booking>();
    ///     let taken = bookings.count_documents(|b| b.room.eq(Ref::from(7))).session(session).await?;
    ///     if taken >= room.seats {
    ///         return Ok(false);
    ///     }
    ///     bookings.insert_one(&Booking { id: 1, room: Ref::from(7) }).session(session).await?;
    ///     Ok(true)
    /// })
    /// .await?;
    /// assert!(is_booked);
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias = "lock")]
    #[doc(alias = "for_update")]
    pub fn touch<'s, By>(&self, id: impl IntoId<M, By>) -> Touch<'s, M>
    where
        M: Versioned + Writable,
    {
        let operation = by_id::<M, By>(id).map(|filter| {
            let mut changes = BsonDocument::new();
            maintain::change(&maintain::fields(M::model()), &mut changes);
            let mut operands = Operands::new(filter);
            operands.modification = Modification::Operators(changes);
            Operation::Update(Box::new(operands))
        });
        let mut call = self.try_call(operation);
        // The version is counted up in documents of any version of the schema.
        call.any_version = true;
        Touch {
            call,
            of: PhantomData,
        }
    }
}

impl<'s, M: Document> Touch<'s, M> {
    options!(session command comment write_concern);

    fn run(self) -> ActionFuture<'s, UpdateResult<M::Id>> {
        self.call
            .future(|response, ()| UpdateResult::new::<M>(response.written()?))
    }
}

action!(Touch => ActionFuture<UpdateResult<M::Id>>);

impl<M: Document> fmt::Debug for Touch<'_, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.call, f)
    }
}
