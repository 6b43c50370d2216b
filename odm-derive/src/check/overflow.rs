//! Checks of `overflow`, and of the fields of an overflow.

use syn::Ident;

use crate::attribute_names;
use crate::errors::Errors;
use crate::facts::Facts;
use crate::facts::field::{FieldFacts, Presence};
use crate::facts::overflow::{unset, wrong_id, wrong_number};
use crate::model::rust_type::{Kind, is_option, kind};
use crate::model::{Derive, Model, OverflowRole, Shape};
use crate::parse::overflow::Overflow;
use crate::parse::serde::unraw;

/// The most elements of an overflow document. Every push writes the whole document.
const MAX_ELEMENTS: u32 = 5_000;

/// Words that contradict `overflow`, and why.
const OTHERS: [(&str, &str); 7] = [
    (
        attribute_names::BUCKET,
        "fills its documents by another rule",
    ),
    (
        attribute_names::CAPPED,
        "removes its oldest documents, and with them elements of any list",
    ),
    (
        attribute_names::COLLATION,
        "compares references by other rules, so that two documents could share an overflow",
    ),
    (attribute_names::GRIDFS, "describes files"),
    (
        attribute_names::SCHEMA,
        "rewrites documents by steps, which a push into the list does not run",
    ),
    (
        attribute_names::TREE,
        "has nodes, which are inserted one by one",
    ),
    (
        attribute_names::VIEW,
        "holds nothing: MongoDB computes its documents",
    ),
];

pub(super) fn check(facts: &Facts<'_>, errors: &mut Errors) {
    let model = facts.model;
    let Some(overflow) = &model.attributes.overflow else {
        return;
    };
    if model.derive != Derive::Document
        || !matches!(model.shape, Shape::Struct { .. })
        || model.attributes.variant_of.is_some()
    {
        // `container::check` and `variants::check` report these.
        return;
    }
    if !model.generics.params.is_empty() {
        errors.at(
            &overflow.word,
            "a generic struct can't be an overflow: declare `overflow` on a struct without parameters",
        );
        return;
    }
    bounds(overflow, errors);
    other_words(model, overflow, errors);
    if !are_named(model, overflow, errors) {
        return;
    }
    for one in &facts.fields {
        match model.overflow_role(one.field) {
            Some(role) => of_role(model, one, role, errors),
            None => of_none(one, errors),
        }
    }
    super::bucket::index(model, errors);
}

fn bounds(overflow: &Overflow, errors: &mut Errors) {
    let (max, span) = overflow.max;
    let message = if max == 0 {
        "an overflow document without room could hold nothing; declare a `max` of at least 1"
            .to_owned()
    } else if max > MAX_ELEMENTS {
        format!(
            "an overflow document holds at most {MAX_ELEMENTS} elements, because each push writes the whole document; declare a smaller `max`"
        )
    } else {
        return;
    };
    errors.push(syn::Error::new(span, message));
}

/// Declarations of the struct that contradict an overflow.
fn other_words(model: &Model, overflow: &Overflow, errors: &mut Errors) {
    for word in &model.attributes.document_words {
        if let Some((_, why)) = OTHERS.iter().find(|(other, _)| word == other) {
            errors.at(
                word,
                format!(
                    "a collection with `{word}` {why}; remove it, or `{}`",
                    overflow.word
                ),
            );
        }
    }
}

/// Whether the three names are fields of the struct; reports those that are not, and one that is named twice.
fn are_named(model: &Model, overflow: &Overflow, errors: &mut Errors) -> bool {
    let mut before: Vec<&Ident> = Vec::new();
    let mut all = true;
    for (word, ident) in [
        (attribute_names::LIST, &overflow.list),
        (attribute_names::BY, &overflow.by),
        (attribute_names::NUMBER, &overflow.number),
    ] {
        let name = unraw(ident);
        let is_again = before.contains(&ident);
        before.push(ident);
        let message = if is_again {
            format!("`{name}` is named twice: `list`, `by` and `number` name three fields")
        } else if model.field(ident).is_none() {
            let names = model.fields().iter().filter(|field| !field.skipped);
            let names: Vec<&str> = names.map(|field| field.rust.as_str()).collect();
            let hint = attribute_names::hint(&name, names.iter().copied());
            format!(
                "`{word}` names a field of `{}`, and the struct has no `{name}`{hint}",
                model.ident
            )
        } else {
            continue;
        };
        all = false;
        errors.at(ident, message);
    }
    all
}

/// A field that a push writes.
fn of_role(model: &Model, one: &FieldFacts<'_>, role: OverflowRole, errors: &mut Errors) {
    let (field, attributes) = (one.field, &one.field.attributes);
    let (rust, sentence) = (&field.rust, role.sentence());
    if field.skipped || field.flatten.is_some() {
        errors.at(
            &field.ident,
            format!("`{rust}` {sentence}, so it is stored by its own name"),
        );
        return;
    }
    if field.stored == "_id" {
        errors.at(
            &field.ident,
            format!("`_id` never changes, and `{rust}` {sentence}; add a field"),
        );
        return;
    }
    let other = attributes
        .version
        .as_ref()
        .or_else(|| attributes.timestamp())
        .or_else(|| attributes.copy_of.as_ref().map(|it| &it.word))
        .or_else(|| attributes.summary.as_ref().map(|it| &it.word));
    if let Some(word) = other {
        errors.at(
            word,
            format!("`{rust}` {sentence}, and a push writes it; remove `{word}`"),
        );
    }
    if field.sometimes {
        errors.at(
            &field.ident,
            format!(
                "`{rust}` {sentence}, so every overflow document has it: remove `skip_serializing_if`"
            ),
        );
    }
    match role {
        OverflowRole::By => reference(model, one, errors),
        OverflowRole::List => list(one, errors),
        OverflowRole::Number => {
            let is_integer = matches!(one.stored, Kind::Integer);
            let is_known = field.encoder.is_none() && !matches!(one.stored, Kind::Unknown);
            if is_known && (is_option(&field.ty) || !is_integer) {
                errors.at(&field.ty, wrong_number(field));
            }
        }
    }
}

fn reference(model: &Model, one: &FieldFacts<'_>, errors: &mut Errors) {
    let field = one.field;
    let Kind::Ref(target) = kind(&field.ty) else {
        errors.at(
            &field.ty,
            format!(
                "`{}` refers to the document whose list overflows: declare it as `Ref<…>` of its model, which is never none",
                field.rust
            ),
        );
        return;
    };
    let spelled = crate::facts::relations::spelled(target);
    if spelled == "Self" || model.ident == spelled {
        errors.at(
            target,
            "the lists of overflow documents do not overflow themselves: refer to another model",
        );
    }
    if field.encoder.is_some() {
        errors.at(
            &field.ident,
            format!(
                "`{}` has a serializer of its own, and an overflow refers to documents by their `_id`; remove the serializer",
                field.rust
            ),
        );
    }
}

fn list(one: &FieldFacts<'_>, errors: &mut Errors) {
    let (field, declared) = (one.field, one.field.attributes.list.as_ref());
    if !matches!(kind(&field.ty), Kind::List(_)) || crate::model::rust_type::is_fixed(&field.ty) {
        errors.at(
            &field.ty,
            format!(
                "`{}` holds the elements of the overflow: declare it as a `Vec`",
                field.rust
            ),
        );
    } else if let Some(list) = declared.filter(|one| !one.is_overflow()) {
        errors.at(
            &list.word,
            format!(
                "`overflow` already bounds this list by its `max`; remove `{}`",
                list.word
            ),
        );
    } else if field.encoder.is_some() {
        errors.at(
            &field.ident,
            format!(
                "`{}` has a serializer of its own, and an overflow stores element by element; remove the serializer",
                field.rust
            ),
        );
    }
}

/// A field that no push writes.
fn of_none(one: &FieldFacts<'_>, errors: &mut Errors) {
    let field = one.field;
    if field.skipped || field.flatten.is_some() {
        return;
    }
    if field.stored == "_id" {
        if field.encoder.is_none() && !matches!(one.stored, Kind::ObjectId | Kind::Unknown) {
            errors.at(&field.ty, wrong_id(field));
        }
        return;
    }
    let attributes = &field.attributes;
    let is_maintained = attributes.version.is_some()
        || attributes.timestamp().is_some()
        || attributes.copy_of.is_some();
    let is_required = match one.presence {
        Presence::Always => true,
        Presence::OfType => !matches!(one.stored, Kind::Unknown),
        Presence::Defaulted | Presence::Sometimes => false,
    };
    if is_required && !is_maintained && !attributes.is_malformed {
        errors.at(&field.ident, unset(field));
    }
}
