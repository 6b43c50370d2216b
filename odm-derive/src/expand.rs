//! Quoting only: each function here writes one implementation, and decides nothing.
//!
//! Generated code is data and accessors. It refers only to `odm::support`, and its own generics and locals
//! begin with `__Odm` or `__odm_`, so that they can't capture the user's names.

pub(crate) mod assertions;
mod bucket;
mod copies;
mod counterparts;
pub(crate) mod document;
pub(crate) mod document_enum;
pub(crate) mod embedded;
pub(crate) mod encoder;
pub(crate) mod enumeration;
pub(crate) mod fallback;
pub(crate) mod field_type;
pub(crate) mod fields;
pub(crate) mod generics;
pub(crate) mod handle_type;
mod header;
mod keys;
mod keywords;
pub(crate) mod meta;
mod overflow;
pub(crate) mod projection;
pub(crate) mod relations;
mod schema;
mod summaries;
mod time_series;
mod tokens;
pub(crate) mod tree;

use proc_macro2::TokenStream;

pub(crate) use self::tokens::relation_hash;
use crate::facts::{Facts, Implementation};
use crate::model::Derive;

/// Everything that a derive on a struct or an enum writes.
pub(crate) fn model(facts: &Facts<'_>) -> TokenStream {
    let model = facts.model;
    let mut tokens = match &facts.implementation {
        Implementation::Struct(fields) => {
            let mut tokens = fields::of_struct(model, fields);
            tokens.extend(field_type::of_fields(
                facts,
                &fields::handles(model, fields),
                false,
            ));
            tokens.extend(embedded::of_struct(facts));
            tokens.extend(encoder::all(model, fields));
            tokens.extend(keywords::types(model, fields));
            tokens
        }
        Implementation::Enum { shape, nullable } => {
            let id = document_enum::id_handle(facts);
            let mut tokens = enumeration::fields(model, shape, id.clone());
            tokens.extend(field_type::of_fields(
                facts,
                &enumeration::handles(model, shape, id),
                *nullable,
            ));
            tokens.extend(embedded::of_enum(facts, shape));
            tokens
        }
        Implementation::Forward {
            ty,
            wraps,
            has_contents,
        } => field_type::forward(facts, ty, *wraps, *has_contents),
        Implementation::Opaque(opaque) => field_type::opaque(model, opaque),
        Implementation::Tuple {
            values,
            with_contents,
        } => field_type::tuple(model, values, with_contents),
        Implementation::Choice(names) => field_type::choice(model, names),
        Implementation::Fallback => {
            let mut tokens = fallback::model(model);
            tokens.extend(document_enum::fallback(model));
            tokens.extend(tree::all(facts));
            return tokens;
        }
    };
    tokens.extend(relations::all(facts));
    tokens.extend(tree::all(facts));
    tokens.extend(match (model.derive, &facts.id) {
        (Derive::Document, Some(id)) => document::of_struct(facts, id),
        (Derive::Document, None) => match &facts.document_enum {
            Some(shape) => document_enum::document(facts, shape),
            None => fallback::document(model),
        },
        (Derive::Embedded, _) => header::no_target(model),
    });
    tokens
}
