//! The branches of a find, which load one relation each.

use bson::raw::RawDocument;
use futures_core::future::BoxFuture;
use futures_util::future::try_join;

use super::row::{And, Joined};
use crate::error::Result;
use crate::exec::Channel;
use crate::model::{Document, Embedded};
use crate::query::fields;

/// Keeps [`Branch`] and [`Branches`] to the joins of this crate: their methods may change in any release.
pub(super) mod sealed {
    /// Implemented by the joins of this crate.
    pub trait Sealed {}
}

/// One relation to load.
///
/// The trait is sealed: it is implemented by what the methods of relations return.
pub trait Branch: sealed::Sealed + Send + Sync + 'static {
    /// The name of the relation.
    type Name: 'static;
    /// What each row gets.
    type Value: Send + Sync + 'static;
    /// The ids found in rows.
    type Gathered: Default + Send;

    /// Collects the ids of the next row.
    fn gather(&self, gathered: &mut Self::Gathered, row: &RawDocument) -> Result<()>;

    /// Returns the error of a filter that could not be encoded; and refuses a projection of the rows that leaves out what
    /// [`gather`](Self::gather) reads.
    fn check(&mut self, projection: Option<&bson::Document>) -> Result<()>;

    /// Loads the relation of all rows, in their order.
    fn load<'a>(
        &'a self,
        gathered: Self::Gathered,
        channel: Channel<'a>,
    ) -> BoxFuture<'a, Result<Vec<Self::Value>>>;
}

/// The relations to load for each row: none, or [`Also`] one more.
///
/// The trait is sealed.
pub trait Branches: sealed::Sealed + Send + Sync + 'static {
    /// What each row gets.
    type Values: Send + Sync + 'static;
    /// A row of documents of type `T`.
    type Row<T: Send + Sync>: Send + Sync;
    /// The ids found in rows.
    type Gathered: Default + Send;

    /// Collects the ids of the next row.
    fn gather(&self, gathered: &mut Self::Gathered, row: &RawDocument) -> Result<()>;

    /// See [`Branch::check`].
    fn check(&mut self, projection: Option<&bson::Document>) -> Result<()>;

    /// Loads the relations of `rows` rows, in their order.
    fn load<'a>(
        &'a self,
        gathered: Self::Gathered,
        rows: usize,
        channel: Channel<'a>,
    ) -> BoxFuture<'a, Result<Vec<Self::Values>>>;

    /// Puts a row together.
    fn row<T: Send + Sync>(document: T, values: Self::Values) -> Self::Row<T>;
}

impl sealed::Sealed for () {}

impl Branches for () {
    type Values = ();
    type Row<T: Send + Sync> = T;
    type Gathered = ();

    fn gather(&self, (): &mut (), _row: &RawDocument) -> Result<()> {
        Ok(())
    }

    fn check(&mut self, _projection: Option<&bson::Document>) -> Result<()> {
        Ok(())
    }

    fn load<'a>(
        &'a self,
        (): (),
        rows: usize,
        _channel: Channel<'a>,
    ) -> BoxFuture<'a, Result<Vec<()>>> {
        Box::pin(std::future::ready(Ok(vec![(); rows])))
    }

    fn row<T: Send + Sync>(document: T, (): ()) -> T {
        document
    }
}

/// The relations of `J`, and one more.
#[derive(Debug)]
pub struct Also<J, B> {
    before: J,
    branch: B,
}

impl<J, B> Also<J, B> {
    pub(super) fn new(before: J, branch: B) -> Self {
        Self { before, branch }
    }
}

/// Adds the relation of `M` that the closure names to `before`.
pub(super) fn also<M: Document, J, B: IntoBranch<M>>(
    before: J,
    relation: impl FnOnce(<M as Embedded>::Fields<M>) -> B,
) -> Also<J, B::Branch> {
    Also::new(before, relation(fields::<M>()).into_branch())
}

impl<J, B> sealed::Sealed for Also<J, B> {}

impl<J: Branches, B: Branch> Branches for Also<J, B> {
    type Values = And<B::Name, B::Value, J::Values>;
    type Row<T: Send + Sync> = Joined<T, Self::Values>;
    type Gathered = (J::Gathered, B::Gathered);

    fn gather(&self, (before, gathered): &mut Self::Gathered, row: &RawDocument) -> Result<()> {
        self.before.gather(before, row)?;
        self.branch.gather(gathered, row)
    }

    fn check(&mut self, projection: Option<&bson::Document>) -> Result<()> {
        self.before.check(projection)?;
        self.branch.check(projection)
    }

    fn load<'a>(
        &'a self,
        (before, gathered): Self::Gathered,
        rows: usize,
        mut channel: Channel<'a>,
    ) -> BoxFuture<'a, Result<Vec<Self::Values>>> {
        Box::pin(async move {
            let (rest, values) = if let Some(also) = channel.concurrent() {
                try_join(
                    self.before.load(before, rows, channel),
                    self.branch.load(gathered, also),
                )
                .await?
            } else {
                let rest = self.before.load(before, rows, channel.reborrow()).await?;
                (rest, self.branch.load(gathered, channel).await?)
            };
            let pairs = values.into_iter().zip(rest);
            Ok(pairs.map(|(value, rest)| And::new(value, rest)).collect())
        })
    }

    fn row<T: Send + Sync>(document: T, values: Self::Values) -> Joined<T, Self::Values> {
        Joined {
            document,
            joined: values,
        }
    }
}

/// What names a relation of `M` in `.join(|m| …)`: a field that refers to other documents, a declared relation, or one
/// of these with a filter, an order, a limit, a projection or joins of its own.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a relation of `{M}`",
    label = "nothing to join",
    note = "a reference is declared as `Ref<T>`, `Option<Ref<T>>` or `Vec<Ref<T>>`; an inverse relation on the struct, as `has_many(name: Model, by = field)`",
    note = "references in a list of subdocuments are joined by `each`: `.join(|m| m.lines.each(|line| line.product))`"
)]
pub trait IntoBranch<M> {
    /// The relation, ready to load.
    type Branch: Branch;

    /// Makes the branch.
    fn into_branch(self) -> Self::Branch;
}
