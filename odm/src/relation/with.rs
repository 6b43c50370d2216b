//! Joins of documents that are in memory already.

use std::fmt;

use futures_core::future::BoxFuture;

use super::branch::{Also, Branches, IntoBranch, also};
use crate::collection::{Collection, Explain, Find, encode};
use crate::error::Result;
use crate::exec::{Channel, Plans};
use crate::model::{Document, Embedded};
use crate::store::Session;

/// Documents in memory whose relations are loaded: [`Collection::with`].
#[must_use = "nothing is read until it is awaited"]
pub struct With<'s, 'd, M: Document, J = ()> {
    find: Find<'s, M>,
    documents: Vec<&'d M>,
    branches: J,
}

impl<M: Document> Collection<M> {
    /// Loads relations of documents that are in memory already: the commands are those of [`Find::join`], without the
    /// find. The rows borrow the documents and are in their order.
    ///
    /// The documents need not be stored as they are here; what refers to them is found by their ids. A limit for several
    /// rows is the exception: its pipeline starts from the stored documents.
    ///
    /// [`Find::join`]: crate::collection::Find::join
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # #[derive(Serialize, Deserialize, Document)]
    /// # #[odm(collection = "people")]
    /// # struct Person { #[serde(rename = "_id")] id: i32, name: String }
    /// # #[derive(Serialize, Deserialize, Document)]
    /// # #[odm(collection = "films")]
    /// # struct Film { #[serde(rename = "_id")] id: i32, director: Ref<Person> }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> odm::Result<()> {
    /// # let db = Db::memory();
    /// let chaplin = Person { id: 1, name: "Chaplin".to_owned() };
    /// db.collection::<Person>().insert_one(&chaplin).await?;
    /// let films = [Film { id: 7, director: Ref::from(1) }, Film { id: 8, director: Ref::from(1) }];
    /// let rows = db.collection::<Film>().with(&films).join(|f| f.director).await?;
    /// assert_eq!(rows[1].id, 8);
    /// assert_eq!(rows[1].director().found().map(|person| person.name.as_str()), Some("Chaplin"));
    /// # Ok(())
    /// # }
    /// ```
    pub fn with<'s, 'd>(&self, documents: impl IntoIterator<Item = &'d M>) -> With<'s, 'd, M> {
        With {
            // Carries the options of the collection, and is never sent.
            find: self.find_all(),
            documents: documents.into_iter().collect(),
            branches: (),
        }
    }
}

impl<'s, 'd, M: Document, J: Branches> With<'s, 'd, M, J> {
    /// Loads a relation of the documents; without a session the commands of several relations run at the same time.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/authors.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (authors, books) = two_authors().await?;
    /// let loaded = authors.find_all().all().await?;
    /// let rows = authors.with(&loaded).join(|a| a.books).await?;
    /// assert_eq!((rows[0].books().len(), rows[1].books().len()), (2, 1));
    /// # Ok(())
    /// # }
    /// ```
    pub fn join<B: IntoBranch<M>>(
        self,
        relation: impl FnOnce(<M as Embedded>::Fields<M>) -> B,
    ) -> With<'s, 'd, M, Also<J, B::Branch>> {
        With {
            find: self.find,
            documents: self.documents,
            branches: also(self.branches, relation),
        }
    }

    /// Runs all commands in this session, and in its transaction if one is under way.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/authors.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = Db::memory();
    /// # let (authors, books) = (db.collection::<Author>(), db.collection::<Book>());
    /// let mut session = db.start_session().await?;
    /// session.start_transaction().await?;
    /// let austen = Author { id: 1, name: "Austen".to_owned(), born: 1775 };
    /// authors.insert_one(&austen).session(&mut session).await?;
    /// let emma = Book { id: 1, author: Ref::to(&austen), title: "Emma".to_owned(), year: 1815 };
    /// let rows = books.with([&emma]).join(|b| b.author).session(&mut session).await?;
    /// assert_eq!(rows[0].author().found(), Some(&austen));
    /// # Ok(())
    /// # }
    /// ```
    pub fn session(mut self, session: &'s mut Session) -> Self {
        self.find = self.find.session(session);
        self
    }

    /// Loads the relations and returns the plan of each command, as that of a [`Find`] with relations.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/authors.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (authors, books) = two_authors().await?;
    /// let loaded = books.find_all().all().await?;
    /// let plans = books.with(&loaded).join(|b| b.author).explain().await?;
    /// let expected = doc! {"find": "authors", "filter": {"_id": {"$in": [1, 2]}}};
    /// assert_eq!((plans.len(), &plans[0].command), (1, &expected));
    /// # Ok(())
    /// # }
    /// ```
    pub async fn explain(self) -> Result<Vec<Explain>> {
        let plans = Plans::default();
        self.run(Some(&plans)).await?;
        Ok(plans.into_list())
    }

    async fn run(self, plans: Option<&Plans>) -> Result<Vec<J::Row<&'d M>>> {
        let model = M::model().name;
        let mut branches = self.branches;
        branches
            .check(None)
            .map_err(|error| error.with_model(model))?;
        let (store, request, session) = self.find.call.prepare()?;
        let mut gathered = J::Gathered::default();
        for document in &self.documents {
            let gathered = encode(*document)
                .and_then(|raw: bson::RawDocumentBuf| branches.gather(&mut gathered, &raw));
            gathered.map_err(|error| error.with_model(model))?;
        }
        let channel = Channel::new(store, session)
            .with_options(request.options.shared())
            .explained(plans);
        let values = branches
            .load(gathered, self.documents.len(), channel)
            .await?;
        let rows = self.documents.into_iter().zip(values);
        Ok(rows
            .map(|(document, values)| J::row(document, values))
            .collect())
    }
}

impl<'s, M: Document, J: Branches> IntoFuture for With<'s, 's, M, J> {
    type Output = Result<Vec<J::Row<&'s M>>>;
    type IntoFuture = BoxFuture<'s, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.run(None))
    }
}

impl<M: Document, J: fmt::Debug> fmt::Debug for With<'_, '_, M, J> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let documents = self.documents.len();
        write!(f, "With({:?}, {documents} documents)", self.branches)
    }
}
