//! Checks of `budget` and `depth`.

use crate::attribute_names;
use crate::errors::{Errors, coded};
use crate::facts::Facts;
use crate::model::Shape;
use crate::model::rust_type::is_without_derived;

/// The largest document that MongoDB stores.
const MAX_DOCUMENT: u64 = 16 * 1024 * 1024;
/// The number of levels to which MongoDB nests documents.
const MAX_DEPTH: u32 = 100;

pub(super) fn check(facts: &Facts<'_>, errors: &mut Errors) {
    budget(facts, errors);
    depth(facts, errors);
}

fn budget(facts: &Facts<'_>, errors: &mut Errors) {
    let model = facts.model;
    let Some(budget) = &model.attributes.budget else {
        return;
    };
    let message = if !model.generics.params.is_empty() {
        errors.at(
            &budget.word,
            coded("budget", "a generic struct can't declare a budget, because the sizes of its parameters are unknown; declare it on a struct without parameters"),
        );
        return;
    } else if budget.max > MAX_DOCUMENT {
        "MongoDB stores documents of up to 16 MiB; take a smaller budget: \"16MiB\" or less"
    } else if budget.max == 0 {
        "this must be at least 1"
    } else {
        if let Some(reason) = &budget.allow
            && reason.value().trim().is_empty()
        {
            let usage = attribute_names::usage(attribute_names::ALLOW).unwrap_or_default();
            errors.at(
                reason,
                coded(
                    "budget",
                    format!("say why documents may exceed their budget: {usage}"),
                ),
            );
        }
        return;
    };
    errors.push(syn::Error::new(budget.span, coded("budget", message)));
}

fn depth(facts: &Facts<'_>, errors: &mut Errors) {
    let model = facts.model;
    let Some(depth) = &model.attributes.depth else {
        return;
    };
    let has_fields = matches!(model.shape, Shape::Struct { .. } | Shape::Enum(_));
    let types = model.stored_types();
    let may_hold_derived = has_fields && types.iter().any(|ty| !is_without_derived(ty));
    let message = if !model.generics.params.is_empty() {
        "a generic type can't declare its depth; declare it on a type without parameters"
    } else if !may_hold_derived {
        "this type can't contain itself, so there is no depth to declare; remove it"
    } else if depth.max == 0 || depth.max > MAX_DEPTH {
        errors.push(syn::Error::new(
            depth.span,
            coded(
                "depth",
                "MongoDB nests documents up to 100 levels deep; write a number from 1 to 100",
            ),
        ));
        return;
    } else {
        return;
    };
    errors.at(&depth.word, coded("depth", message));
}
