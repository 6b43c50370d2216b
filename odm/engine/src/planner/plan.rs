//! Plans as trees: the sources of records at the leaves, and the steps above them.

use std::sync::Arc;

use crate::planner::access_path::AccessPath;
use crate::planner::geo::NearPlan;
use crate::planner::interval::Interval;

/// A walk over an index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct IndexScan {
    pub(crate) name: String,
    /// The intervals for each field of the index, ascending. A wildcard index has two fields: the path and the value.
    pub(crate) fields: Vec<Arc<[Interval]>>,
    pub(crate) backwards: bool,
    /// The path, for a wildcard index.
    pub(crate) path: Option<String>,
    /// The children of the filter that must be tested on the index keys; see `conditions::children`.
    pub(crate) tested: Vec<usize>,
    /// Whether keys are enough to build the result, so that no document is fetched.
    pub(crate) covers: bool,
    /// The field up to which keys must differ: of equal ones, the walk returns only the first, and seeks past the others.
    pub(crate) distinct: Option<usize>,
    /// Further bounds on keys, from `min` and `max`.
    pub(crate) limits: Option<Limits>,
}

/// `min`, inclusive, and `max`, exclusive, as key bytes in the order of the index.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Limits {
    pub(crate) min: Option<Vec<u8>>,
    pub(crate) max: Option<Vec<u8>>,
}

impl IndexScan {
    /// Whether all keys in the bounds are adjacent: single values, then one interval, then unbounded fields.
    pub(crate) fn is_one_range(&self) -> bool {
        let mut fields = self
            .fields
            .iter()
            .skip_while(|field| matches!(&***field, [only] if only.is_point()));
        fields.next().is_none_or(|field| field.len() == 1)
            && fields.all(|field| matches!(&**field, [only] if only.is_all()))
    }
}

/// A step of a plan.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Step {
    /// No records, because the collection does not exist.
    Nothing,
    /// All records, in the order of insertion.
    Records {
        backwards: bool,
    },
    /// The record of one `_id`.
    ById(IndexScan),
    Index(IndexScan),
    /// Counts the entries of an index without fetching documents.
    CountIndex(IndexScan),
    /// The records that a special kind of index returns.
    AccessPath(AccessPath),
    /// Fetches documents.
    Fetch {
        /// The children of the filter that need no test.
        answered: Vec<usize>,
        /// Whether these are all children of the filter.
        all: bool,
    },
    /// The records of all inputs, without duplicates.
    Or,
    /// Like `Or`, but merges the inputs in their common order.
    Merge,
    Sort {
        limit: Option<u64>,
    },
    Skip(u64),
    Limit(u64),
    Project,
}

impl Step {
    /// The name of the index that the step reads.
    pub(crate) fn index(&self) -> Option<&str> {
        match self {
            Self::ById(scan) | Self::Index(scan) | Self::CountIndex(scan) => Some(&scan.name),
            Self::AccessPath(special) => Some(special.index()),
            _ => None,
        }
    }
}

/// A step and its inputs.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Node {
    pub(crate) step: Step,
    pub(crate) inputs: Vec<Self>,
    /// For a branch of an `$or`: the index of the branch, to which the filters of its steps belong.
    pub(crate) branch: Option<usize>,
}

impl Node {
    pub(crate) fn leaf(step: Step) -> Self {
        Self::over(step, Vec::new())
    }

    pub(crate) fn over(step: Step, inputs: Vec<Self>) -> Self {
        Self {
            step,
            inputs,
            branch: None,
        }
    }

    /// Puts this node under a step.
    #[must_use]
    pub(crate) fn under(self, step: Step) -> Self {
        Self::over(step, vec![self])
    }

    /// Whether the test holds for any step of the tree.
    pub(crate) fn any(&self, test: &dyn Fn(&Step) -> bool) -> bool {
        test(&self.step) || self.inputs.iter().any(|input| input.any(test))
    }

    /// The names of the indexes that it reads.
    pub(crate) fn indexes(&self) -> Vec<String> {
        let own = self.step.index().map(ToOwned::to_owned);
        let below = self.inputs.iter().flat_map(Self::indexes);
        own.into_iter().chain(below).collect()
    }

    /// Whether a walk reads only the first of equal keys.
    pub(crate) fn is_distinct(&self) -> bool {
        self.any(&|step| matches!(step, Step::Index(scan) if scan.distinct.is_some()))
    }

    /// The search of a `$near`.
    pub(crate) fn near(&self) -> Option<&NearPlan> {
        match &self.step {
            Step::AccessPath(AccessPath::Near(near)) => Some(near),
            _ => self.inputs.iter().find_map(Self::near),
        }
    }

    /// Whether an index narrows the set of fetched documents, without branches of an `$or`.
    pub(crate) fn is_bounded(&self) -> bool {
        self.is_narrowed() && !self.any(&|step| matches!(step, Step::Or | Step::Merge))
    }

    /// Whether an index narrows the set of fetched documents.
    pub(crate) fn is_narrowed(&self) -> bool {
        let bounded = |step: &Step| match step {
            Step::Index(scan) => scan
                .fields
                .iter()
                .any(|field| !matches!(&**field, [only] if only.is_all())),
            _ => false,
        };
        self.any(&bounded)
    }

    /// Whether documents have been fetched, or are not needed, when records leave this step.
    pub(crate) fn is_fetched(&self) -> bool {
        match &self.step {
            Step::Fetch { .. } | Step::Records { .. } | Step::ById(_) | Step::Nothing => true,
            Step::Index(scan) | Step::CountIndex(scan) => scan.covers,
            Step::AccessPath(special) => special.fetches(),
            Step::Or | Step::Merge => self.inputs.iter().all(Self::is_fetched),
            _ => self.inputs.first().is_some_and(Self::is_fetched),
        }
    }
}
