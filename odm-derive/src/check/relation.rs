//! Checks of inverse relations, and of those that both models declare.

use quote::ToTokens as _;

use crate::attribute_names;
use crate::errors::Errors;
use crate::facts::Facts;
use crate::facts::field::{Arity, FieldFacts};
use crate::model::Model;
use crate::parse::relation::{Counterpart, CounterpartKind, Inverse, InverseKind};
use crate::parse::serde::unraw;

pub(super) fn check(facts: &Facts<'_>, errors: &mut Errors) {
    let model = facts.model;
    for one in &facts.fields {
        if let Some(counterpart) = &one.field.attributes.counterpart {
            reference(model, one, counterpart, errors);
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
        on_delete(model, position, inverse, errors);
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

/// One reference has one policy, and MongoDB itself deletes no documents that others refer to.
fn on_delete(model: &Model, position: usize, inverse: &Inverse, errors: &mut Errors) {
    let Some(policy) = &inverse.on_delete else {
        return;
    };
    let target = |one: &Inverse| one.target.to_token_stream().to_string();
    let mut before = model.attributes.inverses.iter().take(position);
    let other = before.find(|other| {
        let declared = other
            .on_delete
            .as_ref()
            .is_some_and(|other| other != policy);
        declared && target(other) == target(inverse) && other.by == inverse.by
    });
    if let Some(other) = other {
        errors.at(
            policy,
            format!(
                "`{}` and `{}` go by the same reference, which can have one policy: write it once",
                unraw(&other.name),
                unraw(&inverse.name)
            ),
        );
    }
    if policy == "leave" {
        return;
    }
    let indexes = model.attributes.indexes.iter();
    let of_fields = model
        .fields()
        .iter()
        .flat_map(|one| &one.attributes.indexes);
    let expires = indexes
        .chain(of_fields)
        .any(|one| one.expire_after.is_some());
    let by_itself = match (&model.attributes.capped, expires) {
        (Some(_), _) => "removes the oldest documents of a capped collection",
        (None, true) => "deletes expired documents",
        (None, false) => return,
    };
    errors.at(
        policy,
        format!("MongoDB {by_itself} by itself, and would leave references to them: write `on_delete = leave`"),
    );
}

/// A counterpart is declared on a reference to one model.
fn reference(model: &Model, one: &FieldFacts<'_>, counterpart: &Counterpart, errors: &mut Errors) {
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
        (Some(_), CounterpartKind::TwoWay) if !model.attributes.trees.is_empty() => {
            errors.at(
                word,
                format!(
                    "operations of a tree write no other collection, so the other side of `{field}` would not follow: declare \
                     `{field}` without `two_way`, and the relation by `has_many(…)` on the other model"
                ),
            );
        }
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
