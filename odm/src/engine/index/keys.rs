//! The keys of a document in an index: every combination of values that its array, if any, gives.

use bson::raw::{RawArray, RawBsonRef, RawDocument};
use smallvec::SmallVec;

use crate::error::{Code, ServerError};
use crate::value::collation::Collator;
use crate::value::key::{self, Direction};
use crate::value::path::{Path, Segment};
use crate::value::raw;

/// One value for each field of the index; `None` where the document has none.
pub(crate) type Values<'a> = SmallVec<[Option<RawBsonRef<'a>>; 4]>;

/// Where the search for one field's value stands.
#[derive(Debug, Clone, Copy)]
enum Cursor<'a, 'p> {
    Done(Option<RawBsonRef<'a>>),
    At {
        document: &'a RawDocument,
        rest: &'p [Segment],
    },
    InArray {
        array: &'a RawArray,
        rest: &'p [Segment],
    },
}

/// Calls `emit` with each key of the document. The answer is whether an array was met: the index is
/// multikey then.
pub(crate) fn generate<'a>(
    document: &'a RawDocument,
    paths: &[Path],
    emit: &mut dyn FnMut(&Values<'a>) -> Result<(), ServerError>,
) -> Result<bool, ServerError> {
    let cursors = paths
        .iter()
        .map(|path| Cursor::At {
            document,
            rest: path.segments(),
        })
        .collect();
    expand(cursors, paths, emit)
}

/// The bytes by which a document is sorted: the least of its keys in an index over these fields. The error is
/// [`generate`]'s, of arrays in two of the fields.
pub(crate) fn least(
    document: &RawDocument,
    paths: &[Path],
    directions: &[Direction],
    collator: Option<&Collator>,
) -> Result<Vec<u8>, ServerError> {
    let mut least: Option<Vec<u8>> = None;
    generate(document, paths, &mut |values| {
        let mut bytes = Vec::new();
        for (value, direction) in values.iter().zip(directions) {
            let value = value.unwrap_or(RawBsonRef::Null);
            key::append(&mut bytes, value, *direction, collator);
        }
        if least.as_ref().is_none_or(|least| bytes < *least) {
            least = Some(bytes);
        }
        Ok(())
    })?;
    Ok(least.unwrap_or_default())
}

fn expand<'a>(
    mut cursors: SmallVec<[Cursor<'a, '_>; 4]>,
    paths: &[Path],
    emit: &mut dyn FnMut(&Values<'a>) -> Result<(), ServerError>,
) -> Result<bool, ServerError> {
    let mut found: Option<(&'a RawArray, &str)> = None;
    for (at, cursor) in cursors.iter_mut().enumerate() {
        *cursor = advance(*cursor);
        if let Cursor::InArray { array, rest } = *cursor {
            match found {
                Some((first, name)) if !std::ptr::eq(first.as_bytes(), array.as_bytes()) => {
                    return Err(parallel(name_of(paths, at, rest), name));
                }
                _ => found = Some((array, name_of(paths, at, rest))),
            }
        }
    }
    let Some((array, _)) = found else {
        let values: Values<'a> = cursors
            .iter()
            .map(|cursor| match cursor {
                Cursor::Done(value) => *value,
                Cursor::At { .. } | Cursor::InArray { .. } => None,
            })
            .collect();
        emit(&values)?;
        return Ok(false);
    };
    let mut empty = true;
    for element in raw::values(array) {
        empty = false;
        expand(within(&cursors, Some(element)), paths, emit)?;
    }
    if empty {
        expand(within(&cursors, None), paths, emit)?;
    }
    Ok(true)
}

/// The cursors of one element of the array; of none, for an empty array, whose own key is undefined.
fn within<'a, 'p>(
    cursors: &[Cursor<'a, 'p>],
    element: Option<RawBsonRef<'a>>,
) -> SmallVec<[Cursor<'a, 'p>; 4]> {
    cursors
        .iter()
        .map(|cursor| match *cursor {
            Cursor::InArray { rest: [], .. } => {
                Cursor::Done(Some(element.unwrap_or(RawBsonRef::Undefined)))
            }
            Cursor::InArray { rest, .. } => match element {
                Some(RawBsonRef::Document(document)) => Cursor::At { document, rest },
                _ => Cursor::Done(None),
            },
            other => other,
        })
        .collect()
}

/// Follows the path down to a value, to nothing, or to an array that is to be expanded.
fn advance<'a, 'p>(cursor: Cursor<'a, 'p>) -> Cursor<'a, 'p> {
    let Cursor::At { document, rest } = cursor else {
        return cursor;
    };
    let Some((segment, mut rest)) = rest.split_first() else {
        return Cursor::Done(Some(RawBsonRef::Document(document)));
    };
    let mut value = raw::get(document, segment.name());
    loop {
        match value {
            Some(RawBsonRef::Array(array)) => {
                // A number in the path picks an element of the array.
                let Some((index, after)) = rest
                    .split_first()
                    .and_then(|(segment, after)| Some((segment.index()?, after)))
                else {
                    return Cursor::InArray { array, rest };
                };
                match raw::values(array).nth(index) {
                    Some(element) => {
                        value = Some(element);
                        rest = after;
                    }
                    None if raw::values(array)
                        .any(|element| matches!(element, RawBsonRef::Document(_))) =>
                    {
                        return Cursor::InArray { array, rest };
                    }
                    None => return Cursor::Done(None),
                }
            }
            value if rest.is_empty() => return Cursor::Done(value),
            Some(RawBsonRef::Document(document)) => {
                return advance(Cursor::At { document, rest });
            }
            _ => return Cursor::Done(None),
        }
    }
}

/// The name under which an array was found; `rest` is what the path still has behind it.
fn name_of<'p>(paths: &'p [Path], field: usize, rest: &[Segment]) -> &'p str {
    paths
        .get(field)
        .and_then(|path| path.segments().iter().rev().nth(rest.len()))
        .map_or("", Segment::name)
}

fn parallel(second: &str, first: &str) -> ServerError {
    ServerError::new(
        Code::CANNOT_INDEX_PARALLEL_ARRAYS,
        format!("cannot index parallel arrays [{second}] [{first}]"),
    )
}
