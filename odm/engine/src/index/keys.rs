//! The keys of a document in an index: every combination of values that an array, if any, produces.

use bson::raw::{RawArray, RawArrayBuf, RawBson, RawBsonRef, RawDocument};
use bson::spec::ElementType;
use smallvec::SmallVec;

use odm_language::error::{Code, ServerError};
use odm_language::value::collation::Collator;
use odm_language::value::key::{self, Direction};
use odm_language::value::path::{Path, Segment};
use odm_language::value::raw::{Element, Elements};
use odm_language::value::{print, raw};

/// One value for each field of the index; `None` for a missing field.
pub(crate) type Values<'a> = SmallVec<[Option<RawBsonRef<'a>>; 4]>;

/// The state of the search for one field's value.
#[derive(Debug, Clone, Copy)]
struct Cursor<'a, 'p> {
    /// The rest of the path.
    rest: &'p [Segment],
    /// The value, once the path has ended.
    value: Option<RawBsonRef<'a>>,
    /// The element that a number in the path picks from the array being expanded.
    picked: Option<Picked<'a, 'p>>,
}

/// An array element that the path names by its index.
#[derive(Debug, Clone, Copy)]
struct Picked<'a, 'p> {
    array: &'a RawArray,
    is_array: bool,
    /// The result of following the path from there.
    found: Option<Step<'a, 'p>>,
}

/// The end of a path: its value, or the first array on it.
#[derive(Debug, Clone, Copy)]
struct Step<'a, 'p> {
    value: RawBsonRef<'a>,
    name: &'p str,
    rest: &'p [Segment],
}

type Cursors<'a, 'p> = SmallVec<[Cursor<'a, 'p>; 4]>;

/// Calls `emit` with each key of the document. Returns whether there was an array, which makes the index multikey.
pub(crate) fn generate<'a>(
    document: &'a RawDocument,
    paths: &[Path],
    emit: &mut dyn FnMut(&Values<'a>) -> Result<(), ServerError>,
) -> Result<bool, ServerError> {
    if let Ok(values) = all_plain(document, paths) {
        emit(&values)?;
        return Ok(false);
    }
    let cursors = paths
        .iter()
        .map(|path| Cursor {
            rest: path.segments(),
            value: None,
            picked: None,
        })
        .collect();
    expand(cursors, Some(document), emit)
}

/// The path has an array, so there may be several values.
#[derive(Debug)]
pub(crate) struct ArrayMet;

/// The value at a path, if there is one.
pub(crate) fn plain<'a>(
    document: &'a RawDocument,
    path: &Path,
) -> Result<Option<RawBsonRef<'a>>, ArrayMet> {
    match along(document, path.segments()) {
        Some(Step {
            value: RawBsonRef::Array(_),
            ..
        }) => Err(ArrayMet),
        step => Ok(step.map(|step| step.value)),
    }
}

/// The only key of a document without arrays at the paths.
fn all_plain<'a>(document: &'a RawDocument, paths: &[Path]) -> Result<Values<'a>, ArrayMet> {
    paths.iter().map(|path| plain(document, path)).collect()
}

/// The values that a document is sorted by: those of its least key, with the text score at its positions in the sort.
pub(crate) fn least_values(
    document: &RawDocument,
    paths: &[Path],
    directions: &[Direction],
    (places, score): (&[usize], Option<f64>),
) -> Result<RawArrayBuf, ServerError> {
    let mut least: Option<(Vec<u8>, RawArrayBuf)> = None;
    let mut meet = |values: &Values<'_>| {
        let mut key = Vec::new();
        for (value, direction) in values.iter().zip(directions) {
            let value = value.unwrap_or(RawBsonRef::Null);
            key::append(&mut key, value, *direction, None);
        }
        if least.as_ref().is_some_and(|(least, _)| *least <= key) {
            return;
        }
        let mut shown = RawArrayBuf::new();
        let mut values = values.iter();
        for at in 0..directions.len() + places.len() {
            if places.contains(&at) {
                shown.push(score.map_or(RawBson::Null, RawBson::Double));
            } else {
                let value = values.next().copied().flatten();
                shown.push(value.unwrap_or(RawBsonRef::Null));
            }
        }
        least = Some((key, shown));
    };
    match all_plain(document, paths) {
        Ok(values) => meet(&values),
        Err(ArrayMet) => {
            generate(document, paths, &mut |values| {
                meet(values);
                Ok(())
            })?;
        }
    }
    Ok(least.map(|(_, shown)| shown).unwrap_or_default())
}

/// Appends the bytes that a document is sorted by: its least key in an index over these fields, with its text score at
/// some positions, highest first. The errors are those of [`generate`], about arrays in two of the fields.
pub(crate) fn least(
    document: &RawDocument,
    paths: &[Path],
    directions: &[Direction],
    collator: Option<&Collator>,
    (places, score): (&[usize], Option<f64>),
    key: &mut Vec<u8>,
) -> Result<(), ServerError> {
    let score = score.map_or(RawBsonRef::Null, RawBsonRef::Double);
    let append_score = |bytes: &mut Vec<u8>| key::append(bytes, score, Direction::Descending, None);
    let append = |bytes: &mut Vec<u8>, values: &Values<'_>| {
        let mut at = 0;
        for (value, direction) in values.iter().zip(directions) {
            while places.contains(&at) {
                append_score(bytes);
                at += 1;
            }
            let value = value.unwrap_or(RawBsonRef::Null);
            key::append(bytes, value, *direction, collator);
            at += 1;
        }
        while places.contains(&at) {
            append_score(bytes);
            at += 1;
        }
    };
    if let Ok(values) = all_plain(document, paths) {
        append(key, &values);
        return Ok(());
    }
    let mut least: Option<Vec<u8>> = None;
    generate(document, paths, &mut |values| {
        let mut bytes = Vec::with_capacity(16 * values.len());
        append(&mut bytes, values);
        if least.as_ref().is_none_or(|least| bytes < *least) {
            least = Some(bytes);
        }
        Ok(())
    })?;
    key.extend_from_slice(&least.unwrap_or_default());
    Ok(())
}

/// The element at a path, unless there is an array on it or at its end.
pub(crate) fn straight<'a>(document: &'a [u8], path: &Path) -> PathValue<'a> {
    let mut rest = path.segments();
    let mut elements = Elements::new(document);
    while let Some((segment, after)) = rest.split_first() {
        let Some(element) = elements.find_name(segment.key()) else {
            break;
        };
        match element.element_type() {
            Some(ElementType::Array) => return PathValue::Array,
            _ if after.is_empty() => return PathValue::Value(element),
            Some(ElementType::EmbeddedDocument) => elements = Elements::new(element.value_bytes()),
            _ => break,
        }
        rest = after;
    }
    PathValue::Missing
}

/// The result of following a path.
#[derive(Debug)]
pub(crate) enum PathValue<'a> {
    Value(Element<'a>),
    Missing,
    Array,
}

fn expand<'a>(
    mut cursors: Cursors<'a, '_>,
    document: Option<&'a RawDocument>,
    emit: &mut dyn FnMut(&Values<'a>) -> Result<(), ServerError>,
) -> Result<bool, ServerError> {
    let mut found: Option<(&'a RawArray, &str)> = None;
    let mut in_array: SmallVec<[bool; 4]> = SmallVec::from_elem(false, cursors.len());
    // An array that is itself an array element is one value.
    let mut unfolds = true;
    for (cursor, is_in_array) in cursors.iter_mut().zip(&mut in_array) {
        let Some(segment) = cursor.rest.first() else {
            continue;
        };
        let there = document.is_some_and(|document| raw::get(document, segment.name()).is_some());
        let step = match (cursor.picked.take(), document) {
            (Some(picked), _) if there => return Err(ambiguous(segment.name(), picked.array)),
            (Some(picked), _) => {
                unfolds &= !picked.is_array;
                picked.found
            }
            (None, Some(document)) => along(document, cursor.rest),
            (None, None) => None,
        };
        cursor.rest = step.map_or(&[][..], |step| step.rest);
        match step {
            Some(Step {
                value: RawBsonRef::Array(array),
                name,
                ..
            }) => {
                match found {
                    Some((first, other)) if !std::ptr::eq(first.as_bytes(), array.as_bytes()) => {
                        return Err(parallel(name, other));
                    }
                    _ => found = Some((array, name)),
                }
                *is_in_array = true;
            }
            step => {
                cursor.value = step.map(|step| step.value);
                cursor.rest = &[];
            }
        }
    }
    let Some((array, _)) = found else {
        emit(&cursors.iter().map(|cursor| cursor.value).collect())?;
        return Ok(false);
    };
    for cursor in &mut cursors {
        cursor.picked = pick(array, cursor.rest);
    }
    let element_of = |element: RawBsonRef<'a>, unfolds: bool| {
        let mut cursors = cursors.clone();
        for (cursor, is_in_array) in cursors.iter_mut().zip(&in_array) {
            if *is_in_array && cursor.rest.is_empty() {
                cursor.value = Some(if unfolds {
                    element
                } else {
                    RawBsonRef::Array(array)
                });
            }
        }
        cursors
    };
    let mut empty = true;
    for element in raw::values(array) {
        empty = false;
        let inner = match element {
            RawBsonRef::Document(inner) => Some(inner),
            _ => None,
        };
        expand(element_of(element, unfolds), inner, emit)?;
    }
    if empty {
        expand(element_of(RawBsonRef::Undefined, true), None, emit)?;
    }
    Ok(true)
}

/// Follows a path to its end or to the first array.
fn along<'a, 'p>(document: &'a RawDocument, path: &'p [Segment]) -> Option<Step<'a, 'p>> {
    let (segment, rest) = path.split_first()?;
    let element = raw::walk(document).find_name(segment.key())?;
    onward(element.value()?, segment, rest)
}

fn onward<'a, 'p>(
    value: RawBsonRef<'a>,
    segment: &'p Segment,
    rest: &'p [Segment],
) -> Option<Step<'a, 'p>> {
    match value {
        RawBsonRef::Document(inner) if !rest.is_empty() => along(inner, rest),
        RawBsonRef::Array(_) => Some(Step {
            value,
            name: segment.name(),
            rest,
        }),
        _ if rest.is_empty() => Some(Step {
            value,
            name: segment.name(),
            rest,
        }),
        _ => None,
    }
}

/// The element that a path picks from an array if it starts with a number.
fn pick<'a, 'p>(array: &'a RawArray, path: &'p [Segment]) -> Option<Picked<'a, 'p>> {
    let (segment, rest) = path.split_first()?;
    let element = raw::values(array).nth(segment.index()?)?;
    Some(Picked {
        array,
        is_array: matches!(element, RawBsonRef::Array(_)),
        found: onward(element, segment, rest),
    })
}

fn ambiguous(name: &str, array: &RawArray) -> ServerError {
    let shown: Vec<_> = raw::values(array)
        .enumerate()
        .map(|(index, value)| print::field(&index.to_string(), value))
        .collect();
    let shown = shown.join(", ");
    ServerError::new(
        Code::location(16746),
        format!(
            "Ambiguous field name found in array (do not use numeric field names in embedded elements in an array), field: '{name}' for array: {{ {shown} }}"
        ),
    )
}

fn parallel(second: &str, first: &str) -> ServerError {
    ServerError::new(
        Code::CANNOT_INDEX_PARALLEL_ARRAYS,
        format!("cannot index parallel arrays [{second}] [{first}]"),
    )
}
