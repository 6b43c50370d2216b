//! Find-and-delete of a document with those that refer to it.

use std::fmt;
use std::marker::PhantomData;

use bson::Document as BsonDocument;
use serde::de::DeserializeOwned;

use super::super::expecting::Expecting;
use super::super::planned::{Planned, WriteSteps};
use super::super::reference_place::read_by_id;
use super::super::{Atomic, WriteSeveral};
use super::effects::ids;
use super::{DeletePlan, DependentDelete};
use crate::collection::versions::projected;
use crate::collection::{FindOneAndDelete, ReadAs};
use crate::error::Result;
use crate::exec::Channel;
use crate::model::{Document, ModelMeta};
use crate::store::Afterwards;

/// A find-and-delete with what is declared for the documents that refer to the deleted one, about to be sent:
/// [`FindOneAndDelete::with_dependents`].
pub type FindOneAndDeleteWithDependents<'s, M, T> = Atomic<'s, DependentFindAndDelete<M, T>>;

/// The writes of a [`FindOneAndDeleteWithDependents`].
pub struct DependentFindAndDelete<M, T> {
    delete: DependentDelete<M>,
    /// The projection of the document that is returned.
    projection: Option<BsonDocument>,
    of: PhantomData<fn() -> T>,
}

impl<'s, M: Document, T: DeserializeOwned + Send + 'static> FindOneAndDelete<'s, M, T> {
    /// Does what the model declares to the documents that refer to the deleted one, and writes what follows from it, as
    /// [`Delete::with_dependents`](crate::collection::Delete::with_dependents) does. The result is the deleted document.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/on_delete.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = a_shelf().await?;
    /// let (authors, books) = (db.collection::<Author>(), db.collection::<Book>());
    /// let deleted = authors.find_one_and_delete(|a| a.id.eq(1)).with_dependents().await?;
    /// assert_eq!(deleted.ok_or("no author")?.id, 1);
    /// assert_eq!(books.count_documents(|b| b.author.eq(Ref::from(1))).await?, 0);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`Delete::with_dependents`](crate::collection::Delete::with_dependents).
    pub fn with_dependents(self) -> FindOneAndDeleteWithDependents<'s, M, T> {
        let call = self.into_call();
        let projection = call.request.options.projection.clone();
        let ready = DependentDelete::of(call).map(|(delete, session)| {
            let delete = DependentFindAndDelete {
                delete,
                projection,
                of: PhantomData,
            };
            (delete, session)
        });
        Atomic::of_call(ready, M::model())
    }
}

impl<'s, M, T> FindOneAndDeleteWithDependents<'s, M, T>
where
    M: Document,
    T: DeserializeOwned + Send,
{
    /// Returns what the delete would do. Nothing is written. See [`DeleteWithDependents::plan`](super::DeleteWithDependents::plan).
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/on_delete.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = a_shelf().await?;
    /// let authors = db.collection::<Author>();
    /// let plan = authors.find_one_and_delete(|a| a.id.eq(1)).with_dependents().plan().await?;
    /// assert_eq!(plan.steps()[0].collection, "books");
    /// # Ok(())
    /// # }
    /// ```
    pub async fn plan(self) -> Result<DeletePlan> {
        let (writes, session) = self.into_parts()?;
        DeletePlan::of(&writes, session).await
    }

    /// Runs the delete only if this plan still holds. See [`DeleteWithDependents::expecting`](super::DeleteWithDependents::expecting).
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/on_delete.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = a_shelf().await?;
    /// let authors = db.collection::<Author>();
    /// let delete = || authors.find_one_and_delete(|a| a.id.eq(1)).with_dependents();
    /// let plan = delete().plan().await?;
    /// assert_eq!(delete().expecting(&plan).await?.ok_or("no author")?.id, 1);
    /// assert!(delete().expecting(&plan).await.unwrap_err().is_outdated_plan());
    /// # Ok(())
    /// # }
    /// ```
    pub fn expecting(
        self,
        plan: &DeletePlan,
    ) -> Atomic<'s, Expecting<DependentFindAndDelete<M, T>>> {
        self.if_planned(&plan.planned)
    }
}

impl<M: Document, T: DeserializeOwned + Send> WriteSteps for DependentFindAndDelete<M, T> {
    async fn add_to(&self, channel: &mut Channel<'_>, plan: &mut Planned) -> Result<()> {
        self.delete.add_to(channel, plan).await
    }
}

impl<M: Document, T: DeserializeOwned + Send> WriteSeveral for DependentFindAndDelete<M, T> {
    type Done = Option<T>;

    fn model(&self) -> &'static ModelMeta {
        M::model()
    }

    fn channel(&self) -> Channel<'static> {
        self.delete.channel()
    }

    fn enter(&mut self, is_callers: bool) {
        self.delete.enter(is_callers);
    }

    async fn write(&self, channel: &mut Channel<'_>) -> Result<Option<T>> {
        let model = M::model();
        let documents = self.delete.matching(channel).await?;
        let id = ids(&documents)?.values().to_vec();
        let found = match id.as_slice() {
            [] => None,
            id => {
                let projection = self.projection.clone();
                let projection = projection.map(|it| projected(model, it));
                read_by_id(channel, model, id, projection).await?
            }
        };
        let result = self.delete.delete(channel, documents).await?;
        match found {
            Some(found) if result.deleted > 0 => {
                let read_as = ReadAs::of_model(model, self.projection.as_ref());
                read_as.decode(&found).map(Some)
            }
            _ => Ok(None),
        }
    }

    async fn settle(&self, done: Option<T>) -> Result<Option<T>> {
        self.delete.look_again(&mut Vec::new()).await?;
        Ok(done)
    }

    fn after_commit(&self) -> Option<Afterwards> {
        self.delete.after_commit()
    }
}

impl<M: Document, T> fmt::Debug for DependentFindAndDelete<M, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.delete, f)
    }
}
