//! Runs several writes in one transaction unless the caller opts out.

use std::fmt;

use futures_core::future::BoxFuture;

use crate::collection::transaction::Tries;
use crate::error::{Error, Result};
use crate::exec::Channel;
use crate::model::ModelMeta;
use crate::store::{Afterwards, Session, Turn};

/// Several writes that belong together, about to be sent.
///
/// They run in a transaction. Where the deployment has no transactions, nothing is written and an error says so, unless
/// you say [`non_atomic`](Self::non_atomic).
#[must_use = "nothing is written until it is awaited"]
pub struct Atomic<'s, W> {
    pub(crate) writes: Result<W>,
    session: Option<&'s mut Session>,
    /// Whether the caller said `non_atomic()`.
    without_transaction: bool,
}

/// Writes of several documents, with what an attempt needs.
pub trait WriteSeveral: Send + Sync {
    /// The result.
    type Done: Send;

    /// The model that errors name.
    fn model(&self) -> &'static ModelMeta;

    /// Where the writes are sent.
    fn channel(&self) -> Channel<'static>;

    /// The result if no transaction is needed: nothing has to be written, or one command has written all. It is asked before a
    /// transaction begins.
    fn done(&self, _in_session: bool) -> impl Future<Output = Result<Option<Self::Done>>> + Send {
        std::future::ready(Ok(None))
    }

    /// Waits for a turn among the tasks of this process, so that their transactions do not conflict.
    fn turn(&self) -> impl Future<Output = Result<Turn>> + Send {
        std::future::ready(Ok(None))
    }

    /// Sends the writes. It runs again if the transaction is tried again.
    fn write(&self, channel: &mut Channel<'_>) -> impl Future<Output = Result<Self::Done>> + Send;

    /// Says whether the writes run in a transaction of the caller, which goes on after them.
    fn enter(&mut self, _is_callers: bool) {}

    /// Whether several documents are written together. Others need no transaction of their own.
    fn is_several(&self) -> bool {
        true
    }

    /// Looks again after the writes have taken effect, outside of any transaction.
    fn settle(&self, done: Self::Done) -> impl Future<Output = Result<Self::Done>> + Send {
        std::future::ready(Ok(done))
    }

    /// What runs after the caller's transaction has been committed.
    fn after_commit(&self) -> Option<Afterwards> {
        None
    }

    /// Adds to an error what the caller can do about it.
    fn explain(&self, error: Error) -> Error {
        error
    }
}

impl<'s, W> Atomic<'s, W> {
    /// Writes of this model, or the error of what prepared them.
    pub(crate) fn new(writes: Result<W>, model: &ModelMeta) -> Self {
        Self {
            writes: writes.map_err(|error| error.with_model(model.name)),
            session: None,
            without_transaction: false,
        }
    }

    /// Writes that were prepared from a call, in the session of that call.
    pub(crate) fn of_call(call: Result<(W, Option<&'s mut Session>)>, model: &ModelMeta) -> Self {
        match call {
            Ok((writes, session)) => Self {
                session,
                ..Self::new(Ok(writes), model)
            },
            Err(error) => Self::new(Err(error), model),
        }
    }

    /// The writes, or the error of what prepared them, and the session.
    pub(crate) fn into_parts(self) -> Result<(W, Option<&'s mut Session>)> {
        Ok((self.writes?, self.session))
    }

    /// Makes other writes of these, in the same session.
    pub(crate) fn and_then<V>(self, change: impl FnOnce(W) -> Result<V>) -> Atomic<'s, V>
    where
        W: WriteSeveral,
    {
        let writes = self.writes.and_then(|writes| {
            let name = writes.model().name;
            change(writes).map_err(|error| error.with_model(name))
        });
        Atomic {
            writes,
            session: self.session,
            without_transaction: self.without_transaction,
        }
    }

    /// Replaces the writes, in the same session.
    pub(crate) fn map<V>(self, change: impl FnOnce(W) -> V) -> Atomic<'s, V> {
        Atomic {
            writes: self.writes.map(change),
            session: self.session,
            without_transaction: self.without_transaction,
        }
    }

    /// Runs in the transaction of this session.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/categories.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = five_categories().await?;
    /// # let tree = db.tree::<Category>();
    /// let mut session = db.start_session().await?;
    /// session.start_transaction().await?;
    /// tree.move_to(node("Fiction"), Position::root()).session(&mut session).await?;
    /// tree.delete(node("Languages")).session(&mut session).await?;
    /// session.commit_transaction().await?;
    /// assert_eq!(tree.roots().ids().await?, ["Books", "Fiction"]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn session(mut self, session: &'s mut Session) -> Self {
        self.session = Some(session);
        self
    }

    /// Writes without a transaction, one command after the other. If one fails, or the process ends, those before it
    /// stay written.
    ///
    /// A change of a tree stores a record of itself first. Until `repair` has completed it, `check` reports it, and other
    /// changes of the tree are [refused](crate::error::TreeRefusal::Unfinished). Of two such changes at the same time,
    /// one is refused before it writes anything, as [`Conflict`](crate::error::TreeRefusal::Conflict) or `Unfinished`,
    /// and is to be run again.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/categories.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = five_categories().await?;
    /// # let tree = db.tree::<Category>();
    /// tree.move_to(node("Programming"), Position::root()).non_atomic().await?;
    /// assert_eq!(tree.path(node("Languages")).ids().await?, ["Programming", "Languages"]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn non_atomic(mut self) -> Self {
        self.without_transaction = true;
        self
    }
}

impl<W: WriteSeveral> Atomic<'_, W> {
    async fn run(self) -> Result<W::Done> {
        let mut writes = self.writes?;
        let name = writes.model().name;
        let done = writes.done(self.session.is_some()).await;
        if let Some(done) = done.map_err(|error| error.with_model(name))? {
            return Ok(done);
        }
        let result = async {
            let needs_none = self.without_transaction || !writes.is_several();
            let place = Place::new(self.session, needs_none)?;
            writes.enter(place.is_in_transaction());
            // A transaction of the caller may hold the turns of other writes, so it does not wait.
            let _turn = match &place {
                place if place.is_in_transaction() => None,
                _ => writes.turn().await?,
            };
            let base = writes.channel();
            match place {
                Place::Here(session) => {
                    let mut channel = base.in_session(session);
                    let done = writes.write(&mut channel).await?;
                    match channel.session().filter(|it| it.in_transaction()) {
                        None => writes.settle(done).await,
                        Some(session) => {
                            if let Some(work) = writes.after_commit() {
                                session.after_commit(work);
                            }
                            Ok(done)
                        }
                    }
                }
                Place::Transaction => {
                    let mut tries = Tries::joined(base.store());
                    loop {
                        let session = tries.begin().await?;
                        let result = writes.write(&mut base.in_session(Some(session))).await;
                        if let Some(ended) = tries.end(result).await {
                            let done = ended.and_then(std::convert::identity)?;
                            break writes.settle(done).await;
                        }
                    }
                }
            }
        };
        let result = result.await;
        result.map_err(|error| writes.explain(error.with_model(name)))
    }
}

impl<'s, W: WriteSeveral + 's> IntoFuture for Atomic<'s, W> {
    type Output = Result<W::Done>;
    type IntoFuture = BoxFuture<'s, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.run())
    }
}

impl<W: fmt::Debug> fmt::Debug for Atomic<'_, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.writes {
            Ok(writes) => fmt::Debug::fmt(writes, f),
            Err(error) => write!(f, "Atomic({error})"),
        }
    }
}

/// The work of several writes, one after the other.
pub(crate) fn afterwards(all: Vec<Afterwards>) -> Option<Afterwards> {
    if all.is_empty() {
        return None;
    }
    Some(Box::new(move || {
        Box::pin(async move {
            for work in all {
                work().await?;
            }
            Ok(())
        })
    }))
}

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
    fn new(session: Option<&'s mut Session>, non_atomic: bool) -> Result<Self> {
        match session {
            Some(session) if session.in_transaction() || non_atomic => {
                Ok(Self::Here(Some(session)))
            }
            Some(_) => {
                let message = "this writes several documents: start a transaction in the session, or leave the session out, or call `non_atomic()`";
                Err(Error::usage(message))
            }
            None if non_atomic => Ok(Self::Here(None)),
            None => Ok(Self::Transaction),
        }
    }

    /// Whether the writes are in a transaction of the caller, which goes on after them.
    fn is_in_transaction(&self) -> bool {
        match self {
            Self::Here(session) => session.as_ref().is_some_and(|it| it.in_transaction()),
            Self::Transaction => false,
        }
    }
}
