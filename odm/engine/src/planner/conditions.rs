//! Translates a filter into conditions on single paths, as intervals: a superset of what matches, never less.
//!
//! A test that this module does not understand narrows nothing.

mod values;

use std::sync::Arc;

use bson::raw::RawBsonRef;
use odm_language::matcher::{Comparison, ElementMatch, GeoTest, Operand, Predicate, Test};
use odm_language::value::bson_type::TypeSet;
use odm_language::value::collation::Collator;
use odm_language::value::path::is_number;

use crate::planner::interval::{self, Interval};

use self::values::one_value;

/// How precisely intervals express a condition, if no array gives a document several keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Fit {
    /// The intervals contain the matching values and nothing else.
    Exact,
    /// The value decides, so the index can test its keys.
    Value,
    /// Only the document decides, so it must be fetched.
    Loose,
}

/// The kind of a condition, which decides the indexes that can serve it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ConditionKind {
    Values,
    /// Values that include whole documents or arrays.
    Whole,
    /// One element of an array (`$elemMatch` with operators).
    Element,
    /// Values that include `null`, which also matches a missing field.
    Null,
    /// `$exists: true`.
    Exists,
    /// `$exists: false`.
    Missing,
    /// `$ne`, `$nin` and `$not`.
    Negation,
    /// `$ne`, `$nin` and `$not`, with `null` among the excluded values.
    NegatedNull,
    /// A geospatial condition; its intervals depend on the index.
    Place,
    /// Everything above `MinKey` or below `MaxKey`. Whole arrays and missing fields match, too.
    Beyond,
    /// A comparison derived from a `$expr`, which treats an array as a whole and compares across types. A missing field
    /// does not match.
    Compared,
    /// The same kind of comparison if a missing field matches.
    ComparedMissing,
}

/// One condition on one path. All conditions of a filter must hold.
#[derive(Debug, Clone)]
pub(crate) struct Condition {
    pub(crate) path: String,
    /// The value, or one element of an array, lies in one of these intervals, which are sorted and disjoint.
    pub(crate) intervals: Vec<Interval>,
    pub(crate) fit: Fit,
    pub(crate) about: ConditionKind,
    /// The enclosing `$elemMatch`: the path of the array, and an id of the `$elemMatch`.
    pub(crate) element: Option<(String, usize)>,
    /// The index of the filter's child that it comes from.
    pub(crate) child: usize,
    /// Whether the path has a numeric part, which may be a field name or an array index.
    pub(crate) numbered: bool,
    /// The region that a geospatial value must lie in or intersect; `None` for `$near`.
    pub(crate) place: Option<Arc<GeoTest>>,
    /// The types, if the condition is a `$type`.
    pub(crate) types: Option<TypeSet>,
}

impl Condition {
    /// Whether it compares the value at the path as a whole, not the elements of an array there.
    pub(crate) fn is_compared(&self) -> bool {
        matches!(
            self.about,
            ConditionKind::Compared | ConditionKind::ComparedMissing
        )
    }

    /// Whether only documents that have the path match.
    pub(crate) fn exists(&self) -> bool {
        match self.about {
            ConditionKind::Exists
            | ConditionKind::Place
            | ConditionKind::Compared
            | ConditionKind::Whole
            | ConditionKind::Element => true,
            ConditionKind::NegatedNull | ConditionKind::Values => {
                !self.intervals.iter().any(|interval| {
                    interval.contains(RawBsonRef::Null) || interval.contains(RawBsonRef::Undefined)
                })
            }
            ConditionKind::Null
            | ConditionKind::Missing
            | ConditionKind::Negation
            | ConditionKind::Beyond
            | ConditionKind::ComparedMissing => false,
        }
    }

    /// Whether strings take part. Their keys are comparable under one collation only.
    pub(crate) fn collated(&self) -> bool {
        self.intervals.iter().any(|interval| interval.collated)
    }
}

impl ConditionKind {
    fn of(value: RawBsonRef<'_>) -> Self {
        match value {
            RawBsonRef::Null | RawBsonRef::Undefined => Self::Null,
            RawBsonRef::Document(_) | RawBsonRef::Array(_) => Self::Whole,
            _ => Self::Values,
        }
    }
}

/// What a predicate requires of single paths.
#[derive(Debug, Clone, Default)]
pub(crate) struct Conditions<'a> {
    pub(crate) all: Vec<Condition>,
    /// Whether the conditions express the whole predicate, as far as each of them fits.
    pub(crate) complete: bool,
    /// The disjunctions beside them, each with its child's index.
    pub(crate) branches: Vec<(usize, Vec<&'a Predicate>)>,
}

/// The children of the filter's top-level conjunction in mongod's order of evaluation, or the filter itself.
pub(crate) fn children(filter: &Predicate) -> Vec<&Predicate> {
    let mut found = Vec::new();
    flatten(filter, &mut found);
    found
}

fn flatten<'a>(predicate: &'a Predicate, found: &mut Vec<&'a Predicate>) {
    match predicate {
        Predicate::And(group) => {
            for child in group.evaluated() {
                flatten(child, found);
            }
        }
        Predicate::Always(true) => {}
        other => found.push(other),
    }
}

/// The conditions that a filter sets.
pub(crate) fn of<'a>(filter: &'a Predicate, collation: Option<&Collator>) -> Conditions<'a> {
    read(filter, collation, false)
}

/// Like `of`, but numeric path parts count as field names. Used only to decide whether mongod rejects a hint.
pub(crate) fn with_numbers<'a>(
    filter: &'a Predicate,
    collation: Option<&Collator>,
) -> Conditions<'a> {
    read(filter, collation, true)
}

fn read<'a>(filter: &'a Predicate, collation: Option<&Collator>, numbers: bool) -> Conditions<'a> {
    let mut found = Conditions {
        complete: true,
        ..Conditions::default()
    };
    for (child, predicate) in children(filter).into_iter().enumerate() {
        let place = Place {
            prefix: String::new(),
            element: None,
            child,
            collation,
            numbers,
        };
        let known = collect(predicate, &place, &mut found);
        found.complete &= known;
    }
    found
}

struct Place<'c> {
    prefix: String,
    element: Option<(String, usize)>,
    child: usize,
    collation: Option<&'c Collator>,
    /// Whether numeric path parts count as field names.
    numbers: bool,
}

/// Adds the conditions that it understands, and returns whether they express the whole predicate.
fn collect<'a>(predicate: &'a Predicate, place: &Place<'_>, found: &mut Conditions<'a>) -> bool {
    let field = match predicate {
        Predicate::And(group) => {
            let mut complete = true;
            for child in &group.children {
                complete &= collect(child, place, found);
            }
            return complete;
        }
        Predicate::Always(holds) => return *holds,
        Predicate::Or(group) => {
            if place.element.is_none() {
                if let Some(condition) = same_path(&group.children, place) {
                    found.all.push(condition);
                    return true;
                }
                found
                    .branches
                    .push((place.child, group.evaluated().collect()));
            }
            return false;
        }
        Predicate::Not(negation) => return negated(&negation.child, place, found),
        // A `$nor` with one branch is a plain negation.
        Predicate::Nor(group) => {
            return match group.children.as_slice() {
                [only] => negated(only, place, found),
                _ => false,
            };
        }
        Predicate::Expr(_) | Predicate::Schema(_) | Predicate::Text(_) => return false,
        Predicate::Field(field) => field,
    };
    let path = format!("{}{}", place.prefix, field.path.as_str());
    if path.split('.').any(str::is_empty) {
        return false;
    }
    of_test(&field.test, path, place, found)
}

/// Adds the conditions of a test of one path, and returns whether they express it.
fn of_test<'a>(
    test: &'a Test,
    path: String,
    place: &Place<'_>,
    found: &mut Conditions<'a>,
) -> bool {
    let numbered = !place.numbers && path.split('.').skip(1).any(is_number);
    let (intervals, fit, about) = match test {
        Test::Element(ElementMatch::Document(inner)) => {
            let inside = Place {
                prefix: format!("{path}."),
                element: Some((path, found.all.len())),
                child: place.child,
                collation: place.collation,
                numbers: place.numbers,
            };
            collect(inner, &inside, found);
            return false;
        }
        // If a number picks an array element that is an array, the key is the whole inner array.
        Test::Element(ElementMatch::Value(_)) if numbered => return false,
        Test::Element(ElementMatch::Value(tests)) => {
            let Some((intervals, about)) = element(tests, place.collation) else {
                return false;
            };
            (intervals, Fit::Loose, about)
        }
        Test::Exists => (vec![Interval::all()], Fit::Loose, ConditionKind::Exists),
        Test::Geo(_) | Test::Near(_) => {
            found.all.push(Condition {
                path,
                intervals: vec![Interval::all()],
                fit: Fit::Loose,
                about: ConditionKind::Place,
                element: place.element.clone(),
                child: place.child,
                numbered,
                place: match test {
                    Test::Geo(test) => Some(Arc::clone(test)),
                    _ => None,
                },
                types: None,
            });
            return false;
        }
        test => match one_value(test, place.collation) {
            // A wildcard index has keys for empty documents.
            Some((intervals, fit, _)) if place.numbers && is_empty(test) => {
                (intervals, fit, ConditionKind::Values)
            }
            Some(known) => known,
            None => return false,
        },
    };
    found.all.push(Condition {
        path,
        intervals: interval::union(intervals),
        fit,
        about,
        element: place.element.clone(),
        child: place.child,
        numbered,
        place: None,
        types: match test {
            Test::Type(types) => Some(*types),
            _ => None,
        },
    });
    true
}

/// Whether a test compares with an empty document.
fn is_empty(test: &Test) -> bool {
    match test {
        Test::Compare(Comparison::Eq, operand) => match operand.value() {
            RawBsonRef::Document(document) => document.is_empty(),
            _ => false,
        },
        _ => false,
    }
}

/// Combines a disjunction of tests of one path into one condition.
fn same_path(branches: &[Predicate], place: &Place<'_>) -> Option<Condition> {
    let mut path = None;
    let mut all = Vec::new();
    let mut about = None;
    let mut numbered = false;
    for branch in branches {
        let mut inner = Conditions::default();
        let joins = match branch {
            Predicate::Field(field) => matches!(
                field.test,
                Test::Compare(Comparison::Eq, _) | Test::In(_) | Test::Compared(..)
            ),
            _ => false,
        };
        if !joins || !collect(branch, place, &mut inner) {
            return None;
        }
        let condition = inner.all.pop()?;
        if condition.fit != Fit::Exact
            || path.get_or_insert(condition.path.clone()) != &condition.path
        {
            return None;
        }
        about = Some(match (about, condition.about) {
            (
                None | Some(ConditionKind::Compared),
                own @ (ConditionKind::Compared | ConditionKind::ComparedMissing),
            ) => own,
            (
                Some(ConditionKind::ComparedMissing),
                ConditionKind::Compared | ConditionKind::ComparedMissing,
            ) => ConditionKind::ComparedMissing,
            // A condition on elements and one on whole arrays cannot be combined.
            (Some(_), ConditionKind::Compared | ConditionKind::ComparedMissing)
            | (Some(ConditionKind::Compared | ConditionKind::ComparedMissing), _) => return None,
            _ => ConditionKind::Values,
        });
        numbered |= condition.numbered;
        all.extend(condition.intervals);
    }
    Some(Condition {
        path: path?,
        intervals: interval::union(all),
        fit: Fit::Exact,
        about: about?,
        element: None,
        child: place.child,
        numbered,
        place: None,
        types: None,
    })
}

/// A negation matches outside of the intervals, if they are exact.
fn negated(inner: &Predicate, place: &Place<'_>, found: &mut Conditions<'_>) -> bool {
    let Predicate::Field(field) = inner else {
        return false;
    };
    let mut inside = Conditions::default();
    if !collect(inner, place, &mut inside) {
        return false;
    }
    let Some(condition) = inside.all.pop() else {
        return false;
    };
    let (intervals, fit, about) = match &field.test {
        // The key of a missing field is null; the key of an empty array is not.
        Test::Exists => (
            vec![Interval::point(RawBsonRef::Null, None)],
            Fit::Loose,
            ConditionKind::Missing,
        ),
        test => match outside(test, &condition.intervals, condition.fit, condition.about) {
            Some((intervals, about)) => (intervals, Fit::Exact, about),
            None => return false,
        },
    };
    found.all.push(Condition {
        intervals,
        fit,
        about,
        types: None,
        ..condition
    });
    true
}

/// The values that fail a test, if the intervals of those that pass are exact.
fn outside(
    test: &Test,
    intervals: &[Interval],
    fit: Fit,
    about: ConditionKind,
) -> Option<(Vec<Interval>, ConditionKind)> {
    match (test, about) {
        (Test::Compare(..) | Test::In(_), ConditionKind::Values | ConditionKind::Whole)
            if fit == Fit::Exact =>
        {
            Some((interval::complement(intervals), ConditionKind::Negation))
        }
        (test, ConditionKind::Null) if is_exact_beside_null(test) => {
            let mut inside = intervals.to_vec();
            // No value sorts between undefined and null, so the gap is excluded, too.
            inside.push(Interval::between_nulls());
            Some((
                interval::complement(&interval::union(inside)),
                ConditionKind::NegatedNull,
            ))
        }
        _ => None,
    }
}

/// Whether the intervals of a condition on null contain only equal values. Index keys cannot identify whole arrays or,
/// within an interval, the strings that a pattern matches.
fn is_exact_beside_null(test: &Test) -> bool {
    match test {
        Test::Compare(..) => true,
        Test::In(list) => {
            let is_array = |operand: &Operand| matches!(operand.value(), RawBsonRef::Array(_));
            list.regexes.is_empty() && !list.values.iter().any(is_array)
        }
        _ => false,
    }
}

/// `$elemMatch` on plain values: one element satisfies all tests, so their intervals intersect.
fn element(
    tests: &[Predicate],
    collation: Option<&Collator>,
) -> Option<(Vec<Interval>, ConditionKind)> {
    let mut about = ConditionKind::Element;
    let intervals = tests
        .iter()
        .filter_map(|test| match test {
            Predicate::Field(field) if matches!(field.test, Test::Exists) => {
                Some(vec![Interval::all()])
            }
            Predicate::Field(field) => {
                let (intervals, _, kind) = one_value(&field.test, collation)?;
                if kind == ConditionKind::Whole && !matches!(field.test, Test::Type(_)) {
                    about = kind;
                }
                Some(interval::union(intervals))
            }
            Predicate::Not(negation) => {
                let Predicate::Field(field) = &*negation.child else {
                    return None;
                };
                let (intervals, fit, kind) = one_value(&field.test, collation)?;
                let (outside, kind) = outside(&field.test, &interval::union(intervals), fit, kind)?;
                if kind == ConditionKind::Negation {
                    about = kind;
                }
                Some(outside)
            }
            _ => None,
        })
        .reduce(|one, other| intersect(&one, &other))?;
    Some((intervals, about))
}

/// The values that two unions of intervals have in common.
pub(crate) fn intersect(one: &[Interval], other: &[Interval]) -> Vec<Interval> {
    one.iter()
        .flat_map(|one| other.iter().filter_map(|other| one.intersect(other)))
        .collect()
}
