//! Every refusal: what is wrong, and what to write instead.
//!
//! The spelling of a type does not show everything. Generated code asserts the rest
//! ([`crate::facts::assertions`]), so that an alias can't bypass a check.

mod bucket;
mod budget;
mod container;
mod copies;
mod field;
mod gridfs;
mod index;
mod keywords;
mod list;
mod names;
mod overflow;
mod relation;
mod rule;
mod schema;
mod shard_key;
mod summaries;
mod time_series;
mod tree;
mod variants;
mod view;

use syn::Ident;

use crate::errors::Errors;
use crate::facts::Facts;
use crate::model::{Derive, Shape, Tagging, VariantContent};

/// Finds what is wrong with a struct or an enum.
pub(crate) fn model(facts: &Facts<'_>, errors: &mut Errors) {
    let model = facts.model;
    container::check(facts, errors);
    budget::check(facts, errors);
    gridfs::check(facts, errors);
    shard_key::check(facts, errors);
    bucket::check(facts, errors);
    overflow::check(facts, errors);
    time_series::check(facts, errors);
    view::check(facts, errors);
    schema::check(facts, errors);
    variants::check(facts, errors);
    if let Shape::Struct { tag, fields } = &model.shape {
        names::check(fields, tag.as_ref().map(|(tag, _)| tag), errors);
        check_fields(facts, None, errors);
    }
    if let Shape::Enum(shape) = &model.shape {
        names::check_variants(shape, errors);
        for variant in &shape.variants {
            if let VariantContent::Struct(fields) = &variant.content {
                let tag = match &shape.tagging {
                    Tagging::Internal(tag) => Some(tag),
                    _ => None,
                };
                names::check(fields, tag, errors);
                check_fields(facts, Some(&variant.ident), errors);
            }
        }
    }
    copies::check(facts, errors);
    summaries::check(facts, errors);
    if model.derive == Derive::Document {
        index::check(facts, errors);
        relation::check(facts, errors);
        tree::check(facts, errors);
    } else {
        relation::embedded(facts, errors);
    }
}

fn check_fields(facts: &Facts<'_>, variant: Option<&Ident>, errors: &mut Errors) {
    for one in facts.fields_of(variant) {
        field::check(facts.model, one, errors);
    }
}
