//! Deadlines of calls.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use crate::error::Error;
use crate::store::{Bounded, Deadline};

/// Deadlines: [`within`](Self::within) for every call of the library, for [`transaction!`](crate::transaction), and for your own
/// `async` blocks.
///
/// One deadline holds for all commands that the future sends: the queries of a join, retries, batches, the steps of a plan, the
/// whole body of a transaction. Each command is sent with the time that is left as its `maxTimeMS`, so that MongoDB stops working
/// on it, too; MongoDB's driver has no such option for inserts, updates, replacements and deletes, except in a bulk write. When the
/// time is up, the future is dropped, which aborts its transaction and closes its cursors, and the call returns an error that
/// [lists](Error::is_deadline) the commands.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let (db, books) = three_books().await?;
/// use std::time::Duration;
///
/// let old = books.find(|b| b.year.lt(1900)).all().within(Duration::from_secs(2)).await?;
/// assert_eq!(old.len(), 2);
///
/// // All calls of the block share two seconds.
/// let handler = async {
///     let book = books.get(&1).await?;
///     books.update_one(|b| b.id.eq(1), |b| b.year.set(1816)).await?;
///     Ok::<_, odm::Error>(book)
/// };
/// let book = handler.within(Duration::from_secs(2)).await?;
/// assert_eq!(book.map(|book| book.year), Some(1815));
/// # Ok(())
/// # }
/// ```
///
/// The clock starts with the call of `within`, and a deadline inside of another one ends with it at the latest. A task that is
/// spawned has no deadline but its own. Timers need a Tokio runtime; without one, the time is checked before each command.
pub trait Within: IntoFuture + Sized {
    /// Ends the call with an error unless it is done within this time.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// use std::time::Duration;
    ///
    /// let counted = books.find_all().count().within(Duration::from_secs(1)).await?;
    /// assert_eq!(counted, 3);
    /// # Ok(())
    /// # }
    /// ```
    fn within(self, limit: Duration) -> WithinFuture<Self::IntoFuture>
    where
        Self::Output: DeadlineOutput,
    {
        let deadline = Deadline::after(limit);
        let future = {
            // A call may prepare its command here.
            let _entered = deadline.enter();
            self.into_future()
        };
        WithinFuture {
            future: Bounded::new(future, deadline),
            late: Self::Output::late,
        }
    }
}

impl<F: IntoFuture> Within for F {}

/// The outputs of futures that can have a deadline: a `Result` whose error converts from [`odm::Error`](crate::Error).
#[diagnostic::on_unimplemented(
    message = "a future of `{Self}` can't have a deadline",
    label = "`{Self}` can't hold the error of a deadline that has passed",
    note = "`within` needs a future of `Result<_, E>` whose `E` implements `From<odm::Error>`"
)]
pub trait DeadlineOutput: sealed::Sealed {
    #[doc(hidden)]
    fn late(error: Error) -> Self;
}

impl<T, E: From<Error>> DeadlineOutput for Result<T, E> {
    fn late(error: Error) -> Self {
        Err(error.into())
    }
}

mod sealed {
    pub trait Sealed {}

    impl<T, E> Sealed for Result<T, E> {}
}

/// The future of [`within`](Within::within).
#[must_use = "futures do nothing unless polled"]
pub struct WithinFuture<F: Future> {
    future: Bounded<F>,
    /// The output for a deadline that has passed. A bound on this type would repeat the compile error of `within`.
    late: fn(Error) -> F::Output,
}

impl<F: Future> Future for WithinFuture<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let late = self.late;
        Pin::new(&mut self.future)
            .poll(context)
            .map(|done| done.unwrap_or_else(late))
    }
}

impl<F: Future> fmt::Debug for WithinFuture<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WithinFuture")
    }
}
