//! The declared bounds of lists, found by stored paths and in stored values.

use bson::{Bson, Document};
use smallvec::SmallVec;

use super::field::{EmbeddedMeta, EnumMeta, FieldMeta, Tagging, VariantContent, VariantMeta};
use super::rule::Rule;
use super::types::{Shape, TypeMeta};

/// How deep flattened fields and internally tagged variants are followed. Types can nest in themselves this way, and
/// what is deeper is left to the validator.
const MAX_FLATTENED: u8 = 6;

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
        found = Some(place.excess(path, value)?);
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
        found = Some(Place::of(place.element()?).excess(path, value)?);
    }
    found
}

/// The target of a part of a path.
#[derive(Clone, Copy)]
struct Place {
    content: Content,
    max: Option<u32>,
    /// The length of a list that always has the same.
    fixed: Option<u32>,
}

#[derive(Clone, Copy)]
enum Content {
    Type(TypeMeta),
    /// The fields of a variant.
    Fields(&'static [FieldMeta]),
}

/// Nearly every path leads to one place.
type Places = SmallVec<[Place; 1]>;

/// The places that a stored path can lead to; several where variants of an enum share a name.
fn places(meta: &'static EmbeddedMeta, path: &str) -> Places {
    let mut segments = path.split('.');
    let mut places = Places::new();
    if let Some(first) = segments.next() {
        fields(meta.fields, first, &mut places, MAX_FLATTENED);
        variants(meta.variants.as_ref(), first, &mut places, MAX_FLATTENED);
    }
    for segment in segments {
        let mut next = Places::new();
        for place in &places {
            place.step(segment, &mut next);
        }
        places = next;
    }
    places
}

impl Place {
    fn of(ty: TypeMeta) -> Self {
        Self {
            content: Content::Type(ty),
            max: None,
            fixed: length_of(&ty),
        }
    }

    fn of_field(field: &FieldMeta) -> Self {
        Self {
            content: Content::Type(field.ty),
            max: maximum(field),
            fixed: fixed_by_rule(field).or_else(|| length_of(&field.ty)),
        }
    }

    /// The type of the elements of a list.
    fn element(&self) -> Option<TypeMeta> {
        match self.content {
            Content::Type(TypeMeta {
                shape: Shape::Array { element, .. },
                ..
            }) => Some(*element),
            _ => None,
        }
    }

    fn step(&self, segment: &str, into: &mut Places) {
        match self.content {
            Content::Fields(list) => fields(list, segment, into, MAX_FLATTENED),
            Content::Type(ty) => inside(&ty, segment, into, MAX_FLATTENED),
        }
    }

    fn excess(&self, path: &str, value: &Bson) -> Option<Excess> {
        let count = match value {
            Bson::Array(values) => values.len(),
            Bson::Document(entries) => entries.len(),
            _ => return None,
        };
        let bounded = match self.content {
            Content::Type(ty) => matches!(ty.shape, Shape::Array { .. } | Shape::Map(_)),
            Content::Fields(_) => false,
        };
        if bounded
            && let Some(max) = self.max
            && count > max as usize
        {
            return Some(Excess {
                path: path.to_owned(),
                max,
                count,
            });
        }
        match (self.content, value) {
            (Content::Fields(list), Bson::Document(document)) => in_fields(list, path, document),
            (Content::Type(ty), value) => in_type(&ty, path, value),
            (Content::Fields(_), _) => None,
        }
    }
}

/// The bound that the rules of a field declare.
fn maximum(field: &FieldMeta) -> Option<u32> {
    let maxima = field.rules.iter().filter_map(|rule| match rule {
        Rule::Items { max, .. } => *max,
        _ => None,
    });
    maxima.min()
}

/// The length that a rule of the field fixes, if it is a list.
fn fixed_by_rule(field: &FieldMeta) -> Option<u32> {
    if !matches!(field.ty.shape, Shape::Array { .. }) {
        return None;
    }
    field.rules.iter().find_map(|rule| match rule {
        Rule::Items {
            min: Some(min),
            max: Some(max),
        } if min == max => Some(*max),
        _ => None,
    })
}

/// The length of an array `[T; N]`.
fn length_of(ty: &TypeMeta) -> Option<u32> {
    match ty.shape {
        Shape::Array { len, .. } => len.and_then(|len| u32::try_from(len).ok()),
        _ => None,
    }
}

fn inside(ty: &TypeMeta, segment: &str, into: &mut Places, levels: u8) {
    match ty.shape {
        Shape::Embedded(meta) => {
            let meta = meta();
            fields(meta.fields, segment, into, levels);
            variants(meta.variants.as_ref(), segment, into, levels);
        }
        Shape::Array { element, .. } if is_element(segment) => into.push(Place::of(*element)),
        Shape::Tuple(types) => {
            let at = segment.parse().ok().and_then(|at: usize| types.get(at));
            into.extend(at.map(|ty| Place::of(*ty)));
        }
        Shape::Map(value) => into.push(Place::of(*value)),
        Shape::Array { .. }
        | Shape::Any
        | Shape::Scalar(_)
        | Shape::OneOf(_)
        | Shape::Reference { .. } => {}
    }
}

/// Whether a part of a path stands for elements of a list: `0`, `$`, `$[]`, `$[name]`.
fn is_element(segment: &str) -> bool {
    segment.starts_with('$') || segment.bytes().all(|byte| byte.is_ascii_digit())
}

fn fields(list: &'static [FieldMeta], name: &str, into: &mut Places, levels: u8) {
    for field in list {
        if field.flatten {
            if let Some(levels) = levels.checked_sub(1) {
                inside(&field.ty, name, into, levels);
            }
        } else if field.name == name {
            into.push(Place::of_field(field));
        }
    }
}

fn variants(meta: Option<&'static EnumMeta>, name: &str, into: &mut Places, levels: u8) {
    let Some(meta) = meta else { return };
    for variant in meta.variants {
        let whole = match meta.tagging {
            Tagging::External => variant.name == name,
            Tagging::Adjacent { content, .. } => content == name,
            Tagging::Internal { .. } | Tagging::Untagged => false,
        };
        match (&variant.content, meta.tagging) {
            (VariantContent::Newtype(ty), _) if whole => into.push(Place::of(*ty)),
            (VariantContent::Struct(list), _) if whole => into.push(Place {
                content: Content::Fields(list),
                max: None,
                fixed: None,
            }),
            (VariantContent::Newtype(ty), Tagging::Internal { .. } | Tagging::Untagged) => {
                if let Some(levels) = levels.checked_sub(1) {
                    inside(ty, name, into, levels);
                }
            }
            (VariantContent::Struct(list), Tagging::Internal { .. } | Tagging::Untagged) => {
                fields(list, name, into, levels);
            }
            _ => {}
        }
    }
}

fn in_type(ty: &TypeMeta, path: &str, value: &Bson) -> Option<Excess> {
    match (ty.shape, value) {
        (Shape::Embedded(meta), Bson::Document(document)) => in_struct(meta(), path, document),
        (Shape::Array { element, .. }, Bson::Array(values)) => {
            let mut places = values.iter().enumerate();
            places.find_map(|(position, value)| {
                has_parts(value)
                    .then(|| in_type(element, &format!("{path}.{position}"), value))
                    .flatten()
            })
        }
        (Shape::Tuple(types), Bson::Array(values)) => {
            let mut places = types.iter().zip(values).enumerate();
            places.find_map(|(position, (ty, value))| {
                has_parts(value)
                    .then(|| in_type(ty, &format!("{path}.{position}"), value))
                    .flatten()
            })
        }
        (Shape::Map(of), Bson::Document(entries)) => entries.iter().find_map(|(key, value)| {
            has_parts(value)
                .then(|| in_type(of, &format!("{path}.{key}"), value))
                .flatten()
        }),
        _ => None,
    }
}

fn in_struct(meta: &'static EmbeddedMeta, path: &str, document: &Document) -> Option<Excess> {
    in_fields(meta.fields, path, document)
        .or_else(|| in_variant(meta.variants.as_ref()?, path, document))
}

fn in_fields(list: &'static [FieldMeta], path: &str, document: &Document) -> Option<Excess> {
    list.iter().find_map(|field| {
        if field.flatten {
            return match field.ty.shape {
                Shape::Embedded(meta) => in_struct(meta(), path, document),
                _ => None,
            };
        }
        let value = document.get(field.name).filter(|value| has_parts(value))?;
        Place::of_field(field).excess(&format!("{path}.{}", field.name), value)
    })
}

/// Looks into the variant that the document's tag names. Untagged values are left to the validator.
fn in_variant(meta: &'static EnumMeta, path: &str, document: &Document) -> Option<Excess> {
    let named = |tag: &str| {
        let name = document.get_str(tag).ok()?;
        meta.variants.iter().find(|variant| variant.name == name)
    };
    match meta.tagging {
        Tagging::External => {
            let (name, value) = document.iter().next()?;
            let variant = meta.variants.iter().find(|it| it.name == name)?;
            in_content(variant, &format!("{path}.{name}"), value)
        }
        Tagging::Adjacent { tag, content } => {
            let value = document.get(content)?;
            in_content(named(tag)?, &format!("{path}.{content}"), value)
        }
        Tagging::Internal { tag } => match &named(tag)?.content {
            VariantContent::Struct(list) => in_fields(list, path, document),
            VariantContent::Newtype(TypeMeta {
                shape: Shape::Embedded(inner),
                ..
            }) => in_fields(inner().fields, path, document),
            _ => None,
        },
        Tagging::Untagged => None,
    }
}

fn in_content(variant: &'static VariantMeta, path: &str, value: &Bson) -> Option<Excess> {
    match (&variant.content, value) {
        (VariantContent::Newtype(ty), value) => in_type(ty, path, value),
        (VariantContent::Struct(list), Bson::Document(document)) => in_fields(list, path, document),
        _ => None,
    }
}

/// Whether a value can contain a list.
fn has_parts(value: &Bson) -> bool {
    matches!(value, Bson::Array(_) | Bson::Document(_))
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
