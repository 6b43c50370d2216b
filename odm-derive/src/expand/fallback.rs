//! The code for input that is refused: enough for code that uses the type to compile, so that one mistake is
//! one error. It can never run, because the error is beside it.

use proc_macro2::TokenStream;
use quote::quote;

use crate::expand::field_type::implement;
use crate::expand::generics::Generics;
use crate::expand::header::{document_target, header, no_target, writable};
use crate::model::{Derive, Model};

/// Writes the implementations for a shape that is refused.
pub(crate) fn model(model: &Model) -> TokenStream {
    let mut tokens = embedded(model);
    // A type that borrows can't be deserialized, so no `impl Document` for it compiles.
    if model.derive == Derive::Document && model.borrows().is_none() {
        tokens.extend(document(model));
    } else {
        tokens.extend(no_target(model));
    }
    tokens
}

fn embedded(model: &Model) -> TokenStream {
    let (support, ident) = (&model.support, &model.ident);
    let generics = Generics::new(model);
    let (parameters, arguments, clause) = (
        generics.parameters(),
        generics.arguments(),
        generics.clause(),
    );
    let mut tokens = implement(
        model,
        &generics,
        &quote!(#support::TypeMeta::ANY),
        None,
        &quote!(#support::Field<__OdmModel, __OdmAs>),
        &quote!(#support::Field::at_path(__odm_path)),
    );
    tokens.extend(quote! {
        impl #parameters #support::Embedded for #ident #arguments #clause {
            type Fields<__OdmModel> = #support::Field<__OdmModel, Self>;
            const META: &'static #support::EmbeddedMeta = &#support::EmbeddedMeta::of("");
            fn fields<__OdmModel>(__odm_path: #support::Path) -> #support::Field<__OdmModel, Self> {
                #support::Field::at_path(__odm_path)
            }
        }
    });
    tokens
}

/// Writes `impl Document` for a document without an id.
pub(crate) fn document(model: &Model) -> TokenStream {
    let support = &model.support;
    let (header, target) = (header(model), document_target(model, &quote!("")));
    // The error beside it is the only one, whatever is called.
    let writable = writable(model);
    quote! {
        #target
        #writable
        #header {
            type Id = #support::String;
            const MODEL: &'static #support::ModelMeta = #support::NO_MODEL;
            fn id(&self) -> &#support::String {
                ::core::unreachable!()
            }
        }
    }
}
