//! Writes that run only if their plan still holds.

use std::fmt;
use std::sync::Arc;

use super::planned::{Planned, WriteSteps};
use super::{Atomic, WriteSeveral};
use crate::error::{Error, Result};
use crate::exec::Channel;
use crate::model::ModelMeta;
use crate::store::{Afterwards, Turn};

/// Writes that make their plan again before they write, and refuse to write if it differs from an earlier one.
pub struct Expecting<W> {
    writes: W,
    plan: Arc<Planned>,
}

impl<'s, W: WriteSteps> Atomic<'s, W> {
    /// The same writes, if this plan still holds.
    pub(super) fn if_planned(self, plan: &Arc<Planned>) -> Atomic<'s, Expecting<W>> {
        let plan = Arc::clone(plan);
        self.map(|writes| Expecting { writes, plan })
    }
}

/// [`done`](WriteSeveral::done) is not asked: where nothing is left to write, the plan does not hold.
impl<W: WriteSteps> WriteSeveral for Expecting<W> {
    type Done = W::Done;

    fn model(&self) -> &'static ModelMeta {
        self.writes.model()
    }

    fn channel(&self) -> Channel<'static> {
        self.writes.channel()
    }

    async fn turn(&self) -> Result<Turn> {
        self.writes.turn().await
    }

    async fn write(&self, channel: &mut Channel<'_>) -> Result<W::Done> {
        if !channel.is_in_transaction() {
            return Err(Error::usage(
                "a plan is compared in the transaction of the write, so that nothing changes in between: leave `non_atomic()` out",
            ));
        }
        let now = self.plan.again(&self.writes, channel).await?;
        self.plan.expect(&now)?;
        self.writes.write(channel).await
    }

    fn enter(&mut self, is_callers: bool) {
        self.writes.enter(is_callers);
    }

    /// The reads of the plan and the writes are one transaction, even if one document is written.
    fn is_several(&self) -> bool {
        true
    }

    async fn settle(&self, done: W::Done) -> Result<W::Done> {
        self.writes.settle(done).await
    }

    fn after_commit(&self) -> Option<Afterwards> {
        self.writes.after_commit()
    }

    fn explain(&self, error: Error) -> Error {
        self.writes.explain(error)
    }
}

impl<W: fmt::Debug> fmt::Debug for Expecting<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Expecting({:?})", self.writes)
    }
}
