//! Whether an index holds every document that a filter can match.

use odm_language::matcher::Predicate;
use odm_language::value::collation::Collator;

use crate::index::spec::{Kind, Spec};
use crate::planner::conditions::{self, Condition, ConditionKind, Conditions, Fit};

pub(super) fn is_complete(
    spec: &Spec,
    conditions: &[Condition],
    collation: Option<&Collator>,
) -> bool {
    // For a wildcard index, each condition is checked for paths that the index leaves out.
    if spec.sparse && spec.kind != Kind::Wildcard {
        let exists = spec.key.keys().any(|path| {
            conditions
                .iter()
                .any(|condition| condition.exists() && condition.path == *path)
        });
        if !exists {
            return false;
        }
    }
    holds_all(spec, conditions, collation)
}

/// Like `is_complete`, but ignores `sparse`.
pub(super) fn holds_all(
    spec: &Spec,
    conditions: &[Condition],
    collation: Option<&Collator>,
) -> bool {
    match &spec.partial {
        None => true,
        Some(partial) => implies(
            conditions,
            partial.matcher.predicate(),
            spec.collation.as_ref(),
            spec.collation.as_ref() == collation,
        ),
    }
}

/// Whether the conditions imply a partial index's filter.
fn implies(
    conditions: &[Condition],
    filter: &Predicate,
    collation: Option<&Collator>,
    same_collation: bool,
) -> bool {
    let Conditions {
        all: needed,
        complete,
        ..
    } = conditions::of(filter, collation);
    // Keys of strings are comparable under one collation only.
    let comparable = same_collation || !needed.iter().any(Condition::collated);
    comparable
        && complete
        && needed.iter().all(|needed| {
            !needed.numbered
                && conditions.iter().any(|condition| {
                    // Types are finer than intervals. Like mongod, accept only a condition with the same types.
                    if needed.types.is_some() {
                        return condition.path == needed.path && condition.types == needed.types;
                    }
                    if needed.fit != Fit::Exact && needed.about != ConditionKind::Exists {
                        return false;
                    }
                    // A comparison of an expression matches an array as a whole, but the index's filter matches its
                    // elements.
                    !condition.is_compared()
                        && condition.path == needed.path
                        && (condition.exists() || needed.about != ConditionKind::Exists)
                        && condition.intervals.iter().all(|interval| {
                            needed
                                .intervals
                                .iter()
                                .any(|needed| needed.covers(interval))
                        })
                })
        })
}
