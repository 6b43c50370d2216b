//! `.join` on a find of one document.

use futures_core::future::BoxFuture;
use serde::de::DeserializeOwned;

use crate::collection::{Explain, Find, FindOne};
use crate::error::Result;
use crate::model::{Document, Embedded};
use crate::relation::branch::{Also, Branches, IntoBranch, also};

impl<'s, M: Document, T: DeserializeOwned + Send + Sync + 'static, J> FindOne<'s, M, T, J> {
    /// Loads a relation of the document with one more query: see [`Find::join`].
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/authors.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (authors, books) = two_authors().await?;
    /// let emma = books.find_one(|b| b.title.eq("Emma")).join(|b| b.author).await?.ok_or("no book")?;
    /// assert_eq!(emma.author().found().map(|author| author.born), Some(1775));
    /// # Ok(())
    /// # }
    /// ```
    pub fn join<B: IntoBranch<M>>(
        self,
        relation: impl FnOnce(<M as Embedded>::Fields<M>) -> B,
    ) -> FindOne<'s, M, T, Also<J, B::Branch>> {
        FindOne::new(self.call, also(self.branches, relation))
    }
}

impl<'s, M, T, J, B> FindOne<'s, M, T, Also<J, B>>
where
    M: Document,
    T: DeserializeOwned + Send + Sync + 'static,
    Also<J, B>: Branches,
{
    /// Runs the join and returns the plan of each command, as that of a [`Find`] with relations.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/authors.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (authors, books) = two_authors().await?;
    /// let plans = books.find_one(|b| b.id.eq(1)).join(|b| b.author).explain().await?;
    /// assert_eq!(plans.len(), 2);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn explain(self) -> Result<Vec<Explain>> {
        self.into_find().explain().await
    }

    fn into_find(self) -> Find<'s, M, T, Also<J, B>> {
        Find::new(self.call, self.branches)
    }
}

impl<'s, M, T, J, B> IntoFuture for FindOne<'s, M, T, Also<J, B>>
where
    M: Document,
    T: DeserializeOwned + Send + Sync + 'static,
    Also<J, B>: Branches,
{
    type Output = Result<Option<<Also<J, B> as Branches>::Row<T>>>;
    type IntoFuture = BoxFuture<'s, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move { Ok(self.into_find().all().await?.pop()) })
    }
}
