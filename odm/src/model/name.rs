//! Resolves paths of Rust fields, as attributes write them, to stored paths.

use super::field::{
    EmbeddedMeta, EnumMeta, FieldMeta, Presence, Tagging, VariantContent, VariantMeta,
};
use super::path::{Path, Segment};
use super::types::{Shape, TypeMeta};
use crate::error::{DeclarationError, Error, Result};

/// The stored path and type of a field, from [`resolve`].
#[derive(Debug, Clone)]
pub struct ResolvedPath {
    /// The stored path.
    pub path: Path,
    /// How the field is stored.
    pub ty: TypeMeta,
    /// Whether the field or one of its parents is an array, so that an index on the field is multikey.
    pub through_array: bool,
    /// The numbers of segments of the path that lead to an array.
    pub(crate) arrays: Vec<usize>,
    /// Whether the field is left out where it has no value.
    pub(crate) is_skipped: bool,
}

/// Resolves `path`, the names of Rust fields from the struct down, through `Option`, `Box`, arrays and
/// flattened fields. Below an enum, the names are `tag` and the variants in snake case.
///
/// ```
/// use odm::model::name;
/// use odm::Embedded;
/// use serde::Serialize;
///
/// #[derive(Serialize, Embedded)]
/// #[serde(rename_all = "camelCase")]
/// struct Host {
///     #[odm(embed(few, max = 12))]
///     contact_list: Vec<Contact>,
/// }
///
/// #[derive(Serialize, Embedded)]
/// struct Contact {
///     #[serde(rename = "mail")]
///     address: String,
/// }
///
/// let found = name::resolve(Host::meta(), &["contact_list", "address"])?;
/// assert_eq!(found.path.to_string(), "contactList.mail");
/// assert!(found.through_array);
/// # Ok::<(), odm::Error>(())
/// ```
///
/// # Errors
///
/// The path names a field that does not exist; the error lists those that do.
pub fn resolve(meta: &'static EmbeddedMeta, path: &[&str]) -> Result<ResolvedPath> {
    let mut place = Place::of(meta);
    let mut resolved = ResolvedPath {
        path: Path::root(),
        ty: TypeMeta::ANY,
        through_array: false,
        arrays: Vec::new(),
        is_skipped: false,
    };
    for rust in path {
        let step = place.step(rust)?;
        for segment in step.segments {
            resolved.path = resolved.path.then(segment);
        }
        resolved.ty = step.ty;
        resolved.is_skipped = step.presence == Presence::Sometimes;
        place = step.inside;
        if step.array {
            resolved.through_array = true;
            resolved.arrays.push(resolved.path.segments().count());
        }
    }
    Ok(resolved)
}

/// Whether two paths of Rust names are equal, in constants.
pub(crate) const fn same_path(a: &[&str], b: &[&str]) -> bool {
    let (mut a, mut b) = (a, b);
    while let ([x, behind_a @ ..], [y, behind_b @ ..]) = (a, b) {
        if !same(x, y) {
            return false;
        }
        (a, b) = (behind_a, behind_b);
    }
    a.is_empty() && b.is_empty()
}

/// Whether two names are equal, in constants.
pub(crate) const fn same(a: &str, b: &str) -> bool {
    let (mut a, mut b) = (a.as_bytes(), b.as_bytes());
    while let ([x, behind_a @ ..], [y, behind_b @ ..]) = (a, b) {
        if *x != *y {
            return false;
        }
        (a, b) = (behind_a, behind_b);
    }
    a.is_empty() && b.is_empty()
}

/// The value that a part of a path leads to.
#[derive(Clone, Copy)]
enum Place {
    /// A struct, an enum, or the fields of a variant.
    Struct(
        &'static str,
        &'static [FieldMeta],
        Option<&'static EnumMeta>,
    ),
    /// A value without fields of its own.
    Leaf,
}

/// One step of a walk.
struct Step {
    segments: Vec<Segment>,
    ty: TypeMeta,
    presence: Presence,
    array: bool,
    inside: Place,
}

impl Place {
    fn of(meta: &'static EmbeddedMeta) -> Self {
        Self::Struct(meta.name, meta.fields, meta.variants.as_ref())
    }

    fn step(self, rust: &str) -> Result<Step> {
        let Self::Struct(name, fields, variants) = self else {
            return Err(declaration(format!(
                "there is no field `{rust}` here: the value before it has no fields"
            )));
        };
        if let Some(field) = fields.iter().find(|field| field.rust == rust) {
            let segments = if field.flatten {
                Vec::new()
            } else {
                vec![Segment::Name(field.name.into())]
            };
            let mut step = Step::of(segments, field.ty);
            step.presence = field.presence;
            return Ok(step);
        }
        if let Some(variants) = variants
            && let Some(variant) = variants
                .variants
                .iter()
                // The handle of a variant whose name is a keyword ends with `_`.
                .find(|variant| {
                    let name = snake(variant.rust);
                    name == rust || rust.strip_suffix('_') == Some(&name)
                })
        {
            return Ok(Step::into_variant(variants.tagging, variant));
        }
        let all: Vec<_> = fields.iter().map(|field| field.rust).collect();
        Err(declaration(format!(
            "`{name}` has no field `{rust}`; expected one of {}",
            all.join(", ")
        )))
    }
}

impl Step {
    fn of(segments: Vec<Segment>, ty: TypeMeta) -> Self {
        let (inside, array) = inside(&ty);
        Self {
            segments,
            ty,
            presence: Presence::Always,
            array,
            inside,
        }
    }

    fn into_variant(tagging: Tagging, variant: &'static VariantMeta) -> Self {
        let segments = match tagging {
            Tagging::External => vec![Segment::Name(variant.name.into())],
            Tagging::Adjacent { content, .. } => vec![Segment::Name(content.into())],
            Tagging::Internal { .. } | Tagging::Untagged => Vec::new(),
        };
        match &variant.content {
            VariantContent::Newtype(ty) => Self::of(segments, *ty),
            VariantContent::Struct(fields) => Self {
                segments,
                ty: TypeMeta::ANY,
                presence: Presence::Always,
                array: false,
                inside: Place::Struct(variant.rust, fields, None),
            },
            VariantContent::Unit | VariantContent::Tuple(_) => Self {
                segments,
                ty: TypeMeta::ANY,
                presence: Presence::Always,
                array: matches!(variant.content, VariantContent::Tuple(_)),
                inside: Place::Leaf,
            },
        }
    }
}

fn declaration(message: String) -> Error {
    Error::new(DeclarationError::new(message))
}

/// The fields inside a value, and whether the value is an array.
fn inside(ty: &TypeMeta) -> (Place, bool) {
    match ty.shape {
        Shape::Embedded(meta) => (Place::of(meta()), false),
        Shape::Array { element, .. } => (inside(element).0, true),
        Shape::Tuple(_) => (Place::Leaf, true),
        Shape::Reference { id, .. } => inside(id),
        Shape::Any | Shape::Scalar(_) | Shape::OneOf(_) | Shape::Map(_) => (Place::Leaf, false),
    }
}

/// A variant's name as its handle has it: `http_port` for `HttpPort`.
pub(super) fn snake(name: &str) -> String {
    let mut snake = String::new();
    for (position, character) in name.char_indices() {
        if position > 0 && character.is_uppercase() {
            snake.push('_');
        }
        snake.push(character.to_ascii_lowercase());
    }
    snake
}
