//! Quoting only: each function here writes one implementation, and decides nothing.
//!
//! Generated code is data and accessors. It refers only to `odm::support`, and its own generics and locals
//! begin with `__Odm` or `__odm_`, so that they can't capture the user's names.

pub(crate) mod assertions;
pub(crate) mod document;
pub(crate) mod embedded;
pub(crate) mod encoder;
pub(crate) mod enumeration;
pub(crate) mod fallback;
pub(crate) mod field_type;
pub(crate) mod fields;
pub(crate) mod generics;
pub(crate) mod handle_type;
mod header;
pub(crate) mod meta;
pub(crate) mod projection;

use proc_macro2::TokenStream;

use crate::model::{Derive, Model, Shape};

/// Everything that a derive on a struct or an enum writes.
pub(crate) fn model(model: &Model) -> TokenStream {
    let is_struct = matches!(model.shape, Shape::Struct { .. });
    if model.derive == Derive::Document && (!is_struct || model.borrows().is_some()) {
        return fallback::model(model);
    }
    let mut tokens = match &model.shape {
        Shape::Struct { fields, .. } => {
            let mut tokens = fields::of_struct(model, fields);
            tokens.extend(field_type::of_fields(
                model,
                &fields::handles(model, fields),
            ));
            tokens.extend(embedded::of_struct(model));
            tokens.extend(encoder::all(model, fields));
            tokens
        }
        Shape::Enum(shape) => {
            let mut tokens = enumeration::fields(model, shape);
            tokens.extend(field_type::of_fields(
                model,
                &enumeration::handles(model, shape),
            ));
            tokens.extend(embedded::of_enum(model, shape));
            tokens
        }
        Shape::Forward { ty, wraps } => field_type::forward(model, ty, *wraps),
        Shape::Opaque(bson_type) => field_type::opaque(model, bson_type.as_ref()),
        Shape::Tuple(types) => field_type::tuple(model, types),
        Shape::Choice(names) => field_type::choice(model, names),
        Shape::Unknown => return fallback::model(model),
    };
    if model.derive == Derive::Document {
        tokens.extend(document::document(model));
    }
    tokens
}
