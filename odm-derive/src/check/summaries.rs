//! Checks of `count_of`, `sum_of`, `mean_of`, `min_of` and `max_of`.

use super::copies::kept_otherwise;
use crate::attribute_names;
use crate::errors::Errors;
use crate::facts::Facts;
use crate::facts::field::FieldFacts;
use crate::facts::summaries::{summarized, wrong_type};
use crate::model::Derive;
use crate::model::rust_type::{Kind, is_option};
use crate::parse::serde::unraw;
use crate::parse::summary::{SummaryKind, SummaryOf};

pub(super) fn check(facts: &Facts<'_>, errors: &mut Errors) {
    for one in &facts.fields {
        if let Some(summary) = &one.field.attributes.summary {
            field(facts, one, summary, errors);
        }
    }
}

fn field(facts: &Facts<'_>, one: &FieldFacts<'_>, summary: &SummaryOf, errors: &mut Errors) {
    let model = facts.model;
    let (word, rust) = (&summary.word, &one.field.rust);
    if one.field.skipped || one.field.flatten.is_some() {
        // Attributes on it are refused elsewhere.
        return;
    }
    if model.derive != Derive::Document || one.variant.is_some() {
        errors.at(
            word,
            format!("only a document has relations to summarize: write `{word}` on a field of the struct that derives `Document`"),
        );
        return;
    }
    if !model.generics.params.is_empty() {
        errors.at(
            word,
            format!("a generic struct can't declare `{word}`: a change of the other model must know its summaries; declare it on a struct without parameters"),
        );
        return;
    }
    let other = if one.field.attributes.copy_of.is_some() {
        Some("is a copy".to_owned())
    } else {
        kept_otherwise(facts, one, "summary")
    };
    if let Some(other) = other {
        errors.at(
            word,
            format!(
                "`{rust}` {other}, so it can't be a summary; declare another field for the summary"
            ),
        );
        return;
    }
    relation(facts, summary, errors);
    if has_wrong_type(one, summary) {
        errors.at(&one.field.ty, wrong_type(one.field, summary));
    }
}

/// The summary names a relation whose documents it can summarize.
fn relation(facts: &Facts<'_>, summary: &SummaryOf, errors: &mut Errors) {
    let model = facts.model;
    let (word, name) = (&summary.word, &summary.relation);
    if summarized(model).any(|one| one.name == *name) {
        return;
    }
    let mut declared = model.attributes.inverses.iter();
    if let Some(inverse) = declared.find(|one| one.name == *name) {
        // A relation with a wrong name is refused elsewhere.
        if model.inverses().any(|one| one.name == *name) {
            errors.at(
                name,
                format!(
                    "`{name}` is a `{}`, and has one document for each of this struct: `{word}` summarizes the documents of a `has_one`, `has_many` or `has_squillions`",
                    inverse.word
                ),
            );
        }
        return;
    }
    if !model.attributes.whole {
        // The relation may stand behind a mistake.
        return;
    }
    let names: Vec<String> = summarized(model).map(|one| unraw(&one.name)).collect();
    let hint = if names.is_empty() {
        format!(": write `#[odm(has_many({name}: Model, by = field))]` on it")
    } else {
        attribute_names::hint(&unraw(name), names.iter().map(String::as_str))
    };
    errors.at(
        name,
        format!(
            "`{word}` names a relation of `{}`, and the struct declares no `{name}`{hint}",
            model.ident
        ),
    );
}

/// Whether the spelling shows that the type can't hold the summary.
fn has_wrong_type(one: &FieldFacts<'_>, summary: &SummaryOf) -> bool {
    if one.field.encoder.is_some() || matches!(one.stored, Kind::Unknown) {
        return false;
    }
    let is_option = is_option(&one.field.ty);
    match summary.kind {
        SummaryKind::Count => is_option || !matches!(one.stored, Kind::Integer),
        SummaryKind::Sum => {
            let is_number = matches!(one.stored, Kind::Integer | Kind::Float | Kind::Decimal);
            is_option || !is_number
        }
        SummaryKind::Mean => !is_option || !matches!(one.stored, Kind::Float | Kind::Decimal),
        SummaryKind::Min | SummaryKind::Max => !is_option,
    }
}
