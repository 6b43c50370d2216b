//! Plans `$text`: the terms to search for in the text index.

use bson::raw::{RawBsonRef, RawDocumentBuf};
use odm_language::error::{Code, ServerError};
use odm_language::matcher::{Comparison, Operand, Predicate, Test};
use odm_language::value::bson_type::Bracket;
use odm_language::value::raw::append;

use crate::index::Index;
use crate::index::spec::Kind;
use crate::index::text::Ordered;
use crate::planner::access_path::AccessPath;
use crate::planner::bounds::{self, ConditionSet};
use crate::planner::plan::{Node, Step};
use crate::planner::requirements::Requirements;
use crate::planner::{conditions, sparse_coverage};

/// A search in a text index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TextScan {
    /// The index.
    pub(crate) name: String,
    /// The key bytes of the equalities on the fields in front of the terms.
    pub(crate) prefix: Vec<u8>,
    /// The search terms; a document with any of them matches.
    pub(crate) terms: Vec<String>,
    /// The equalities, as `explain` shows them.
    pub(crate) equalities: Vec<u8>,
    /// The search, as `explain` shows it.
    pub(crate) parsed: Vec<u8>,
    /// Whether the query needs the scores.
    pub(crate) scored: bool,
}

/// Plans a filter with `$text`.
pub(super) fn plan(
    indexes: &[Index],
    requirements: &Requirements<'_>,
) -> Result<Option<Node>, ServerError> {
    let Some(text) = requirements.filter.and_then(Predicate::text) else {
        return Ok(None);
    };
    let scan = scan(indexes, requirements)?;
    Ok(match scan {
        Some(scan) if text.listed => {
            let children = requirements
                .filter
                .map(conditions::children)
                .unwrap_or_default();
            let node = Node::leaf(Step::AccessPath(AccessPath::Text(scan)));
            let fetch = Step::Fetch {
                answered: children
                    .iter()
                    .enumerate()
                    .filter(|(_, child)| child.text().is_some())
                    .map(|(at, _)| at)
                    .collect(),
                all: false,
            };
            Some(requirements.top(node.under(fetch), false))
        }
        // Inside an `$or`, `$text` is tested as a condition.
        _ => None,
    })
}

/// The search that the filter's `$text` makes in the text index; `None` without a `$text`.
pub(crate) fn scan(
    indexes: &[Index],
    requirements: &Requirements<'_>,
) -> Result<Option<TextScan>, ServerError> {
    let Some(filter) = requirements.filter else {
        return Ok(None);
    };
    let Some(search) = filter.text().and_then(|text| text.bound.as_ref()) else {
        return Ok(None);
    };
    let mut visible = indexes
        .iter()
        .filter(|index| index.spec.kind == Kind::Text && !index.spec.hidden);
    let Some((index, text)) = visible
        .next()
        .and_then(|index| Some((index, index.spec.text.as_ref()?)))
    else {
        return Err(no_plan("need exactly one text index for $text query"));
    };
    let mut beside = Vec::new();
    if !clause(filter, indexes, requirements, &mut beside) {
        return Err(no_plan(
            "Failed to produce a solution for TEXT under OR - other non-TEXT clauses under OR have to be indexed as well.",
        ));
    }
    let mut prefix = Vec::new();
    let mut equalities = RawDocumentBuf::new();
    for field in &text.before {
        let Some(operand) = equality(&beside, field, requirements) else {
            return Err(unusable());
        };
        // A sparse index has no key for a missing field.
        if index.spec.sparse && matches!(operand.value(), RawBsonRef::Null) {
            return Err(unusable());
        }
        field.append(&mut prefix, operand.value());
        append(&mut equalities, field.path.as_str(), operand.value());
    }
    let known: Vec<_> = beside
        .iter()
        .flat_map(|predicate| conditions::of(predicate, requirements.collation).all)
        .collect();
    if !sparse_coverage::holds_all(&index.spec, &known, requirements.collation) {
        return Err(unusable());
    }
    Ok(Some(TextScan {
        name: index.spec.name.clone(),
        prefix,
        terms: search.keys().iter().cloned().collect(),
        equalities: equalities.into_bytes(),
        parsed: search.document().into_bytes(),
        scored: requirements.scored,
    }))
}

/// Collects the conditions beside the `$text`, and returns whether all `$or` branches beside it have an index.
fn clause<'a>(
    predicate: &'a Predicate,
    indexes: &[Index],
    requirements: &Requirements<'_>,
    beside: &mut Vec<&'a Predicate>,
) -> bool {
    match predicate {
        Predicate::And(group) => group.children.iter().all(|child| {
            if child.text().is_some() {
                beside.push(child);
                return clause(child, indexes, requirements, beside);
            }
            flatten(child, beside);
            true
        }),
        Predicate::Or(group) => group.children.iter().all(|child| {
            if child.text().is_some() {
                clause(child, indexes, requirements, beside)
            } else {
                has_index(child, indexes, requirements)
            }
        }),
        _ => true,
    }
}

/// Collects the conditions of a conjunction, or of an `$or` with only one branch.
fn flatten<'a>(predicate: &'a Predicate, beside: &mut Vec<&'a Predicate>) {
    let (Predicate::And(group) | Predicate::Or(group)) = predicate else {
        beside.push(predicate);
        return;
    };
    if matches!(predicate, Predicate::Or(_)) && group.children.len() != 1 {
        beside.push(predicate);
        return;
    }
    for child in &group.children {
        flatten(child, beside);
    }
}

fn has_index(predicate: &Predicate, indexes: &[Index], requirements: &Requirements<'_>) -> bool {
    let conditions = conditions::of(predicate, requirements.collation);
    let given = ConditionSet {
        all: &conditions.all,
        own: conditions.all.len(),
    };
    indexes.iter().any(|index| {
        !index.spec.hidden
            && sparse_coverage::is_complete(&index.spec, given.all, requirements.collation)
            && !bounds::drafts(index, given, requirements.collation).is_empty()
    })
}

fn equality<'a>(
    beside: &[&'a Predicate],
    requirements: &Ordered,
    query: &Requirements<'_>,
) -> Option<&'a Operand> {
    beside.iter().find_map(|predicate| {
        let Predicate::Field(field) = predicate else {
            return None;
        };
        let operand = match &field.test {
            Test::Compare(Comparison::Eq, operand) => operand,
            Test::In(list) if list.regexes.is_empty() => match list.values.as_slice() {
                [only] => only,
                _ => return None,
            },
            _ => return None,
        };
        // A text index compares the strings of its other fields byte by byte.
        let comparable = query.collation.is_none()
            || !matches!(
                operand.bracket(),
                Bracket::String | Bracket::Document | Bracket::Array
            );
        (comparable && field.path == requirements.path).then_some(operand)
    })
}

fn no_plan(why: &str) -> ServerError {
    ServerError::new(
        Code::NO_QUERY_EXECUTION_PLANS,
        format!("planner returned error :: caused by :: {why}"),
    )
}

fn unusable() -> ServerError {
    no_plan(
        "failed to use text index to satisfy $text query (if text index is compound, are equality predicates given for all prefix fields?)",
    )
}
