//! Every refusal: what is wrong, and what to write instead.
//!
//! The spelling of a type does not show everything. Generated code asserts the rest
//! ([`crate::expand::assertions`]), so that an alias can't bypass a check.

mod container;
mod field;
mod index;
mod list;
mod names;
mod rule;

pub(crate) use self::rule::{LIST, NUMBER, TEXT, UNIQUE_LIST};

use crate::errors::Errors;
use crate::model::{Derive, Model, Shape, VariantContent};

/// Finds what is wrong with a struct or an enum.
pub(crate) fn model(model: &Model, errors: &mut Errors) {
    container::check(model, errors);
    if let Shape::Struct { tag, fields } = &model.shape {
        names::check(fields, tag.as_ref().map(|(tag, _)| tag), errors);
        for one in fields {
            field::check(model, one, errors);
        }
    }
    if let Shape::Enum(shape) = &model.shape {
        names::check_variants(shape, errors);
        for variant in &shape.variants {
            if let VariantContent::Struct(fields) = &variant.content {
                names::check(fields, None, errors);
                for one in fields {
                    field::check(model, one, errors);
                }
            }
        }
    }
    if model.derive == Derive::Document {
        index::check(model, errors);
    }
}
