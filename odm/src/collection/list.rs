//! Lists the collections of a database and the indexes of a collection; renames a collection.

use bson::{Document as BsonDocument, doc};

use super::{Collection, Db};
use crate::error::{Code, Error, Result};
use crate::model::Document;

impl Db {
    /// Returns the names of the collections and views, in alphabetical order.
    ///
    /// `run_command(doc! {"listCollections": 1}).all()` returns their options, too.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// assert_eq!(db.list_collection_names().await?, ["books"]);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn list_collection_names(&self) -> Result<Vec<String>> {
        let command = doc! {"listCollections": 1, "nameOnly": true, "authorizedCollections": true};
        let listed = self.store.run_cursor(command).await?;
        let name = |collection: BsonDocument| {
            let name = collection.get_str("name").map(str::to_owned);
            name.map_err(|_| Error::malformed_reply("the name of a collection"))
        };
        let mut names = listed.into_iter().map(name).collect::<Result<Vec<_>>>()?;
        names.sort_unstable();
        Ok(names)
    }
}

impl<M: Document> Collection<M> {
    /// Returns the indexes of the collection as MongoDB lists them, that on `_id` included; none if the collection does
    /// not exist.
    ///
    /// To compare them with the declared ones, [plan](crate::schema::Sync::plan) a [`sync`](Db::sync).
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// let indexes = books.list_indexes().await?;
    /// assert_eq!(indexes, [doc! {"v": 2, "key": {"_id": 1}, "name": "_id_"}]);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn list_indexes(&self) -> Result<Vec<BsonDocument>> {
        let listed = self
            .store
            .run_cursor(doc! {"listIndexes": self.name()})
            .await;
        match listed {
            Err(error) if error.code() == Some(Code::NAMESPACE_NOT_FOUND) => Ok(Vec::new()),
            listed => listed.map_err(|error| error.with_model(M::model().name)),
        }
    }

    /// Renames the collection, with its documents and indexes; one that has the new name already is dropped only if
    /// `drop_target` says so.
    ///
    /// This handle keeps the old name: [`Db::with_collection`] makes handles with another one.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// books.rename("books_2025", false).await?;
    /// assert_eq!(db.list_collection_names().await?, ["books_2025"]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The collection does not exist; another one has the name, and `drop_target` is false.
    pub async fn rename(&self, name: &str, drop_target: bool) -> Result<()> {
        if let Some(of) = M::model().variant_of {
            let whole = (of.model)().name;
            return Err(Error::usage(format!(
                "this would rename the collection of all variants of `{whole}`: rename it by the handle of `{whole}`"
            ))
            .with_model(M::model().name));
        }
        let full = |name: &str| format!("{}.{name}", self.store.database());
        let command = doc! {
            "renameCollection": full(self.name()),
            "to": full(name),
            "dropTarget": drop_target,
        };
        let admin = self.store.sibling("admin");
        let renamed = admin.run_command_in(command, None).await;
        renamed
            .map(drop)
            .map_err(|error| error.with_model(M::model().name))
    }
}
