//! What a filter says about single paths, as intervals: a superset of what matches, never less.
//!
//! What is not understood here narrows nothing.

mod values;

use std::sync::Arc;

use bson::raw::RawBsonRef;
use odm_language::matcher::{Comparison, ElementMatch, GeoTest, Operand, Predicate, Test};
use odm_language::value::collation::Collator;
use odm_language::value::kind::TypeSet;
use odm_language::value::path::is_number;

use crate::planner::interval::{self, Interval};

use self::values::one_value;

/// How well intervals say what a condition says, where no array makes several keys of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Fit {
    /// They hold what matches and nothing else.
    Exact,
    /// The value itself tells, so the index can still decide.
    Value,
    /// The document must be looked at.
    Loose,
}

/// What of a condition an index must know to serve it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum About {
    Values,
    /// Values, some of which are documents or arrays taken whole.
    Whole,
    /// `null` is among them, and a missing field is, too.
    Null,
    /// `$exists: true`.
    Exists,
    /// `$exists: false`.
    Missing,
    /// `$ne`, `$nin` and `$not`.
    Negation,
    /// The same, with `null` among what is excluded.
    NegatedNull,
    /// A place: which values are meant depends on the index.
    Place,
    /// All above the least value, or all below the greatest: an array as a whole, too, and a missing field.
    Beyond,
    /// A comparison beside a `$expr`, which takes an array as a whole and compares across types; a missing field does
    /// not pass it.
    Compared,
    /// The same where a missing field passes.
    ComparedMissing,
}

/// One condition on one path. All conditions of a filter must hold.
#[derive(Debug, Clone)]
pub(crate) struct Condition {
    pub(crate) path: String,
    /// The value, or one element of an array, lies in one of these; they are sorted and disjoint.
    pub(crate) intervals: Vec<Interval>,
    pub(crate) fit: Fit,
    pub(crate) about: About,
    /// The `$elemMatch` that it stands in: the array's path, and which one it is.
    pub(crate) element: Option<(String, usize)>,
    /// Which child of the filter it comes from.
    pub(crate) child: usize,
    /// There is a number in the path, which may name a field or pick an element.
    pub(crate) numbered: bool,
    /// The region that a place must lie in or meet; none for `$near`.
    pub(crate) place: Option<Arc<GeoTest>>,
    /// The types that it asks for and nothing else.
    pub(crate) types: Option<TypeSet>,
}

impl Condition {
    /// Whether it speaks of what is at the path, and not of the elements of an array that may be there.
    pub(crate) fn is_compared(&self) -> bool {
        matches!(self.about, About::Compared | About::ComparedMissing)
    }

    /// Whether only documents that have the path match.
    pub(crate) fn exists(&self) -> bool {
        match self.about {
            About::Exists | About::Place | About::Compared => true,
            About::NegatedNull | About::Values | About::Whole => {
                !self.intervals.iter().any(|interval| {
                    interval.contains(RawBsonRef::Null) || interval.contains(RawBsonRef::Undefined)
                })
            }
            About::Null
            | About::Missing
            | About::Negation
            | About::Beyond
            | About::ComparedMissing => false,
        }
    }

    /// Whether strings take part, so that keys mean the same under one collation only.
    pub(crate) fn collated(&self) -> bool {
        self.intervals.iter().any(|interval| interval.collated)
    }
}

impl About {
    fn of(value: RawBsonRef<'_>) -> Self {
        match value {
            RawBsonRef::Null | RawBsonRef::Undefined => Self::Null,
            RawBsonRef::Document(_) | RawBsonRef::Array(_) => Self::Whole,
            _ => Self::Values,
        }
    }
}

/// What a predicate says about single paths.
#[derive(Debug, Clone, Default)]
pub(crate) struct Conditions<'a> {
    pub(crate) all: Vec<Condition>,
    /// They say all that the predicate says, as far as each of them fits.
    pub(crate) complete: bool,
    /// The disjunctions beside them.
    pub(crate) branches: Vec<(usize, Vec<&'a Predicate>)>,
}

/// The children of a filter in the order in which a server looks at them: its one conjunction's, or itself.
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

/// The same with numbers in paths taken for names, as they may be where nothing but a refusal depends on it.
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
    /// Numbers in paths are taken for names.
    numbers: bool,
}

/// Adds what is understood, and says whether that is all.
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
        // One alternative alone is a plain negation.
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
    let numbered = !place.numbers && path.split('.').skip(1).any(is_number);
    let (intervals, fit, about) = match &field.test {
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
        // The key of an array that a number picks is the array.
        Test::Element(ElementMatch::Value(_)) if numbered => return false,
        Test::Element(ElementMatch::Value(tests)) => {
            let Some(intervals) = element(tests, place.collation) else {
                return false;
            };
            (intervals, Fit::Loose, About::Values)
        }
        Test::Exists => (vec![Interval::all()], Fit::Loose, About::Exists),
        Test::Geo(_) | Test::Near(_) => {
            found.all.push(Condition {
                path,
                intervals: vec![Interval::all()],
                fit: Fit::Loose,
                about: About::Place,
                element: place.element.clone(),
                child: place.child,
                numbered,
                place: match &field.test {
                    Test::Geo(test) => Some(Arc::clone(test)),
                    _ => None,
                },
                types: None,
            });
            return false;
        }
        test => match one_value(test, place.collation) {
            // An empty document has a key in a wildcard index, too.
            Some((intervals, fit, _)) if place.numbers && is_empty(test) => {
                (intervals, fit, About::Values)
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
        types: match &field.test {
            Test::Type(types) => Some(*types),
            _ => None,
        },
    });
    true
}

/// Whether a test asks for an empty document.
fn is_empty(test: &Test) -> bool {
    match test {
        Test::Compare(Comparison::Eq, operand) => match operand.value() {
            RawBsonRef::Document(document) => document.is_empty(),
            _ => false,
        },
        _ => false,
    }
}

/// A disjunction of tests of one path is one test of it.
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
            (None | Some(About::Compared), own @ (About::Compared | About::ComparedMissing)) => own,
            (Some(About::ComparedMissing), About::Compared | About::ComparedMissing) => {
                About::ComparedMissing
            }
            // What is said of elements and what is said of arrays as a whole do not join.
            (Some(_), About::Compared | About::ComparedMissing)
            | (Some(About::Compared | About::ComparedMissing), _) => return None,
            _ => About::Values,
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

/// A negation holds outside of the intervals, if they are exact.
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
    let (intervals, fit, about) = match (&field.test, condition.about) {
        // A missing field is kept as null; an empty array, which is there, is not.
        (Test::Exists, _) => (
            vec![Interval::point(RawBsonRef::Null, None)],
            Fit::Loose,
            About::Missing,
        ),
        (Test::Compare(..) | Test::In(_), About::Values | About::Whole)
            if condition.fit == Fit::Exact =>
        {
            (
                interval::complement(&condition.intervals),
                Fit::Exact,
                About::Negation,
            )
        }
        (test, About::Null) if is_exact_beside_null(test) => {
            let mut inside = condition.intervals.clone();
            // What lies between them is nothing.
            inside.push(Interval::between_nulls());
            (
                interval::complement(&interval::union(inside)),
                Fit::Exact,
                About::NegatedNull,
            )
        }
        _ => return false,
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

/// Whether the intervals of a condition on null hold nothing but what is equal: keys tell neither whole arrays
/// nor, within an interval, which strings a pattern finds.
fn is_exact_beside_null(test: &Test) -> bool {
    match test {
        Test::Compare(Comparison::Eq, _) => true,
        Test::In(list) => {
            let is_array = |operand: &Operand| matches!(operand.value(), RawBsonRef::Array(_));
            list.regexes.is_empty() && !list.values.iter().any(is_array)
        }
        _ => false,
    }
}

/// `$elemMatch` on plain values: one element meets them all, so they intersect.
fn element(tests: &[Predicate], collation: Option<&Collator>) -> Option<Vec<Interval>> {
    tests
        .iter()
        .filter_map(|test| match test {
            Predicate::Field(field) => one_value(&field.test, collation)
                .filter(|(.., about)| *about == About::Values)
                .map(|(intervals, ..)| interval::union(intervals)),
            _ => None,
        })
        .reduce(|one, other| intersect(&one, &other))
}

/// The common values of two unions.
pub(crate) fn intersect(one: &[Interval], other: &[Interval]) -> Vec<Interval> {
    one.iter()
        .flat_map(|one| other.iter().filter_map(|other| one.intersect(other)))
        .collect()
}
