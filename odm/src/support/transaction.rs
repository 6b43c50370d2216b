//! `transaction!`: a macro, so that the loop runs in the caller's own function, where its future can borrow
//! and be `Send`.

use crate::Error;

/// The type of an integer literal that infers the error `E` of a transaction.
///
/// Where nothing else names the error, the literal is an `i32`, as every such literal, and an `i32` has one error only:
/// [`Error`]. An error of another type fits an `i64` only, so the literal is one.
pub trait ErrorOf<E> {}

impl ErrorOf<Error> for i32 {}
impl<E> ErrorOf<E> for i64 {}

/// Ties the error of a result to the type of a literal.
pub const fn error_of<T, E>(_: impl ErrorOf<E> + Copy, _: &Result<T, E>) {}

/// Runs a body in a transaction: all of its operations with the session `tx` take effect, or none of them.
///
/// `transaction!(db, |tx| body)` is a future of the body's `Result`. The body may use `.await` and
/// `?`, and borrow what surrounds it; `return` and `?` leave only the body. `Ok` commits. An error
/// aborts the transaction and is returned.
///
/// ```
/// # use odm::prelude::*;
/// # #[derive(Debug, Serialize, Deserialize, Document)]
/// # #[odm(collection = "accounts")]
/// # struct Account { #[serde(rename = "_id")] id: i32, balance: i64 }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> odm::Result<()> {
/// # let db = Db::memory();
/// let accounts = db.collection::<Account>();
/// accounts.insert_many([Account { id: 1, balance: 9 }, Account { id: 2, balance: 0 }]).await?;
/// odm::transaction!(db, |tx| {
///     accounts.update_one(|a| a.id.eq(1), |a| a.balance.inc(-5)).session(tx).await?;
///     accounts.update_one(|a| a.id.eq(2), |a| a.balance.inc(5)).session(tx).await?;
///     Ok(())
/// })
/// .await?;
/// assert_eq!(accounts.get(&2).await?.map(|a| a.balance), Some(5));
/// # Ok(())
/// # }
/// ```
///
/// # Retries
///
/// The body runs again, from its start, after an operation in the transaction failed with the label
/// `TransientTransactionError`: another write conflicted with it, or the primary changed. The commit is sent
/// again while its result is unknown. Both go on for up to 120 seconds. So the body must have no effect
/// outside of the transaction that may not happen twice, and it must clone the values that it moves. A
/// [`Loaded`](crate::collection::Loaded) document is saved again, but its fields keep the values from the
/// first run: if the body computes fields from one another, load the document in the body.
///
/// MongoDB aborts a transaction when an operation in it fails, for example with a duplicate key. A body that catches such
/// an error and goes on does not run again: its next operation, or the commit, fails with an error that names the first.
///
/// # Errors of your own
///
/// The body's error can be any type that is `From<odm::Error>`. It may wrap the error of an operation: the
/// session remembers whether to retry. The compiler infers the type from the errors that the body returns, and from the
/// function if it returns the result; where neither names one, as in `transaction!(…).await?`, it is [`odm::Error`](crate::Error).
/// A method of the error, as in `if let Err(error) = transaction!(…).await { error.code() }`, needs the type after `|tx|`:
/// `|tx| -> odm::Result<()> { … }`.
///
/// ```
/// # use odm::prelude::*;
/// # #[derive(Debug, Serialize, Deserialize, Document)]
/// # #[odm(collection = "accounts")]
/// # struct Account { #[serde(rename = "_id")] id: i32, balance: i64 }
/// # #[derive(Debug)]
/// enum PayError {
///     Broke,
///     Odm(odm::Error),
/// }
///
/// impl From<odm::Error> for PayError {
///     fn from(error: odm::Error) -> Self {
///         Self::Odm(error)
///     }
/// }
///
/// async fn pay(db: &Db, accounts: &Collection<Account>, amount: i64) -> Result<(), PayError> {
///     odm::transaction!(db, |tx| {
///         let enough = accounts.update_one(|a| a.id.eq(1) & a.balance.gte(amount), |a| a.balance.inc(-amount));
///         if enough.session(tx).await?.matched == 0 {
///             return Err(PayError::Broke);
///         }
///         Ok(())
///     })
///     .await
/// }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// # let db = Db::memory();
/// # let accounts = db.collection::<Account>();
/// // The future is `Send`: it may run in a spawned task or in a web handler.
/// let paying = tokio::spawn(async move { pay(&db, &accounts, 5).await });
/// assert!(matches!(paying.await.unwrap(), Err(PayError::Broke)));
/// # }
/// ```
///
/// # Options
///
/// [`TransactionOptions`](crate::collection::TransactionOptions) come before the body:
/// `transaction!(db, TransactionOptions::new().read_concern(ReadConcern::Snapshot), |tx| body)`. For a
/// session of your own, or without retries, use [`Db::start_session`](crate::Db::start_session) and
/// [`Session::start_transaction`](crate::Session::start_transaction).
#[doc(alias = "with_transaction")]
#[macro_export]
macro_rules! transaction {
    (@run $db:expr, $options:expr, $tx:ident, $output:ty, $body:expr) => {
        async {
            let mut tries = $crate::support::Tries::new(&$db, $options);
            let ended = loop {
                let $tx = match tries.begin().await {
                    ::core::result::Result::Ok(session) => session,
                    ::core::result::Result::Err(error) => {
                        break ::core::result::Result::Err(error);
                    }
                };
                let result: $output = async { $body }.await;
                // The type of this literal decides the error where nothing else does.
                $crate::support::error_of(0, &result);
                if let ::core::option::Option::Some(ended) = tries.end(result).await {
                    break ended;
                }
            };
            // The only place that converts the error, so that the compiler reports a missing `From` once.
            match ended {
                ::core::result::Result::Ok(result) => result,
                ::core::result::Result::Err(error) => {
                    ::core::result::Result::Err(::core::convert::From::<$crate::Error>::from(error))
                }
            }
        }
    };
    ($db:expr, |$tx:ident| -> $output:ty $body:block $(,)?) => {
        $crate::transaction!(
            @run $db, $crate::collection::TransactionOptions::new(), $tx, $output, $body
        )
    };
    ($db:expr, |$tx:ident| $body:expr $(,)?) => {
        $crate::transaction!(
            @run $db, $crate::collection::TransactionOptions::new(), $tx,
            ::core::result::Result<_, _>, $body
        )
    };
    ($db:expr, $options:expr, |$tx:ident| -> $output:ty $body:block $(,)?) => {
        $crate::transaction!(@run $db, $options, $tx, $output, $body)
    };
    ($db:expr, $options:expr, |$tx:ident| $body:expr $(,)?) => {
        $crate::transaction!(@run $db, $options, $tx, ::core::result::Result<_, _>, $body)
    };
    ($db:expr, |mut $tx:ident| $($body:tt)*) => {
        $crate::transaction!(@mutable)
    };
    ($db:expr, $options:expr, |mut $tx:ident| $($body:tt)*) => {
        $crate::transaction!(@mutable)
    };
    (@mutable) => {
        ::core::compile_error!(
            "the body gets a `&mut Session`: write `|tx|`, and `.session(tx)` without `&mut`"
        )
    };
    ($($other:tt)*) => {
        ::core::compile_error!(
            "write `transaction!(db, |tx| { …; Ok(value) })`: the body is a closure without `async` \
             or `move`, with a name for the session; options stand before it"
        )
    };
}
