//! What a repair is about to write.

use std::collections::{BTreeSet, HashSet};
use std::fmt;

use super::answers::Answer;
use super::decide::{Decisions, has_no_place};
use super::queue::{Phase, Task};
use super::run::RunRepair;
use super::token::RepairToken;
use crate::check::{CheckReport, Finding, FindingKind, Settings};
use crate::error::Result;

/// What a repair will do: [`Repair::plan`](super::Repair::plan).
///
/// `Display` shows the steps, and what each needs if it is open.
#[derive(Debug)]
pub struct RepairPlan {
    settings: Settings,
    decisions: std::sync::Arc<Decisions>,
    steps: Vec<RepairStep>,
    not_checked: Vec<String>,
}

/// A part of a [plan](RepairPlan): the findings of one kind at one field.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct RepairStep {
    /// The Rust name of the model.
    pub model: &'static str,
    /// The kind of damage.
    pub kind: FindingKind,
    /// The stored path of the field; empty for findings about whole documents.
    pub path: String,
    /// How many findings there were when the plan was made.
    pub findings: u64,
    /// The action on them.
    pub action: RepairAction,
    /// One of the findings.
    pub example: Option<Finding>,
}

/// What a repair does about findings.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum RepairAction {
    /// Writes the values that follow from other documents.
    Refresh,
    /// Computes what buckets keep of their items.
    Recompute,
    /// Completes changes that have begun.
    Resume,
    /// Makes references null.
    SetNull,
    /// Takes references out of their lists, or the elements that hold them.
    Pull,
    /// Deletes the documents, with those that refer to them as the models declare it.
    Delete,
    /// Lets one side of `two_way` references follow the other one.
    #[non_exhaustive]
    Follow {
        /// The Rust name of the model whose documents are written.
        model: &'static str,
        /// The stored path of the references that follow.
        path: String,
    },
    /// Shortens lists to their first elements.
    KeepFirst,
    /// Shortens lists to their last elements.
    KeepLast,
    /// Removes the field.
    RemoveField,
    /// Computes the fields that a tree keeps, as [`Tree::repair`](crate::tree::Tree::repair) does.
    RepairTree,
    /// Nothing, because the answer is [`Leave`](Answer::Leave).
    Leave,
    /// Nothing before one of these is [answered](super::Repair::answer).
    Ask(Vec<Answer>),
    /// Nothing: [`Db::sync`](crate::Db::sync) creates the index.
    CreateIndex,
    /// Nothing: only somebody who knows the document can put it right.
    ByHand,
}

impl RepairAction {
    /// Whether the repair writes something.
    ///
    /// ```
    /// use odm::repair::{Answer, RepairAction};
    ///
    /// assert!(RepairAction::Refresh.writes());
    /// assert!(!RepairAction::Ask(vec![Answer::Delete]).writes());
    /// ```
    pub fn writes(&self) -> bool {
        !matches!(
            self,
            Self::Leave | Self::Ask(_) | Self::CreateIndex | Self::ByHand
        )
    }
}

impl fmt::Display for RepairAction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Refresh => "write the values that follow from other documents",
            Self::Recompute => "compute what the buckets keep of their items",
            Self::Resume => "complete the changes",
            Self::SetNull => "make the references null",
            Self::Pull => "take the references out of their lists",
            Self::Delete => "delete the documents with those that refer to them",
            Self::Follow { model, path } => {
                return write!(f, "let `{model}.{path}` follow the other side");
            }
            Self::KeepFirst => "keep the first elements of the lists",
            Self::KeepLast => "keep the last elements of the lists",
            Self::RemoveField => "remove the field",
            Self::RepairTree => "compute the fields of the tree",
            Self::Leave => "leave them",
            Self::Ask(answers) => {
                let answers = answers.iter().map(|answer| format!("`{answer}`"));
                let answers: Vec<_> = answers.collect();
                return write!(f, "open: answer {}", answers.join(" or "));
            }
            Self::CreateIndex => "create the index by `db.sync(…)`",
            Self::ByHand => "put them right by hand",
        })
    }
}

impl RepairPlan {
    pub(super) fn of(
        settings: Settings,
        decisions: Decisions,
        report: &CheckReport,
    ) -> Result<Self> {
        let homeless: HashSet<_> = report
            .counts
            .iter()
            .filter(|count| has_no_place(count.kind))
            .map(|count| count.model)
            .collect();
        let mut steps = Vec::new();
        for count in &report.counts {
            let mut models = settings.models.iter().copied();
            let Some(model) = models.find(|model| model.name == count.model) else {
                continue;
            };
            let mut action = decisions.action(model, count.kind, &count.path)?;
            if action == RepairAction::RepairTree && homeless.contains(model.name) {
                action = decisions.about_nodes(model);
            }
            let is_example = |finding: &&Finding| {
                finding.model == count.model
                    && finding.kind == count.kind
                    && finding.path == count.path
            };
            steps.push(RepairStep {
                model: count.model,
                kind: count.kind,
                path: count.path.clone(),
                findings: count.count,
                action,
                example: report.listed.iter().find(is_example).cloned(),
            });
        }
        Ok(Self {
            settings,
            decisions: std::sync::Arc::new(decisions),
            steps,
            not_checked: report.not_checked.clone(),
        })
    }

    /// The parts of the plan, by models, kinds and fields.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/on_delete.rs"));
    /// # use odm::repair::Answer;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = a_shelf().await?;
    /// # db.collection::<Author>().delete_by_id(&1).leave_dangling().await?;
    /// let plan = db.repair(models![Author, Book]).plan().await?;
    /// let step = &plan.steps()[0];
    /// assert_eq!((step.model, &*step.path, step.findings), ("Book", "author", 3));
    /// # Ok(())
    /// # }
    /// ```
    pub fn steps(&self) -> &[RepairStep] {
        &self.steps
    }

    /// The parts that need an [answer](super::Repair::answer) before something is done about them.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/on_delete.rs"));
    /// # use odm::repair::Answer;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = a_shelf().await?;
    /// # db.collection::<Author>().delete_by_id(&1).leave_dangling().await?;
    /// let plan = db.repair(models![Author, Book]).plan().await?;
    /// for step in plan.open() {
    ///     println!("{step}");
    /// }
    /// assert_eq!(plan.open().count(), 1);
    /// # Ok(())
    /// # }
    /// ```
    pub fn open(&self) -> impl Iterator<Item = &RepairStep> {
        let is_open = |step: &&RepairStep| matches!(step.action, RepairAction::Ask(_));
        self.steps.iter().filter(is_open)
    }

    /// Whether the repair would write nothing.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/on_delete.rs"));
    /// # use odm::repair::Answer;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = a_shelf().await?;
    /// # db.collection::<Author>().delete_by_id(&1).leave_dangling().await?;
    /// let repair = db.repair(models![Book]).answer::<Book, _, _>(|b| b.author, Answer::Leave);
    /// assert!(repair.plan().await?.is_empty());
    /// # Ok(())
    /// # }
    /// ```
    pub fn is_empty(&self) -> bool {
        self.steps.iter().all(|step| !step.action.writes())
    }

    /// How many findings there are.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/on_delete.rs"));
    /// # use odm::repair::Answer;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = a_shelf().await?;
    /// # db.collection::<Author>().delete_by_id(&1).leave_dangling().await?;
    /// assert_eq!(db.repair(models![Author, Book]).plan().await?.findings(), 3);
    /// # Ok(())
    /// # }
    /// ```
    pub fn findings(&self) -> u64 {
        self.steps.iter().map(|step| step.findings).sum()
    }

    /// Repairs what the plan says, in batches. Parts that are open are left as they are.
    ///
    /// Documents that were damaged after the plan was made are repaired as well, if their kind and their field are in the plan.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/on_delete.rs"));
    /// # use odm::repair::Answer;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = a_shelf().await?;
    /// # db.collection::<Author>().delete_by_id(&1).leave_dangling().await?;
    /// let plan = db.repair(models![Book]).answer::<Book, _, _>(|b| b.author, Answer::Delete).plan().await?;
    /// let report = plan.run().await?;
    /// assert_eq!((report.repaired(), report.failed), (3, 0));
    /// # Ok(())
    /// # }
    /// ```
    pub fn run<'s>(&self) -> RunRepair<'s> {
        let tasks: BTreeSet<Task> = self.steps.iter().filter_map(task).collect();
        let token = RepairToken {
            tasks: tasks.into_iter().collect(),
            after: None,
            images: None,
        };
        RunRepair::of(self.settings.clone(), self.decisions.clone(), token)
    }
}

impl fmt::Display for RepairPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sum = |is_counted: fn(&RepairAction) -> bool| -> u64 {
            let steps = self.steps.iter().filter(|step| is_counted(&step.action));
            steps.map(|step| step.findings).sum()
        };
        let repaired = sum(RepairAction::writes);
        let asked = sum(|action| matches!(action, RepairAction::Ask(_)));
        match self.findings() {
            1 => write!(f, "1 finding")?,
            count => write!(f, "{count} findings")?,
        }
        write!(f, ": {repaired} will be repaired")?;
        match asked {
            0 => {}
            1 => write!(f, ", 1 needs an answer")?,
            _ => write!(f, ", {asked} need an answer")?,
        }
        writeln!(f)?;
        for step in &self.steps {
            writeln!(f, "{step}")?;
        }
        for sentence in &self.not_checked {
            writeln!(f, "not checked: {sentence}")?;
        }
        Ok(())
    }
}

impl fmt::Display for RepairStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.model, self.kind)?;
        if !self.path.is_empty() {
            write!(f, " at `{}`", self.path)?;
        }
        write!(f, ": {}", self.findings)?;
        write!(f, "\n  {}", self.action)?;
        match &self.example {
            Some(example) if matches!(self.action, RepairAction::Ask(_)) => {
                write!(f, "\n  such as {example}")
            }
            _ => Ok(()),
        }
    }
}

/// The task that does what a step says.
fn task(step: &RepairStep) -> Option<Task> {
    let phase = match step.kind {
        _ if !step.action.writes() => return None,
        FindingKind::DanglingReference => Phase::References,
        FindingKind::OneSidedReference => Phase::TwoWay,
        FindingKind::StaleCopy => Phase::Copies,
        FindingKind::StaleSummary => Phase::Summaries,
        FindingKind::StaleList => Phase::Recent,
        FindingKind::WrongKeptValue => Phase::Buckets,
        FindingKind::LongList => Phase::Lists,
        FindingKind::UndeclaredField => Phase::Fields,
        FindingKind::UnfinishedChange => Phase::Changes,
        FindingKind::DamagedTree(_) => Phase::Trees,
        FindingKind::InvalidDocument
        | FindingKind::UnindexedRelation
        | FindingKind::MisplacedItem
        | FindingKind::MissingChunk
        | FindingKind::ExtraChunk
        | FindingKind::WrongChunk
        | FindingKind::OrphanedChunks
        | FindingKind::MissingShardKey
        | FindingKind::ArrayInShardKey
        | FindingKind::OutdatedSchema
        | FindingKind::NewerSchema => return None,
    };
    let (model, path) = match &step.action {
        RepairAction::Follow { model, path } => (*model, path.clone()),
        _ => (step.model, String::new()),
    };
    Some(Task {
        phase,
        model: model.to_owned(),
        path,
    })
}
