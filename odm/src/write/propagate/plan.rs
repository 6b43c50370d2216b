//! Plans of writes that propagate.

use std::fmt;
use std::sync::Arc;

use bson::RawDocumentBuf;

use super::super::Atomic;
use super::super::collected::Collected;
use super::super::copies::kept::Kept;
use super::super::dependents::print_writes;
use super::super::expecting::Expecting;
use super::super::planned::{Planned, WriteSteps};
use super::super::reference_place::exact_read;
use super::super::two_way::BackReference;
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
    planned: Arc<Planned>,
}

/// Several writes whose plan is an [`UpdatePlan`].
pub trait Propagates: WriteSteps {}

impl<'s, W: Propagates> Atomic<'s, W> {
    /// Returns what the write would do. Nothing is written.
    ///
    /// The plan is made by the reads that the write itself begins with, and a count for each kind of copies. To run the write,
    /// await it: it reads again, and acts on what is stored then. With [`expecting`](Self::expecting), it runs only if the plan
    /// still holds. The values of the copies are known only then, so their steps have no commands. Of an upsert that
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
        let mut channel = writes.channel().in_session(session);
        let planned = Planned::of(&writes, &mut channel).await?;
        Ok(UpdatePlan {
            planned: Arc::new(planned),
        })
    }

    /// Runs the write only if this plan still holds. The write makes its plan again in its transaction before it writes anything, and
    /// is refused if the plan differs. If the transaction is tried again, it compares again.
    ///
    /// The comparison covers:
    ///
    /// - the call: the collection, the filter, the change with its options, and the words beside it, such as `in_background`. Times
    ///   that the library sets (`created_at`, `updated_at`) are left out; any other value that is computed anew makes another call,
    ///   so build the change from the same values;
    /// - the documents that match: their `_id`s, their version if the model has one, and the fields by which the write finds what
    ///   follows. Other fields may have changed: where that matters, name their values in the filter;
    /// - the numbers of the other documents that are written. Such a document that has taken the place of another is not noticed,
    ///   because only a read of all of them could find it.
    ///
    /// Where several documents match a call that changes one, name a sort, or a filter that only one matches: MongoDB may choose
    /// another each time that it reads.
    ///
    /// What follows only from the values of the change is not part of a plan: an insert compares its documents, and the numbers of
    /// the others. Copies that are settled are written after the transaction, also to documents that refer since then.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/copies.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = two_hosts().await?;
    /// let (hosts, messages) = (db.collection::<Host>(), db.collection::<LogMessage>());
    /// let change = || hosts.update_by_id(&1, |h| h.ipaddr.set("127.0.0.9")).propagate();
    /// let plan = change().plan().await?;
    ///
    /// // While somebody reads the plan, a message arrives.
    /// messages.insert_one(message(4, 1)).propagate().await?;
    /// let error = change().expecting(&plan).await.unwrap_err();
    /// assert!(error.is_outdated_plan());
    /// assert_eq!(
    ///     error.to_string(),
    ///     "Host: the plan is outdated, and this call has written nothing: logmsg (copy `ipaddr` by `host`): 3 documents planned, \
    ///      4 now: make the plan again"
    /// );
    ///
    /// let plan = change().plan().await?;
    /// let result = change().expecting(&plan).await?;
    /// assert_eq!(result.propagated[0].documents, 4);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`is_outdated_plan`](crate::Error::is_outdated_plan): the plan differs, or is of another call. With
    /// [`non_atomic`](Self::non_atomic), nothing is sent, because documents could change between the comparison and the write.
    pub fn expecting(self, plan: &UpdatePlan) -> Atomic<'s, Expecting<W>> {
        self.if_planned(&plan.planned)
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
        &self.planned.steps
    }
}

impl fmt::Display for UpdatePlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        print_writes(&self.planned.steps, f)
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
