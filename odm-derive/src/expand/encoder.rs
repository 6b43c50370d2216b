//! `impl Encode` for fields with a serializer of their own.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{Ident, Type};

use super::generics::Generics;
use crate::model::{Field, Model};
use crate::parse::serde::Module;

/// The name of a field's encoder.
pub(crate) fn name(model: &Model, variant: Option<&Ident>, field: &Field) -> Ident {
    match variant {
        Some(variant) => format_ident!("__Odm_{}_{}_{}", model.ident, variant, field.rust),
        None => format_ident!("__Odm_{}_{}", model.ident, field.rust),
    }
}

/// The encoders of a struct's fields.
pub(crate) fn all(model: &Model, fields: &[Field]) -> TokenStream {
    fields
        .iter()
        .filter(|field| !field.skipped)
        .map(|field| encoder(model, &name(model, None, field), field))
        .collect()
}

/// The encoder of one field, if it has a serializer of its own.
pub(crate) fn encoder(model: &Model, name: &Ident, field: &Field) -> TokenStream {
    let Some(function) = &field.encoder else {
        return TokenStream::new();
    };
    let (support, vis, ty) = (&model.support, &model.vis, &field.ty);
    let generics = Generics::of_type(model, ty);
    let (parameters, clause) = (generics.parameters(), generics.clause());
    let marked = marked(model, name, field.module.as_ref());
    let form = form(model, name, ty);
    quote! {
        #[doc(hidden)]
        #[allow(non_camel_case_types, missing_debug_implementations)]
        #vis enum #name {}
        #marked
        impl #parameters #support::SerializeWith<#ty> for #name #clause {
            fn serialize<__OdmSerializer: #support::Serializer>(
                __odm_value: &#ty,
                __odm_serializer: __OdmSerializer,
            ) -> ::core::result::Result<__OdmSerializer::Ok, __OdmSerializer::Error> {
                #function(__odm_value, __odm_serializer)
            }
        }
        impl #parameters #support::Encode<#ty> for #name #clause {
            type Stored = #form::Stored;
            fn encode(__odm_value: &#ty) -> #support::Result<#support::Bson> {
                #support::encode_with::<#ty, Self>(__odm_value)
            }
        }
    }
}

/// What a serializer stores for values of a type, as far as its marker declares it: `<… as Form<T>>`.
pub(crate) fn form(model: &Model, name: &Ident, ty: &Type) -> TokenStream {
    let support = &model.support;
    quote!(<<#name as #support::Marked>::Marker as #support::Form<#ty>>)
}

/// The marker of an encoder: the type `OdmStored` that the module has. Where it has none, the import around that of the
/// module provides one.
pub(crate) fn marked(model: &Model, name: &Ident, module: Option<&Module>) -> TokenStream {
    let support = &model.support;
    let Some(Module { path, .. }) = module else {
        return quote! {
            impl #support::Marked for #name {
                type Marker = #support::Undeclared;
            }
        };
    };
    quote! {
        #[allow(unused_imports, non_local_definitions, clippy::wildcard_imports)]
        const _: () = {
            use #support::undeclared::*;
            const _: () = {
                use #path::*;
                impl #support::Marked for #name {
                    type Marker = OdmStored;
                }
            };
        };
    }
}
