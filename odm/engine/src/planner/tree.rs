//! Plans as trees: where records come from, and what is done with them on the way up.

use std::sync::Arc;

use crate::planner::interval::Interval;
use crate::planner::special::Special;

/// A walk over an index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct IndexScan {
    pub(crate) name: String,
    /// For each field of the index the values that matter, ascending. A wildcard index has two: the path, the value.
    pub(crate) fields: Vec<Arc<[Interval]>>,
    pub(crate) backwards: bool,
    /// Of a wildcard index, the path.
    pub(crate) path: Option<String>,
    /// The children of the filter whose values the index itself must test; see `conditions::children`.
    pub(crate) tested: Vec<usize>,
    /// Keys are enough to make the result: no document is looked at.
    pub(crate) covers: bool,
    /// Keys outside of `min` and `max`.
    pub(crate) limits: Option<Limits>,
}

/// `min`, inclusive, and `max`, exclusive, as key bytes in the order of the index.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Limits {
    pub(crate) min: Option<Vec<u8>>,
    pub(crate) max: Option<Vec<u8>>,
}

impl IndexScan {
    /// Whether all keys that matter stand beside each other: single values, then one interval, then anything.
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
    /// There is no collection.
    Nothing,
    /// All records, in the order of their insertion.
    Records {
        backwards: bool,
    },
    /// The record of one `_id`.
    ById(IndexScan),
    Index(IndexScan),
    /// The entries of an index are counted without a look at documents.
    CountIndex(IndexScan),
    /// The records that an index of a kind of its own lists.
    Special(Special),
    /// Looks at documents.
    Fetch {
        /// The children of the filter that need no second look.
        answered: Vec<usize>,
        /// These are all there are.
        all: bool,
    },
    /// The records of all inputs, each once.
    Or,
    /// The same, in the order that each input has.
    Merge,
    Sort {
        limit: Option<u64>,
    },
    Skip(u64),
    Limit(u64),
    Project,
}

impl Step {
    /// The name of the index that it goes by.
    pub(crate) fn index(&self) -> Option<&str> {
        match self {
            Self::ById(scan) | Self::Index(scan) | Self::CountIndex(scan) => Some(&scan.name),
            Self::Special(special) => Some(special.index()),
            _ => None,
        }
    }
}

/// A step and where its input comes from.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Node {
    pub(crate) step: Step,
    pub(crate) inputs: Vec<Self>,
    /// Of an alternative of an `$or`: which one its filters are of.
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

    /// This node under a step.
    #[must_use]
    pub(crate) fn under(self, step: Step) -> Self {
        Self::over(step, vec![self])
    }

    /// Whether any step of the tree passes a test.
    pub(crate) fn any(&self, test: &dyn Fn(&Step) -> bool) -> bool {
        test(&self.step) || self.inputs.iter().any(|input| input.any(test))
    }

    /// Whether an index narrows what documents are looked at, and no alternative has a filter of its own.
    pub(crate) fn is_bounded(&self) -> bool {
        self.is_narrowed() && !self.any(&|step| matches!(step, Step::Or | Step::Merge))
    }

    /// Whether an index narrows what documents are looked at.
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

    /// Whether documents are looked at by the time records leave this step.
    pub(crate) fn is_fetched(&self) -> bool {
        match &self.step {
            Step::Fetch { .. } | Step::Records { .. } | Step::ById(_) | Step::Nothing => true,
            Step::Index(scan) | Step::CountIndex(scan) => scan.covers,
            Step::Special(special) => special.fetches(),
            Step::Or | Step::Merge => self.inputs.iter().all(Self::is_fetched),
            _ => self.inputs.first().is_some_and(Self::is_fetched),
        }
    }
}
