//! Runs a repair: its tasks one after the other.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bson::oid::ObjectId;
use bson::{Bson, DateTime, Document, doc};
use futures_core::future::BoxFuture;

use super::batch::{Batches, Wrote};
use super::decide::{Decisions, has_no_place};
use super::images;
use super::plan::RepairAction;
use super::queue::{Phase, Queue, Task};
use super::report::{RepairReport, Tally};
use super::token::RepairToken;
use crate::check::checkers::AnyChecker;
use crate::check::pass::Pass;
use crate::check::{Aspect, Aspects, FindingKind, Settings};
use crate::collection::transaction::Tries;
use crate::error::{Code, Error, Result};
use crate::exec::{Channel, Images};
use crate::model::{ModelMeta, REPAIRS, TreeMeta};
use crate::plan::{Allow, Plan};
use crate::tree::{TreeReport, check_tree, repair_tree};
use crate::write::checker::is_about_document;
use crate::write::resume_propagations;

/// The most documents of one transaction.
const BATCH: usize = 200;

/// How far a repair is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct RepairProgress<'a> {
    /// The Rust name of the model whose documents are read.
    pub model: &'a str,
    /// The part of the repair that runs, such as `copies` or `references`.
    pub phase: &'static str,
    /// How many documents of the model were read for it.
    pub read: u64,
    /// How many findings the repair has repaired.
    pub repaired: u64,
}

type Hear<'s> = Box<dyn FnMut(&RepairProgress<'_>) + Send + 's>;

/// A repair, about to run: [`RepairPlan::run`](super::RepairPlan::run).
#[must_use = "nothing is written until it is awaited"]
pub struct RunRepair<'s> {
    settings: Settings,
    decisions: Arc<Decisions>,
    token: RepairToken,
    keeps_images: bool,
    time_limit: Option<Duration>,
    hear: Option<Hear<'s>>,
}

impl<'s> RunRepair<'s> {
    pub(super) fn of(settings: Settings, decisions: Arc<Decisions>, token: RepairToken) -> Self {
        Self {
            settings,
            decisions,
            keeps_images: token.images.is_some(),
            token,
            time_limit: None,
            hear: None,
        }
    }

    pub(super) fn new(
        settings: Settings,
        decisions: Decisions,
        token: RepairToken,
    ) -> Result<Self> {
        for task in &token.tasks {
            if find(&settings.models, &task.model).is_none() {
                let models = settings.models.iter();
                let models: Vec<_> = models.map(|model| format!("`{}`", model.name)).collect();
                return Err(Error::usage(format!(
                    "the token is of a repair of the model `{}`, and this one repairs {}: list the same models",
                    task.model,
                    models.join(", "),
                )));
            }
        }
        Ok(Self::of(settings, Arc::new(decisions), token))
    }

    /// Keeps the documents as they were, in the collection `odm_repairs`, so that [`Db::undo_repair`](crate::Db::undo_repair) can
    /// undo the repair.
    ///
    /// An image is written in the transaction that changes the document: the fields that change, with their values before and
    /// after, or the document if it is deleted. The changes that the repair completes for others are not kept.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/on_delete.rs"));
    /// # use odm::repair::Answer;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = a_shelf().await?;
    /// # db.collection::<Author>().delete_by_id(&1).leave_dangling().await?;
    /// let plan = db.repair(models![Book]).answer::<Book, _, _>(|b| b.author, Answer::Delete).plan().await?;
    /// let report = plan.run().keep_images().await?;
    /// println!("undo it with {}", report.images.ok_or("no images")?);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The deployment has no transactions.
    pub fn keep_images(self) -> Self {
        Self {
            keeps_images: true,
            ..self
        }
    }

    /// Stops after this time; [`rest`](RepairReport::rest) says where to go on. A tree is repaired as a whole.
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
    /// let plan = db.repair(models![Book]).answer::<Book, _, _>(|b| b.author, Answer::Delete).plan().await?;
    /// let mut report = plan.run().time_limit(Duration::from_secs(60)).await?;
    /// while let Some(rest) = report.rest.take() {
    ///     report = plan.run().resume(rest).time_limit(Duration::from_secs(60)).await?;
    /// }
    /// assert!(report.is_complete());
    /// # Ok(())
    /// # }
    /// ```
    pub fn time_limit(self, limit: Duration) -> Self {
        Self {
            time_limit: Some(limit),
            ..self
        }
    }

    /// Goes on with this repair where it stopped before: [`RepairReport::rest`].
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
    /// let plan = db.repair(models![Book]).answer::<Book, _, _>(|b| b.author, Answer::Delete).plan().await?;
    /// let report = plan.run().time_limit(Duration::ZERO).await?;
    /// let report = plan.run().resume(report.rest.ok_or("it was fast")?).await?;
    /// assert_eq!(report.repaired(), 3);
    /// # Ok(())
    /// # }
    /// ```
    pub fn resume(self, token: RepairToken) -> Self {
        Self {
            keeps_images: self.keeps_images || token.images.is_some(),
            token,
            ..self
        }
    }

    /// Hears how far the repair is, after each thousand documents.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/on_delete.rs"));
    /// # use odm::repair::Answer;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = a_shelf().await?;
    /// # db.collection::<Author>().delete_by_id(&1).leave_dangling().await?;
    /// let plan = db.repair(models![Book]).answer::<Book, _, _>(|b| b.author, Answer::Delete).plan().await?;
    /// let mut repaired = 0;
    /// plan.run().on_progress(|progress| repaired = progress.repaired).await?;
    /// assert_eq!(repaired, 3);
    /// # Ok(())
    /// # }
    /// ```
    pub fn on_progress(self, hear: impl FnMut(&RepairProgress<'_>) + Send + 's) -> Self {
        Self {
            hear: Some(Box::new(hear)),
            ..self
        }
    }

    async fn run(self) -> Result<RepairReport> {
        let Self {
            settings,
            decisions,
            token,
            keeps_images,
            time_limit,
            hear,
        } = self;
        let RepairToken {
            tasks,
            mut after,
            images,
        } = token;
        let channel = Channel::new(settings.store.clone(), None);
        let images = match images {
            None if keeps_images => Some(ObjectId::new()),
            images => images,
        };
        if images.is_some() {
            prepare_images(&channel).await?;
        }
        let mut run = Run {
            queue: Queue::new(&settings.models, tasks),
            settings,
            decisions,
            channel,
            images,
            tally: Tally::default(),
            ends: time_limit.map(|limit| Instant::now() + limit),
            hear,
        };
        while let Some(task) = run.queue.tasks.front().cloned() {
            let after = after.take();
            let ended = if run.is_late() {
                Ended::Stopped(after)
            } else {
                run.task(&task, after).await?
            };
            if let Ended::Stopped(after) = ended {
                let token = RepairToken {
                    tasks: run.queue.tasks,
                    after,
                    images,
                };
                return Ok(run.tally.end(images, Some(token)));
            }
            run.queue.tasks.pop_front();
        }
        Ok(run.tally.end(images, None))
    }
}

/// How a task ended.
enum Ended {
    Done,
    /// The time is over; the task goes on after the document with this `_id`.
    Stopped(Option<Bson>),
}

/// A repair that runs.
struct Run<'s> {
    settings: Settings,
    decisions: Arc<Decisions>,
    channel: Channel<'static>,
    images: Option<ObjectId>,
    queue: Queue,
    tally: Tally,
    ends: Option<Instant>,
    hear: Option<Hear<'s>>,
}

impl Run<'_> {
    fn is_late(&self) -> bool {
        self.ends.is_some_and(|ends| Instant::now() >= ends)
    }

    async fn task(&mut self, task: &Task, after: Option<Bson>) -> Result<Ended> {
        let Some(model) = find(&self.settings.models, &task.model) else {
            return Ok(Ended::Done);
        };
        let named = |error: Error| error.with_model(model.name);
        match task.phase {
            Phase::Changes => self.changes(model).await.map_err(named)?,
            Phase::Trees => self.trees(model).await.map_err(named)?,
            phase => {
                let Some(checker) = checker(phase, model, &task.path)? else {
                    return Ok(Ended::Done);
                };
                let selection = self.settings.selection(model);
                let channel = self.channel.in_session(None);
                let pass = Pass::new(channel, model, selection, vec![checker], after);
                return self.pass(phase, model, pass).await.map_err(named);
            }
        }
        Ok(Ended::Done)
    }

    /// Repairs the documents of a pass.
    async fn pass(
        &mut self,
        phase: Phase,
        model: &'static ModelMeta,
        mut pass: Pass,
    ) -> Result<Ended> {
        let mut all = Wrote::default();
        let ended = loop {
            let is_end = !pass.step().await?;
            let is_late = self.is_late();
            let damages = pass.confirm(is_end || is_late).await?;
            if let Some(checker) = pass.checker() {
                let batches = Batches {
                    channel: &self.channel,
                    checker,
                    decisions: &self.decisions,
                    images: self.images,
                };
                let mut ids: Vec<Bson> = Vec::new();
                for damage in damages {
                    if batches.action(&damage)?.writes() && ids.last() != Some(&damage.id) {
                        ids.push(damage.id);
                    }
                }
                for ids in ids.chunks(BATCH) {
                    let wrote = batches.run(ids.to_vec(), &mut self.tally).await?;
                    all.documents |= wrote.documents;
                    all.deletes |= wrote.deletes;
                }
            }
            if let Some(hear) = &mut self.hear {
                hear(&RepairProgress {
                    model: model.name,
                    phase: phase.name(),
                    read: pass.read,
                    repaired: self.tally.repaired,
                });
            }
            if is_end {
                break Ended::Done;
            }
            if is_late {
                break Ended::Stopped(pass.after);
            }
        };
        if all.deletes {
            self.queue.wrote_all(phase)?;
        } else if all.documents {
            self.queue.wrote(model, phase)?;
        }
        Ok(ended)
    }

    async fn changes(&mut self, model: &'static ModelMeta) -> Result<()> {
        let mut outside = self.channel.in_session(None);
        let changes = resume_propagations(&mut outside, model).await?;
        let kind = FindingKind::UnfinishedChange;
        self.tally.add(model.name, kind, "", changes);
        Ok(())
    }

    /// Repairs the trees of a model.
    async fn trees(&mut self, model: &'static ModelMeta) -> Result<()> {
        for tree in model.trees {
            let before = self.check_tree(model, tree).await?;
            let homeless = before
                .listed
                .iter()
                .any(|damage| has_no_place(damage.kind.into()));
            let is_open = homeless && self.decisions.about_nodes(model) != RepairAction::RepairTree;
            if before.is_sound() || is_open {
                continue;
            }
            match self.repair_tree(model, tree).await {
                Ok(()) => {}
                Err(error) if is_about_document(&error) => {
                    self.tally.fail(model.name, Bson::Null, error);
                    continue;
                }
                Err(error) => return Err(error),
            }
            let after = self.check_tree(model, tree).await?;
            for damage in &before.listed {
                let is_same = |other: &&crate::tree::TreeDamage| other.is_same(damage);
                if after.listed.iter().find(is_same).is_none() {
                    self.tally
                        .add(model.name, damage.kind.into(), &damage.path, 1);
                }
            }
            self.queue.wrote(model, Phase::Trees)?;
        }
        Ok(())
    }

    async fn check_tree(
        &mut self,
        model: &'static ModelMeta,
        tree: &'static TreeMeta,
    ) -> Result<TreeReport> {
        let now = DateTime::now().timestamp_millis();
        let age = i64::try_from(self.settings.unfinished_after.as_millis()).unwrap_or(i64::MAX);
        let begun_before = DateTime::from_millis(now.saturating_sub(age));
        check_tree(&self.settings.store, model, tree, begun_before).await
    }

    async fn repair_tree(
        &mut self,
        model: &'static ModelMeta,
        tree: &'static TreeMeta,
    ) -> Result<()> {
        let plan = repair_tree(&self.settings.store, model, tree).await?;
        let Some(repair) = self.images else {
            return plan.apply(Allow::WRITE).await.map(drop);
        };
        self.apply_with_images(model, &plan, repair).await
    }

    /// Applies a plan in transactions that keep images of the documents.
    async fn apply_with_images(
        &mut self,
        model: &'static ModelMeta,
        plan: &Plan,
        repair: ObjectId,
    ) -> Result<()> {
        let own = self.channel.collection(model);
        for step in plan.steps() {
            for command in &step.commands {
                let statements = |name| {
                    let list = command
                        .get_array(name)
                        .ok()
                        .filter(|_| step.collection == *own);
                    let list = list.map(|list| list.iter().filter_map(Bson::as_document).cloned());
                    list.map(Iterator::collect::<Vec<Document>>)
                };
                let (updates, deletes) = (statements("updates"), statements("deletes"));
                for part in updates.iter().flat_map(|all| all.chunks(BATCH)) {
                    self.send(model, repair, part, false).await?;
                }
                for part in deletes.iter().flat_map(|all| all.chunks(BATCH)) {
                    self.send(model, repair, part, true).await?;
                }
                if updates.is_none() && deletes.is_none() {
                    self.settings.store.run_command(command.clone()).await?;
                }
            }
        }
        Ok(())
    }

    /// Sends statements in one transaction, with images of what they write.
    async fn send(
        &mut self,
        model: &'static ModelMeta,
        repair: ObjectId,
        statements: &[Document],
        is_delete: bool,
    ) -> Result<()> {
        let mut tries = Tries::joined(&self.settings.store);
        loop {
            let session = tries.begin().await?;
            let written = async {
                let images = Images::default();
                let mut inside = self.channel.in_session(Some(&mut *session));
                inside = inside.keeping(Some(&images));
                let documents = inside.of(model);
                if is_delete {
                    documents.delete_by(statements.to_vec()).await?;
                } else {
                    documents.update(statements.to_vec()).await?;
                }
                let mut inside = self.channel.in_session(Some(session));
                images::store(&mut inside, model, repair, images).await
            };
            let written = written.await;
            if let Some(ended) = tries.end(written).await {
                return ended.and_then(std::convert::identity);
            }
        }
    }
}

/// The comparison whose findings a phase repairs.
fn checker(phase: Phase, model: &'static ModelMeta, path: &str) -> Result<Option<AnyChecker>> {
    let aspect = match phase {
        Phase::References => Aspect::References,
        Phase::TwoWay => return AnyChecker::following(model, path),
        Phase::Lists => Aspect::Validator,
        Phase::Fields => Aspect::UndeclaredFields,
        Phase::Copies => Aspect::Copies,
        Phase::Summaries => Aspect::Summaries,
        Phase::Recent => Aspect::Recent,
        Phase::Buckets => Aspect::Buckets,
        Phase::Changes | Phase::Trees => return Ok(None),
    };
    let all = AnyChecker::all(model, Aspects::of([aspect]), &mut Vec::new())?;
    Ok(all.into_iter().next())
}

/// The model with this Rust name, among these and those to which they refer both ways.
fn find(models: &[&'static ModelMeta], name: &str) -> Option<&'static ModelMeta> {
    if let Some(model) = models.iter().find(|model| model.name == name) {
        return Some(model);
    }
    let sides = models.iter().filter_map(|model| model.two_way().ok());
    let others = sides.flatten().map(|sides| sides.other.model);
    others.into_iter().find(|model| model.name == name)
}

/// Creates the collection of images, which a transaction can't do on every version.
async fn prepare_images(channel: &Channel<'_>) -> Result<()> {
    let store = channel.store();
    if store.transactions().await.is_none() {
        return Err(Error::usage(
            "images are kept in transactions, and this deployment has none: repair it as a replica set, or without `keep_images`",
        ));
    }
    let created = store.run_command(doc! {"create": REPAIRS.collection}).await;
    match created {
        Err(error) if error.code() != Some(Code::NAMESPACE_EXISTS) => Err(error),
        _ => Ok(()),
    }
}

impl<'s> IntoFuture for RunRepair<'s> {
    type Output = Result<RepairReport>;
    type IntoFuture = BoxFuture<'s, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.run())
    }
}

impl fmt::Debug for RunRepair<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunRepair")
            .field("token", &self.token)
            .finish_non_exhaustive()
    }
}
