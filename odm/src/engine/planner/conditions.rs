//! What a filter says about single paths, as intervals: a superset of what matches, never less.
//!
//! The filter was checked by the matcher before; what is not understood here narrows nothing.

use bson::raw::{CStr, RawArray, RawBsonRef, RawDocument, RawRegexRef, cstr};

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

/// The conditions that a filter sets, conjunction by conjunction.
pub(crate) fn of_filter(filter: &RawDocument, collation: Option<&Collator>) -> Vec<Condition> {
    let mut found = Vec::new();
    collect(filter, "", collation, &mut found);
    found
}

fn collect(
    filter: &RawDocument,
    prefix: &str,
    collation: Option<&Collator>,
    found: &mut Vec<Condition>,
) {
    for (name, value) in raw::elements(filter) {
        match (name, value) {
            ("$and", RawBsonRef::Array(clauses)) => {
                for clause in raw::values(clauses) {
                    if let RawBsonRef::Document(clause) = clause {
                        collect(clause, prefix, collation, found);
                    }
                }
            }
            (operator, _) if operator.starts_with('$') => {}
            (path, value) => {
                let path = format!("{prefix}{path}");
                // A number may be an index or a name: its keys are not those of the whole path.
                if path
                    .split('.')
                    .any(|part| part.bytes().all(|b| b.is_ascii_digit()))
                {
                    continue;
                }
                match value {
                    RawBsonRef::Document(operators) if is_operators(operators) => {
                        collect_operators(operators, &path, collation, found);
                    }
                    value => push(&path, equal(value, collation), found),
                }
            }
        }
    }
}

fn is_operators(document: &RawDocument) -> bool {
    raw::elements(document)
        .next()
        .is_some_and(|(name, _)| name.starts_with('$') && !matches!(name, "$id" | "$ref" | "$db"))
}

fn push(path: &str, intervals: Option<Vec<Interval>>, found: &mut Vec<Condition>) {
    if let Some(intervals) = intervals {
        let exists = !intervals.iter().any(|interval| {
            interval.contains(RawBsonRef::Null) || interval.contains(RawBsonRef::Undefined)
        });
        found.push(Condition {
            path: path.to_owned(),
            intervals,
            exists,
        });
    }
}

fn collect_operators(
    operators: &RawDocument,
    path: &str,
    collation: Option<&Collator>,
    found: &mut Vec<Condition>,
) {
    let options = match raw::get(operators, "$options") {
        Some(RawBsonRef::String(options)) => options,
        _ => "",
    };
    for (operator, value) in raw::elements(operators) {
        match (operator, value) {
            ("$exists", value) if is_true(value) => found.push(Condition {
                path: path.to_owned(),
                intervals: vec![Interval::all()],
                exists: true,
            }),
            ("$regex", RawBsonRef::String(pattern)) => {
                push(path, pattern_prefix(pattern, options, collation), found);
            }
            ("$all", RawBsonRef::Array(values)) => {
                // Each must be there; the first serves. `$elemMatch` in it narrows nothing here.
                if let Some(first) = raw::values(values).next()
                    && !matches!(first, RawBsonRef::Document(document) if is_operators(document))
                {
                    push(path, equal(first, collation), found);
                }
            }
            ("$elemMatch", RawBsonRef::Document(inner)) if is_operators(inner) => {
                element(inner, path, collation, found);
            }
            ("$elemMatch", RawBsonRef::Document(inner)) => {
                collect(inner, &format!("{path}."), collation, found);
            }
            (operator, value) => push(path, comparison(operator, value, collation), found),
        }
    }
}

/// `$elemMatch` on plain values: one element meets them all, so they intersect.
fn element(
    operators: &RawDocument,
    path: &str,
    collation: Option<&Collator>,
    found: &mut Vec<Condition>,
) {
    let mut both: Option<Vec<Interval>> = None;
    for (operator, value) in raw::elements(operators) {
        if let Some(intervals) = comparison(operator, value, collation) {
            both = Some(match both {
                None => intervals,
                Some(both) => intersect(&both, &intervals),
            });
        }
    }
    push(path, both, found);
}

/// The common values of two unions.
pub(crate) fn intersect(one: &[Interval], other: &[Interval]) -> Vec<Interval> {
    one.iter()
        .flat_map(|one| other.iter().filter_map(|other| one.intersect(other)))
        .collect()
}

fn comparison(
    operator: &str,
    value: RawBsonRef<'_>,
    collation: Option<&Collator>,
) -> Option<Vec<Interval>> {
    match operator {
        "$eq" => equal(value, collation),
        "$in" => {
            let RawBsonRef::Array(values) = value else {
                return None;
            };
            let mut all = Vec::new();
            for value in raw::values(values) {
                all.extend(equal(value, collation)?);
            }
            Some(all)
        }
        "$gt" => ordered(value, true, false, collation),
        "$gte" => ordered(value, true, true, collation),
        "$lt" => ordered(value, false, false, collation),
        "$lte" => ordered(value, false, true, collation),
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

fn equal(value: RawBsonRef<'_>, collation: Option<&Collator>) -> Option<Vec<Interval>> {
    Some(match value {
        RawBsonRef::Null | RawBsonRef::Undefined => vec![
            Interval::point(RawBsonRef::Undefined, collation),
            Interval::point(RawBsonRef::Null, collation),
        ],
        RawBsonRef::RegularExpression(regex) => {
            return pattern_prefix(regex.pattern.as_str(), regex.options.as_str(), collation);
        }
        RawBsonRef::Array(array) => vec![
            first_element(array, collation),
            Interval::point(value, collation),
        ],
        value => vec![Interval::point(value, collation)],
    })
}

/// An equal array has an equal first element, and its elements are its keys.
fn first_element(array: &RawArray, collation: Option<&Collator>) -> Interval {
    let first = raw::values(array).next();
    Interval::point(first.unwrap_or(RawBsonRef::Undefined), collation)
}

/// The strings that a pattern such as `^abc` may match, and the pattern itself as a value.
fn pattern_prefix(
    pattern: &str,
    options: &str,
    collation: Option<&Collator>,
) -> Option<Vec<Interval>> {
    // With a collation, neighbours of a prefix need not start with it.
    if collation.is_some() || !options.is_empty() {
        return None;
    }
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

fn is_true(value: RawBsonRef<'_>) -> bool {
    !matches!(
        value,
        RawBsonRef::Boolean(false)
            | RawBsonRef::Null
            | RawBsonRef::Undefined
            | RawBsonRef::Int32(0)
            | RawBsonRef::Int64(0)
    ) && !matches!(value, RawBsonRef::Double(number) if number.abs() <= 0.0)
}
