//! Runs several writes in one transaction unless the caller opts out.

use crate::error::{Error, Result};
use crate::store::Session;

/// Where the writes run.
#[derive(Debug)]
pub(crate) enum Place<'s> {
    /// In the caller's session, or without one.
    Here(Option<&'s mut Session>),
    /// In a transaction of their own.
    Transaction,
}

impl<'s> Place<'s> {
    /// Decides by what the caller has chosen.
    pub(crate) fn new(session: Option<&'s mut Session>, non_atomic: bool) -> Result<Self> {
        match session {
            Some(session) if session.in_transaction() || non_atomic => {
                Ok(Self::Here(Some(session)))
            }
            Some(_) => {
                let message = "this writes several documents: start a transaction in the session, or leave the session out, or say `non_atomic()`";
                Err(Error::usage(message))
            }
            None if non_atomic => Ok(Self::Here(None)),
            None => Ok(Self::Transaction),
        }
    }

    /// Whether the writes are in a transaction of the caller, which goes on after them.
    pub(crate) fn is_in_transaction(&self) -> bool {
        match self {
            Self::Here(session) => session.as_ref().is_some_and(|it| it.in_transaction()),
            Self::Transaction => false,
        }
    }
}

/// Runs `$body` with `$base`, a channel or a tree, in the session of a [`Place`]: in a transaction of the database if it
/// needs one. The body runs again if the transaction is tried again.
macro_rules! joint {
    ($place:expr, $base:expr, |$bound:ident| $body:expr) => {
        match $place {
            Place::Here(session) => {
                let $bound = &mut $base.within(session);
                $body.await
            }
            Place::Transaction => {
                let mut tries = Tries::joined($base.store());
                loop {
                    let $bound = &mut $base.within(Some(tries.begin().await?));
                    let result: Result<_> = $body.await;
                    if let Some(ended) = tries.end(result).await {
                        break ended.and_then(std::convert::identity);
                    }
                }
            }
        }
    };
}

pub(crate) use joint;
