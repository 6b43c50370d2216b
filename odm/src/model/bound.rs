//! The declared bounds of lists, found by stored paths and in stored values.

use bson::Bson;

use super::field::{EmbeddedMeta, FieldMeta, Tagging, VariantContent};
use super::place::{Content, MAX_FLATTENED, Place, places};
use super::types::{Shape, TypeMeta};

/// The bound of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ListBound {
    /// The largest number of elements.
    pub(crate) max: u32,
    /// Whether an element is a document that may have a number as the name of a field. MongoDB reads the `9` of
    /// `list.9` as a position and as the name of a field of the elements.
    pub(crate) numbers_are_names: bool,
}

/// A list or a map that has, or would have, more values than it may.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Excess {
    /// The stored path.
    pub(crate) path: String,
    /// The largest number of values.
    pub(crate) max: u32,
    /// The number of values.
    pub(crate) count: usize,
}

/// The bound of the list at a stored path of an update: `contacts`, `lines.$[].notes`, `lines.0.notes`.
///
/// Variants of an enum can declare different bounds for one stored path. The largest one counts then, and none if
/// one of the variants has none; the validator knows the rest.
pub(crate) fn at(meta: &'static EmbeddedMeta, path: &str) -> Option<ListBound> {
    let mut bound: Option<ListBound> = None;
    for place in places(meta, path) {
        let (Some(max), Some(element)) = (place.max, place.element()) else {
            return None;
        };
        let numbers_are_names = has_any_names(&element, MAX_FLATTENED);
        bound = Some(match bound {
            None => ListBound {
                max,
                numbers_are_names,
            },
            Some(other) => ListBound {
                max: max.max(other.max),
                numbers_are_names: numbers_are_names || other.numbers_are_names,
            },
        });
    }
    bound
}

/// The length of the list at a stored path, if it always has the same.
pub(crate) fn fixed(meta: &'static EmbeddedMeta, path: &str) -> Option<u32> {
    let places = places(meta, path);
    let mut lengths = places.iter().map(|place| place.fixed);
    let first = lengths.next().flatten()?;
    lengths.all(|other| other == Some(first)).then_some(first)
}

/// The list of a fixed length on a stored path that the path enters by a position, with the length.
pub(crate) fn positioned(meta: &'static EmbeddedMeta, path: &str) -> Option<(String, u32)> {
    let mut end = 0;
    for segment in path.split('.') {
        if end > 0
            && segment.parse::<u32>().is_ok()
            && let list = path.get(..end).unwrap_or_default()
            && let Some(length) = fixed(meta, list)
        {
            return Some((list.to_owned(), length));
        }
        end += segment.len() + usize::from(end > 0);
    }
    None
}

/// Whether a list is stored at the path.
pub(crate) fn is_list(meta: &'static EmbeddedMeta, path: &str) -> bool {
    places(meta, path)
        .iter()
        .any(|place| place.element().is_some())
}

/// The first list on a stored path that has a position in the path which its bound does not allow.
pub(crate) fn position_beyond(meta: &'static EmbeddedMeta, path: &str) -> Option<Excess> {
    let mut end = 0;
    for segment in path.split('.') {
        if end > 0
            && let Ok(position) = segment.parse::<u32>()
            && let list = path.get(..end).unwrap_or_default()
            && let Some(max) = at(meta, list)
                .map(|it| it.max)
                .or_else(|| fixed(meta, list))
            && position >= max
        {
            return Some(Excess {
                path: list.to_owned(),
                max,
                count: (position as usize).saturating_add(1),
            });
        }
        end += segment.len() + usize::from(end > 0);
    }
    None
}

/// The first list or map in `value` with too many values, for a value that is stored at `path`.
pub(crate) fn excess(meta: &'static EmbeddedMeta, path: &str, value: &Bson) -> Option<Excess> {
    // One place that allows the value is enough.
    let mut found = None;
    for place in places(meta, path) {
        found = Some(place.find(path, value, &too_many)?);
    }
    found
}

/// [`excess`] for the element that is added to the list at `path`.
pub(crate) fn element_excess(
    meta: &'static EmbeddedMeta,
    path: &str,
    value: &Bson,
) -> Option<Excess> {
    let mut found = None;
    for place in places(meta, path) {
        found = Some(Place::of(place.element()?).find(path, value, &too_many)?);
    }
    found
}

/// The list or map itself, if it has more values than it may.
fn too_many(place: &Place, path: &str, value: &Bson) -> Option<Excess> {
    let count = match value {
        Bson::Array(values) => values.len(),
        Bson::Document(entries) => entries.len(),
        _ => return None,
    };
    let is_bounded = match place.content {
        Content::Type(ty) => matches!(ty.shape, Shape::Array { .. } | Shape::Map(_)),
        Content::Fields(_) => false,
    };
    let max = place
        .max
        .filter(|max| is_bounded && count > *max as usize)?;
    Some(Excess {
        path: path.to_owned(),
        max,
        count,
    })
}

/// Whether the type is stored as a document with names that it does not declare.
fn has_any_names(ty: &TypeMeta, levels: u8) -> bool {
    match ty.shape {
        Shape::Any | Shape::Map(_) => true,
        Shape::Embedded(meta) => {
            let meta = meta();
            let flat = meta
                .variants
                .iter()
                .filter(|it| matches!(it.tagging, Tagging::Internal { .. } | Tagging::Untagged));
            let mut variants = flat.flat_map(|it| it.variants);
            names_any(meta.fields, levels)
                || variants.any(|variant| match &variant.content {
                    VariantContent::Struct(list) => names_any(list, levels),
                    VariantContent::Newtype(ty) => levels
                        .checked_sub(1)
                        .is_some_and(|levels| has_any_names(ty, levels)),
                    VariantContent::Unit | VariantContent::Tuple(_) => false,
                })
        }
        Shape::Scalar(_)
        | Shape::OneOf(_)
        | Shape::Array { .. }
        | Shape::Tuple(_)
        | Shape::Reference { .. } => false,
    }
}

fn names_any(list: &'static [FieldMeta], levels: u8) -> bool {
    let number = |name: &str| name.bytes().all(|byte| byte.is_ascii_digit());
    list.iter().any(|field| {
        if field.flatten {
            levels
                .checked_sub(1)
                .is_some_and(|levels| has_any_names(&field.ty, levels))
        } else {
            number(field.name)
        }
    })
}

#[cfg(test)]
mod tests;
