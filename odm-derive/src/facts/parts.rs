//! The values of a type whose metadata does not show how large they are: those of derived types.

use syn::{Ident, Type};

use crate::model::rust_type::is_without_parts;
use crate::model::{Field, Model, Shape, VariantContent};
use crate::parse::serde::unraw;

/// A value that may have a derived type.
pub(crate) struct Part<'a> {
    /// The Rust name of the field, behind the variant's and a dot. A value without a name has its position.
    pub(crate) name: String,
    pub(crate) ty: &'a Type,
    /// The variant and the field whose serializer declares what is stored, if one does.
    pub(crate) encoded: Option<(Option<&'a Ident>, &'a Field)>,
}

/// The values that may have derived types, of a struct or an enum with data.
pub(super) fn all(model: &Model) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    match &model.shape {
        Shape::Struct { fields, .. } => named("", None, fields, &mut parts),
        Shape::Enum(shape) => {
            for variant in &shape.variants {
                let name = unraw(&variant.ident);
                match &variant.content {
                    VariantContent::Unit | VariantContent::Opaque => {}
                    VariantContent::Newtype(ty) => unnamed(&name, [&**ty], &mut parts),
                    VariantContent::Tuple(types) => unnamed(&name, types, &mut parts),
                    VariantContent::Struct(fields) => {
                        let variant = Some(&variant.ident);
                        named(&format!("{name}."), variant, fields, &mut parts);
                    }
                }
            }
        }
        _ => {}
    }
    parts.retain(|part| part.encoded.is_some() || !is_without_parts(part.ty));
    parts
}

fn named<'a>(
    before: &str,
    variant: Option<&'a Ident>,
    fields: &'a [Field],
    parts: &mut Vec<Part<'a>>,
) {
    let stored = fields
        .iter()
        .filter(|field| !field.skipped && (field.encoder.is_none() || field.module.is_some()));
    parts.extend(stored.map(|field| Part {
        name: format!("{before}{}", field.rust),
        ty: &field.ty,
        encoded: field.module.is_some().then_some((variant, field)),
    }));
}

fn unnamed<'a>(
    variant: &str,
    types: impl IntoIterator<Item = &'a Type>,
    parts: &mut Vec<Part<'a>>,
) {
    let positions = types.into_iter().enumerate();
    parts.extend(positions.map(|(position, ty)| Part {
        name: format!("{variant}.{position}"),
        ty,
        encoded: None,
    }));
}
