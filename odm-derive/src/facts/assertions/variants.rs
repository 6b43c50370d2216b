//! Assertions about unnamed values, in a newtype, a tuple or a variant.

use syn::Type;
use syn::spanned::Spanned;

use super::{Assertion, Flaw, Subject};
use crate::model::rust_type::{Kind, holds_only_scalars, kind, without_option};
use crate::model::{Derive, Model, Shape, Tagging, TupleValue, Variant, VariantContent};
use crate::parse::serde::unraw;

/// Groups of assertions about values whose types are known where the type is declared.
pub(super) fn of_values(model: &Model) -> Vec<Vec<Assertion<'_>>> {
    match &model.shape {
        Shape::Forward { ty, .. } => vec![sound(model, ty, Flaw::Null(ty)).into_iter().collect()],
        Shape::Tuple(values) => values
            .iter()
            .filter(|value| !value.is_opaque)
            .map(|TupleValue { ty, .. }| sound(model, ty, Flaw::Tuple(ty)).into_iter().collect())
            .collect(),
        Shape::Enum(shape) => shape
            .variants
            .iter()
            .flat_map(|variant| of_variant(model, &shape.tagging, variant))
            .collect(),
        _ => Vec::new(),
    }
}

/// Assertions about values whose types depend on a parameter.
pub(super) fn deferred(model: &Model) -> Vec<Assertion<'_>> {
    let Shape::Enum(shape) = &model.shape else {
        return Vec::new();
    };
    let mut assertions = Vec::new();
    for variant in &shape.variants {
        if let VariantContent::Newtype(ty) = &variant.content
            && model.depends_on_parameter(ty)
        {
            assertions.extend(beside_a_tag(&shape.tagging, variant, ty));
        }
    }
    assertions
}

fn of_variant<'a>(
    model: &Model,
    tagging: &Tagging,
    variant: &'a Variant,
) -> Vec<Vec<Assertion<'a>>> {
    let nameless = |ty| {
        let flaw = Flaw::Undeclared(Subject::Value(ty), "Nameless");
        sound(model, ty, flaw).into_iter()
    };
    match &variant.content {
        VariantContent::Newtype(ty) => {
            // The struct of a document's variant is a model itself, and has been checked as one.
            let is_document = model.derive == Derive::Document;
            let mut assertions: Vec<_> = nameless(ty).filter(|_| !is_document).collect();
            if !model.depends_on_parameter(ty) {
                assertions.extend(beside_a_tag(tagging, variant, ty));
            }
            vec![assertions]
        }
        VariantContent::Tuple(types) => types.iter().map(|ty| nameless(ty).collect()).collect(),
        _ => Vec::new(),
    }
}

/// No flaw in a type whose spelling does not show that it has none.
fn sound<'a>(model: &Model, ty: &'a Type, flaw: Flaw<'a>) -> Option<Assertion<'a>> {
    let is_asserted = !holds_only_scalars(ty) && !model.depends_on_parameter(ty);
    is_asserted.then(|| Assertion::Sound {
        span: ty.span(),
        flaw,
    })
}

/// Assertions about the content of a variant if the tag is stored among the fields of the content.
fn beside_a_tag<'a>(tagging: &Tagging, variant: &Variant, ty: &'a Type) -> Vec<Assertion<'a>> {
    let Tagging::Internal(tag) = tagging else {
        return Vec::new();
    };
    let (name, stored) = (unraw(&variant.ident), tag.value());
    let mut assertions = vec![Assertion::Holds {
        span: ty.span(),
        test: "takes_a_tag",
        subject: Subject::Value(ty),
        message: format!(
            "`{name}` holds a value that may have no fields, and the tag is stored among the fields of what a variant holds; name the value, `{name} {{ value: … }}`, or store it beside the tag: `#[serde(tag = \"{stored}\", content = \"…\")]`"
        ),
    }];
    if matches!(kind(without_option(ty)), Kind::Unknown) {
        assertions.push(Assertion::NoFieldNamed {
            span: ty.span(),
            ty,
            probed: false,
            name: tag.clone(),
            message: format!(
                "a field of what `{name}` holds is stored as `{stored}`, and so is the tag; rename one"
            ),
        });
    }
    assertions
}
