//! What a profiled command has examined, for `system.profile`.

use std::mem;
use std::sync::{Mutex, MutexGuard, PoisonError};

use bson::raw::RawDocumentBuf;
use odm_language::value::print;

use crate::catalog::collection::Collection;
use crate::index::Index;
use crate::planner::plan::{Node, Step};

/// The counters of one command. All its queries share it, including those in sub-pipelines.
#[derive(Debug, Default)]
pub(crate) struct Tally(Mutex<Examined>);

#[derive(Debug, Default, Clone)]
pub(crate) struct Examined {
    pub(crate) keys: u64,
    pub(crate) documents: u64,
    /// The plan of the first query, as `planSummary` shows it.
    pub(crate) plan: Option<String>,
    /// Whether that plan sorts in memory.
    pub(crate) sorts: bool,
}

impl Tally {
    fn lock(&self) -> MutexGuard<'_, Examined> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds examined index keys and documents.
    pub(crate) fn add(&self, (keys, documents): (u64, u64)) {
        let mut examined = self.lock();
        examined.keys += keys;
        examined.documents += documents;
    }

    /// Records the plan of the command's first query.
    pub(crate) fn plan(&self, node: &Node, collection: &Collection) {
        let mut examined = self.lock();
        if examined.plan.is_none() {
            let mut leaves = Vec::new();
            summarize(node, collection, &mut leaves);
            examined.plan = Some(leaves.join(", "));
            examined.sorts = node.any(&|step| matches!(step, Step::Sort { .. }));
        }
    }

    /// Records the name of a plan that the planner did not choose, such as `EOF`.
    pub(crate) fn name_plan(&self, plan: &str) {
        let mut examined = self.lock();
        if examined.plan.is_none() {
            examined.plan = Some(plan.to_owned());
        }
    }

    /// Returns the counts and the plan, and resets them.
    pub(crate) fn take(&self) -> Examined {
        mem::take(&mut *self.lock())
    }

    /// Returns the counts and resets the numbers. The plan stays: the cursor continues with it.
    pub(crate) fn read(&self) -> Examined {
        let mut examined = self.lock();
        let read = examined.clone();
        (examined.keys, examined.documents) = (0, 0);
        read
    }

    /// Moves a cursor's counts here. The cursor keeps its plan.
    pub(crate) fn take_from(&self, cursor: &Self) {
        let mut from = cursor.lock();
        let mut examined = self.lock();
        examined.keys += mem::take(&mut from.keys);
        examined.documents += mem::take(&mut from.documents);
        examined.plan.clone_from(&from.plan);
        examined.sorts = from.sorts;
    }
}

/// A stage and the key pattern of its index.
pub(crate) fn summary(stage: &str, index: &Index) -> String {
    let key = RawDocumentBuf::try_from(&index.spec.key).unwrap_or_default();
    format!("{stage} {}", print::document(&key))
}

/// The leaves of a plan, from left to right.
fn summarize(node: &Node, collection: &Collection, leaves: &mut Vec<String>) {
    let by_index = |stage: &str, path: Option<&str>| {
        let name = node.step.index().unwrap_or_default();
        let key = match path {
            Some(path) => format!("{{ $_path: 1, {path}: 1 }}"),
            None => {
                return collection
                    .index(name)
                    .map_or_else(String::new, |it| summary(stage, it));
            }
        };
        format!("{stage} {key}")
    };
    match &node.step {
        Step::Nothing => leaves.push("EOF".to_owned()),
        Step::Records { .. } => leaves.push("COLLSCAN".to_owned()),
        Step::ById(_) => leaves.push("IDHACK".to_owned()),
        Step::Index(scan) if scan.distinct.is_some() => {
            leaves.push(by_index("DISTINCT_SCAN", scan.path.as_deref()));
        }
        Step::Index(scan) => leaves.push(by_index("IXSCAN", scan.path.as_deref())),
        Step::CountIndex(scan) => leaves.push(by_index("COUNT_SCAN", scan.path.as_deref())),
        Step::AccessPath(special) => leaves.push(by_index(special.summary(), None)),
        Step::Fetch { .. }
        | Step::Or
        | Step::Merge
        | Step::Sort { .. }
        | Step::Skip(_)
        | Step::Limit(_)
        | Step::Project => {
            for input in &node.inputs {
                summarize(input, collection, leaves);
            }
        }
    }
}
