//! `sync`: brings a database in line with its models.

use super::Db;
use crate::model::ModelMeta;
use crate::schema::Sync;

impl Db {
    /// Compares the collections, validators and indexes that models declare with the database.
    ///
    /// The result is a plan that can be printed, and applied as far as the caller allows. Once a plan
    /// is applied, applying it again changes nothing.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// #[derive(Serialize, Deserialize, Document)]
    /// #[odm(collection = "books", index(title, year = desc))]
    /// struct Book {
    ///     #[serde(rename = "_id")]
    ///     id: i32,
    ///     title: String,
    ///     year: i32,
    /// }
    ///
    /// # async fn run(db: Db) -> odm::Result<()> {
    /// let plan = db.sync(models![Book]).plan().await?;
    /// println!("{plan}");
    /// let applied = plan.apply(Allow::CREATE).await?;
    /// assert!(applied.is_complete());
    /// assert!(db.sync(models![Book]).plan().await?.is_empty());
    /// # Ok(())
    /// # }
    /// ```
    pub fn sync(&self, models: impl IntoIterator<Item = &'static ModelMeta>) -> Sync {
        Sync::new(self.store.clone(), models.into_iter().collect())
    }
}
