//! `impl Projection`, and the code that checks its fields against the model.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;

use super::tokens::fields_argument;
use crate::model::projection::Projection;
use crate::parse::serde::unraw;

/// Writes the implementation for a struct.
pub(crate) fn projection(projection: &Projection) -> TokenStream {
    let Some(of) = &projection.of else {
        return TokenStream::new();
    };
    let (support, ident) = (&projection.support, &projection.ident);
    let (parameters, arguments, clause) = projection.generics.split_for_impl();
    let fields = projection.fields.iter().map(|field| {
        let (name, ty) = (&field.stored, &field.ty);
        quote! {
            #support::ProjectedField { name: #name, fields: #support::Probe::<#ty>::PROJECTED }
        }
    });
    quote! {
        const _: () = {
            #[allow(unused_imports)]
            use #support::Unprobed as _;
            impl #parameters #support::Projection for #ident #arguments #clause {
                type Of = #of;
                const FIELDS: &'static [#support::ProjectedField] = &[#(#fields),*];
            }
        };
        impl #parameters #support::RowOf<#of> for #ident #arguments #clause {}
    }
}

/// Code that compiles only if the model has these fields, with these types, under these names.
pub(crate) fn checks(projection: &Projection) -> TokenStream {
    let Some(of) = &projection.of else {
        return TokenStream::new();
    };
    let support = &projection.support;
    let (parameters, _, clause) = projection.generics.split_for_impl();
    let types = projection.fields.iter().map(|field| {
        let (ident, ty) = (&field.ident, &field.ty);
        let argument = fields_argument();
        let handle = quote_spanned!(ident.span()=> &#argument.#ident);
        quote_spanned!(ty.span()=> #support::leaf(#handle).held_by::<#ty>().leaf().fits::<#ty>();)
    });
    let names = projection.fields.iter().map(|field| {
        let (rust, stored) = (unraw(&field.ident), &field.stored);
        let span = field.renamed.as_ref().map_or_else(|| field.ident.span(), syn::LitStr::span);
        let message = format!("the model stores `{rust}` under another name than `{stored}`: give it the model's `#[serde(rename = \"…\")]`");
        quote_spanned! {span=>
            if !#support::stores(<#of as #support::Embedded>::META, #rust, #stored) {
                ::core::panic!("{}", #message);
            }
        }
    });
    let bare = projection.fields.iter().filter(|field| !field.decoder).map(|field| {
        let ty = &field.ty;
        quote_spanned! {ty.span()=>
            if let ::core::option::Option::Some(__odm_flaw) = #support::bare_flaw(#support::Probe::<#ty>::CONTENTS) {
                ::core::panic!("{}", __odm_flaw);
            }
        }
    });
    let bare = projection.generics.params.is_empty().then(|| {
        quote! {
            const _: () = {
                #[allow(unused_imports)]
                use #support::Unprobed as _;
                #(#bare)*
            };
        }
    });
    quote! {
        #bare
        const _: () = {
            #[allow(unused_imports)]
            use #support::{PartFits as _, WholeFits as _};
            #[allow(dead_code)]
            fn __odm_types #parameters (__odm_fields: <#of as #support::Embedded>::Fields<#of>) #clause {
                #(#types)*
            }
            #(#names)*
        };
    }
}
