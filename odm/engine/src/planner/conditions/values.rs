//! The values that pass a test, as intervals.

use bson::raw::{CStr, RawArray, RawBsonRef, RawRegexRef};
use bson::spec::ElementType;
use odm_language::matcher::{Comparison, Regex, Test};
use odm_language::value::bson_type::{self, Bracket, TypeSet};
use odm_language::value::collation::Collator;
use odm_language::value::number::Number;
use odm_language::value::raw;

use crate::planner::conditions::{ConditionKind, Fit};
use crate::planner::interval::Interval;

/// The values that pass a test; `None` if the test narrows nothing.
pub(super) fn one_value(
    test: &Test,
    collation: Option<&Collator>,
) -> Option<(Vec<Interval>, Fit, ConditionKind)> {
    let values = |intervals, fit| Some((intervals, fit, ConditionKind::Values));
    match test {
        Test::Regex(regex) => {
            // Under a collation, keys sort differently from the bytes that patterns match.
            if collation.is_some() {
                return None;
            }
            let (intervals, fit) = pattern(regex);
            values(intervals, fit)
        }
        Test::Mod { .. } => values(vec![Interval::of_type(Bracket::Number)], Fit::Value),
        Test::Type(types) => {
            let (intervals, fit) = of_types(*types);
            // A wildcard index has keys for the fields of a document, not for the document.
            let about = if types.contains(ElementType::Null) {
                ConditionKind::Null
            } else if types.contains(ElementType::EmbeddedDocument)
                || types.contains(ElementType::Array)
            {
                ConditionKind::Whole
            } else {
                ConditionKind::Values
            };
            Some((intervals, fit, about))
        }
        Test::Compare(comparison, operand) => {
            let value = operand.value();
            let Some((above, inclusive)) = (match comparison {
                Comparison::Eq => None,
                Comparison::Gt => Some((true, false)),
                Comparison::Gte => Some((true, true)),
                Comparison::Lt => Some((false, false)),
                Comparison::Lte => Some((false, true)),
            }) else {
                let about = ConditionKind::of(value);
                let fit = if matches!(value, RawBsonRef::Array(_)) || about == ConditionKind::Null {
                    Fit::Loose
                } else {
                    Fit::Exact
                };
                return Some((equal(value, collation), fit, about));
            };
            ordered(value, above, inclusive, collation)
        }
        Test::In(list) => {
            let mut fit = Fit::Exact;
            let mut about = ConditionKind::Values;
            let mut all = Vec::new();
            for operand in &list.values {
                let value = operand.value();
                match ConditionKind::of(value) {
                    ConditionKind::Values => {}
                    other => {
                        if about != ConditionKind::Null {
                            about = other;
                        }
                        if other == ConditionKind::Null || matches!(value, RawBsonRef::Array(_)) {
                            fit = Fit::Loose;
                        }
                    }
                }
                all.extend(equal(value, collation));
            }
            for regex in &list.regexes {
                if collation.is_some() {
                    return None;
                }
                let (intervals, regex_fit) = pattern(regex);
                all.extend(intervals);
                fit = fit.max(regex_fit);
            }
            Some((all, fit, about))
        }
        Test::Compared(comparison, operand) => {
            Some(compared(*comparison, operand.value(), collation))
        }
        Test::Exists
        | Test::Size(_)
        | Test::Bits(_)
        | Test::Element(_)
        | Test::Geo(_)
        | Test::Near(_) => None,
    }
}

fn of_types(types: TypeSet) -> (Vec<Interval>, Fit) {
    // Only the whole value has the type array, and keys do not contain whole arrays.
    if types.contains(ElementType::Array) {
        return (vec![Interval::all()], Fit::Loose);
    }
    let fit = if every_type(types).all(|kind| is_told_by_key(kind, types)) {
        Fit::Exact
    } else if types.contains(ElementType::Null) || types.contains(ElementType::Undefined) {
        // The key of a missing field is that of null, and the key of an empty array that of undefined.
        Fit::Loose
    } else {
        Fit::Value
    };
    let intervals = every_type(types)
        .map(|kind| Interval::of_type(Bracket::of_type(kind)))
        .collect();
    (intervals, fit)
}

fn ordered(
    value: RawBsonRef<'_>,
    above: bool,
    inclusive: bool,
    collation: Option<&Collator>,
) -> Option<(Vec<Interval>, Fit, ConditionKind)> {
    match value {
        _ if is_nan(value) => Some((
            inclusive
                .then(|| Interval::point(value, collation))
                .into_iter()
                .collect(),
            Fit::Exact,
            ConditionKind::Values,
        )),
        RawBsonRef::MinKey | RawBsonRef::MaxKey => {
            let interval = Interval::any_beyond(value, above, inclusive, collation);
            let outwards = above == matches!(value, RawBsonRef::MaxKey);
            let about = if outwards {
                ConditionKind::Values
            } else {
                ConditionKind::Beyond
            };
            Some((interval.into_iter().collect(), Fit::Exact, about))
        }
        RawBsonRef::Null if inclusive => {
            Some((equal(value, collation), Fit::Loose, ConditionKind::Null))
        }
        RawBsonRef::Null => Some((Vec::new(), Fit::Exact, ConditionKind::Values)),
        RawBsonRef::Array(array) => Some((
            array_range(array, above, collation).into_iter().collect(),
            Fit::Loose,
            ConditionKind::Whole,
        )),
        RawBsonRef::Double(_)
        | RawBsonRef::Int32(_)
        | RawBsonRef::Int64(_)
        | RawBsonRef::Decimal128(_)
        | RawBsonRef::String(_)
        | RawBsonRef::ObjectId(_)
        | RawBsonRef::DateTime(_)
        | RawBsonRef::Boolean(_)
        | RawBsonRef::Timestamp(_)
        | RawBsonRef::Binary(_)
        | RawBsonRef::Document(_)
        | RawBsonRef::JavaScriptCode(_)
        | RawBsonRef::JavaScriptCodeWithScope(_)
        | RawBsonRef::Symbol(_)
        | RawBsonRef::DbPointer(_) => Some((
            Interval::beyond(value, above, inclusive, collation)
                .into_iter()
                .collect(),
            match value {
                // mongod tests the documents, too
                RawBsonRef::Symbol(_) | RawBsonRef::DbPointer(_) => Fit::Loose,
                _ => Fit::Exact,
            },
            ConditionKind::of(value),
        )),
        RawBsonRef::Undefined | RawBsonRef::RegularExpression(_) => None,
    }
}

fn every_type(types: TypeSet) -> impl Iterator<Item = ElementType> {
    bson_type::every_type().filter(move |kind| types.contains(*kind))
}

/// Whether all values whose keys are like those of a type have one of the types.
fn is_told_by_key(kind: ElementType, types: TypeSet) -> bool {
    match Bracket::of_type(kind) {
        Bracket::Number => every_type(TypeSet::NUMBER).all(|number| types.contains(number)),
        // A missing field, an empty array and a symbol have keys of these types.
        Bracket::Null | Bracket::Undefined | Bracket::String => false,
        _ => true,
    }
}

/// The keys of the arrays above (or below) an array. The first element of a greater array is not less, and an array
/// within the array has its own key.
fn array_range(array: &RawArray, above: bool, collation: Option<&Collator>) -> Option<Interval> {
    let first = raw::values(array).next();
    let whole = RawBsonRef::Array(array);
    let edges = [first.unwrap_or(RawBsonRef::Undefined), whole]
        .map(|value| Interval::any_beyond(value, above, true, collation));
    let interval = match edges {
        // Any array is above the empty one, so a key can be any value.
        _ if first.is_none() && above => Some(Interval::all()),
        [Some(one), Some(other)] => Some(if one.covers(&other) { one } else { other }),
        [one, other] => one.or(other),
    };
    interval.map(|interval| Interval {
        collated: true,
        ..interval
    })
}

fn is_nan(value: RawBsonRef<'_>) -> bool {
    Number::from_raw(value).is_some_and(Number::is_nan)
}

/// The values that pass a comparison of an expression: values of every type. A missing field, whose key is that of
/// null, sorts below null.
fn compared(
    comparison: Comparison,
    value: RawBsonRef<'_>,
    collation: Option<&Collator>,
) -> (Vec<Interval>, Fit, ConditionKind) {
    let is_null = matches!(value, RawBsonRef::Null);
    let is_least = matches!(value, RawBsonRef::MinKey);
    let (above, inclusive) = match comparison {
        Comparison::Eq => {
            let fit = if is_null { Fit::Loose } else { Fit::Exact };
            return (equal(value, collation), fit, ConditionKind::Compared);
        }
        Comparison::Gt => (true, false),
        Comparison::Gte => (true, true),
        // The key of a missing field is that of null.
        Comparison::Lt => (false, is_null),
        Comparison::Lte => (false, true),
    };
    let fit = match comparison {
        Comparison::Lt | Comparison::Gte if is_null => Fit::Loose,
        _ => Fit::Exact,
    };
    // A missing field is above MinKey and below every other value.
    let about = if above == is_least {
        ConditionKind::ComparedMissing
    } else {
        ConditionKind::Compared
    };
    let interval = Interval::any_beyond(value, above, inclusive, collation);
    (interval.into_iter().collect(), fit, about)
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

/// The first element of an equal array is equal, and an index has the elements as keys.
fn first_element(array: &RawArray, collation: Option<&Collator>) -> Interval {
    let first = raw::values(array).next();
    Interval::point(first.unwrap_or(RawBsonRef::Undefined), collation)
}

/// The strings that a pattern may match, and the pattern itself as a value.
fn pattern(regex: &Regex) -> (Vec<Interval>, Fit) {
    let same = match (
        <&CStr>::try_from(regex.pattern()),
        <&CStr>::try_from(regex.options()),
    ) {
        // A pattern also matches an equal stored regular expression.
        (Ok(pattern), Ok(options)) => Interval::point(
            RawBsonRef::RegularExpression(RawRegexRef { pattern, options }),
            None,
        ),
        _ => Interval::regexes(),
    };
    match prefix(regex) {
        Some((prefix, exact)) => (
            vec![Interval::prefix(&prefix), same],
            if exact { Fit::Exact } else { Fit::Value },
        ),
        None => (vec![Interval::of_type(Bracket::String), same], Fit::Value),
    }
}

/// The prefix of every match of a pattern such as `^abc`, and whether the pattern requires nothing more.
fn prefix(regex: &Regex) -> Option<(String, bool)> {
    let (rest, allowed) = match regex.pattern().strip_prefix('^') {
        Some(rest) => (rest, "sx"),
        // Unlike `^`, this does not match after a line break.
        None => (regex.pattern().strip_prefix("\\A")?, "msx"),
    };
    if !regex
        .options()
        .chars()
        .all(|option| allowed.contains(option))
        || has_branches(rest)
    {
        return None;
    }
    let extended = regex.options().contains('x');
    let mut prefix = String::new();
    let mut quoted = false;
    let mut chars = rest.chars();
    let exact = loop {
        let before = chars.as_str();
        let Some(c) = chars.next() else { break true };
        if quoted {
            match before.strip_prefix("\\E") {
                Some(rest) => {
                    quoted = false;
                    chars = rest.chars();
                }
                None => prefix.push(c),
            }
            continue;
        }
        match c {
            '\\' => match chars.next() {
                Some('Q') => quoted = true,
                Some(escaped) if !escaped.is_ascii_alphanumeric() => prefix.push(escaped),
                _ => break false,
            },
            // They make the last character optional, or may do so behind a comment.
            '*' | '?' => {
                prefix.pop();
                break false;
            }
            '{' if chars.as_str().starts_with(['0', ',']) => {
                prefix.pop();
                break false;
            }
            '#' if extended => {
                prefix.pop();
                break false;
            }
            // The end is open, so anything may follow.
            '.' if chars.as_str() == "*" => break true,
            '.' | '[' | '(' | ')' | '$' | '^' | '+' | '{' => break false,
            c if extended && (c.is_ascii_whitespace() || c == '\x0b') => {}
            c => prefix.push(c),
        }
    };
    (!prefix.is_empty()).then_some((prefix, exact))
}

/// Whether a pattern has a `|` that no backslash escapes. mongod does not look whether it is in quotes or a class.
fn has_branches(pattern: &str) -> bool {
    let mut chars = pattern.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => {
                chars.next();
            }
            '|' => return true,
            _ => {}
        }
    }
    false
}
