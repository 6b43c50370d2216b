//! The kind of a type, as far as its spelling shows it; assertions in generated code catch aliases.

use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::{GenericArgument, PathArguments, Type, TypeReference};

/// The kind of a type, by its name.
#[derive(Clone, Copy)]
pub(crate) enum Known<'a> {
    Text,
    Bool,
    Integer,
    Float,
    Decimal,
    Date,
    ObjectId,
    Uuid,
    Binary,
    Map,
    Ref,
    List(&'a Type),
    Optional(&'a Type),
    Boxed(&'a Type),
    Tuple,
    Unknown,
}

/// Reads a type's name.
pub(crate) fn known(ty: &Type) -> Known<'_> {
    match ty {
        Type::Group(group) => known(&group.elem),
        Type::Paren(paren) => known(&paren.elem),
        Type::Array(array) => Known::List(&array.elem),
        Type::Slice(slice) => Known::List(&slice.elem),
        Type::Tuple(_) => Known::Tuple,
        Type::Path(path) => {
            let Some(last) = path.path.segments.last() else {
                return Known::Unknown;
            };
            let argument = argument(&last.arguments);
            match (last.ident.to_string().as_str(), argument) {
                ("String" | "str", None) => Known::Text,
                ("bool", None) => Known::Bool,
                (
                    "i8" | "i16" | "i32" | "i64" | "u8" | "u16" | "u32" | "u64" | "isize" | "usize",
                    None,
                ) => Known::Integer,
                ("f32" | "f64", None) => Known::Float,
                ("Decimal128", None) => Known::Decimal,
                ("DateTime" | "SystemTime", None) => Known::Date,
                ("ObjectId", None) => Known::ObjectId,
                ("Uuid", None) => Known::Uuid,
                ("Binary", None) => Known::Binary,
                ("Document" | "RawDocumentBuf", None)
                | ("HashMap" | "BTreeMap" | "IndexMap", Some(_)) => Known::Map,
                ("Ref", Some(_)) => Known::Ref,
                (
                    "Vec" | "VecDeque" | "HashSet" | "BTreeSet" | "IndexSet" | "SmallVec",
                    Some(inner),
                ) => Known::List(inner),
                ("Option", Some(inner)) => Known::Optional(inner),
                ("Box" | "Rc" | "Arc" | "Cow", Some(inner)) => Known::Boxed(inner),
                _ => Known::Unknown,
            }
        }
        _ => Known::Unknown,
    }
}

/// The kind of a type inside `Option` and `Box`.
pub(crate) fn stored(ty: &Type) -> Known<'_> {
    match known(ty) {
        Known::Optional(inner) | Known::Boxed(inner) => stored(inner),
        other => other,
    }
}

/// The kind of one element of a list, or of a type that is not a list.
pub(crate) fn element(ty: &Type) -> Known<'_> {
    match stored(ty) {
        Known::List(inner) => element(inner),
        other => other,
    }
}

/// Whether the type is written as an array of a fixed length.
pub(crate) fn is_fixed(ty: &Type) -> bool {
    match ty {
        Type::Array(_) => true,
        Type::Group(group) => is_fixed(&group.elem),
        Type::Paren(paren) => is_fixed(&paren.elem),
        _ => match known(ty) {
            Known::Optional(inner) | Known::Boxed(inner) => is_fixed(inner),
            _ => false,
        },
    }
}

/// The kind of one value in a list or a map.
pub(crate) fn held(ty: &Type) -> Known<'_> {
    match known(ty) {
        Known::List(inner) | Known::Optional(inner) | Known::Boxed(inner) => held(inner),
        Known::Map => map(ty).map_or(Known::Map, |(_, value)| held(value)),
        other => other,
    }
}

/// Whether the type is written as an `Option`.
pub(crate) fn is_option(ty: &Type) -> bool {
    match known(ty) {
        Known::Optional(_) => true,
        Known::Boxed(inner) => is_option(inner),
        _ => false,
    }
}

/// Whether the spelling shows that nothing is wrong with the type of a field: it holds no documents, no references, and
/// one `Option` at most.
pub(crate) fn is_plain(ty: &Type) -> bool {
    match known(ty) {
        Known::Text
        | Known::Bool
        | Known::Integer
        | Known::Float
        | Known::Decimal
        | Known::Date
        | Known::ObjectId
        | Known::Uuid
        | Known::Binary => true,
        Known::List(inner) | Known::Boxed(inner) => is_plain(inner),
        Known::Optional(inner) => is_plain(inner) && !is_option(inner),
        Known::Map => map(ty).is_none_or(|(_, value)| is_plain(value)),
        Known::Ref | Known::Tuple | Known::Unknown => false,
    }
}

/// The types with parameters, within a type, that may be derived ones as far as the spelling shows.
pub(crate) fn generic(ty: &Type) -> Vec<&Type> {
    match known(ty) {
        Known::List(inner) | Known::Optional(inner) | Known::Boxed(inner) => generic(inner),
        Known::Map => map(ty).map_or_else(Vec::new, |(_, value)| generic(value)),
        Known::Tuple => match ty {
            Type::Tuple(tuple) => tuple.elems.iter().flat_map(generic).collect(),
            _ => Vec::new(),
        },
        Known::Unknown if !arguments(ty).is_empty() => vec![ty],
        _ => Vec::new(),
    }
}

/// The span of the type that may turn out not to be a field: in `Vec<Contact>`, that of `Contact`. `None` if
/// the spelling leaves no doubt.
pub(crate) fn doubt(ty: &Type) -> Option<Span> {
    match known(ty) {
        Known::Text | Known::Bool | Known::Integer | Known::Float => None,
        Known::List(inner) | Known::Optional(inner) | Known::Boxed(inner) => doubt(inner),
        Known::Map => match map(ty) {
            Some((key, value)) => doubt(key).or_else(|| doubt(value)),
            None => Some(name(ty)),
        },
        _ => match ty {
            Type::Group(group) => doubt(&group.elem),
            Type::Paren(paren) => doubt(&paren.elem),
            Type::Reference(reference) if matches!(known(&reference.elem), Known::Text) => None,
            Type::Tuple(tuple) => tuple.elems.iter().find_map(doubt),
            _ => Some(name(ty)),
        },
    }
}

/// The first reference in a type.
pub(crate) fn reference(ty: &Type) -> Option<&TypeReference> {
    match ty {
        Type::Reference(reference) => Some(reference),
        Type::Group(group) => reference(&group.elem),
        Type::Paren(paren) => reference(&paren.elem),
        Type::Array(array) => reference(&array.elem),
        Type::Tuple(tuple) => tuple.elems.iter().find_map(reference),
        Type::Path(_) => arguments(ty).into_iter().find_map(reference),
        _ => None,
    }
}

/// The last name of a path.
fn name(ty: &Type) -> Span {
    match ty {
        Type::Path(path) => path.path.segments.last().map(|last| last.ident.span()),
        _ => None,
    }
    .unwrap_or_else(|| ty.span())
}

/// The types in the angle brackets of a path.
fn arguments(ty: &Type) -> Vec<&Type> {
    let Type::Path(path) = ty else {
        return Vec::new();
    };
    let last = path.path.segments.last();
    last.map_or_else(Vec::new, |last| types(&last.arguments).collect())
}

/// The types of a map's keys and values.
fn map(ty: &Type) -> Option<(&Type, &Type)> {
    match arguments(ty).as_slice() {
        [key, value, ..] => Some((key, value)),
        _ => None,
    }
}

fn argument(arguments: &PathArguments) -> Option<&Type> {
    types(arguments).next()
}

fn types(arguments: &PathArguments) -> impl Iterator<Item = &Type> {
    let arguments = match arguments {
        PathArguments::AngleBracketed(arguments) => Some(&arguments.args),
        _ => None,
    };
    arguments
        .into_iter()
        .flatten()
        .filter_map(|argument| match argument {
            GenericArgument::Type(ty) => Some(ty),
            _ => None,
        })
}

/// The variant of `BsonType` that has an alias.
pub(crate) fn bson_variant(alias: &str) -> Option<&'static str> {
    BSON_TYPES
        .iter()
        .find(|(name, _)| *name == alias)
        .map(|(_, variant)| *variant)
}

/// Aliases, in BSON-spec order.
pub(crate) const BSON_TYPES: &[(&str, &str)] = &[
    ("double", "Double"),
    ("string", "String"),
    ("object", "Object"),
    ("array", "Array"),
    ("binData", "Binary"),
    ("objectId", "ObjectId"),
    ("bool", "Bool"),
    ("date", "Date"),
    ("null", "Null"),
    ("regex", "Regex"),
    ("javascript", "JavaScript"),
    ("int", "Int"),
    ("timestamp", "Timestamp"),
    ("long", "Long"),
    ("decimal", "Decimal"),
    ("minKey", "MinKey"),
    ("maxKey", "MaxKey"),
];
