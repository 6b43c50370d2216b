//! What an index can do with the conditions of a filter: the bounds of its fields, and which conditions are left.

use std::sync::Arc;

use odm_language::value::collation::Collator;
use odm_language::value::kind::Bracket;

use crate::index::Index;
use crate::index::spec::{Kind, Spec};
use crate::planner::conditions::{About, Condition, Fit, intersect};
use crate::planner::geo;
use crate::planner::interval::Interval;
use crate::planner::tree::IndexScan;

/// A walk over an index, and what it answers.
#[derive(Debug, Clone)]
pub(super) struct Draft {
    pub(super) scan: IndexScan,
    /// Children of the filter that the bounds and the index's own tests answer.
    pub(super) answered: Vec<usize>,
    /// The bounds alone answer the same children.
    pub(super) exact: bool,
}

impl Draft {
    /// All of an index.
    pub(super) fn whole(index: &Index) -> Self {
        Self {
            scan: IndexScan {
                name: index.spec.name.clone(),
                fields: (index.spec.paths.iter())
                    .map(|_| Arc::new([Interval::all()]) as Arc<[_]>)
                    .collect(),
                backwards: false,
                path: None,
                tested: Vec::new(),
                covers: false,
                limits: None,
            },
            answered: Vec::new(),
            exact: true,
        }
    }
}

/// The conditions, and which of them an alternative of an `$or` brings itself: one of those must lead.
#[derive(Debug, Clone, Copy)]
pub(super) struct Given<'c> {
    pub(super) all: &'c [Condition],
    pub(super) own: usize,
}

/// Every way in which the conditions bound an index.
pub(super) fn drafts(index: &Index, given: Given<'_>, collation: Option<&Collator>) -> Vec<Draft> {
    let spec = &*index.spec;
    if spec.kind == Kind::Text {
        return Vec::new();
    }
    let same_collation = spec.collation.as_ref() == collation;
    if spec.kind == Kind::Wildcard {
        return wildcard(index, given, same_collation);
    }
    let Some(first) = spec.paths.first() else {
        return Vec::new();
    };
    let usable = |at: usize, path: &str| -> Vec<usize> {
        let hashed = spec.parts.get(at).is_some_and(|part| part.hashed);
        (0..given.all.len())
            .filter(|id| {
                given.all.get(*id).is_some_and(|condition| {
                    condition.path == path
                        && (same_collation || !condition.collated())
                        && (!hashed || is_hashable(condition))
                        && serves(index, at, condition)
                        && !is_hidden(index, condition)
                })
            })
            .collect()
    };
    let leading: Vec<usize> = usable(0, first.as_str())
        .into_iter()
        .filter(|id| *id < given.own)
        .collect();
    // Without a condition on its place, a geospatial index lacks documents.
    let locates = |used: &[Vec<usize>]| {
        spec.kind != Kind::Geo
            || used.iter().flatten().any(|id| {
                given
                    .all
                    .get(*id)
                    .is_some_and(|condition| condition.place.is_some())
            })
    };
    choices(index, given, first.as_str(), &leading)
        .into_iter()
        .filter_map(|chosen| {
            let mut used = vec![chosen];
            for (at, path) in spec.paths.iter().enumerate().skip(1) {
                let candidates: Vec<usize> = usable(at, path.as_str())
                    .into_iter()
                    .filter(|id| joins(index, given, path.as_str(), *id, &used))
                    .collect();
                let chosen = choices(index, given, path.as_str(), &candidates)
                    .into_iter()
                    .max_by_key(|chosen| {
                        (
                            is_point(given, chosen),
                            std::cmp::Reverse(chosen.first().copied()),
                        )
                    })
                    .unwrap_or_default();
                used.push(chosen);
            }
            locates(&used).then(|| draft(index, given, None, &used))
        })
        .collect()
}

/// Whether the keys of arrays would hide what a condition asks for.
fn is_hidden(index: &Index, condition: &Condition) -> bool {
    // Where a number may pick an element, what lacks the field and what is in an element have other keys.
    let by_number = condition.numbered
        && (condition.element.is_some()
            || !matches!(
                condition.about,
                About::Values | About::Whole | About::Exists | About::Negation
            ));
    (condition.about == About::NegatedNull || condition.is_compared() || by_number)
        && index.arrays.has(&condition.path)
}

/// Whether a field of an index can be bounded by a condition: one on a place by what has its cells, any other by values.
fn serves(index: &Index, at: usize, condition: &Condition) -> bool {
    match index.spec.parts.get(at).and_then(|part| part.geo) {
        Some(_) if condition.numbered => false,
        Some(grid) => condition
            .place
            .as_ref()
            .is_some_and(|test| geo::knows(grid, &test.region)),
        None => condition.about != About::Place,
    }
}

/// An index bounded in every field for which there is a condition, whether or not in those before it.
pub(super) fn nearest(index: &Index, given: Given<'_>, collation: Option<&Collator>) -> Draft {
    let spec = &*index.spec;
    let same_collation = spec.collation.as_ref() == collation;
    let mut used: Vec<Vec<usize>> = Vec::new();
    for (at, path) in spec.paths.iter().enumerate() {
        let path = path.as_str();
        let usable: Vec<usize> = (0..given.all.len())
            .filter(|id| {
                given.all.get(*id).is_some_and(|condition| {
                    condition.path == path
                        && (same_collation || !condition.collated())
                        && !is_hidden(index, condition)
                        && serves(index, at, condition)
                })
            })
            .filter(|id| joins(index, given, path, *id, &used))
            .collect();
        let chosen = choices(index, given, path, &usable).into_iter().next();
        used.push(chosen.unwrap_or_default());
    }
    draft(index, given, None, &used)
}

/// A hash tells equality only.
fn is_hashable(condition: &Condition) -> bool {
    matches!(
        condition.about,
        About::Values
            | About::Whole
            | About::Null
            | About::Missing
            | About::Compared
            | About::ComparedMissing
    ) && condition.intervals.iter().all(Interval::is_point)
}

fn is_point(given: Given<'_>, chosen: &[usize]) -> bool {
    chosen.iter().any(|id| {
        given
            .all
            .get(*id)
            .is_some_and(|condition| condition.intervals.iter().all(Interval::is_point))
    })
}

/// Which conditions on one path may bound it together. Where an array is on the path, different elements may meet
/// them, so each stands alone, unless they speak of one element.
fn choices(index: &Index, given: Given<'_>, path: &str, usable: &[usize]) -> Vec<Vec<usize>> {
    if usable.is_empty() {
        return Vec::new();
    }
    if !index.arrays.has(path) {
        return vec![usable.to_vec()];
    }
    let mut sets: Vec<Vec<usize>> = Vec::new();
    for id in usable {
        let together = sets.iter_mut().find(|set| {
            set.iter()
                .all(|other| same_element(index, given, *id, *other, path))
        });
        match together {
            Some(set) => set.push(*id),
            None => sets.push(vec![*id]),
        }
    }
    sets
}

/// Whether two conditions speak of the same element of every array that both are in.
fn same_element(index: &Index, given: Given<'_>, one: usize, other: usize, shared: &str) -> bool {
    let (Some(one), Some(other)) = (given.all.get(one), given.all.get(other)) else {
        return false;
    };
    match (&one.element, &other.element) {
        (Some((array, id)), Some((_, other))) => {
            id == other
                && index
                    .arrays
                    .on(shared)
                    .all(|place| place.len() <= array.len())
        }
        _ => false,
    }
}

/// Whether a condition may bound its field beside those that bound earlier ones: two paths into one array may be met
/// by different elements, whose keys stand in different entries.
fn joins(index: &Index, given: Given<'_>, path: &str, id: usize, used: &[Vec<usize>]) -> bool {
    used.iter().zip(&index.spec.paths).all(|(chosen, earlier)| {
        let shared: Vec<&str> = index
            .arrays
            .on(earlier.as_str())
            .filter(|place| is_below(path, place))
            .collect();
        shared.last().is_none_or(|place| {
            chosen
                .iter()
                .all(|other| same_element(index, given, id, *other, place))
        })
    })
}

fn is_below(path: &str, place: &str) -> bool {
    path.strip_prefix(place)
        .is_some_and(|rest| rest.starts_with('.'))
}

/// How well a condition fits in this index.
fn fit(index: &Index, condition: &Condition) -> Fit {
    let spec: &Spec = &index.spec;
    if spec
        .parts
        .iter()
        .zip(&spec.paths)
        .any(|(part, path)| part.hashed && path.as_str() == condition.path)
    {
        return Fit::Loose;
    }
    let arrays = index.arrays.has(&condition.path);
    match condition.about {
        _ if arrays && condition.numbered => Fit::Loose,
        About::Exists if spec.kind == Kind::Wildcard || (spec.sparse && spec.paths.len() == 1) => {
            Fit::Exact
        }
        About::Negation if arrays => Fit::Loose,
        // a server looks at documents behind such indexes, whatever the bounds say
        About::Beyond if spec.collation.is_some() || spec.partial.is_some() => Fit::Loose,
        About::Beyond if arrays && !condition.intervals.iter().all(Interval::is_all) => Fit::Loose,
        About::NegatedNull if spec.kind == Kind::Wildcard => Fit::Loose,
        _ if arrays && condition.fit == Fit::Value => Fit::Loose,
        _ => condition.fit,
    }
}

fn draft(index: &Index, given: Given<'_>, path: Option<String>, used: &[Vec<usize>]) -> Draft {
    let mut answered = Vec::new();
    let mut tested = Vec::new();
    let fields = used
        .iter()
        .enumerate()
        .map(|(at, chosen)| {
            let grid = index.spec.parts.get(at).and_then(|part| part.geo);
            let conditions = chosen
                .iter()
                .filter_map(|id| Some((*id, given.all.get(*id)?)));
            for (id, condition) in conditions.clone() {
                if condition.element.is_some() || id >= given.own {
                    continue;
                }
                match fit(index, condition) {
                    Fit::Exact => answered.push(condition.child),
                    Fit::Value => {
                        answered.push(condition.child);
                        tested.push(condition.child);
                    }
                    Fit::Loose => {}
                }
            }
            conditions
                .map(|(_, condition)| match (grid, &condition.place) {
                    (Some(grid), Some(test)) => geo::intervals(grid, &test.region),
                    // The keys of an array don't tell where the array itself stands.
                    _ if condition.about == About::Beyond && index.arrays.has(&condition.path) => {
                        vec![Interval::all()]
                    }
                    _ => condition.intervals.clone(),
                })
                .reduce(|one, other| intersect(&one, &other))
                .map_or_else(|| Arc::new([Interval::all()]) as Arc<[_]>, Arc::from)
        })
        .collect();
    Draft {
        exact: tested.is_empty(),
        scan: IndexScan {
            name: index.spec.name.clone(),
            fields,
            backwards: false,
            path,
            tested,
            covers: false,
            limits: None,
        },
        answered,
    }
}

/// A wildcard index serves conditions on one path that only documents with a value there meet.
fn wildcard(index: &Index, given: Given<'_>, same_collation: bool) -> Vec<Draft> {
    let Some(wildcard) = &index.spec.wildcard else {
        return Vec::new();
    };
    let mut paths: Vec<&str> = Vec::new();
    for condition in given.all.iter().take(given.own) {
        if wildcard.holds(&condition.path) && !paths.contains(&condition.path.as_str()) {
            paths.push(&condition.path);
        }
    }
    let mut drafts = Vec::new();
    for path in paths {
        // A document without the path has no key.
        let exists = given
            .all
            .iter()
            .take(given.own)
            .any(|condition| condition.path == path && condition.exists());
        let usable: Vec<usize> = (0..given.own)
            .filter(|id| {
                given.all.get(*id).is_some_and(|condition| {
                    condition.path == path
                        && (same_collation || !condition.collated())
                        // An element has its keys under the path of its array.
                        && !(condition.numbered && index.arrays.has(path))
                        && match condition.about {
                            About::Values | About::Exists => true,
                            About::NegatedNull => {
                                !index.arrays.has(path) && excludes_null_only(condition)
                            }
                            About::Compared | About::ComparedMissing => {
                                exists && !index.arrays.has(path)
                            }
                            About::Whole
                            | About::Null
                            | About::Missing
                            | About::Negation
                            | About::Beyond
                            | About::Place => false,
                        }
                })
            })
            .collect();
        let known = |chosen: &Vec<usize>| !meets_documents(given, chosen);
        for chosen in choices(index, given, path, &usable)
            .into_iter()
            .filter(known)
        {
            let mut draft = draft(index, given, Some(path.to_owned()), &[chosen]);
            let mut place = vec![Interval::path(path)];
            let loose = draft
                .scan
                .fields
                .first()
                .is_some_and(|values| spans_all(values));
            if loose {
                // Documents have their values below the path.
                place.push(Interval::prefix(&format!("{path}.")));
                draft.scan.fields = vec![Arc::new([Interval::all()])];
            }
            draft.scan.fields.insert(0, place.into());
            drafts.push(draft);
        }
    }
    drafts
}

/// Whether comparisons of expressions leave documents among the values, of which a wildcard index has no keys.
fn meets_documents(given: Given<'_>, chosen: &[usize]) -> bool {
    let conditions = || chosen.iter().filter_map(|id| given.all.get(*id));
    conditions().any(Condition::is_compared)
        && conditions()
            .map(|condition| condition.intervals.clone())
            .reduce(|one, other| intersect(&one, &other))
            .is_some_and(|values| values.iter().any(|it| it.meets(Bracket::Document)))
}

/// `$ne: null`, and nothing else that is excluded.
fn excludes_null_only(condition: &Condition) -> bool {
    condition.intervals.len() == 2 && spans_all(&condition.intervals)
}

/// Every value there is, but perhaps for null.
fn spans_all(values: &[Interval]) -> bool {
    let all = Interval::all();
    values.first().is_some_and(|first| first.low == all.low)
        && values.last().is_some_and(|last| last.high == all.high)
}
