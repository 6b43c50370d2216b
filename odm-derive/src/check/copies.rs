//! Checks of `copy_of`.

use super::field::is_instant;
use crate::attribute_names;
use crate::errors::Errors;
use crate::facts::Facts;
use crate::facts::field::{FieldFacts, Presence};
use crate::facts::relations::{beside, reference_of};
use crate::model::rust_type::{Kind, is_option};
use crate::model::{Derive, tree};
use crate::parse::relation::{CopyOf, Refresh};
use crate::parse::serde::unraw;

pub(super) fn check(facts: &Facts<'_>, errors: &mut Errors) {
    for one in &facts.fields {
        if let Some(word) = &one.field.attributes.often
            && (facts.model.derive != Derive::Document || one.variant.is_some())
        {
            errors.at(
                word,
                "`often` stands on a field of a document: write it on the field that holds this value",
            );
        }
        if let Some(copy) = &one.field.attributes.copy_of {
            field(facts, one, copy, errors);
        }
    }
}

fn field(facts: &Facts<'_>, one: &FieldFacts<'_>, copy: &CopyOf, errors: &mut Errors) {
    let model = facts.model;
    let (word, rust) = (&copy.word, &one.field.rust);
    if !model.generics.params.is_empty() {
        errors.at(
            word,
            "a generic struct can't declare `copy_of`: a change of the other model must know its copies; declare it on a struct without parameters",
        );
        return;
    }
    if let (Some(once), Some(refresh)) = (&copy.once, &copy.refresh) {
        errors.at(
            &refresh.word,
            format!("a copy that is made once does not age: leave `{once}` or `refresh` out"),
        );
        return;
    }
    if let (Some(word), Some(_)) = (copy.left_alone(), &copy.allow_often) {
        errors.at(
            word,
            format!("changes of the other document do not write this copy: leave `{word}` or `allow_often` out"),
        );
        return;
    }
    if let Some(reason) = &copy.allow_often
        && reason.value().trim().is_empty()
    {
        errors.at(
            reason,
            format!(
                "say why a copy of it is fine: {}",
                attribute_names::usage(attribute_names::ALLOW_OFTEN).unwrap_or_default()
            ),
        );
        return;
    }
    if one.field.skipped {
        // Attributes on it are refused elsewhere.
        return;
    }
    if let Some(other) = kept_otherwise(facts, one, "copy") {
        errors.at(
            word,
            format!("`{rust}` {other}, so it can't be a copy; declare another field for the copy"),
        );
        return;
    }
    let name = unraw(&copy.reference);
    let Some(reference) = reference_of(&facts.fields, one, copy) else {
        let beside = facts.fields.iter().filter(|it| it.variant == one.variant);
        let names = beside
            .filter(|it| it.leads_to().is_some())
            .map(|it| it.field.rust.as_str());
        errors.at(
            &copy.reference,
            format!(
                "`copy_of` names a reference beside `{rust}`, then a field of the document that it leads to, and there is no field `{name}`{}",
                attribute_names::hint(&name, names)
            ),
        );
        return;
    };
    if reference.leads_to().is_none() {
        let is_list = matches!(reference.stored, Kind::List(_));
        let message = if is_list {
            format!(
                "`{name}` is a list, so `{rust}` would copy several values: put one reference and its copies into a struct of their own, and embed a list of it"
            )
        } else {
            format!("`{name}` is no reference: declare it as `Ref<…>` or `Option<Ref<…>>`")
        };
        errors.at(&copy.reference, message);
        return;
    }
    if is_option(&reference.field.ty)
        && !is_option(&one.field.ty)
        && !matches!(one.stored, Kind::Unknown)
    {
        errors.at(
            &one.field.ty,
            format!(
                "`{name}` can be none, and then there is nothing to copy: declare `{rust}` as an `Option`"
            ),
        );
        return;
    }
    if let Some(refresh) = &copy.refresh {
        time(facts, one, copy, refresh, errors);
    }
}

/// Checks the field with the time of a copy.
fn time(
    facts: &Facts<'_>,
    one: &FieldFacts<'_>,
    copy: &CopyOf,
    refresh: &Refresh,
    errors: &mut Errors,
) {
    let name = unraw(&refresh.at);
    let Some(time) = beside(&facts.fields, one.variant, &refresh.at) else {
        let beside = facts.fields.iter().filter(|it| it.variant == one.variant);
        let names = beside.map(|it| it.field.rust.as_str());
        errors.at(
            &refresh.at,
            format!(
                "`at` names a field beside `{}`, for the time of the copy, and there is no field `{name}`{}",
                one.field.rust,
                attribute_names::hint(&name, names)
            ),
        );
        return;
    };
    let (field, attributes) = (time.field, &time.field.attributes);
    let other = if field.skipped {
        Some("is not stored".to_owned())
    } else if attributes.copy_of.is_some() {
        Some("is a copy itself".to_owned())
    } else if attributes.summary.is_some() {
        Some("is a summary".to_owned())
    } else {
        kept_otherwise(facts, time, "time")
    };
    if let Some(other) = other {
        errors.at(
            &refresh.at,
            format!("`{name}` {other}, so it can't hold the time of a copy; declare another field"),
        );
        return;
    }
    let has_serializer = field.encoder.is_some() || field.decoder.is_some();
    if has_serializer || !is_instant(&field.ty) {
        errors.at(
            &refresh.at,
            format!("`{name}` holds the time of a copy: declare it as `bson::DateTime`, or as an `Option` of it, without a serializer of its own"),
        );
        return;
    }
    let can_be_none =
        reference_of(&facts.fields, one, copy).is_some_and(|it| is_option(&it.field.ty));
    if can_be_none && !is_option(&field.ty) {
        errors.at(
            &refresh.at,
            format!(
                "`{}` can be none, and then there is no copy and no time: declare `{name}` as an `Option`",
                unraw(&copy.reference)
            ),
        );
        return;
    }
    let mut others = facts.fields.iter().filter(|it| it.variant == one.variant);
    let other = others.find_map(|other| {
        let other = other.field.attributes.copy_of.as_ref()?;
        let time = other.refresh.as_ref()?;
        let differs = other.reference != copy.reference || time.older_than != refresh.older_than;
        (time.at == refresh.at && differs && !std::ptr::eq(other, copy)).then_some(other)
    });
    // Of two that disagree, the second is the culprit.
    if let Some(other) = other.filter(|other| is_before(facts, other, copy)) {
        let message = if other.reference == copy.reference {
            format!(
                "`{name}` is the time of copies with another age: give both the same, or declare another field"
            )
        } else {
            format!(
                "`{name}` is the time of copies beside `{}`: declare another field",
                unraw(&other.reference)
            )
        };
        errors.at(&refresh.at, message);
    }
}

/// Whether the field with the first copy is declared before that with the second.
fn is_before(facts: &Facts<'_>, first: &CopyOf, second: &CopyOf) -> bool {
    let mut copies = facts
        .fields
        .iter()
        .filter_map(|it| it.field.attributes.copy_of.as_ref());
    let found = copies.find(|it| std::ptr::eq(*it, first) || std::ptr::eq(*it, second));
    found.is_some_and(|it| std::ptr::eq(it, first))
}

/// Why something else decides the value of the field than the copy or the summary that it is declared as.
pub(super) fn kept_otherwise(
    facts: &Facts<'_>,
    one: &FieldFacts<'_>,
    what: &str,
) -> Option<String> {
    let (model, field) = (facts.model, one.field);
    let attributes = &field.attributes;
    let is_source = |other: &FieldFacts<'_>| {
        let keywords = other.field.attributes.keywords_from.as_ref();
        keywords.is_some_and(|from| from.fields.contains(&field.ident))
    };
    let other = if field.flatten.is_some() {
        "is stored as several fields"
    } else if field.stored == "_id" {
        "is the `_id`, which never changes"
    } else if attributes.version.is_some() {
        "is the version"
    } else if attributes.timestamp().is_some() {
        "is a time that writes set"
    } else if attributes.keywords_from.is_some() {
        "has keywords that are computed"
    } else if attributes.recent.is_some() {
        "is a list of the newest"
    } else if one.relation.is_some() || attributes.refers_to.is_some() {
        "is a reference"
    } else if one.variant.is_none() && tree::keeps(&model.attributes, field) {
        "is kept by a tree"
    } else if facts.fields.iter().any(is_source) {
        return Some(format!(
            "is a source of keywords, which a change of the {what} would not compute again"
        ));
    } else if matches!(one.presence, Presence::Sometimes) && !is_option(&field.ty) {
        "is left out of some documents and is no `Option`"
    } else {
        return None;
    };
    Some(other.to_owned())
}
