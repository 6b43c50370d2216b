//! Checks of `time_series`.

use syn::Ident;

use crate::attribute_names;
use crate::errors::Errors;
use crate::facts::{Facts, wrong_time};
use crate::model::rust_type::{Kind, is_option, stored_kind};
use crate::model::{Derive, Field, Model, Shape};
use crate::parse::serde::unraw;
use crate::parse::time_series::TimeSeries;

pub(super) fn check(facts: &Facts<'_>, errors: &mut Errors) {
    let model = facts.model;
    let Some(series) = &model.attributes.time_series else {
        return;
    };
    if model.derive != Derive::Document || !matches!(model.shape, Shape::Struct { .. }) {
        // `container::check` reports both.
        return;
    }
    if let Some(time) = field(model, &series.time, errors) {
        let is_known = time.encoder.is_none() && !matches!(stored_kind(&time.ty), Kind::Unknown);
        if is_known && (is_option(&time.ty) || !matches!(stored_kind(&time.ty), Kind::Date)) {
            errors.at(&time.ty, wrong_time(time));
        } else if time.sometimes {
            errors.at(
                &time.ident,
                "every document of a time series has a time: remove `skip_serializing_if`",
            );
        }
    }
    if let Some(meta) = &series.meta
        && let Some(found) = field(model, meta, errors)
    {
        if found.stored == "_id" {
            errors.at(
                meta,
                "the `_id` can't tell series apart: name a field that the documents of a series share",
            );
        } else if *meta == series.time {
            errors.at(
                meta,
                "the time can't tell series apart: name a field that the documents of a series share",
            );
        }
    }
    other_words(model, series, errors);
    fields(model, errors);
}

/// The field of this name, if it is stored by its own name.
fn field<'a>(model: &'a Model, ident: &Ident, errors: &mut Errors) -> Option<&'a Field> {
    let name = unraw(ident);
    match model.field(ident) {
        Some(field) if field.skipped || field.flatten.is_some() => errors.at(
            ident,
            format!("`{name}` is not stored by its own name: name another field"),
        ),
        Some(field) => return Some(field),
        None => {
            let names = model.fields().iter().filter(|field| !field.skipped);
            let names: Vec<&str> = names.map(|field| field.rust.as_str()).collect();
            let hint = attribute_names::hint(&name, names.iter().copied());
            errors.at(
                ident,
                format!("`{}` has no field `{name}`{hint}", model.ident),
            );
        }
    }
    None
}

/// What MongoDB refuses in a time series.
fn other_words(model: &Model, series: &TimeSeries, errors: &mut Errors) {
    for word in &model.attributes.document_words {
        let why = match word.to_string().as_str() {
            attribute_names::CAPPED => "is not capped",
            attribute_names::CHANGE_STREAM_IMAGES => "keeps no images",
            attribute_names::GRIDFS => "has no files",
            attribute_names::SHARD_KEY => {
                "takes other options to be sharded, which odm does not send"
            }
            attribute_names::BUCKET => "makes buckets by itself",
            attribute_names::OVERFLOW => "does not push into lists",
            attribute_names::TREE => "has no trees, whose nodes are updated",
            attribute_names::RULE | attribute_names::VALIDATION => "has no validator",
            attribute_names::UNIQUE => "has no unique indexes",
            attribute_names::TEXT => "has no text index",
            attribute_names::WILDCARD => "has no wildcard index",
            attribute_names::TTL => {
                "has no TTL index: write `expire_after = \"30d\"` in `time_series(…)`"
            }
            _ => continue,
        };
        errors.at(
            word,
            format!("a time series {why}; remove `{word}`, or `{}`", series.word),
        );
    }
    if let Some(word) = &model.attributes.deny_undeclared {
        errors.at(
            word,
            format!(
                "a time series has no validator; remove `{word}`, or `{}`",
                series.word
            ),
        );
    }
}

/// What a field can't be, because MongoDB does not update the documents of a time series.
fn fields(model: &Model, errors: &mut Errors) {
    for field in model.fields().iter().filter(|field| !field.skipped) {
        let attributes = &field.attributes;
        let updated = attributes.updated_at.as_ref().map(|one| &one.word);
        let list = attributes.list.as_ref().filter(|list| list.is_recent());
        let culprit = attributes
            .version
            .as_ref()
            .or(updated)
            .or_else(|| attributes.copy_of.as_ref().map(|one| &one.word))
            .or_else(|| attributes.summary.as_ref().map(|one| &one.word))
            .or_else(|| list.map(|list| &list.word));
        if let Some(word) = culprit {
            errors.at(
                word,
                format!("MongoDB does not update the documents of a time series one by one; remove `{word}`"),
            );
        }
        let mut indexes = attributes.indexes.iter();
        if let Some(index) = indexes.find(|index| index.unique.is_some()) {
            errors.at(
                &index.word,
                format!(
                    "a time series has no unique indexes; remove `{}`",
                    index.word
                ),
            );
        }
    }
}
