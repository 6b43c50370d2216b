//! Stored paths in attributes.

use super::item::{Attribute, Body, Field, Item, Piece, Type};
use super::literal::code;

/// A stored path as attributes name it.
#[derive(Debug)]
pub(super) struct Resolved<'i> {
    pub(super) steps: Vec<Step<'i>>,
    /// Whether the path leads to the id of a DBRef.
    pub(super) ends_in_db_ref: bool,
    pub(super) attribute: Attribute,
}

/// A field on the way.
#[derive(Debug)]
pub(super) struct Step<'i> {
    pub(super) field: &'i Field,
}

/// Finds the fields of a stored path, or says why an attribute can't name it.
pub(super) fn resolve<'i>(
    items: &'i [Item],
    model: usize,
    stored: &str,
) -> Result<Resolved<'i>, String> {
    let mut item = Some(model);
    let mut resolved = Resolved {
        steps: Vec::new(),
        ends_in_db_ref: false,
        attribute: Attribute::default(),
    };
    let mut around: Option<&Field> = None;
    for name in stored.split('.') {
        if !resolved.attribute.0.is_empty() {
            resolved.attribute.push(".");
        }
        let Some(place) = item else {
            let is_db_ref = around.is_some_and(|field| {
                matches!(field.ty.stored(), Type::DbRef(_)) && !is_doubled(&field.ty)
            });
            if is_db_ref && name == "$id" {
                resolved.attribute.push("id");
                resolved.ends_in_db_ref = true;
                around = None;
                continue;
            }
            return Err(format!("{} has no typed fields inside", code(stored)));
        };
        let fields = items.get(place).map_or(&[][..], Item::fields);
        let found = fields
            .iter()
            .find(|field| field.stored == name && !field.is_rest);
        let Some(field) = found else {
            return Err(format!("{} is not a declared field", code(stored)));
        };
        let piece = Piece::Field(place, name.to_owned());
        resolved.attribute.0.push(piece);
        resolved.steps.push(Step { field });
        item = field
            .ty
            .item()
            .filter(|_| !has_map(&field.ty) && !is_doubled(&field.ty))
            .filter(|inner| {
                let inner = items.get(*inner);
                inner.is_some_and(|inner| matches!(inner.body, Body::Struct(_)))
            });
        around = Some(field);
    }
    Ok(resolved)
}

/// Whether a type is a list, also in an `Option`.
pub(super) fn is_list(ty: &Type) -> bool {
    matches!(ty.stored(), Type::Vec(_))
}

/// Whether a type is an enum.
pub(super) fn is_enum(items: &[Item], ty: &Type) -> bool {
    ty.item()
        .and_then(|item| items.get(item))
        .is_some_and(|item| matches!(item.body, Body::Enum(_)))
}

/// Whether a field keeps null and absent apart, by a serializer that hides the fields inside.
pub(super) fn is_doubled(ty: &Type) -> bool {
    matches!(ty, Type::Option(inner) if matches!(**inner, Type::Option(_)))
}

fn has_map(ty: &Type) -> bool {
    match ty {
        Type::Map(_) => true,
        Type::Option(inner) | Type::Vec(inner) | Type::Boxed(inner) => has_map(inner),
        _ => false,
    }
}
