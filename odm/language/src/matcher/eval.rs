//! Evaluates predicates over the bytes of a document.

use std::cmp::Ordering;

use bson::RawBsonRef;
use bson::{RawDocument, spec::ElementType};

use crate::expression::Globals;
use crate::matcher::ast::{ElementMatch, FieldTest, Group, In, Predicate, Test};
use crate::matcher::comparison::{Comparison, Operand};
use crate::matcher::fields::Fields;
use crate::matcher::json_schema::Schema;
use crate::matcher::path::{Answer, Leaf, Search};
use crate::matcher::text;
use crate::value::bson_type::Bracket;
use crate::value::collation::Collator;
use crate::value::number::Number;
use crate::value::order;
use crate::value::path::Path;
use crate::value::raw::Element;

/// Whether a document matches.
pub(super) fn matches(predicate: &Predicate, document: &RawDocument, globals: &Globals) -> Answer {
    matches_bytes(predicate, document.as_bytes(), globals)
}

/// Like [`matches()`], for the bytes of a document.
#[inline]
pub(super) fn matches_bytes(predicate: &Predicate, document: &[u8], globals: &Globals) -> Answer {
    holds(predicate, &mut Fields::new(document), globals, &mut None)
}

/// Like [`matches()`]; sets `position` to the index of the array element that matched, if any.
pub(super) fn matches_at(
    predicate: &Predicate,
    document: &RawDocument,
    globals: &Globals,
    position: &mut Option<usize>,
) -> Answer {
    let mut fields = Fields::asking_position(document.as_bytes());
    holds(predicate, &mut fields, globals, position)
}

fn holds(
    predicate: &Predicate,
    fields: &mut Fields<'_>,
    globals: &Globals,
    position: &mut Option<usize>,
) -> Answer {
    match predicate {
        Predicate::Field(field) => field_matches(field, fields, globals, position),
        Predicate::And(group) => {
            for child in group.evaluated() {
                if !holds(child, fields, globals, position)? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        Predicate::Or(group) => {
            if let [only] = group.children.as_slice() {
                return holds(only, fields, globals, position);
            }
            if is_in(group) {
                return first_of(group, fields, globals, position);
            }
            // the match does not record which branch held, so no branch sets the position
            for child in group.evaluated() {
                if holds(child, fields, globals, &mut None)? {
                    return Ok(true);
                }
            }
            Ok(false)
        }
        Predicate::Nor(group) => {
            for child in group.evaluated() {
                if holds(child, fields, globals, &mut None)? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        Predicate::Not(negation) => Ok(!holds(&negation.child, fields, globals, &mut None)?),
        Predicate::Always(answer) => Ok(*answer),
        Predicate::Schema(schema) => schema_holds(schema, fields, position),
        Predicate::Expr(_) | Predicate::Text(_) => whole_matches(predicate, fields, globals),
    }
}

/// Evaluates the predicates that need the whole document.
fn whole_matches(predicate: &Predicate, fields: &Fields<'_>, globals: &Globals) -> Answer {
    let Ok(document) = RawDocument::from_bytes(fields.document()) else {
        return Ok(false);
    };
    match predicate {
        Predicate::Expr(expr) => Ok(expr.expression.eval(document, globals)?.truthy()),
        Predicate::Text(text) => text::matches(text, document),
        _ => Ok(false),
    }
}

/// Whether a document satisfies a schema. A required path inside an array sets the position to its first element there.
fn schema_holds(schema: &Schema, fields: &mut Fields<'_>, position: &mut Option<usize>) -> Answer {
    let Ok(document) = RawDocument::from_bytes(fields.document()) else {
        return Ok(false);
    };
    if !fields.asks_position() && schema.sees_presence() {
        return schema.matches(document);
    }
    let mut is_present = |path: &Path| {
        let test = |element: Option<&Element<'_>>| Ok(element.is_some());
        let mut search = Search {
            leaf: Leaf::Expand,
            test,
            position: &mut *position,
        };
        search.run(fields, path)
    };
    for path in schema.present() {
        if !is_present(path)? {
            return Ok(false);
        }
    }
    let matched = schema.matches_rest(document)?;
    if matched {
        schema.ask_dependent(&mut is_present)?;
    }
    Ok(matched)
}

/// Whether all branches are equalities on one path, which mongod turns into an `$in`.
fn is_in(group: &Group) -> bool {
    let path = |child: &Predicate| match child {
        Predicate::Field(FieldTest {
            path,
            test: Test::Compare(Comparison::Eq, _),
            ..
        }) => Some(path.as_str().to_owned()),
        _ => None,
    };
    let first = group.children.first().and_then(path);
    first.is_some() && group.children.iter().all(|child| path(child) == first)
}

/// Evaluates such branches: the first array element that any of them finds is the position.
fn first_of(
    group: &Group,
    fields: &mut Fields<'_>,
    globals: &Globals,
    position: &mut Option<usize>,
) -> Answer {
    let mut matched = false;
    let mut first = None;
    for child in &group.children {
        let mut found = None;
        if holds(child, fields, globals, &mut found)? {
            matched = true;
            first = match (first, found) {
                (Some(a), Some(b)) => Some(usize::min(a, b)),
                (a, b) => a.or(b),
            };
        }
    }
    if first.is_some() {
        *position = first;
    }
    Ok(matched)
}

/// Whether the fields of a document, or the elements of an array taken as fields, match.
fn elements_match(predicate: &Predicate, element: &Element<'_>, globals: &Globals) -> Answer {
    matches_bytes(predicate, element.value_bytes(), globals)
}

fn field_matches(
    field: &FieldTest,
    fields: &mut Fields<'_>,
    globals: &Globals,
    position: &mut Option<usize>,
) -> Answer {
    match &field.test {
        Test::Element(condition) => {
            let mut found = None;
            let mut on_the_way = None;
            let mut search = Search {
                leaf: Leaf::Whole,
                test: |element: Option<&Element<'_>>| match element {
                    Some(element) => {
                        let index = element_match(condition, element, globals)?;
                        found = index;
                        Ok(index.is_some())
                    }
                    None => Ok(false),
                },
                position: &mut on_the_way,
            };
            let matched = search.run(fields, &field.path)?;
            // an array on the path takes precedence over the array at its end
            if matched {
                *position = on_the_way.or(found).or(*position);
            }
            Ok(matched)
        }
        Test::Compared(comparison, operand) => {
            Ok(compared(*comparison, operand, fields, &field.path, globals))
        }
        test => Search {
            leaf: leaf(test),
            test: |element: Option<&Element<'_>>| test_matches(test, element, globals),
            position,
        }
        .run(fields, &field.path),
    }
}

/// A comparison by the rules of expressions: between any types, with a missing field below null. Passes if an array is
/// on the path: the `$expr` itself decides then.
fn compared(
    comparison: Comparison,
    operand: &Operand,
    fields: &mut Fields<'_>,
    path: &Path,
    globals: &Globals,
) -> bool {
    let mut segments = path.segments().iter();
    let mut element = segments.next().and_then(|head| fields.find(head.key()));
    let is_array = |element: &Option<Element<'_>>| {
        element.as_ref().and_then(Element::element_type) == Some(ElementType::Array)
    };
    for segment in segments {
        if is_array(&element) {
            return true;
        }
        element = element
            .filter(|element| element.element_type() == Some(ElementType::EmbeddedDocument))
            .and_then(|element| element.children()?.find_name(segment.key()));
    }
    if is_array(&element) {
        return true;
    }
    let value = element.as_ref().and_then(Element::value);
    let value = value.unwrap_or(RawBsonRef::Undefined);
    decides(
        comparison,
        order::compare(value, operand.value(), globals.collator()),
    )
}

fn leaf(test: &Test) -> Leaf {
    match test {
        Test::Size(_) | Test::Element(_) => Leaf::Whole,
        _ => Leaf::Expand,
    }
}

/// The index of the first element that satisfies an `$elemMatch`.
fn element_match(
    condition: &ElementMatch,
    array: &Element<'_>,
    globals: &Globals,
) -> Result<Option<usize>, crate::error::ServerError> {
    if array.element_type() != Some(ElementType::Array) {
        return Ok(None);
    }
    for (index, child) in array.children().into_iter().flatten().enumerate() {
        let passed = match condition {
            ElementMatch::Document(predicate) => {
                child.children().is_some() && elements_match(predicate, &child, globals)?
            }
            ElementMatch::Value(tests) => all_pass(tests, &child, globals)?,
        };
        if passed {
            return Ok(Some(index));
        }
    }
    Ok(None)
}

fn all_pass(tests: &[Predicate], element: &Element<'_>, globals: &Globals) -> Answer {
    for test in tests {
        if !passes(test, element, globals)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether one value satisfies a predicate, without following a path.
fn passes(predicate: &Predicate, element: &Element<'_>, globals: &Globals) -> Answer {
    match predicate {
        Predicate::And(group) => all_pass(&group.children, element, globals),
        Predicate::Or(group) => {
            for child in &group.children {
                if passes(child, element, globals)? {
                    return Ok(true);
                }
            }
            Ok(false)
        }
        Predicate::Nor(group) => {
            for child in &group.children {
                if passes(child, element, globals)? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        Predicate::Not(negation) => Ok(!passes(&negation.child, element, globals)?),
        Predicate::Field(field) => test_matches(&field.test, Some(element), globals),
        Predicate::Always(answer) => Ok(*answer),
        // never inside the operators of a field
        Predicate::Expr(_) | Predicate::Schema(_) | Predicate::Text(_) => Ok(false),
    }
}

/// Whether one value passes a test; `None` stands for a missing value.
pub(super) fn test_matches(
    test: &Test,
    element: Option<&Element<'_>>,
    globals: &Globals,
) -> Answer {
    match test {
        Test::Compare(comparison, operand) => {
            Ok(compare(*comparison, operand, element, globals.collator()))
        }
        Test::In(alternatives) => in_matches(alternatives, element, globals.collator()),
        Test::Exists => Ok(element.is_some()),
        Test::Type(types) => Ok(element
            .and_then(Element::element_type)
            .is_some_and(|kind| types.contains(kind))),
        Test::Mod { divisor, remainder } => Ok(element
            .and_then(Element::value)
            .and_then(Number::from_raw)
            .and_then(Number::to_i64_truncated)
            .is_some_and(|number| number.checked_rem(*divisor).unwrap_or(0) == *remainder)),
        Test::Regex(regex) => match element.and_then(Element::value) {
            Some(value) => regex.matches(value),
            None => Ok(false),
        },
        Test::Size(size) => Ok(element.is_some_and(|element| {
            element.element_type() == Some(ElementType::Array)
                && element
                    .children()
                    .is_some_and(|children| children.count() == *size)
        })),
        Test::Bits(bits) => Ok(element
            .and_then(Element::value)
            .is_some_and(|value| bits.matches(value))),
        Test::Geo(test) => Ok(element
            .and_then(Element::value)
            .is_some_and(|value| test.matches(value))),
        // `$near` matches every value; `Compared` never applies to a single value.
        Test::Near(_) | Test::Compared(..) => Ok(true),
        Test::Element(condition) => match element {
            Some(element) => Ok(element_match(condition, element, globals)?.is_some()),
            None => Ok(false),
        },
    }
}

fn in_matches(
    alternatives: &In,
    element: Option<&Element<'_>>,
    collator: Option<&Collator>,
) -> Answer {
    if let Some(value) = element.and_then(Element::value) {
        let found = alternatives
            .values
            .binary_search_by(|operand| order::compare(operand.value(), value, collator));
        if found.is_ok() {
            return Ok(true);
        }
        for regex in &alternatives.regexes {
            if regex.matches(value)? {
                return Ok(true);
            }
        }
    }
    let nullish =
        element.is_none_or(|element| element.element_type() == Some(ElementType::Undefined));
    Ok(nullish
        && alternatives
            .values
            .iter()
            .any(|operand| operand.bracket() == Bracket::Null))
}

fn compare(
    comparison: Comparison,
    operand: &Operand,
    element: Option<&Element<'_>>,
    collator: Option<&Collator>,
) -> bool {
    if let (Some(a), Some(b)) = (element.and_then(Element::number), operand.number()) {
        return if a.is_nan() || b.is_nan() {
            a.is_nan() && b.is_nan() && !matches!(comparison, Comparison::Lt | Comparison::Gt)
        } else {
            decides(comparison, a.compare(b))
        };
    }
    let bracket = element
        .and_then(Element::element_type)
        .map_or(Bracket::Undefined, Bracket::of_type);
    if bracket != operand.bracket() {
        return match (bracket, operand.bracket()) {
            (Bracket::Undefined, Bracket::Null) => {
                !matches!(comparison, Comparison::Lt | Comparison::Gt)
            }
            (_, Bracket::MinKey | Bracket::MaxKey) => {
                decides(comparison, bracket.cmp(&operand.bracket()))
            }
            _ => false,
        };
    }
    let Some(value) = element.and_then(Element::value) else {
        return false;
    };
    decides(comparison, order::compare(value, operand.value(), collator))
}

fn decides(comparison: Comparison, order: Ordering) -> bool {
    match comparison {
        Comparison::Eq => order == Ordering::Equal,
        Comparison::Lt => order == Ordering::Less,
        Comparison::Lte => order != Ordering::Greater,
        Comparison::Gt => order == Ordering::Greater,
        Comparison::Gte => order != Ordering::Less,
    }
}
