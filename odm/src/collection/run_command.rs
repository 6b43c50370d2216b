//! `run_command`: runs a raw command.

use bson::Document;
use futures_core::future::BoxFuture;

use super::Db;
use crate::error::Result;
use crate::store::{Session, Store};

/// Runs a raw command: [`Db::run_command`].
#[derive(Debug)]
#[must_use = "nothing runs until it is awaited"]
pub struct RunCommand<'s> {
    store: Store,
    command: Document,
    session: Option<&'s mut Session>,
}

impl Db {
    /// Sends a command unchanged and returns its reply; a reply with `ok: 0` is an error.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// let reply = db.run_command(doc! {"count": "books"}).await?;
    /// assert_eq!(reply.get_i32("n")?, 3);
    /// # Ok(())
    /// # }
    /// ```
    pub fn run_command<'s>(&self, command: Document) -> RunCommand<'s> {
        RunCommand {
            store: self.store.clone(),
            command,
            session: None,
        }
    }
}

impl<'s> RunCommand<'s> {
    /// Runs in this session, and in its transaction if one is under way.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// let mut session = db.start_session().await?;
    /// session.start_transaction().await?;
    /// let delete = doc! {"delete": "books", "deletes": [{"q": {"_id": 1}, "limit": 1}]};
    /// db.run_command(delete).session(&mut session).await?;
    /// session.abort_transaction().await?;
    /// assert!(books.get(&1).await?.is_some());
    /// # Ok(())
    /// # }
    /// ```
    pub fn session(mut self, session: &'s mut Session) -> Self {
        self.session = Some(session);
        self
    }

    /// Runs a command that returns a cursor, and collects all its documents.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// let found = db.run_command(doc! {"find": "books", "filter": {"year": 1854}}).all().await?;
    /// assert_eq!(found[0].get_str("title")?, "Walden");
    /// # Ok(())
    /// # }
    /// ```
    pub async fn all(self) -> Result<Vec<Document>> {
        self.store.run_cursor_in(self.command, self.session).await
    }
}

impl<'s> IntoFuture for RunCommand<'s> {
    type Output = Result<Document>;
    type IntoFuture = BoxFuture<'s, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move { self.store.run_command_in(self.command, self.session).await })
    }
}
