//! What a filter says about single paths, as intervals: a superset of what matches, never less.
//!
//! What is not understood here narrows nothing.

use bson::raw::{CStr, RawArray, RawBsonRef, RawRegexRef, cstr};

use crate::engine::matcher::{Comparison, ElementMatch, Operand, Predicate, Regex, Test};
use crate::engine::planner::interval::Interval;
use crate::value::collation::Collator;
use crate::value::raw;

/// One condition on one path. All conditions of a filter must hold.
#[derive(Debug, Clone)]
pub(crate) struct Condition {
    pub(crate) path: String,
    /// The value, or one element of an array, lies in one of these.
    pub(crate) intervals: Vec<Interval>,
    /// Only documents that have the path match.
    pub(crate) exists: bool,
}

/// What a predicate says about single paths.
#[derive(Debug, Clone, Default)]
pub(crate) struct Conditions {
    pub(crate) all: Vec<Condition>,
    /// They say all that the predicate says, and no less narrowly.
    pub(crate) complete: bool,
}

/// The conditions that a predicate sets, conjunction by conjunction.
pub(crate) fn of(predicate: &Predicate, collation: Option<&Collator>) -> Conditions {
    let mut found = Vec::new();
    let complete = collect(predicate, "", collation, &mut found);
    Conditions {
        all: found,
        complete,
    }
}

/// Adds what is understood, and says whether that is all.
fn collect(
    predicate: &Predicate,
    prefix: &str,
    collation: Option<&Collator>,
    found: &mut Vec<Condition>,
) -> bool {
    match predicate {
        Predicate::And(group) => {
            let mut complete = true;
            for child in &group.children {
                complete &= collect(child, prefix, collation, found);
            }
            complete
        }
        Predicate::Always(holds) => *holds,
        Predicate::Field(field) => {
            let path = format!("{prefix}{}", field.path.as_str());
            // A number may be an index or a name: its keys are not those of the whole path.
            let numbered = path
                .split('.')
                .any(|part| part.bytes().all(|b| b.is_ascii_digit()));
            !numbered && collect_test(&field.test, path, collation, found)
        }
        Predicate::Or(_)
        | Predicate::Nor(_)
        | Predicate::Not(_)
        | Predicate::Expr(_)
        | Predicate::Schema(_) => false,
    }
}

fn collect_test(
    test: &Test,
    path: String,
    collation: Option<&Collator>,
    found: &mut Vec<Condition>,
) -> bool {
    let intervals = match test {
        Test::Exists => {
            found.push(Condition {
                path,
                intervals: vec![Interval::all()],
                exists: true,
            });
            return true;
        }
        Test::Element(ElementMatch::Document(inner)) => {
            collect(inner, &format!("{path}."), collation, found);
            return false;
        }
        Test::Element(ElementMatch::Value(tests)) => {
            if let Some(intervals) = element(tests, collation) {
                push(path, intervals, found);
            }
            return false;
        }
        test => one_value(test, collation),
    };
    let Some(intervals) = intervals else {
        return false;
    };
    push(path, intervals, found);
    is_exact(test)
}

/// Whether the intervals of a test hold what passes it and nothing else. More strings begin as a pattern does
/// than match it; more arrays have an element than begin with it.
fn is_exact(test: &Test) -> bool {
    let is_array = |operand: &Operand| matches!(operand.value(), RawBsonRef::Array(_));
    match test {
        Test::Compare(_, operand) => !is_array(operand),
        Test::In(list) => list.regexes.is_empty() && !list.values.iter().any(is_array),
        _ => false,
    }
}

fn push(path: String, intervals: Vec<Interval>, found: &mut Vec<Condition>) {
    let exists = !intervals.iter().any(|interval| {
        interval.contains(RawBsonRef::Null) || interval.contains(RawBsonRef::Undefined)
    });
    found.push(Condition {
        path,
        intervals,
        exists,
    });
}

/// `$elemMatch` on plain values: one element meets them all, so they intersect.
fn element(tests: &[Predicate], collation: Option<&Collator>) -> Option<Vec<Interval>> {
    tests
        .iter()
        .filter_map(|test| match test {
            Predicate::Field(field) => comparison(&field.test, collation),
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

/// The values that pass a test; none where it narrows nothing.
fn one_value(test: &Test, collation: Option<&Collator>) -> Option<Vec<Interval>> {
    match test {
        Test::Regex(regex) => pattern_prefix(regex, collation),
        test => comparison(test, collation),
    }
}

fn comparison(test: &Test, collation: Option<&Collator>) -> Option<Vec<Interval>> {
    match test {
        Test::Compare(comparison, operand) => {
            let value = operand.value();
            match comparison {
                Comparison::Eq => Some(equal(value, collation)),
                Comparison::Gt => ordered(value, true, false, collation),
                Comparison::Gte => ordered(value, true, true, collation),
                Comparison::Lt => ordered(value, false, false, collation),
                Comparison::Lte => ordered(value, false, true, collation),
            }
        }
        Test::In(list) => {
            let mut all: Vec<Interval> = list
                .values
                .iter()
                .flat_map(|operand| equal(operand.value(), collation))
                .collect();
            for regex in &list.regexes {
                all.extend(pattern_prefix(regex, collation)?);
            }
            Some(all)
        }
        _ => None,
    }
}

fn ordered(
    value: RawBsonRef<'_>,
    above: bool,
    inclusive: bool,
    collation: Option<&Collator>,
) -> Option<Vec<Interval>> {
    match value {
        RawBsonRef::Double(number) if number.is_nan() => None,
        RawBsonRef::Double(_)
        | RawBsonRef::Int32(_)
        | RawBsonRef::Int64(_)
        | RawBsonRef::String(_)
        | RawBsonRef::ObjectId(_)
        | RawBsonRef::DateTime(_)
        | RawBsonRef::Boolean(_)
        | RawBsonRef::Timestamp(_)
        | RawBsonRef::Binary(_) => Some(vec![Interval::beyond(value, above, inclusive, collation)]),
        _ => None,
    }
}

fn equal(value: RawBsonRef<'_>, collation: Option<&Collator>) -> Vec<Interval> {
    match value {
        RawBsonRef::Null | RawBsonRef::Undefined => vec![
            Interval::point(RawBsonRef::Undefined, collation),
            Interval::point(RawBsonRef::Null, collation),
        ],
        RawBsonRef::Array(array) => vec![
            first_element(array, collation),
            Interval::point(value, collation),
        ],
        value => vec![Interval::point(value, collation)],
    }
}

/// An equal array has an equal first element, and its elements are its keys.
fn first_element(array: &RawArray, collation: Option<&Collator>) -> Interval {
    let first = raw::values(array).next();
    Interval::point(first.unwrap_or(RawBsonRef::Undefined), collation)
}

/// The strings that a pattern such as `^abc` may match, and the pattern itself as a value.
fn pattern_prefix(regex: &Regex, collation: Option<&Collator>) -> Option<Vec<Interval>> {
    // With a collation, neighbours of a prefix need not start with it.
    if collation.is_some() || !regex.options().is_empty() {
        return None;
    }
    let pattern = regex.pattern();
    let rest = pattern.strip_prefix('^')?;
    if rest.contains('|') {
        return None;
    }
    let mut prefix = String::new();
    let mut chars = rest.chars().peekable();
    while let Some(c) = chars.next() {
        let literal = match c {
            '\\' => match chars.next() {
                Some(escaped) if !escaped.is_ascii_alphanumeric() => escaped,
                _ => break,
            },
            '.' | '[' | '(' | ')' | '$' | '^' | '*' | '+' | '?' | '{' | '#' => break,
            c => c,
        };
        // The last character before one of these is optional, or comes in some number.
        if matches!(chars.peek(), Some('*' | '?' | '{' | '+')) {
            break;
        }
        prefix.push(literal);
    }
    if prefix.is_empty() {
        return None;
    }
    // A stored expression is matched by its equal.
    let same = match <&CStr>::try_from(pattern) {
        Ok(pattern) => Interval::point(
            RawBsonRef::RegularExpression(RawRegexRef {
                pattern,
                options: cstr!(""),
            }),
            None,
        ),
        Err(_) => Interval::regexes(),
    };
    Some(vec![Interval::prefix(&prefix), same])
}
