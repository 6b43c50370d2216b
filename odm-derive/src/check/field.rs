//! Checks of one field.

use super::{list, rule};
use crate::attribute_names;
use crate::errors::Errors;
use crate::facts::field::FieldFacts;
use crate::model::rust_type::{BSON_TYPES, Kind, is_option, kind};
use crate::model::{Derive, Field, Model};

pub(super) fn check(model: &Model, one: &FieldFacts<'_>, errors: &mut Errors) {
    let field = one.field;
    let attributes = &field.attributes;
    if field.skipped
        && let Some(word) = attributes.first_word()
    {
        errors.at(
            word,
            format!(
                "`{}` is never stored, so this has no effect; take it off, or `#[serde(skip)]`",
                field.rust
            ),
        );
        return;
    }
    bson_type(field, errors);
    if let Some(flatten) = &field.flatten {
        if field.encoder.is_some() {
            errors.at(flatten, "a flattened field can't have a serializer of its own: what it stores would be unknown");
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
    }
    version(field, errors);
    on_delete(one, errors);
    for rule in &attributes.rules {
        rule::check(one, rule, errors);
    }
    list::check(one, errors);
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
                "there is no BSON type `{alias}`{}",
                attribute_names::hint(&alias, known)
            ),
        );
    }
}

fn on_delete(one: &FieldFacts<'_>, errors: &mut Errors) {
    let field = one.field;
    let Some(declared) = &field.attributes.on_delete else {
        return;
    };
    let word = &declared.word;
    if one.relation.is_none() && field.attributes.refers_to.is_none() {
        errors.at(
            word,
            format!(
                "`{word}` is for a reference, and `{}` is not declared as a `Ref<…>`, an `Option` or a `Vec` of it",
                field.rust
            ),
        );
    } else if declared.policy.value() == "set_null" && !is_option(&field.ty) {
        errors.at(
            &declared.policy,
            format!(
                "`{}` is never null: declare it as an `Option`, or take another policy",
                field.rust
            ),
        );
    }
}

fn version(field: &Field, errors: &mut Errors) {
    let Some(word) = &field.attributes.version else {
        return;
    };
    if field.stored == "_id" {
        errors.at(
            word,
            "the version changes with every save, and `_id` never does; take a field of its own",
        );
    } else if field.sometimes {
        errors.at(
            word,
            "the version is always written: take `skip_serializing` and `skip_serializing_if` off",
        );
    } else if field.encoder.is_some() {
        errors.at(word, "the version is counted up by `save`; declare it as `i64`, without a serializer of its own");
    } else if !matches!(kind(&field.ty), Kind::Integer | Kind::Unknown) {
        errors.at(
            &field.ty,
            "a version is counted up by `save`: declare it as `i64` or `i32`",
        );
    }
}
