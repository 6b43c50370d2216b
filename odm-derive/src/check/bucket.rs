//! Checks of `bucket`, and of the fields of a bucket.

use syn::Ident;

use crate::attribute_names;
use crate::errors::Errors;
use crate::facts::Facts;
use crate::facts::bucket::{role, unset, wrong_count, wrong_id, wrong_start, wrong_total};
use crate::facts::field::{FieldFacts, Presence};
use crate::model::rust_type::{Kind, is_option, stored_kind};
use crate::model::{Derive, Field, Model, Shape};
use crate::parse::bucket::{Bucket, KeptKind, Length};
use crate::parse::serde::unraw;

/// The most items of a bucket. Every insert writes the bucket anew, and MongoDB's own time-series buckets hold 1,000.
const MAX_ITEMS: u32 = 5_000;

pub(super) fn check(facts: &Facts<'_>, errors: &mut Errors) {
    let model = facts.model;
    let Some(bucket) = &model.attributes.bucket else {
        without_bucket(facts, errors);
        return;
    };
    if model.derive != Derive::Document || !matches!(model.shape, Shape::Struct { .. }) {
        // `container::check` reports both.
        return;
    }
    if !model.generics.params.is_empty() {
        errors.at(
            &bucket.word,
            "a generic struct can't be a bucket: declare `bucket` on a struct without parameters",
        );
        return;
    }
    let (max, span) = bucket.max;
    if max == 0 {
        errors.push(syn::Error::new(
            span,
            "a bucket without room could hold nothing; declare a `max` of at least 1",
        ));
    }
    if max > MAX_ITEMS {
        errors.push(syn::Error::new(
            span,
            format!(
                "a bucket holds at most {MAX_ITEMS} items, because each insert writes the whole bucket; declare a smaller `max`"
            ),
        ));
    }
    other_words(model, bucket, errors);
    keys(model, bucket, errors);
    items(model, bucket, errors);
    for kind in [KeptKind::Start, KeptKind::Count] {
        exactly_one(model, bucket, kind, errors);
    }
    for one in &facts.fields {
        if let Some(role) = role(model, one.field) {
            of_role(model, bucket, one, role, errors);
        } else {
            of_none(one, errors);
        }
    }
    index(model, errors);
}

/// The fields of a bucket are declared where there is no bucket.
fn without_bucket(facts: &Facts<'_>, errors: &mut Errors) {
    if !facts.model.attributes.whole {
        // `bucket` may stand behind a mistake.
        return;
    }
    for one in &facts.fields {
        let kept = one.field.attributes.kept.as_ref();
        if let Some(kept) = kept.filter(|_| !one.field.skipped && one.field.flatten.is_none()) {
            let usage = attribute_names::usage(attribute_names::BUCKET).unwrap_or_default();
            errors.at(
                &kept.word,
                format!(
                    "`{}` is for a field of a bucket: write {usage} on a struct that derives `Document`",
                    kept.word
                ),
            );
        }
    }
}

/// Declarations of the struct that contradict a bucket.
fn other_words(model: &Model, bucket: &Bucket, errors: &mut Errors) {
    let words = model.attributes.document_words.iter();
    for word in words {
        let why = match word.to_string().as_str() {
            attribute_names::CAPPED => "removes its oldest buckets, with items of any age",
            attribute_names::GRIDFS => "describes files",
            attribute_names::TREE => "has nodes, which are inserted one by one",
            attribute_names::COLLATION => {
                "compares keys by other rules, so that items of several keys could share a bucket"
            }
            _ => continue,
        };
        errors.at(
            word,
            format!(
                "a collection with `{word}` {why}; remove it, or `{}`",
                bucket.word
            ),
        );
    }
}

fn keys(model: &Model, bucket: &Bucket, errors: &mut Errors) {
    let mut before: Vec<&Ident> = Vec::new();
    for ident in &bucket.by {
        if before.contains(&ident) {
            errors.at(ident, format!("`{ident}` is named twice; keep one"));
            continue;
        }
        before.push(ident);
        let Some(field) = model.field(ident) else {
            let name = unraw(ident);
            let names = model.fields().iter().filter(|field| !field.skipped);
            let names: Vec<&str> = names.map(|field| field.rust.as_str()).collect();
            let hint = attribute_names::hint(&name, names.iter().copied());
            errors.at(
                ident,
                format!(
                    "`by` names a field of `{}`, and the struct has no `{name}`{hint}",
                    model.ident
                ),
            );
            continue;
        };
        let is_list = matches!(stored_kind(&field.ty), Kind::List(_) | Kind::Map);
        let is_items = model.item_lists(bucket).any(|one| one.rust == field.rust);
        let why = if field.stored == "_id" {
            "is the `_id`, of which each bucket has another one"
        } else if field.attributes.kept.is_some() || is_items {
            "differs from bucket to bucket"
        } else if is_list {
            "has several values"
        } else if is_option(&field.ty) && field.encoder.is_none() {
            "can be none"
        } else {
            continue;
        };
        errors.at(
            ident,
            format!(
                "`{}` {why}: name a field that all items of a bucket share",
                field.rust
            ),
        );
    }
}

fn items(model: &Model, bucket: &Bucket, errors: &mut Errors) {
    let of = crate::facts::relations::spelled(&bucket.of);
    let mut lists = model.item_lists(bucket);
    match (lists.next(), lists.next()) {
        (None, _) => errors.at(
            &bucket.of,
            format!(
                "`{}` has no list of `{of}`: add a field for the items of the bucket, `items: Vec<{of}>`",
                model.ident
            ),
        ),
        (Some(_), Some(second)) => errors.at(
            &second.ident,
            format!("a bucket has one list of `{of}`, which holds its items; remove the second"),
        ),
        (Some(items), None) => {
            if let Some(list) = items.attributes.list.as_ref().filter(|one| !one.is_bucket()) {
                errors.at(
                    &list.word,
                    format!("`bucket` already bounds this list; remove `{}`", list.word),
                );
            } else if items.encoder.is_some() {
                errors.at(
                    &items.ident,
                    format!(
                        "`{}` has a serializer of its own, and a bucket stores its items as documents; remove the serializer",
                        items.rust
                    ),
                );
            }
        }
    }
}

fn exactly_one(model: &Model, bucket: &Bucket, kind: KeptKind, errors: &mut Errors) {
    let mut fields = model.keeping(kind);
    let has_mistake = model.fields().iter().any(|one| one.attributes.is_malformed);
    let (first, second) = (fields.next(), fields.next());
    if first.is_none() && !has_mistake {
        let missing = match (kind, bucket.length) {
            (KeptKind::Start, Length::Time(_)) => {
                "where its span starts: `#[odm(start_of(at))] start: DateTime`, with the field `at` by which the items are ordered"
            }
            (KeptKind::Start, Length::Numbers(_)) => {
                "where its span starts: `#[odm(start_of(number))] start: i64`, with the field `number` by which the items are ordered"
            }
            _ => "how many items it has: `#[odm(item_count)] count: i32`",
        };
        errors.at(&bucket.word, format!("a bucket stores {missing}"));
    }
    if let Some(kept) = second.and_then(|field| field.attributes.kept.as_ref()) {
        errors.at(
            &kept.word,
            format!(
                "a bucket has one field with `{}`; remove the second",
                kept.word
            ),
        );
    }
}

/// A field that inserts write.
fn of_role(model: &Model, bucket: &Bucket, one: &FieldFacts<'_>, role: &str, errors: &mut Errors) {
    let (field, attributes) = (one.field, &one.field.attributes);
    if field.skipped || field.flatten.is_some() {
        // Attributes on it are refused elsewhere; a key has none.
        if attributes.kept.is_none() {
            errors.at(
                &field.ident,
                format!("`{}` {role}, so it is stored by its own name", field.rust),
            );
        }
        return;
    }
    let other = attributes
        .version
        .as_ref()
        .or_else(|| attributes.timestamp())
        .or_else(|| attributes.copy_of.as_ref().map(|it| &it.word))
        .or_else(|| attributes.summary.as_ref().map(|it| &it.word))
        .or_else(|| {
            attributes
                .recent
                .as_ref()
                .and(attributes.list.as_ref())
                .map(|it| &it.word)
        })
        .or_else(|| {
            attributes
                .keywords_from
                .as_ref()
                .and(attributes.list.as_ref())
                .map(|it| &it.word)
        });
    if let Some(word) = other {
        errors.at(
            word,
            format!(
                "`{}` {role}, and inserts write it; remove `{word}`",
                field.rust
            ),
        );
    }
    let is_value = attributes
        .kept
        .as_ref()
        .is_some_and(|kept| matches!(kept.kind, KeptKind::Smallest | KeptKind::Largest));
    if field.sometimes && !is_value {
        errors.at(
            &field.ident,
            format!(
                "`{}` {role}, so every bucket has it: remove `skip_serializing_if`",
                field.rust
            ),
        );
    }
    let Some(kept) = &attributes.kept else {
        return;
    };
    if field.stored == "_id" {
        errors.at(
            &kept.word,
            format!(
                "`_id` never changes, so it can't be `{}`; add a field",
                kept.word
            ),
        );
    } else if bucket.by.iter().any(|ident| unraw(ident) == field.rust) {
        // `keys` reports it.
    } else if model.item_lists(bucket).any(|list| list.rust == field.rust) {
        errors.at(
            &kept.word,
            format!(
                "`{}` holds the items of the bucket; write `{}` on another field",
                field.rust, kept.word
            ),
        );
    } else if let Some(message) = wrong_type(bucket, one, kept.kind) {
        errors.at(&field.ty, message);
    }
}

/// The error if the spelling shows that the type can't hold what is kept.
fn wrong_type(bucket: &Bucket, one: &FieldFacts<'_>, kind: KeptKind) -> Option<String> {
    let field: &Field = one.field;
    if field.encoder.is_some() || matches!(one.stored, Kind::Unknown) {
        return None;
    }
    let is_option = is_option(&field.ty);
    match kind {
        KeptKind::Start => {
            let fits = match bucket.length {
                Length::Time(_) => matches!(one.stored, Kind::Date),
                Length::Numbers(_) => matches!(one.stored, Kind::Integer),
            };
            (is_option || !fits).then(|| wrong_start(bucket, field))
        }
        KeptKind::Count => {
            let is_integer = matches!(one.stored, Kind::Integer);
            (is_option || !is_integer).then(|| wrong_count(field))
        }
        KeptKind::Total => {
            let is_number = matches!(one.stored, Kind::Integer | Kind::Float | Kind::Decimal);
            (is_option || !is_number).then(|| wrong_total(field))
        }
        // The types of both fields are compared where they are known.
        KeptKind::Smallest | KeptKind::Largest => None,
    }
}

/// A field that is not written when a bucket is opened.
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
    let is_maintained = attributes.version.is_some() || attributes.timestamp().is_some();
    let is_required = match one.presence {
        Presence::Always => true,
        Presence::OfType => !matches!(one.stored, Kind::Unknown),
        Presence::Defaulted | Presence::Sometimes => false,
    };
    // What could not be read may be the role of the field.
    if is_required && !is_maintained && !attributes.is_malformed {
        errors.at(&field.ident, unset(field));
    }
}

/// Reports declared indexes with the keys of the one that a bucket or an overflow adds: both would have one name.
pub(super) fn index(model: &Model, errors: &mut Errors) {
    let all = &model.attributes.indexes;
    let Some(needed) = all.iter().find(|index| index.is_implied) else {
        return;
    };
    let same = |index: &&crate::parse::index::Index| {
        let keys = |index: &crate::parse::index::Index| -> Vec<_> {
            let keys = index.keys.iter();
            keys.map(|key| (key.path.clone(), key.kind)).collect()
        };
        !index.is_implied && keys(index) == keys(needed)
    };
    for index in all.iter().filter(same) {
        errors.at(
            &index.word,
            format!(
                "`{}` adds an index over these keys; remove this one",
                needed.word
            ),
        );
    }
}
