//! Applies the conditions of a filter to an index: the bounds of its fields, and the conditions that remain.

use std::sync::Arc;

use odm_language::value::bson_type::Bracket;
use odm_language::value::collation::Collator;

use crate::index::Index;
use crate::index::spec::{Kind, Spec};
use crate::planner::conditions::{Condition, ConditionKind, Fit, intersect};
use crate::planner::geo;
use crate::planner::interval::Interval;
use crate::planner::plan::IndexScan;

/// A walk over an index, and the conditions that it answers.
#[derive(Debug, Clone)]
pub(super) struct Draft {
    pub(super) scan: IndexScan,
    /// The children of the filter that the bounds and the tests on index keys answer.
    pub(super) answered: Vec<usize>,
    /// Whether the bounds alone answer these children.
    pub(super) exact: bool,
}

impl Draft {
    /// A walk over the whole index.
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
                distinct: None,
                limits: None,
            },
            answered: Vec::new(),
            exact: true,
        }
    }
}

/// The available conditions. The first `own` of them come from the `$or` branch itself (or the filter); one of those
/// must bound the first field.
#[derive(Debug, Clone, Copy)]
pub(super) struct ConditionSet<'c> {
    pub(super) all: &'c [Condition],
    pub(super) own: usize,
}

/// Every way in which the conditions bound an index.
pub(super) fn drafts(
    index: &Index,
    given: ConditionSet<'_>,
    collation: Option<&Collator>,
) -> Vec<Draft> {
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
    // A geospatial index lacks documents without geometry, so it needs a condition on a geospatial field.
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

/// Whether the keys of arrays make a condition unusable.
fn is_hidden(index: &Index, condition: &Condition) -> bool {
    // If a number may pick an array element, a missing field and a field of an element have different keys.
    let by_number = condition.numbered
        && (condition.element.is_some()
            || !matches!(
                condition.about,
                ConditionKind::Values
                    | ConditionKind::Whole
                    | ConditionKind::Exists
                    | ConditionKind::Negation
            ));
    (condition.about == ConditionKind::NegatedNull || condition.is_compared() || by_number)
        && index.arrays.has(&condition.path)
}

/// Whether a condition can bound a field of an index. Geospatial fields need a region that their grid supports.
fn serves(index: &Index, at: usize, condition: &Condition) -> bool {
    match index.spec.parts.get(at).and_then(|part| part.geo) {
        Some(_) if condition.numbered => false,
        Some(grid) => condition
            .place
            .as_ref()
            .is_some_and(|test| geo::knows(grid, &test.region)),
        None => condition.about != ConditionKind::Place,
    }
}

/// Bounds every field that has a condition, even if earlier fields have none.
pub(super) fn nearest(
    index: &Index,
    given: ConditionSet<'_>,
    collation: Option<&Collator>,
) -> Draft {
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

/// Hash keys only answer equality.
fn is_hashable(condition: &Condition) -> bool {
    matches!(
        condition.about,
        ConditionKind::Values
            | ConditionKind::Whole
            | ConditionKind::Null
            | ConditionKind::Missing
            | ConditionKind::Compared
            | ConditionKind::ComparedMissing
    ) && condition.intervals.iter().all(Interval::is_point)
}

fn is_point(given: ConditionSet<'_>, chosen: &[usize]) -> bool {
    chosen.iter().any(|id| {
        given
            .all
            .get(*id)
            .is_some_and(|condition| condition.intervals.iter().all(Interval::is_point))
    })
}

/// Groups the conditions on one path into sets that may bound it together. If an array is on the path, different
/// elements may match different conditions, so each stands alone unless they concern the same element.
fn choices(
    index: &Index,
    given: ConditionSet<'_>,
    path: &str,
    usable: &[usize],
) -> Vec<Vec<usize>> {
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

/// Whether two conditions concern the same element of every array that contains both.
fn same_element(
    index: &Index,
    given: ConditionSet<'_>,
    one: usize,
    other: usize,
    shared: &str,
) -> bool {
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

/// Whether a condition may bound its field beside those that bound earlier fields. For two paths into one array,
/// different elements may match, and their keys are in different entries.
fn joins(
    index: &Index,
    given: ConditionSet<'_>,
    path: &str,
    id: usize,
    used: &[Vec<usize>],
) -> bool {
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

/// How precisely the bounds of this index express a condition.
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
        ConditionKind::Exists
            if spec.kind == Kind::Wildcard || (spec.sparse && spec.paths.len() == 1) =>
        {
            Fit::Exact
        }
        ConditionKind::Negation if arrays => Fit::Loose,
        // mongod fetches documents behind such indexes, whatever the bounds are
        ConditionKind::Beyond if spec.collation.is_some() || spec.partial.is_some() => Fit::Loose,
        ConditionKind::Beyond if arrays && !condition.intervals.iter().all(Interval::is_all) => {
            Fit::Loose
        }
        ConditionKind::NegatedNull | ConditionKind::Whole if spec.kind == Kind::Wildcard => {
            Fit::Loose
        }
        _ if arrays && condition.fit == Fit::Value => Fit::Loose,
        _ => condition.fit,
    }
}

fn draft(
    index: &Index,
    given: ConditionSet<'_>,
    path: Option<String>,
    used: &[Vec<usize>],
) -> Draft {
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
                    // The keys of an array do not contain the array itself.
                    _ if condition.about == ConditionKind::Beyond
                        && index.arrays.has(&condition.path) =>
                    {
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
            distinct: None,
            limits: None,
        },
        answered,
    }
}

/// Plans for a wildcard index, which serves conditions on one path if they require a value there.
fn wildcard(index: &Index, given: ConditionSet<'_>, same_collation: bool) -> Vec<Draft> {
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
                        // The keys of an element are under the path of its array.
                        && !(condition.numbered && index.arrays.has(path))
                        && match condition.about {
                            ConditionKind::Values | ConditionKind::Exists => true,
                            ConditionKind::NegatedNull => {
                                !index.arrays.has(path) && excludes_null_only(condition)
                            }
                            ConditionKind::Compared | ConditionKind::ComparedMissing => {
                                exists && !index.arrays.has(path)
                            }
                            // Elements that are documents have no key of their own.
                            ConditionKind::Element => {
                                spans_all(&condition.intervals)
                                    || !meets_any(condition, &[Bracket::Document, Bracket::Array])
                            }
                            ConditionKind::Whole => condition.types.is_some(),
                            ConditionKind::Null
                            | ConditionKind::Missing
                            | ConditionKind::Negation
                            | ConditionKind::Beyond
                            | ConditionKind::Place => false,
                        }
                })
            })
            .collect();
        let known = |chosen: &Vec<usize>| !meets_documents(given, chosen);
        for chosen in choices(index, given, path, &usable)
            .into_iter()
            .filter(known)
        {
            let is_whole = |id: &usize| {
                (given.all.get(*id))
                    .is_some_and(|condition| condition.about == ConditionKind::Whole)
            };
            let has_whole = chosen.iter().any(is_whole);
            let mut draft = draft(index, given, Some(path.to_owned()), &[chosen]);
            let mut place = vec![Interval::path(path)];
            let loose = has_whole
                || draft
                    .scan
                    .fields
                    .first()
                    .is_some_and(|values| spans_all(values));
            if loose {
                // Documents have their keys below the path.
                place.push(Interval::prefix(&format!("{path}.")));
                draft.scan.fields = vec![Arc::new([Interval::all()])];
            }
            draft.scan.fields.insert(0, place.into());
            drafts.push(draft);
        }
    }
    drafts
}

/// Whether comparisons of expressions can match documents, for which a wildcard index has no keys.
fn meets_documents(given: ConditionSet<'_>, chosen: &[usize]) -> bool {
    let conditions = || chosen.iter().filter_map(|id| given.all.get(*id));
    conditions().any(Condition::is_compared)
        && conditions()
            .map(|condition| condition.intervals.clone())
            .reduce(|one, other| intersect(&one, &other))
            .is_some_and(|values| values.iter().any(|it| it.meets(Bracket::Document)))
}

/// Whether the intervals of a condition may contain values of these types.
fn meets_any(condition: &Condition, brackets: &[Bracket]) -> bool {
    brackets
        .iter()
        .any(|bracket| condition.intervals.iter().any(|it| it.meets(*bracket)))
}

/// Whether the condition excludes null and nothing else.
fn excludes_null_only(condition: &Condition) -> bool {
    condition.intervals.len() == 2 && spans_all(&condition.intervals)
}

/// Whether the intervals contain every value, except perhaps null.
fn spans_all(values: &[Interval]) -> bool {
    let all = Interval::all();
    values.first().is_some_and(|first| first.low == all.low)
        && values.last().is_some_and(|last| last.high == all.high)
}
