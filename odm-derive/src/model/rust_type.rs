//! The kind of a type, as far as its spelling shows it; assertions in generated code catch aliases.

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::spanned::Spanned;
use syn::{GenericArgument, GenericParam, Ident, PathArguments, Type, TypeReference};

/// The kind of a type, by its name.
#[derive(Clone, Copy)]
pub(crate) enum Kind<'a> {
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
    /// A reference to documents of this type.
    Ref(&'a Type),
    /// A DBRef to documents of this type.
    DbRef(&'a Type),
    List(&'a Type),
    Optional(&'a Type),
    Boxed(&'a Type),
    Tuple,
    Unknown,
}

/// Whether the spelling shows that the field is joined by its name: `Ref<T>`, `Option<Ref<T>>` or `Vec<Ref<T>>`, or a
/// `DbRef` in the same places.
pub(crate) fn is_joined(ty: &Type) -> bool {
    let inner = match kind(ty) {
        Kind::Ref(_) | Kind::DbRef(_) => return true,
        Kind::Optional(inner) => inner,
        Kind::List(inner) if is_vec(ty) => inner,
        _ => return false,
    };
    matches!(kind(inner), Kind::Ref(_) | Kind::DbRef(_))
}

/// The target of a type that is spelled `DbRef<T>` or `Option<DbRef<T>>`.
pub(crate) fn db_ref(ty: &Type) -> Option<&Type> {
    match kind(ty) {
        Kind::DbRef(target) => Some(target),
        Kind::Optional(inner) => match kind(inner) {
            Kind::DbRef(target) => Some(target),
            _ => None,
        },
        _ => None,
    }
}

fn is_vec(ty: &Type) -> bool {
    match ty {
        Type::Path(path) => path
            .path
            .segments
            .last()
            .is_some_and(|last| last.ident == "Vec"),
        _ => false,
    }
}

/// Reads a type's name.
pub(crate) fn kind(ty: &Type) -> Kind<'_> {
    match ty {
        Type::Group(group) => kind(&group.elem),
        Type::Paren(paren) => kind(&paren.elem),
        Type::Array(array) => Kind::List(&array.elem),
        Type::Slice(slice) => Kind::List(&slice.elem),
        Type::Tuple(_) => Kind::Tuple,
        Type::Path(path) => {
            let Some(last) = path.path.segments.last() else {
                return Kind::Unknown;
            };
            let argument = argument(&last.arguments);
            match (last.ident.to_string().as_str(), argument) {
                ("String" | "str", None) => Kind::Text,
                ("bool", None) => Kind::Bool,
                (
                    "i8" | "i16" | "i32" | "i64" | "u8" | "u16" | "u32" | "u64" | "isize" | "usize",
                    None,
                ) => Kind::Integer,
                ("f32" | "f64", None) => Kind::Float,
                ("Decimal128", None) => Kind::Decimal,
                ("DateTime" | "SystemTime", None) => Kind::Date,
                ("ObjectId", None) => Kind::ObjectId,
                ("Uuid", None) => Kind::Uuid,
                ("Binary", None) => Kind::Binary,
                ("Document" | "RawDocumentBuf", None)
                | ("HashMap" | "BTreeMap" | "IndexMap", Some(_)) => Kind::Map,
                ("Ref", Some(target)) => Kind::Ref(target),
                ("DbRef", Some(target)) => Kind::DbRef(target),
                (
                    "Vec" | "VecDeque" | "HashSet" | "BTreeSet" | "IndexSet" | "SmallVec",
                    Some(inner),
                ) => Kind::List(inner),
                ("Option", Some(inner)) => Kind::Optional(inner),
                ("Box" | "Rc" | "Arc" | "Cow", Some(inner)) => Kind::Boxed(inner),
                _ => Kind::Unknown,
            }
        }
        _ => Kind::Unknown,
    }
}

/// The kind of a type inside `Option` and `Box`.
pub(crate) fn stored_kind(ty: &Type) -> Kind<'_> {
    match kind(ty) {
        Kind::Optional(inner) | Kind::Boxed(inner) => stored_kind(inner),
        other => other,
    }
}

/// The kind of one element of a list, or of a type that is not a list.
pub(crate) fn element_kind(ty: &Type) -> Kind<'_> {
    match stored_kind(ty) {
        Kind::List(inner) => element_kind(inner),
        other => other,
    }
}

/// The type of the innermost elements of a list, an `Option` or a `Box`; of another type, that type.
pub(crate) fn element(ty: &Type) -> &Type {
    match kind(ty) {
        Kind::Optional(inner) | Kind::Boxed(inner) | Kind::List(inner) => element(inner),
        _ => ty,
    }
}

/// Whether the type is written as an array of a fixed length.
pub(crate) fn is_fixed(ty: &Type) -> bool {
    match ty {
        Type::Array(_) => true,
        Type::Group(group) => is_fixed(&group.elem),
        Type::Paren(paren) => is_fixed(&paren.elem),
        _ => match kind(ty) {
            Kind::Optional(inner) | Kind::Boxed(inner) => is_fixed(inner),
            _ => false,
        },
    }
}

/// The kind of one value in a list or a map.
pub(crate) fn value_kind(ty: &Type) -> Kind<'_> {
    match kind(ty) {
        Kind::List(inner) | Kind::Optional(inner) | Kind::Boxed(inner) => value_kind(inner),
        Kind::Map => map(ty).map_or(Kind::Map, |(_, value)| value_kind(value)),
        other => other,
    }
}

/// Whether the type is written as an `Option`.
pub(crate) fn is_option(ty: &Type) -> bool {
    match kind(ty) {
        Kind::Optional(_) => true,
        Kind::Boxed(inner) => is_option(inner),
        _ => false,
    }
}

/// Whether the spelling shows an `Option` in an `Option`, or an `Option` of `()`: BSON has one null for two values.
pub(crate) fn has_ambiguous_null(ty: &Type) -> bool {
    match kind(ty) {
        Kind::Optional(inner) => is_option(inner) || is_unit(inner) || has_ambiguous_null(inner),
        Kind::List(inner) | Kind::Boxed(inner) => has_ambiguous_null(inner),
        Kind::Map => map(ty).is_some_and(|(_, value)| has_ambiguous_null(value)),
        _ => false,
    }
}

fn is_unit(ty: &Type) -> bool {
    matches!(ty, Type::Tuple(tuple) if tuple.elems.is_empty())
}

/// Whether the spelling shows that nothing is wrong with the type of a field: it holds no documents, no references, and
/// one `Option` at most. `DateTime` and `Uuid` may be those of another crate.
pub(crate) fn holds_only_scalars(ty: &Type) -> bool {
    match kind(ty) {
        Kind::Text
        | Kind::Bool
        | Kind::Integer
        | Kind::Float
        | Kind::Decimal
        | Kind::ObjectId
        | Kind::Binary => true,
        Kind::List(inner) | Kind::Boxed(inner) => holds_only_scalars(inner),
        Kind::Optional(inner) => holds_only_scalars(inner) && !is_option(inner),
        Kind::Map => map(ty).is_none_or(|(_, value)| holds_only_scalars(value)),
        Kind::Date | Kind::Uuid | Kind::Ref(_) | Kind::DbRef(_) | Kind::Tuple | Kind::Unknown => {
            false
        }
    }
}

/// Whether the spelling shows that no derived type is inside. The values of maps do not count: a map has no bound.
pub(crate) fn is_without_derived(ty: &Type) -> bool {
    match kind(ty) {
        Kind::Text
        | Kind::Bool
        | Kind::Integer
        | Kind::Float
        | Kind::Decimal
        | Kind::Date
        | Kind::ObjectId
        | Kind::Binary
        | Kind::Map => true,
        Kind::List(inner) | Kind::Boxed(inner) | Kind::Optional(inner) => is_without_derived(inner),
        Kind::Unknown => is_object_id(ty),
        Kind::Uuid | Kind::Ref(_) | Kind::DbRef(_) | Kind::Tuple => false,
    }
}

/// Whether the type is written `Id<T>`.
fn is_object_id(ty: &Type) -> bool {
    match ty {
        Type::Path(path) => path
            .path
            .segments
            .last()
            .is_some_and(|last| last.ident == "Id" && types(&last.arguments).count() == 1),
        _ => false,
    }
}

/// The types with parameters, within a type, that may be derived ones as far as the spelling shows.
pub(crate) fn generic_types(ty: &Type) -> Vec<&Type> {
    match kind(ty) {
        Kind::List(inner) | Kind::Optional(inner) | Kind::Boxed(inner) => generic_types(inner),
        Kind::Map => map(ty).map_or_else(Vec::new, |(_, value)| generic_types(value)),
        Kind::Tuple => match ty {
            Type::Tuple(tuple) => tuple.elems.iter().flat_map(generic_types).collect(),
            _ => Vec::new(),
        },
        Kind::Unknown if !arguments(ty).is_empty() => vec![ty],
        _ => Vec::new(),
    }
}

/// The span of the type that may turn out not to be a field: in `Vec<Contact>`, that of `Contact`. `None` if
/// the spelling shows that it is one.
pub(crate) fn unknown_span(ty: &Type) -> Option<Span> {
    match kind(ty) {
        Kind::Text | Kind::Bool | Kind::Integer | Kind::Float => None,
        Kind::List(inner) | Kind::Optional(inner) | Kind::Boxed(inner) => unknown_span(inner),
        Kind::Map => match map(ty) {
            Some((key, value)) => unknown_span(key).or_else(|| unknown_span(value)),
            None => Some(name(ty)),
        },
        _ => match ty {
            Type::Group(group) => unknown_span(&group.elem),
            Type::Paren(paren) => unknown_span(&paren.elem),
            Type::Reference(reference) if matches!(kind(&reference.elem), Kind::Text) => None,
            Type::Tuple(tuple) => tuple.elems.iter().find_map(unknown_span),
            _ => Some(name(ty)),
        },
    }
}

/// The first reference in a type.
pub(crate) fn first_reference(ty: &Type) -> Option<&TypeReference> {
    match ty {
        Type::Reference(reference) => Some(reference),
        Type::Group(group) => first_reference(&group.elem),
        Type::Paren(paren) => first_reference(&paren.elem),
        Type::Array(array) => first_reference(&array.elem),
        Type::Tuple(tuple) => tuple.elems.iter().find_map(first_reference),
        Type::Path(_) => arguments(ty).into_iter().find_map(first_reference),
        _ => None,
    }
}

/// The name of a generic parameter, for a lifetime without the apostrophe.
pub(crate) fn parameter_name(parameter: &GenericParam) -> &Ident {
    match parameter {
        GenericParam::Lifetime(one) => &one.lifetime.ident,
        GenericParam::Type(one) => &one.ident,
        GenericParam::Const(one) => &one.ident,
    }
}

/// Whether a type or a predicate names a parameter.
pub(crate) fn mentions(tokens: &impl ToTokens, parameter: &Ident) -> bool {
    fn within(tokens: TokenStream, parameter: &Ident) -> bool {
        tokens.into_iter().any(|token| match token {
            TokenTree::Ident(one) => one == *parameter,
            TokenTree::Group(group) => within(group.stream(), parameter),
            _ => false,
        })
    }
    within(tokens.to_token_stream(), parameter)
}

/// The type inside `Option` and `Box`.
pub(crate) fn without_option(ty: &Type) -> &Type {
    match kind(ty) {
        Kind::Optional(inner) | Kind::Boxed(inner) => without_option(inner),
        _ => ty,
    }
}

/// Whether the spelling shows that values of the type are single, never null, and not regular expressions.
pub(crate) fn is_scalar(ty: &Type) -> bool {
    holds_only_scalars(ty)
        && !matches!(kind(ty), Kind::List(_) | Kind::Optional(_) | Kind::Boxed(_))
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
