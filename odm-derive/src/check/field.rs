//! Checks of one field.

use super::{list, rule};
use crate::attribute_names;
use crate::errors::Errors;
use crate::facts::assertions::DATES;
use crate::facts::field::FieldFacts;
use crate::model::rust_type::{BSON_TYPES, Kind, has_ambiguous_null, is_option, kind};
use crate::model::{Derive, Field, Model, Shape};
use crate::parse::serde;

pub(super) fn check(model: &Model, one: &FieldFacts<'_>, errors: &mut Errors) {
    let field = one.field;
    let attributes = &field.attributes;
    if field.skipped
        && let Some(word) = attributes.first_word()
    {
        errors.at(
            word,
            format!(
                "`{}` is never stored, so this has no effect; remove it, or `#[serde(skip)]`",
                field.rust
            ),
        );
        return;
    }
    bson_type(field, errors);
    ambiguous_null(field, errors);
    tuple_id(model, field, errors);
    if let Some(flatten) = &field.flatten {
        if field.encoder.is_some() {
            errors.at(flatten, "a flattened field can't have a serializer of its own: the fields that it stores would be unknown; remove `flatten` or the serializer");
        } else if let Some(word) = attributes.first_word_of_one_field() {
            errors.at(
                word,
                format!("`{}` is flattened, so it has no field of its own; write this on the fields inside", field.rust),
            );
        }
        return;
    }
    if model.derive == Derive::Embedded {
        for index in &attributes.indexes {
            if index.is_of_keywords() {
                errors.at(
                    &index.word,
                    format!(
                        "keywords have an index, which is declared where the collection is: write `items(max = N), unique_items` here, and on the document `#[odm(index(outer.{}))]`",
                        field.rust
                    ),
                );
                continue;
            }
            errors.at(
                &index.word,
                format!(
                    "indexes are declared where the collection is: on the document, write `#[odm({}(outer.{}))]`",
                    index.word, field.rust
                ),
            );
        }
        if let Some(word) = &attributes.version {
            errors.at(word, "only a document has a version; write it on a field of the struct that derives `Document`");
        }
        if let Some(word) = attributes.timestamp() {
            errors.at(
                word,
                format!("only a document has `{word}`; write it on a field of the struct that derives `Document`"),
            );
        }
    }
    version(field, errors);
    currency(model, one, errors);
    timestamp(field, errors);
    for rule in &attributes.rules {
        rule::check(one, rule, errors);
    }
    list::check(model, one, errors);
}

fn ambiguous_null(field: &Field, errors: &mut Errors) {
    if field.encoder.is_none() && has_ambiguous_null(&field.ty) {
        errors.at(
            &field.ty,
            "two values of this type are stored as null, `None` and `Some(None)`, and only one of them could be read back; declare one `Option`, or give the field a serializer that keeps them apart: `#[serde(with = \"…\")]`",
        );
    }
}

fn tuple_id(model: &Model, field: &Field, errors: &mut Errors) {
    let is_id = model.derive == Derive::Document && field.stored == "_id";
    if is_id && field.encoder.is_none() && matches!(kind(&field.ty), Kind::Tuple) {
        errors.at(
            &field.ty,
            "MongoDB refuses an array as `_id`; declare one value, or a struct that holds several",
        );
    }
}

fn bson_type(field: &Field, errors: &mut Errors) {
    let Some(literal) = &field.attributes.bson_type else {
        return;
    };
    let alias = literal.value();
    if field.encoder.is_none() {
        errors.at(
            literal,
            format!("the stored type of `{}` follows from its own; `bson_type` is for a field with `#[serde(with = \"…\")]`", field.rust),
        );
    } else if !BSON_TYPES.iter().any(|(name, _)| *name == alias) {
        let known = BSON_TYPES.iter().map(|(name, _)| *name);
        errors.at(
            literal,
            format!(
                "unknown BSON type: `{alias}`{}",
                attribute_names::hint(&alias, known)
            ),
        );
    }
}

fn currency(model: &Model, one: &FieldFacts<'_>, errors: &mut Errors) {
    let field = one.field;
    let Some(currency) = &field.attributes.currency else {
        return;
    };
    let Shape::Struct { fields, .. } = &model.shape else {
        errors.at(
            &currency.word,
            "an amount with a currency is a field of a struct; put both into a struct of their own, or store an `AnyMoney`",
        );
        return;
    };
    let other = fields.iter().find(|other| other.ident == currency.field);
    let name = serde::unraw(&currency.field);
    let message = match other {
        None => {
            let names = fields.iter().map(|field| field.rust.as_str());
            let hint = attribute_names::hint(&name, names);
            format!("there is no field `{name}`{hint}; add one: `{name}: AnyCurrency`")
        }
        Some(other) if other.ident == field.ident => {
            format!("`{name}` is the amount itself; name the field with its currency")
        }
        Some(other) if other.skipped || other.flatten.is_some() => {
            format!("`{name}` is not stored as one field, so it can't be the currency")
        }
        Some(_) if field.encoder.is_some() => {
            format!(
                "`{}` has a serializer of its own; remove that, so that it is stored as an amount",
                field.rust
            )
        }
        Some(_) => return,
    };
    errors.at(&currency.field, message);
}

fn version(field: &Field, errors: &mut Errors) {
    let Some(word) = &field.attributes.version else {
        return;
    };
    if field.stored == "_id" {
        errors.at(
            word,
            "`_id` can't be the version, because it never changes; add a field for the version",
        );
    } else if field.sometimes {
        errors.at(
            word,
            "the version must always be written: remove `skip_serializing` and `skip_serializing_if`",
        );
    } else if field.encoder.is_some() {
        errors.at(
            word,
            "`save` increments the version; declare it as `i64`, without a serializer of its own",
        );
    } else if !matches!(kind(&field.ty), Kind::Integer | Kind::Unknown) {
        errors.at(
            &field.ty,
            "`save` increments the version: declare it as `i64` or `i32`",
        );
    }
}

fn timestamp(field: &Field, errors: &mut Errors) {
    let attributes = &field.attributes;
    let Some(word) = attributes.timestamp() else {
        return;
    };
    if let (Some(_), Some(updated)) = (&attributes.created_at, &attributes.updated_at) {
        errors.at(
            &updated.word,
            "a field can't be both `created_at` and `updated_at`; declare two fields",
        );
    } else if field.stored == "_id" {
        errors.at(
            word,
            format!("`_id` identifies the document; declare another field for `{word}`"),
        );
    } else if field.module.is_none() && (field.encoder.is_some() || field.decoder.is_some()) {
        errors.at(word, format!("writes set `{word}` to a date; {DATES}"));
    } else if field.module.is_none() && !is_instant(&field.ty) {
        errors.at(
            &field.ty,
            format!("`{word}` is a date: declare it as `bson::DateTime`, or as an `Option` of it"),
        );
    } else if let Some(default) = field.default.as_ref().filter(|_| !is_option(&field.ty)) {
        errors.at(
            default,
            format!("`default` would invent a time for documents without `{word}`; declare `Option<DateTime>`, or remove `default`"),
        );
    } else if field.sometimes && !is_option(&field.ty) {
        errors.at(
            word,
            format!("`{word}` must always be written: remove `skip_serializing` and `skip_serializing_if`, or declare `Option<DateTime>`"),
        );
    }
}

/// Whether the spelling shows a date, or does not show what it is.
pub(super) fn is_instant(ty: &syn::Type) -> bool {
    match kind(ty) {
        Kind::Date | Kind::Unknown => true,
        Kind::Optional(inner) => matches!(kind(inner), Kind::Date | Kind::Unknown),
        _ => false,
    }
}
