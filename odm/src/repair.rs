//! Repairs of what a [check](crate::check) finds.
//!
//! [`Db::repair`] checks the documents of models and plans what is written: copies, summaries and lists follow the documents that
//! they come from, and references do what their model declares for deletes. Where the data has two answers, such as which of two
//! sides that disagree is right, the plan asks for one. A plan writes nothing before [`run`](RepairPlan::run) is called.
//!
//! ```
//! # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/on_delete.rs"));
//! use odm::repair::Answer;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let db = a_shelf().await?;
//! db.collection::<Author>().delete_by_id(&1).leave_dangling().await?;
//!
//! let plan = db.repair(models![Author, Book]).plan().await?;
//! println!("{plan}");
//! // 3 findings: 0 will be repaired, 3 need an answer
//! // Book: dangling reference at `author`: 3
//! //   open: answer `delete` or `leave`
//!
//! let repair = db.repair(models![Author, Book]).answer::<Book, _, _>(|b| b.author, Answer::Delete);
//! let report = repair.plan().await?.run().await?;
//! assert_eq!(report.repaired(), 3);
//! assert!(db.check(models![Author, Book]).await?.is_sound());
//! # Ok(())
//! # }
//! ```
//!
//! A repair never makes things worse. What was found is read again in the transaction that writes it, so that a document which
//! another writer has put right meanwhile is left alone. It runs in batches, each of which is complete in itself: a repair that
//! stops after any of them has repaired a part, and the next one repairs the rest.

mod answers;
mod batch;
mod decide;
mod images;
mod plan;
mod queue;
mod report;
mod rewrite;
mod run;
mod token;
mod undo;

use std::fmt;
use std::ops::RangeBounds;
use std::time::Duration;

pub use self::answers::Answer;
use self::answers::Answers;
use self::decide::Decisions;
pub use self::plan::{RepairAction, RepairPlan, RepairStep};
pub use self::report::{NotRepaired, RepairReport, Repaired};
pub use self::run::{RepairProgress, RunRepair};
pub use self::token::RepairToken;
pub use self::undo::{UndoRepair, UndoResult};
use crate::check::{Aspect, Check, CheckProgress};
use crate::collection::Db;
use crate::error::Result;
use crate::model::{Document, Embedded, ModelMeta};
use crate::query::{Decode, Field, FilterFn, fields};

/// A repair, about to be planned: [`Db::repair`].
#[must_use = "nothing is read until `plan` is awaited"]
pub struct Repair<'s> {
    check: Check<'s>,
    answers: Answers,
}

impl Db {
    /// Plans how the documents of these models are repaired.
    ///
    /// The plan comes from a [check](Db::check) of all that can be repaired, so it costs what the check costs. See the
    /// [module](crate::repair) for an example.
    pub fn repair<'s>(&self, models: impl IntoIterator<Item = &'static ModelMeta>) -> Repair<'s> {
        Repair {
            check: self.check(models),
            answers: Answers::default(),
        }
    }
}

impl<'s> Repair<'s> {
    /// Answers what the data leaves open at a field: what becomes of references to nothing, which side of a `two_way` reference is
    /// right, which elements of a list that is too long stay.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/two_way.rs"));
    /// use odm::repair::Answer;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = two_people().await?;
    /// let (people, tasks) = (db.collection::<Person>(), db.collection::<Task>());
    /// tasks.update_by_id(&1, |t| t.owner.set(Some(Ref::from(2)))).leave_stale().await?;
    ///
    /// // Each task knows its owner, and the lists follow.
    /// let repair = db.repair(models![Person, Task]).answer::<Person, _, _>(|p| p.tasks, Answer::Follow);
    /// repair.plan().await?.run().await?;
    /// assert_eq!(people.get(&2).await?.ok_or("nobody")?.tasks, [Ref::from(1)]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`plan`](Self::plan) returns the error of an answer that does not fit its field, or that contradicts another one.
    pub fn answer<M: Document, T: 'static, E: Decode<T>>(
        mut self,
        field: impl FnOnce(<M as Embedded>::Fields<M>) -> Field<M, T, E>,
        answer: Answer,
    ) -> Self {
        let path = field(fields::<M>()).path().to_string();
        self.answers.add(M::model().whole().name, path, answer);
        self
    }

    /// Answers for a field by the Rust name of its model and its stored path, as a [finding](crate::check::Finding) has them. `*`
    /// stands for any name in the path, such as the keys of a map.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/on_delete.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = a_shelf().await?;
    /// db.run_command(doc! {"update": "books", "updates": [{"q": {"_id": 2}, "u": {"$set": {"colour": "red"}}}]}).await?;
    /// let repair = db.repair(models![Book]).answer_at("Book", "colour", "remove-field".parse()?);
    /// assert_eq!(repair.plan().await?.run().await?.repaired(), 1);
    /// # Ok(())
    /// # }
    /// ```
    pub fn answer_at(mut self, model: &str, path: &str, answer: Answer) -> Self {
        self.answers.add(model, path.to_owned(), answer);
        self
    }

    /// Repairs only this: [`Check::only`].
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/on_delete.rs"));
    /// # use odm::repair::Answer;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = a_shelf().await?;
    /// # db.collection::<Author>().delete_by_id(&1).leave_dangling().await?;
    /// use odm::check::Aspect;
    ///
    /// let repair = db.repair(models![Author, Book]).only([Aspect::Copies]);
    /// assert_eq!(repair.plan().await?.findings(), 0);
    /// # Ok(())
    /// # }
    /// ```
    pub fn only(self, aspects: impl IntoIterator<Item = Aspect>) -> Self {
        Self {
            check: self.check.only(aspects),
            ..self
        }
    }

    /// Repairs everything but this: [`Check::without`].
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/on_delete.rs"));
    /// # use odm::repair::Answer;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = a_shelf().await?;
    /// # db.collection::<Author>().delete_by_id(&1).leave_dangling().await?;
    /// use odm::check::Aspect;
    ///
    /// let repair = db.repair(models![Author, Book]).without(Aspect::References);
    /// assert_eq!(repair.plan().await?.findings(), 0);
    /// # Ok(())
    /// # }
    /// ```
    pub fn without(self, aspect: Aspect) -> Self {
        Self {
            check: self.check.without(aspect),
            ..self
        }
    }

    /// Repairs only documents of a model that match: [`Check::filter`]. Trees are repaired as a whole, so those of the model are
    /// left out.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/on_delete.rs"));
    /// # use odm::repair::Answer;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = a_shelf().await?;
    /// # db.collection::<Author>().delete_by_id(&1).leave_dangling().await?;
    /// let repair = db.repair(models![Book]).answer::<Book, _, _>(|b| b.author, Answer::Delete);
    /// let plan = repair.filter::<Book>(|b| b.id.gt(1)).plan().await?;
    /// assert_eq!(plan.run().await?.repaired(), 2);
    /// # Ok(())
    /// # }
    /// ```
    pub fn filter<M: Document>(self, condition: impl FilterFn<M>) -> Self {
        Self {
            check: self.check.filter::<M>(condition),
            ..self
        }
    }

    /// Repairs only documents of a model with these `_id`s: [`Check::range`].
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/on_delete.rs"));
    /// # use odm::repair::Answer;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = a_shelf().await?;
    /// # db.collection::<Author>().delete_by_id(&1).leave_dangling().await?;
    /// let repair = db.repair(models![Book]).answer::<Book, _, _>(|b| b.author, Answer::Delete);
    /// let plan = repair.range::<Book>(..2).plan().await?;
    /// assert_eq!(plan.run().await?.repaired(), 1);
    /// # Ok(())
    /// # }
    /// ```
    pub fn range<M: Document>(self, ids: impl RangeBounds<M::Id>) -> Self {
        Self {
            check: self.check.range::<M>(ids),
            ..self
        }
    }

    /// Reads at most this many documents each second, for the plan and for the repair: [`Check::documents_per_second`].
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/on_delete.rs"));
    /// # use odm::repair::Answer;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = a_shelf().await?;
    /// # db.collection::<Author>().delete_by_id(&1).leave_dangling().await?;
    /// let repair = db.repair(models![Book]).answer::<Book, _, _>(|b| b.author, Answer::Delete);
    /// let plan = repair.documents_per_second(10_000).plan().await?;
    /// assert_eq!(plan.run().await?.repaired(), 3);
    /// # Ok(())
    /// # }
    /// ```
    pub fn documents_per_second(self, documents: u32) -> Self {
        Self {
            check: self.check.documents_per_second(documents),
            ..self
        }
    }

    /// Plans the completion of changes only if they have begun longer ago than this: [`Check::unfinished_after`].
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/on_delete.rs"));
    /// # use odm::repair::Answer;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = a_shelf().await?;
    /// # db.collection::<Author>().delete_by_id(&1).leave_dangling().await?;
    /// use std::time::Duration;
    ///
    /// let repair = db.repair(models![Author, Book]).unfinished_after(Duration::ZERO);
    /// assert_eq!(repair.plan().await?.findings(), 3, "no change is unfinished");
    /// # Ok(())
    /// # }
    /// ```
    pub fn unfinished_after(self, time: Duration) -> Self {
        Self {
            check: self.check.unfinished_after(time),
            ..self
        }
    }

    /// Hears how far the check is from which the plan comes: [`Check::on_progress`].
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/on_delete.rs"));
    /// # use odm::repair::Answer;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = a_shelf().await?;
    /// # db.collection::<Author>().delete_by_id(&1).leave_dangling().await?;
    /// let repair = db.repair(models![Book]).on_progress(|progress| println!("{}", progress.read));
    /// assert_eq!(repair.plan().await?.findings(), 3);
    /// # Ok(())
    /// # }
    /// ```
    pub fn on_progress(self, hear: impl FnMut(&CheckProgress<'_>) + Send + 's) -> Self {
        Self {
            check: self.check.on_progress(hear),
            ..self
        }
    }

    /// Checks the documents, and plans what is written.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/on_delete.rs"));
    /// # use odm::repair::Answer;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = a_shelf().await?;
    /// # db.collection::<Author>().delete_by_id(&1).leave_dangling().await?;
    /// let plan = db.repair(models![Author, Book]).plan().await?;
    /// println!("{plan}");
    /// assert_eq!(plan.open().count(), 1);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// An answer does not fit its field, two answers contradict each other, or a read fails.
    pub async fn plan(self) -> Result<RepairPlan> {
        let Self { check, answers } = self;
        let settings = check.settings.clone();
        let decisions = Decisions::new(&settings.models, answers)?;
        let report = check.await?;
        RepairPlan::of(settings, decisions, &report)
    }

    /// Goes on with a repair that stopped, without another plan: [`RepairReport::rest`]. The models, the answers and the other
    /// options have to be those of the repair that stopped.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/on_delete.rs"));
    /// # use odm::repair::Answer;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = a_shelf().await?;
    /// # db.collection::<Author>().delete_by_id(&1).leave_dangling().await?;
    /// use std::time::Duration;
    ///
    /// let repair = || db.repair(models![Book]).answer::<Book, _, _>(|b| b.author, Answer::Delete);
    /// let report = repair().plan().await?.run().time_limit(Duration::ZERO).await?;
    /// let token = report.rest.ok_or("it was fast")?.to_string();
    ///
    /// // Another process goes on.
    /// let report = repair().resume(token.parse()?)?.await?;
    /// assert_eq!(report.repaired(), 3);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The token is of a repair of other models; the errors of the answers, as of [`plan`](Self::plan).
    pub fn resume(self, token: RepairToken) -> Result<RunRepair<'s>> {
        let Self { check, answers } = self;
        if let Some(refused) = check.refused {
            return Err(refused);
        }
        let decisions = Decisions::new(&check.settings.models, answers)?;
        RunRepair::new(check.settings, decisions, token)
    }
}

impl fmt::Debug for Repair<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Repair")
            .field("check", &self.check)
            .field("answers", &self.answers)
            .finish()
    }
}
