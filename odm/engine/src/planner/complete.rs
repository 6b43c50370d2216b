//! Whether an index holds every document that a filter can match.

use odm_language::matcher::Predicate;
use odm_language::value::collation::Collator;

use crate::index::spec::{Kind, Spec};
use crate::planner::conditions::{self, About, Condition, Conditions, Fit};

pub(super) fn is_complete(
    spec: &Spec,
    conditions: &[Condition],
    collation: Option<&Collator>,
) -> bool {
    // Which paths a wildcard index leaves out is a question to each condition.
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

/// The same, whatever fields a document lacks.
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

/// Whether the conditions leave nothing outside of a partial index's filter.
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
    // Keys of strings mean the same under one collation only.
    let comparable = same_collation || !needed.iter().any(Condition::collated);
    comparable
        && complete
        && needed.iter().all(|needed| {
            !needed.numbered
                && conditions.iter().any(|condition| {
                    // Types are finer than intervals; a server asks for the same ones, whatever else says as much.
                    if needed.types.is_some() {
                        return condition.path == needed.path && condition.types == needed.types;
                    }
                    if needed.fit != Fit::Exact && needed.about != About::Exists {
                        return false;
                    }
                    // An array passes a comparison as a whole, the index's filter by its elements.
                    !condition.is_compared()
                        && condition.path == needed.path
                        && (condition.exists() || needed.about != About::Exists)
                        && condition.intervals.iter().all(|interval| {
                            needed
                                .intervals
                                .iter()
                                .any(|needed| needed.covers(interval))
                        })
                })
        })
}
