//! The first line of `impl Document`, which `document` and `fallback` share, and `impl RefTarget` and `impl Versioned`.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};

use super::generics::Generics;
use super::handle_type::at;
use crate::model::Model;

/// `impl Document for Book`, with the span of the struct's name: there rustc reports, once, which of serde's
/// derives is missing.
pub(super) fn header(model: &Model) -> TokenStream {
    let generics = Generics::new(model);
    let (support, ident) = (&model.support, &model.ident);
    let (parameters, arguments) = (generics.parameters(), generics.arguments());
    let clause = clause(model, &generics);
    let span = ident.span();
    let support = if model.attributes.krate.is_some() {
        // A path that the user wrote keeps the meaning that it has where it is written.
        at(support.clone(), span)
    } else {
        quote_spanned!(span=> ::odm::support)
    };
    let header = quote_spanned!(span=> impl #parameters #support::Document for #ident #arguments);
    quote!(#header #clause)
}

/// `impl RefTarget` for a document: references to it store its id.
pub(super) fn document_target(model: &Model, collection: &TokenStream) -> TokenStream {
    let generics = Generics::new(model);
    let (support, ident) = (&model.support, &model.ident);
    let (parameters, arguments, clause) = (
        generics.parameters(),
        generics.arguments(),
        clause(model, &generics),
    );
    quote! {
        impl #parameters #support::RefTarget for #ident #arguments #clause {
            type TargetId = <Self as #support::Document>::Id;
            const TARGET_COLLECTION: &'static str = #collection;
        }
    }
}

/// `impl Versioned` for a document with a version.
pub(super) fn versioned(model: &Model) -> TokenStream {
    let generics = Generics::new(model);
    let (support, ident) = (&model.support, &model.ident);
    let (parameters, arguments, clause) = (
        generics.parameters(),
        generics.arguments(),
        clause(model, &generics),
    );
    quote!(impl #parameters #support::Versioned for #ident #arguments #clause {})
}

/// `impl Writable` for a document that is stored.
pub(super) fn writable(model: &Model) -> TokenStream {
    let generics = Generics::new(model);
    let (support, ident) = (&model.support, &model.ident);
    let (parameters, arguments, clause) = (
        generics.parameters(),
        generics.arguments(),
        clause(model, &generics),
    );
    quote! {
        #[diagnostic::do_not_recommend]
        impl #parameters #support::Writable for #ident #arguments #clause {}
    }
}

/// `impl Tailable` for a document of a capped collection.
pub(super) fn tailable(model: &Model) -> TokenStream {
    let generics = Generics::new(model);
    let (support, ident) = (&model.support, &model.ident);
    let (parameters, arguments, clause) = (
        generics.parameters(),
        generics.arguments(),
        clause(model, &generics),
    );
    quote! {
        #[diagnostic::do_not_recommend]
        impl #parameters #support::Tailable for #ident #arguments #clause {}
    }
}

/// `impl RefTarget` for a type without a collection.
pub(super) fn no_target(model: &Model) -> TokenStream {
    let generics = Generics::new(model);
    let (support, ident) = (&model.support, &model.ident);
    let (parameters, arguments, clause) = (
        generics.parameters(),
        generics.arguments(),
        generics.clause(),
    );
    quote! {
        #[diagnostic::do_not_recommend]
        impl #parameters #support::RefTarget for #ident #arguments #clause {
            type TargetId = ();
        }
    }
}

/// The bounds of a document.
fn clause(model: &Model, generics: &Generics) -> TokenStream {
    let (support, predicates, types) = (&model.support, &generics.predicates, &generics.types);
    quote! {
        where
            #predicates
            #(#types: #support::Serialize + #support::DeserializeOwned + ::core::marker::Send + ::core::marker::Sync + 'static,)*
    }
}
