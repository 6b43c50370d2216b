//! Derive macros of the `odm` crate, where they are documented and re-exported.
//!
//! A derive goes through `parse` (attributes as written), `model` (names and shapes resolved), `facts` (what
//! follows from them), `check` (every refusal) and `expand` (quoting only); each names only those before it.

#![warn(missing_docs)]

mod attribute_names;
mod check;
mod errors;
mod expand;
mod facts;
mod model;
mod other_words;
mod parse;
mod row;

use proc_macro::TokenStream;
use syn::{DeriveInput, parse_macro_input};

use crate::errors::Errors;
use crate::facts::Facts;
use crate::model::projection::Projection;
use crate::model::{Derive, Model};

#[doc = include_str!("../docs/document.md")]
#[proc_macro_derive(Document, attributes(odm, serde))]
pub fn document(input: TokenStream) -> TokenStream {
    derive(&parse_macro_input!(input as DeriveInput), Derive::Document).into()
}

#[doc = include_str!("../docs/embedded.md")]
#[proc_macro_derive(Embedded, attributes(odm, serde))]
pub fn embedded(input: TokenStream) -> TokenStream {
    derive(&parse_macro_input!(input as DeriveInput), Derive::Embedded).into()
}

#[doc = include_str!("../docs/projection.md")]
#[proc_macro_derive(Projection, attributes(odm, serde))]
pub fn projection(input: TokenStream) -> TokenStream {
    project(&parse_macro_input!(input as DeriveInput)).into()
}

/// The type that names a relation: `odm::relation!`.
#[doc(hidden)]
#[proc_macro]
pub fn __relation(input: TokenStream) -> TokenStream {
    row::relation(input.into()).into()
}

/// The type of a row: `odm::row!`, which passes the path of `odm::support`.
#[doc(hidden)]
#[proc_macro]
pub fn __row(input: TokenStream) -> TokenStream {
    row::row(input.into()).into()
}

fn project(input: &DeriveInput) -> proc_macro2::TokenStream {
    let mut errors = Errors::default();
    let projection = Projection::new(input, &mut errors);
    let mut tokens = expand::projection::projection(&projection);
    if errors.is_empty() {
        tokens.extend(expand::projection::checks(&projection));
    }
    tokens.extend(errors.finish());
    tokens
}

fn derive(input: &DeriveInput, derive: Derive) -> proc_macro2::TokenStream {
    let mut input = input.clone();
    parse::self_type::replace_self(&mut input);
    let mut errors = Errors::default();
    let model = Model::new(&input, derive, &mut errors);
    let facts = Facts::new(&model);
    check::model(&facts, &mut errors);
    let mut tokens = expand::model(&facts);
    if errors.is_empty() {
        tokens.extend(expand::assertions::all(&facts));
        tokens.extend(expand::tree::checks(&facts));
    }
    tokens.extend(errors.finish());
    tokens
}

#[cfg(test)]
mod tests;
