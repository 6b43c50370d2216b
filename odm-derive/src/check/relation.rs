//! Checks of inverse relations, and of those that both models declare.

use crate::attribute_names;
use crate::errors::Errors;
use crate::facts::Facts;
use crate::facts::field::{Arity, FieldFacts};
use crate::parse::relation::{Counterpart, CounterpartKind, InverseKind};
use crate::parse::serde::unraw;

pub(super) fn check(facts: &Facts<'_>, errors: &mut Errors) {
    let model = facts.model;
    for one in &facts.fields {
        if let Some(counterpart) = &one.field.attributes.counterpart {
            reference(one, counterpart, errors);
        }
    }
    for (position, inverse) in model.attributes.inverses.iter().enumerate() {
        let name = unraw(&inverse.name);
        if model.field(&inverse.name).is_some() {
            errors.at(
                &inverse.name,
                format!("`{name}` is a field of the struct; give the relation another name"),
            );
        }
        let mut before = model.attributes.inverses.iter().take(position);
        if before.any(|other| unraw(&other.name) == name) {
            errors.at(
                &inverse.name,
                format!("two relations are called `{name}`; give one of them another name"),
            );
        }
        if !model.generics.params.is_empty() {
            errors.at(
                &inverse.word,
                format!(
                    "a generic struct can't declare `{}`: other models refer to one collection; declare it on a struct without parameters",
                    inverse.word
                ),
            );
        }
        if inverse.kind == InverseKind::Rest && inverse.by.len() > 1 {
            errors.at(
                &inverse.word,
                format!(
                    "`{name}` is the rest of this document: `by` must name a field of its struct, not one inside a subdocument"
                ),
            );
        }
        if let Some(reason) = &inverse.allow_scan
            && reason.value().trim().is_empty()
        {
            errors.at(
                reason,
                format!(
                    "say why a scan is fine: {}",
                    attribute_names::usage(attribute_names::ALLOW_SCAN).unwrap_or_default()
                ),
            );
        }
    }
}

/// A counterpart is declared on a reference to one model.
fn reference(one: &FieldFacts<'_>, counterpart: &Counterpart, errors: &mut Errors) {
    let word = &counterpart.word;
    let field = &one.field.rust;
    let relation = one.relation.as_ref().filter(|one| !one.is_db_ref);
    match (relation, counterpart.kind) {
        (None, _) => errors.at(
            word,
            format!(
                "`{word}` is for a reference: declare `{field}` as `Ref<…>`, `Option<Ref<…>>` or `Vec<Ref<…>>`"
            ),
        ),
        (Some(relation), CounterpartKind::Rest) if relation.arity != Arity::One => {
            errors.at(
                word,
                format!(
                    "`{field}` must be one reference, to the document that this one completes: declare it as `Ref<…>`"
                ),
            );
        }
        _ => {}
    }
}

/// Refuses relations that only documents declare.
pub(super) fn embedded(facts: &Facts<'_>, errors: &mut Errors) {
    for one in &facts.fields {
        let attributes = &one.field.attributes;
        let recent = attributes.list.as_ref().filter(|list| list.is_recent());
        let counterpart = attributes.counterpart.as_ref().map(|one| &one.word);
        if let Some(word) = recent.map(|list| &list.word).or(counterpart) {
            errors.at(
                word,
                format!("`{word}` is for a field of the struct that derives `Document`; subdocuments have no collection that the other side could name"),
            );
        }
    }
}
