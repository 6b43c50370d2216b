//! Plans of writes that propagate.

use std::fmt;

use bson::RawDocumentBuf;

use super::super::collected::Collected;
use super::super::copies::facts::Kept;
use super::super::dependents::print_writes;
use super::super::reference_place::exact_read;
use super::super::two_way::BackReference;
use super::super::{Atomic, WriteSeveral};
use super::derived::Derived;
use crate::error::Result;
use crate::exec::{Channel, Keys};
use crate::plan::Step;
use crate::store::Operation;

/// What a change that propagates would write: [`Atomic::plan`].
///
/// Printed, it lists the collections with the number of documents, the index that finds them, and the guarantee.
#[derive(Debug, Clone)]
pub struct UpdatePlan {
    steps: Vec<Step>,
}

/// Several writes that can be planned.
pub trait WriteSteps: WriteSeveral {
    /// What they would write, by the reads that they begin with.
    fn steps(&self, channel: &mut Channel<'_>) -> impl Future<Output = Result<Vec<Step>>> + Send;
}

impl<W: WriteSteps> Atomic<'_, W> {
    /// Returns what the write would do. Nothing is written.
    ///
    /// The plan is made by the reads that the write itself begins with, and a count for each kind of copies. To run the write,
    /// await it: it reads again. The values of the copies are known only then, so their steps have no commands. Of an upsert that
    /// matches nothing, the plan has the insert only. The plan of a bulk write reads for each of its steps what is stored before the
    /// first.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/copies.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = two_hosts().await?;
    /// let hosts = db.collection::<Host>();
    /// let plan = hosts.update_by_id(&1, |h| h.ipaddr.set("127.0.0.9")).propagate().plan().await?;
    /// assert_eq!(
    ///     plan.to_string(),
    ///     "  hosts (Host)
    ///     update 1 document
    ///         match the filter
    ///   logmsg (LogMessage)
    ///     update 3 documents
    ///         copy `ipaddr` by `host`
    ///         found by the index on host
    ///         settled: after the transaction of the write
    /// "
    /// );
    /// # Ok(())
    /// # }
    /// ```
    pub async fn plan(self) -> Result<UpdatePlan> {
        let (writes, session) = self.into_parts()?;
        let mut channel = writes.channel().within(session);
        let steps = writes.steps(&mut channel).await;
        let steps = steps.map_err(|error| error.with_model(writes.model().name))?;
        Ok(UpdatePlan { steps })
    }
}

impl UpdatePlan {
    /// The steps: the update, then the copies.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/copies.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = two_hosts().await?;
    /// let hosts = db.collection::<Host>();
    /// let plan = hosts.update_by_id(&2, |h| h.ipaddr.set("127.0.0.9")).propagate().plan().await?;
    /// assert_eq!(plan.steps().len(), 1, "no message refers to this host");
    /// # Ok(())
    /// # }
    /// ```
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }
}

impl fmt::Display for UpdatePlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        print_writes(&self.steps, f)
    }
}

impl Derived {
    /// What follows from a write of these documents, as they are before it.
    pub(super) async fn steps(
        &self,
        channel: &mut Channel<'_>,
        documents: &[RawDocumentBuf],
    ) -> Result<Vec<Step>> {
        let (collection, count) = (channel.collection(self.model), documents.len() as u64);
        let mut steps = Vec::new();
        for kept in &self.made {
            let keys = Keys::at(&kept.key, documents)?;
            let target = kept.copies.model;
            let mut holders = 0;
            for part in keys.parts() {
                let filter = kept.place.refers_to(&part).into();
                let options = exact_read(channel, target, None);
                let count = Operation::Count { filter };
                holders += channel.of(target).count(count, options).await?;
            }
            if holders > 0 {
                steps.push(self.step(kept, &channel.collection(target), holders));
            }
        }
        for kept in &self.held {
            let mut step = self.step(kept, &collection, count);
            step.reasons.truncate(1);
            steps.push(step);
        }
        for back in &self.back {
            steps.push(back_step(back, channel, count));
        }
        for one in &self.collected {
            let keys = Keys::at(one.reference(), documents)?;
            steps.push(self.collected_step(one, channel, keys.len() as u64));
        }
        for one in &self.own {
            steps.push(self.collected_step(one, channel, count));
        }
        Ok(steps)
    }

    /// The step of a plan that writes summaries or a list.
    fn collected_step(&self, one: &Collected, channel: &Channel<'_>, documents: u64) -> Step {
        let collection = channel.collection(one.holder());
        let mut step = Step::writes(one.holder(), &collection, Vec::new(), one.step());
        step.reasons.push(self.time(one.is_strict()).to_owned());
        step.of_documents(documents)
    }

    /// When copies and summaries are written.
    fn time(&self, is_strict: bool) -> &'static str {
        match (self.in_background, is_strict) {
            (true, _) => "in the background: by `resume_propagation`",
            (false, true) => "strict: in the transaction of the write",
            (false, false) => "settled: after the transaction of the write",
        }
    }

    /// The step of a plan that writes copies. Their values are known only after the update.
    fn step(&self, kept: &Kept, collection: &str, documents: u64) -> Step {
        let model = kept.copies.model;
        let names: Vec<_> = kept.copies.following().map(|field| field.rust).collect();
        let by = kept.copies.by.join(".");
        let copies = format!("copy `{}` by `{by}`", names.join("`, `"));
        let mut step = Step::writes(model, collection, Vec::new(), copies);
        let path: Vec<&str> = kept.copies.by.iter().map(String::as_str).collect();
        step.reasons.push(match model.index_for(&path) {
            Some(index) => {
                let keys = index.keys.iter().map(|key| key.path.join("."));
                format!(
                    "found by the index on {}",
                    keys.collect::<Vec<_>>().join(", ")
                )
            }
            None => "found by a scan".to_owned(),
        });
        step.reasons.push(self.time(kept.is_strict()).to_owned());
        step.of_documents(documents)
    }
}

/// The step of a plan that writes references which refer back: at most one for each updated document, or each of its list.
fn back_step(back: &BackReference, channel: &Channel<'_>, documents: u64) -> Step {
    let (own, other) = (back.sides.own.field, &back.sides.other);
    let reason = format!(
        "let `{}` follow `{own}`, in those to which it leads and led",
        other.field
    );
    let collection = channel.collection(other.model);
    Step::writes(other.model, &collection, Vec::new(), reason).of_documents(documents)
}
