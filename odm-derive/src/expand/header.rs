//! The first line of `impl Document`, which `document` and `fallback` share.

use proc_macro2::TokenStream;
use quote::quote_spanned;

use super::generics::Generics;
use super::handle_type::at;
use crate::model::Model;

/// `impl Document for Book`, with the span of the struct's name: there rustc reports, once, which of serde's
/// derives is missing.
pub(super) fn header(model: &Model) -> TokenStream {
    let generics = Generics::new(model);
    let (support, ident) = (&model.support, &model.ident);
    let (parameters, arguments) = (generics.parameters(), generics.arguments());
    let span = ident.span();
    let support = if model.attributes.krate.is_some() {
        // A path that the user wrote keeps the meaning that it has where it is written.
        at(support.clone(), span)
    } else {
        quote_spanned!(span=> ::odm::support)
    };
    quote_spanned!(span=> impl #parameters #support::Document for #ident #arguments)
}
