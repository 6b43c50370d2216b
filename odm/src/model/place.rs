//! The places of a model: what is declared at a stored path, and at each value in a stored value.

use bson::{Bson, Document};
use smallvec::SmallVec;

use super::field::{EmbeddedMeta, EnumMeta, FieldMeta, Tagging, VariantContent, VariantMeta};
use super::rule::Rule;
use super::types::{Shape, TypeMeta};

/// How deep flattened fields and internally tagged variants are followed. Types can nest in themselves this way, and
/// what is deeper is left to the validator.
pub(super) const MAX_FLATTENED: u8 = 6;

/// The target of a part of a path.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub(super) content: Content,
    pub(super) max: Option<u32>,
    /// The length of a list that always has the same.
    pub(super) fixed: Option<u32>,
}

#[derive(Clone, Copy)]
pub(super) enum Content {
    Type(TypeMeta),
    /// The fields of a variant.
    Fields(&'static [FieldMeta]),
}

/// Nearly every path leads to one place.
pub(super) type Places = SmallVec<[Place; 1]>;

/// The places that a stored path can lead to; several where variants of an enum share a name.
pub(super) fn places(meta: &'static EmbeddedMeta, path: &str) -> Places {
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
    pub(super) fn of(ty: TypeMeta) -> Self {
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
    pub(super) fn element(&self) -> Option<TypeMeta> {
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

    /// Looks at a value that is stored here and then at those in it, and returns the first thing found.
    pub(super) fn find<T>(&self, path: &str, value: &Bson, look: Look<'_, T>) -> Option<T> {
        if !matches!(value, Bson::Array(_) | Bson::Document(_)) {
            return None;
        }
        look(self, path, value).or_else(|| match (self.content, value) {
            (Content::Fields(list), Bson::Document(document)) => {
                in_fields(list, path, document, MAX_FLATTENED, look)
            }
            (Content::Type(ty), value) => in_type(&ty, path, value, look),
            (Content::Fields(_), _) => None,
        })
    }
}

/// Looks at a value with the place where it is stored, and the path.
pub(super) type Look<'a, T> = &'a dyn Fn(&Place, &str, &Bson) -> Option<T>;

/// [`Place::find`] in all fields of a document.
pub(super) fn find<T>(
    meta: &'static EmbeddedMeta,
    document: &Document,
    look: Look<'_, T>,
) -> Option<T> {
    in_struct(meta, "", document, MAX_FLATTENED, look)
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

fn in_type<T>(ty: &TypeMeta, path: &str, value: &Bson, look: Look<'_, T>) -> Option<T> {
    match (ty.shape, value) {
        (Shape::Embedded(meta), Bson::Document(document)) => {
            in_struct(meta(), path, document, MAX_FLATTENED, look)
        }
        (Shape::Array { element, .. }, Bson::Array(values)) => {
            in_elements(std::iter::repeat(element), path, values, look)
        }
        (Shape::Tuple(types), Bson::Array(values)) => in_elements(types, path, values, look),
        (Shape::Map(of), Bson::Document(entries)) => {
            let mut entries = entries.iter();
            entries.find_map(|(key, value)| Place::of(*of).find(&joined(path, key), value, look))
        }
        _ => None,
    }
}

fn in_elements<'t, T>(
    types: impl IntoIterator<Item = &'t TypeMeta>,
    path: &str,
    values: &[Bson],
    look: Look<'_, T>,
) -> Option<T> {
    let mut places = types.into_iter().zip(values).enumerate();
    places.find_map(|(position, (ty, value))| {
        Place::of(*ty).find(&joined(path, &position.to_string()), value, look)
    })
}

/// Looks into a struct or an enum. Flattened fields and internally tagged variants can nest in themselves; what is deeper than
/// `levels` is left to the validator.
fn in_struct<T>(
    meta: &'static EmbeddedMeta,
    path: &str,
    document: &Document,
    levels: u8,
    look: Look<'_, T>,
) -> Option<T> {
    in_fields(meta.fields, path, document, levels, look)
        .or_else(|| in_variant(meta.variants.as_ref()?, path, document, levels, look))
}

fn in_fields<T>(
    list: &'static [FieldMeta],
    path: &str,
    document: &Document,
    levels: u8,
    look: Look<'_, T>,
) -> Option<T> {
    list.iter().find_map(|field| {
        if field.flatten {
            return match field.ty.shape {
                Shape::Embedded(meta) => {
                    in_struct(meta(), path, document, levels.checked_sub(1)?, look)
                }
                // A flattened map keeps what other programs stored, under any name.
                _ => None,
            };
        }
        let value = document.get(field.name)?;
        Place::of_field(field).find(&joined(path, field.name), value, look)
    })
}

/// Looks into the variant that the document's tag names. Untagged values are left to the validator.
fn in_variant<T>(
    meta: &'static EnumMeta,
    path: &str,
    document: &Document,
    levels: u8,
    look: Look<'_, T>,
) -> Option<T> {
    let named = |tag: &str| {
        let name = document.get_str(tag).ok()?;
        meta.variants.iter().find(|variant| variant.name == name)
    };
    match meta.tagging {
        Tagging::External => {
            let (name, value) = document.iter().next()?;
            let variant = meta.variants.iter().find(|it| it.name == name)?;
            in_content(variant, &joined(path, name), value, look)
        }
        Tagging::Adjacent { tag, content } => {
            let value = document.get(content)?;
            in_content(named(tag)?, &joined(path, content), value, look)
        }
        Tagging::Internal { tag } => match &named(tag)?.content {
            VariantContent::Struct(list) => in_fields(list, path, document, levels, look),
            VariantContent::Newtype(TypeMeta {
                shape: Shape::Embedded(inner),
                ..
            }) => in_struct(inner(), path, document, levels.checked_sub(1)?, look),
            _ => None,
        },
        Tagging::Untagged => None,
    }
}

fn in_content<T>(
    variant: &'static VariantMeta,
    path: &str,
    value: &Bson,
    look: Look<'_, T>,
) -> Option<T> {
    match (&variant.content, value) {
        (VariantContent::Newtype(ty), value) => Place::of(*ty).find(path, value, look),
        (VariantContent::Struct(list), Bson::Document(document)) => {
            in_fields(list, path, document, MAX_FLATTENED, look)
        }
        (VariantContent::Tuple(types), Bson::Array(values)) => {
            in_elements(*types, path, values, look)
        }
        _ => None,
    }
}

fn joined(path: &str, name: &str) -> String {
    match path {
        "" => name.to_owned(),
        path => format!("{path}.{name}"),
    }
}
