//! Which index, if any, serves a query, and with which bounds.
//!
//! The rule: an index that bounds more of its leading fields is better, a bound to single values counting twice a
//! range; one that also gives the order wins a tie, then the older one. Without any bound an index is walked only
//! for its order. A hint overrules all this.
//!
//! What this module is not: it reads no documents and runs nothing; `catalog::scan` does. A plan yields candidates:
//! the filter is still applied to each.

pub(crate) mod conditions;
pub(crate) mod interval;
pub(crate) mod special;

use std::ops::Bound;

use bson::Document;
use bson::raw::RawBsonRef;

use crate::engine::index::Index;
use crate::engine::index::spec::{Kind, Spec, same_key};
use crate::engine::matcher::Predicate;
use crate::error::{Code, ServerError};
use crate::value::collation::Collator;
use crate::value::key::Direction;
use crate::value::path::Path;
use crate::value::raw;

use conditions::{Condition, Conditions};
use interval::{Interval, after};
use special::Special;

/// So many ranges a plan may have; beyond it, later fields narrow nothing.
const MOST_RANGES: usize = 10_000;

/// A range of index keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Range {
    pub(crate) low: Bound<Vec<u8>>,
    pub(crate) high: Bound<Vec<u8>>,
}

/// Where the candidates come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Access {
    /// All records, in the order of their insertion.
    Records { backwards: bool },
    /// The entries of an index in ranges of keys. The ranges are in the order of the walk, and disjoint.
    Index {
        name: String,
        ranges: Vec<Range>,
        backwards: bool,
    },
    /// The records that an index of a kind of its own lists.
    #[expect(dead_code, reason = "no kind has a variant yet")]
    Special(Special),
    /// There is no collection.
    Nothing,
}

/// A decision.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    pub(crate) access: Access,
    /// The candidates come in the order that was asked for.
    pub(crate) sorted: bool,
    /// For each field of the index, the intervals as `explain` shows them.
    pub(crate) bounds: Vec<(String, Vec<String>)>,
    /// The filter is an equality on `_id` and nothing else.
    pub(crate) by_id: bool,
}

impl Plan {
    pub(crate) fn of(access: Access) -> Self {
        Self {
            access,
            sorted: false,
            bounds: Vec::new(),
            by_id: false,
        }
    }
}

/// What a plan is for.
#[derive(Debug)]
pub(crate) struct Wanted<'a> {
    pub(crate) filter: Option<&'a Predicate>,
    pub(crate) sort: Option<(&'a [Path], &'a [Direction])>,
    /// `$natural`, and whether it is backwards.
    pub(crate) natural: Option<bool>,
    pub(crate) hint: Option<RawBsonRef<'a>>,
    pub(crate) collation: Option<&'a Collator>,
}

/// Chooses.
pub(crate) fn plan(indexes: &[Index], wanted: &Wanted<'_>) -> Result<Plan, ServerError> {
    if let Some(plan) = special::plan(indexes, wanted)? {
        return Ok(plan);
    }
    let conditions = wanted.filter.map_or_else(
        || Conditions {
            all: Vec::new(),
            complete: true,
        },
        |filter| conditions::of(filter, wanted.collation),
    );
    if let Some(plan) = hinted(indexes, wanted, &conditions)? {
        return Ok(plan);
    }
    if let Some(backwards) = wanted.natural {
        return Ok(Plan {
            sorted: true,
            ..Plan::of(Access::Records { backwards })
        });
    }
    let mut best: Option<Candidate> = None;
    for index in indexes {
        if index.spec.hidden || !serves(index, wanted, &conditions) {
            continue;
        }
        let candidate = Candidate::new(index, wanted, &conditions);
        let better = candidate.worth > 0
            && best.as_ref().is_none_or(|best| {
                (candidate.worth, candidate.plan.sorted) > (best.worth, best.plan.sorted)
            });
        if better {
            best = Some(candidate);
        }
    }
    Ok(match best {
        Some(best) => best.plan,
        None => Plan::of(Access::Records { backwards: false }),
    })
}

/// The plan that the hint asks for; `None` without one.
fn hinted(
    indexes: &[Index],
    wanted: &Wanted<'_>,
    conditions: &Conditions,
) -> Result<Option<Plan>, ServerError> {
    let index = match wanted.hint {
        None => return Ok(None),
        Some(RawBsonRef::String(name)) => indexes.iter().find(|index| index.spec.name == name),
        Some(RawBsonRef::Document(key)) => {
            if let Some(value) = raw::get(key, "$natural") {
                let backwards =
                    matches!(value, RawBsonRef::Int32(..=-1) | RawBsonRef::Int64(..=-1))
                        || matches!(value, RawBsonRef::Double(value) if value < 0.0);
                return Ok(Some(Plan {
                    sorted: wanted.natural == Some(backwards),
                    ..Plan::of(Access::Records { backwards })
                }));
            }
            let Ok(key) = Document::try_from(key) else {
                return Ok(None);
            };
            if key.is_empty() {
                return Ok(None);
            }
            indexes.iter().find(|index| same_key(&index.spec.key, &key))
        }
        Some(_) => {
            return Err(ServerError::new(
                Code::FAILED_TO_PARSE,
                "Hint must be a string or an object",
            ));
        }
    };
    let Some(index) = index.filter(|index| !index.spec.hidden) else {
        return Err(ServerError::new(
            Code::BAD_VALUE,
            "planner returned error :: caused by :: hint provided does not correspond to an existing index",
        ));
    };
    if index.spec.kind == Kind::Inert {
        return Err(ServerError::new(
            Code::COMMAND_NOT_SUPPORTED,
            format!(
                "the in-memory engine does not run queries over the index '{}', whose kind it only keeps",
                index.spec.name
            ),
        ));
    }
    // An index that does not hold all documents serves, too, as on the server: the others are left out.
    Ok(Some(Candidate::new(index, wanted, conditions).plan))
}

/// Whether the index holds every document that the filter can match.
fn is_complete(spec: &Spec, wanted: &Wanted<'_>, conditions: &Conditions) -> bool {
    let conditions = conditions.all.as_slice();
    if spec.sparse {
        let exists = spec.key.keys().any(|path| {
            conditions
                .iter()
                .any(|condition| condition.exists && condition.path == *path)
        });
        if !exists {
            return false;
        }
    }
    match &spec.partial {
        None => true,
        Some(partial) => {
            let same_collation = spec.collation.as_ref() == wanted.collation;
            implies(
                conditions,
                partial.matcher.predicate(),
                spec.collation.as_ref(),
                same_collation,
            )
        }
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
    } = conditions::of(filter, collation);
    // Keys of strings mean the same under one collation only.
    let comparable = same_collation
        || !needed
            .iter()
            .any(|needed| needed.intervals.iter().any(|interval| interval.collated));
    comparable
        && complete
        && needed.iter().all(|needed| {
            conditions.iter().any(|condition| {
                condition.path == needed.path
                    && (condition.exists || !needed.exists)
                    && condition.intervals.iter().all(|interval| {
                        needed
                            .intervals
                            .iter()
                            .any(|needed| needed.covers(interval))
                    })
            })
        })
}

/// Whether an index may answer the query without a hint.
fn serves(index: &Index, wanted: &Wanted<'_>, conditions: &Conditions) -> bool {
    let spec = &index.spec;
    if spec.kind == Kind::Inert || !is_complete(spec, wanted, conditions) {
        return false;
    }
    spec.collation.as_ref() == wanted.collation
        || !conditions.all.iter().any(|condition| {
            spec.key.contains_key(&condition.path)
                && condition.intervals.iter().any(|interval| interval.collated)
        })
}

struct Candidate {
    plan: Plan,
    worth: usize,
}

impl Candidate {
    fn new(index: &Index, wanted: &Wanted<'_>, conditions: &Conditions) -> Self {
        let spec = &*index.spec;
        let same_collation = spec.collation.as_ref() == wanted.collation;
        let fields = fields(index, &conditions.all, same_collation);
        let mut worth = 0;
        for field in &fields {
            if field.iter().all(Interval::is_point) {
                worth += 2;
            } else {
                worth += usize::from(!field.iter().any(Interval::is_all));
                break;
            }
        }
        let direction = wanted
            .sort
            .filter(|_| same_collation)
            .and_then(|(paths, directions)| order(index, &fields, paths, directions));
        let backwards = direction.unwrap_or(false);
        let mut ranges = ranges(spec, &fields);
        if backwards {
            ranges.reverse();
        }
        let bounds = spec
            .key
            .keys()
            .zip(&spec.parts)
            .zip(&fields)
            .map(|((path, part), intervals)| {
                let descending = (part.direction == Direction::Descending) != backwards;
                let mut shown: Vec<String> = intervals
                    .iter()
                    .map(|interval| interval.show(descending))
                    .collect();
                if descending {
                    shown.reverse();
                }
                (path.clone(), shown)
            })
            .collect();
        let by_id = spec.is_id()
            && conditions.complete
            && conditions.all.len() == 1
            && matches!(fields.as_slice(), [intervals] if intervals.len() == 1 && intervals.iter().all(Interval::is_point));
        Self {
            worth: if worth == 0 && direction.is_some() {
                1
            } else {
                worth * 2
            },
            plan: Plan {
                access: Access::Index {
                    name: spec.name.clone(),
                    ranges,
                    backwards,
                },
                sorted: direction.is_some(),
                bounds,
                by_id,
            },
        }
    }
}

/// For each field of the index, the values that matter.
fn fields(index: &Index, conditions: &[Condition], same_collation: bool) -> Vec<Vec<Interval>> {
    let spec = &*index.spec;
    let mut fields: Vec<Vec<Interval>> = Vec::new();
    for (at, path) in spec.paths.iter().enumerate() {
        let hashed = spec.parts.get(at).is_some_and(|part| part.hashed);
        // Two paths into one array may be met by different elements, whose keys stand in different entries.
        let shares_array = index.multikey
            && spec
                .paths
                .iter()
                .take(at)
                .any(|earlier| earlier.head() == path.head());
        let sets = conditions
            .iter()
            .filter(|condition| condition.path == path.as_str())
            .map(|condition| condition.intervals.clone())
            .filter(|intervals| {
                (same_collation || !intervals.iter().any(|interval| interval.collated))
                    && (!hashed || intervals.iter().all(Interval::is_point))
            });
        let chosen = if shares_array {
            None
        } else if index.multikey {
            // Conditions on an array may be met by different elements: only one of them can bound.
            sets.max_by_key(|intervals| intervals.iter().all(Interval::is_point))
        } else {
            sets.reduce(|one, other| conditions::intersect(&one, &other))
        };
        let mut intervals = chosen.unwrap_or_else(|| vec![Interval::all()]);
        intervals.sort_by(|one, other| one.low.key.cmp(&other.low.key));
        intervals.dedup();
        fields.push(intervals);
    }
    fields
}

/// The ranges of keys: single values as far as they go, then one field's intervals.
fn ranges(spec: &Spec, fields: &[Vec<Interval>]) -> Vec<Range> {
    let mut prefixes: Vec<Vec<u8>> = vec![Vec::new()];
    for (part, intervals) in spec.parts.iter().zip(fields) {
        let descending = part.direction == Direction::Descending;
        let points = intervals.iter().all(Interval::is_point);
        if points && prefixes.len().saturating_mul(intervals.len()) <= MOST_RANGES {
            prefixes = prefixes
                .iter()
                .flat_map(|prefix| {
                    intervals.iter().map(|interval| {
                        let mut bytes = prefix.clone();
                        extend(&mut bytes, &interval.low.key, part.hashed, descending);
                        bytes
                    })
                })
                .collect();
            continue;
        }
        if part.hashed {
            break;
        }
        let ranges = prefixes
            .iter()
            .flat_map(|prefix| {
                intervals.iter().map(|interval| {
                    let (low, high) = interval.bounds(prefix, descending);
                    Range { low, high }
                })
            })
            .collect();
        return disjoint(ranges);
    }
    disjoint(
        prefixes
            .into_iter()
            .map(|prefix| Range {
                high: match after(prefix.clone()) {
                    Bound::Included(bytes) => Bound::Excluded(bytes),
                    other => other,
                },
                low: Bound::Included(prefix),
            })
            .collect(),
    )
}

fn extend(bytes: &mut Vec<u8>, key: &[u8], hashed: bool, descending: bool) {
    if hashed {
        bytes.extend_from_slice(&crate::engine::index::hash_key(key).to_be_bytes());
    } else {
        bytes.extend(
            key.iter()
                .map(|byte| if descending { !byte } else { *byte }),
        );
    }
}

/// The ranges in order, each key in one of them at most.
fn disjoint(mut ranges: Vec<Range>) -> Vec<Range> {
    ranges.sort_by(|one, other| low_bytes(one).cmp(low_bytes(other)));
    let mut merged: Vec<Range> = Vec::with_capacity(ranges.len());
    for range in ranges {
        if let Some(last) = merged.last_mut()
            && overlaps(last, &range)
        {
            if ends_later(&range, last) {
                last.high = range.high;
            }
            continue;
        }
        merged.push(range);
    }
    merged
}

fn low_bytes(range: &Range) -> &[u8] {
    match &range.low {
        Bound::Included(bytes) | Bound::Excluded(bytes) => bytes,
        Bound::Unbounded => &[],
    }
}

/// Upper bounds are exclusive, or absent.
fn overlaps(one: &Range, next: &Range) -> bool {
    match &one.high {
        Bound::Unbounded => true,
        Bound::Included(high) | Bound::Excluded(high) => low_bytes(next) < high.as_slice(),
    }
}

fn ends_later(one: &Range, other: &Range) -> bool {
    match (&one.high, &other.high) {
        (_, Bound::Unbounded) => false,
        (Bound::Unbounded, _) => true,
        (
            Bound::Included(one) | Bound::Excluded(one),
            Bound::Included(other) | Bound::Excluded(other),
        ) => one > other,
    }
}

/// Whether a walk over the index gives the order, and then whether it must go backwards.
fn order(
    index: &Index,
    fields: &[Vec<Interval>],
    paths: &[Path],
    directions: &[Direction],
) -> Option<bool> {
    if index.multikey {
        return None;
    }
    let single = |at: usize| {
        fields.get(at).is_some_and(|intervals| {
            intervals.len() == 1 && intervals.iter().all(Interval::is_point)
        })
    };
    let mut at = 0;
    let mut backwards = None;
    for (path, direction) in paths.iter().zip(directions) {
        let fixed = (0..fields.len())
            .any(|other| single(other) && index.spec.paths.get(other) == Some(path));
        if fixed {
            continue;
        }
        while single(at) && index.spec.paths.get(at) != Some(path) {
            at += 1;
        }
        let part = index.spec.parts.get(at)?;
        if index.spec.paths.get(at) != Some(path) || part.hashed {
            return None;
        }
        let reverse = part.direction != *direction;
        if *backwards.get_or_insert(reverse) != reverse {
            return None;
        }
        at += 1;
    }
    Some(backwards.unwrap_or(false))
}
