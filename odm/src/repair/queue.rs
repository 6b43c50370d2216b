//! The order in which a repair works.

use std::collections::{HashMap, VecDeque};

use crate::error::Result;
use crate::model::ModelMeta;

/// How many times one task may run because of what others have written.
const RUNS: u32 = 8;

/// The parts of a repair, in their order: each depends only on those before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Phase {
    Changes,
    References,
    TwoWay,
    Lists,
    Fields,
    Buckets,
    Trees,
    Copies,
    Summaries,
    Recent,
}

impl Phase {
    const ALL: [Self; 10] = [
        Self::Changes,
        Self::References,
        Self::TwoWay,
        Self::Lists,
        Self::Fields,
        Self::Buckets,
        Self::Trees,
        Self::Copies,
        Self::Summaries,
        Self::Recent,
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Changes => "changes",
            Self::References => "references",
            Self::TwoWay => "two-way",
            Self::Lists => "lists",
            Self::Fields => "fields",
            Self::Buckets => "buckets",
            Self::Trees => "trees",
            Self::Copies => "copies",
            Self::Summaries => "summaries",
            Self::Recent => "recent",
        }
    }

    pub(super) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|phase| phase.name() == name)
    }
}

/// A part of a repair: a pass over the documents of a model.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Task {
    pub(super) phase: Phase,
    /// The Rust name of the model.
    pub(super) model: String,
    /// The stored path of the side that follows, where references refer back.
    pub(super) path: String,
}

/// The tasks that are left.
#[derive(Debug)]
pub(super) struct Queue {
    models: Vec<&'static ModelMeta>,
    pub(super) tasks: VecDeque<Task>,
    runs: HashMap<Task, u32>,
}

impl Queue {
    pub(super) fn new(models: &[&'static ModelMeta], tasks: VecDeque<Task>) -> Self {
        Self {
            models: models.to_vec(),
            tasks,
            runs: HashMap::new(),
        }
    }

    /// Adds what follows from documents of a model, because a phase has written some.
    pub(super) fn wrote(&mut self, source: &ModelMeta, phase: Phase) -> Result<()> {
        let is_source = |model: &ModelMeta| model.collection == source.collection;
        let mut following = Vec::new();
        for &model in &self.models {
            let copies = model.copies()?.iter();
            let mut copies = copies.filter(|copies| copies.follows_reference());
            // A reference that was written has other fields to copy.
            let has_moved = phase < Phase::Copies && is_source(model);
            if copies.any(|copies| has_moved || is_source(copies.source)) {
                following.push((Phase::Copies, model));
            }
            // A list that was shortened has fewer items.
            if phase == Phase::Lists && is_source(model) && model.bucket.is_some() {
                following.push((Phase::Buckets, model));
            }
            if model.summaries()?.iter().any(|one| is_source(one.target)) {
                following.push((Phase::Summaries, model));
            }
            if model
                .newest_lists()?
                .iter()
                .any(|one| is_source(one.source))
            {
                following.push((Phase::Recent, model));
            }
        }
        for (phase, model) in following {
            let task = Task {
                phase,
                model: model.name.to_owned(),
                path: String::new(),
            };
            self.add(task);
        }
        Ok(())
    }

    /// Adds what follows from the documents of all models.
    pub(super) fn wrote_all(&mut self, phase: Phase) -> Result<()> {
        for model in self.models.clone() {
            self.wrote(model, phase)?;
        }
        Ok(())
    }

    fn add(&mut self, task: Task) {
        // The first task runs already, so that what it wrote adds it once more.
        let is_waiting = self.tasks.iter().skip(1).any(|other| *other == task);
        let runs = self.runs.entry(task.clone()).or_default();
        if is_waiting || *runs >= RUNS {
            return;
        }
        *runs += 1;
        let later = self.tasks.iter().skip(1);
        let before = later.take_while(|other| other.phase <= task.phase).count();
        let position = (before + 1).min(self.tasks.len());
        self.tasks.insert(position, task);
    }
}
