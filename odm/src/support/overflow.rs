//! Assertions about the model whose lists overflow.

use super::{declared, same, same_path, type_checks};
use crate::model::{Document, OnDelete, RelationMeta, Rule, TypeMeta};

/// Whether `T` has a field `rust` that is stored as `name`, as the type `ty`.
pub const fn has_list<T: Document>(rust: &str, name: &str, ty: &TypeMeta) -> bool {
    match declared(T::META.fields, rust) {
        Some(field) => same(field.name, name) && type_checks::may_be_alike(ty, &field.ty),
        None => false,
    }
}

/// Whether the list `rust` of `T` has a bound.
pub const fn has_bounded_list<T: Document>(rust: &str) -> bool {
    let Some(field) = declared(T::META.fields, rust) else {
        return false;
    };
    let mut rest = field.rules;
    while let [one, behind @ ..] = rest {
        if let Rule::Items { max: Some(_), .. } = one {
            return true;
        }
        rest = behind;
    }
    false
}

/// Whether `T` declares a relation by the reference `by` that deletes what refers to a deleted document.
pub const fn cascades_by<T: Document>(by: &str) -> bool {
    let mut rest = T::MODEL.declared_relations;
    while let [one, behind @ ..] = rest {
        if let RelationMeta::Inverse(one) = one
            && same_path(one.by, &[by])
            && matches!(one.on_delete, Some(OnDelete::Cascade))
        {
            return true;
        }
        rest = behind;
    }
    false
}

/// Whether the documents of `T` have versions.
pub const fn has_versions<T: Document>() -> bool {
    T::MODEL.schema.is_some()
}
