//! Reads of several commands that see one state of the tree.

use crate::collection::transaction::Tries;
use crate::collection::{Db, TransactionOptions};
use crate::store::options::{ReadConcern, ReadPreference, WriteConcern};
use crate::store::{Session, Store};

/// Where the commands of a read run.
#[derive(Debug)]
pub(super) enum Reads<'s> {
    /// In the caller's session, or without one.
    Here(Option<&'s mut Session>),
    /// In a transaction, whose reads all see one snapshot.
    Snapshot(Box<Tries>),
}

impl<'s> Reads<'s> {
    /// A read that others' writes could tear runs in a transaction, where the deployment has them. The caller's session
    /// has a transaction already, or it is to have none: one that a dropped read left open would take in what follows.
    pub(super) async fn new(
        session: Option<&'s mut Session>,
        store: &Store,
        is_torn: bool,
    ) -> Self {
        if session.is_some() || !is_torn {
            return Self::Here(session);
        }
        let Some(transactions) = store.transactions().await else {
            return Self::Here(None);
        };
        // Nothing is written, so that the commit need not wait for other members.
        let mut options = TransactionOptions::new()
            .read_preference(ReadPreference::primary())
            .write_concern(WriteConcern::nodes(1));
        if transactions.is_sharded {
            options = options.read_concern(ReadConcern::Snapshot);
        }
        let store = store.clone();
        Self::Snapshot(Box::new(Tries::new(&Db { store }, options)))
    }
}

/// Runs `$body` with the tree in a session; its reads see one state if others' writes could tear them. The body runs again if the
/// transaction is tried again.
macro_rules! at_once {
    ($tree:expr, $session:expr, $is_torn:expr, |$tree_store:ident| $body:expr) => {
        match Reads::new($session, $tree.store(), $is_torn).await {
            Reads::Here(session) => {
                let $tree_store = &mut $tree.in_session(session);
                $body.await
            }
            Reads::Snapshot(mut tries) => loop {
                let $tree_store = &mut $tree.in_session(Some(tries.begin().await?));
                let result: Result<_> = $body.await;
                if let Some(ended) = tries.end(result).await {
                    break ended.and_then(std::convert::identity);
                }
            },
        }
    };
}

pub(super) use at_once;
