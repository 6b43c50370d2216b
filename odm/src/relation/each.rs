//! Joins of references in lists of subdocuments: `|order| order.lines.each(|line| line.product)`.

use std::fmt;

use bson::raw::{RawBsonRef, RawDocument, RawDocumentBuf};
use futures_core::future::BoxFuture;

use super::branch::sealed::Sealed;
use super::branch::{Branch, IntoBranch};
use super::scope::check_projection;
use crate::error::Result;
use crate::exec::{Channel, StoredPath};
use crate::model::{FieldType, Path};
use crate::query::Field;
use crate::query::kind::Sequence;

/// A relation of each element of a list, which a row gets as a `Vec`: made by [`Field::each`].
#[must_use = "nothing is loaded until the find that joins it is awaited"]
pub struct Each<B> {
    path: StoredPath,
    inside: B,
}

impl<M, S: Sequence<Element: FieldType>, E> Field<M, S, E> {
    /// Joins a relation of the elements of a list: `|order| order.lines.each(|line| line.product)`. A row gets a `Vec`
    /// with the value of each element, in their order.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # #[derive(Serialize, Deserialize, Document)]
    /// # #[odm(collection = "products")]
    /// # struct Product { #[serde(rename = "_id")] id: i32, name: String }
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Line { product: Ref<Product> }
    /// # #[derive(Serialize, Deserialize, Document)]
    /// # #[odm(collection = "orders")]
    /// # struct Order {
    /// #     #[serde(rename = "_id")] id: i32,
    /// #     #[odm(embed(few, max = 50))] lines: Vec<Line>,
    /// # }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = Db::memory();
    /// # let product = |id, name: &str| Product { id, name: name.to_owned() };
    /// # db.collection::<Product>().insert_many([product(7, "Tea"), product(8, "Milk")]).await?;
    /// let orders = db.collection::<Order>();
    /// let lines = [8, 7].map(|id| Line { product: Ref::from(id) }).into();
    /// orders.insert_one(&Order { id: 1, lines }).await?;
    /// let rows = orders.find_all().join(|o| o.lines.each(|line| line.product)).all().await?;
    /// assert_eq!(rows[0].product()[0].found().map(|it| it.name.as_str()), Some("Milk"));
    /// # Ok(())
    /// # }
    /// ```
    pub fn each<B: IntoBranch<M>>(
        self,
        relation: impl FnOnce(<S::Element as FieldType>::Handle<M, S::Element>) -> B,
    ) -> Each<B::Branch> {
        Each {
            path: StoredPath::through_arrays(self.path()),
            inside: relation(S::Element::handle(Path::root())).into_branch(),
        }
    }
}

/// What was found in the elements of the lists.
#[derive(Debug, Default)]
pub struct Elements<G> {
    inside: G,
    /// How many elements each row has.
    counts: Vec<usize>,
}

impl<B> Sealed for Each<B> {}

impl<B: Branch> Branch for Each<B> {
    type Name = B::Name;
    type Value = Vec<B::Value>;
    type Gathered = Elements<B::Gathered>;

    fn check(&mut self, projection: Option<&bson::Document>) -> Result<()> {
        self.inside.check(None)?;
        check_projection(projection, self.path.as_str())
    }

    fn gather(&self, gathered: &mut Self::Gathered, row: &RawDocument) -> Result<()> {
        let empty = RawDocumentBuf::new();
        let mut count = 0;
        if let Some(RawBsonRef::Array(elements)) = self.path.value(row) {
            for element in elements.into_iter().filter_map(std::result::Result::ok) {
                // An element that is null holds no reference, and has a value, too.
                let element = element.as_document().unwrap_or(&empty);
                self.inside.gather(&mut gathered.inside, element)?;
                count += 1;
            }
        }
        gathered.counts.push(count);
        Ok(())
    }

    fn load<'a>(
        &'a self,
        gathered: Self::Gathered,
        channel: Channel<'a>,
    ) -> BoxFuture<'a, Result<Vec<Self::Value>>> {
        Box::pin(async move {
            let values = self.inside.load(gathered.inside, channel).await?;
            let mut values = values.into_iter();
            let counts = gathered.counts.into_iter();
            Ok(counts
                .map(|count| values.by_ref().take(count).collect())
                .collect())
        })
    }
}

impl<M, B: Branch> IntoBranch<M> for Each<B> {
    type Branch = Self;

    fn into_branch(self) -> Self {
        self
    }
}

impl<B: fmt::Debug> fmt::Debug for Each<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Each")
            .field("path", &self.path)
            .field("inside", &self.inside)
            .finish()
    }
}
