//! `impl Encode` for fields with a serializer of their own.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::Ident;

use super::generics::Generics;
use crate::model::{Field, Model};

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
    let generics = Generics::new(model);
    let (parameters, clause) = (generics.parameters(), generics.clause());
    quote! {
        #[doc(hidden)]
        #[allow(non_camel_case_types, missing_debug_implementations)]
        #vis enum #name {}
        impl #parameters #support::SerializeWith<#ty> for #name #clause {
            fn serialize<__OdmSerializer: #support::Serializer>(
                __odm_value: &#ty,
                __odm_serializer: __OdmSerializer,
            ) -> ::core::result::Result<__OdmSerializer::Ok, __OdmSerializer::Error> {
                #function(__odm_value, __odm_serializer)
            }
        }
        impl #parameters #support::Encode<#ty> for #name #clause {
            fn encode(__odm_value: &#ty) -> #support::Result<#support::Bson> {
                #support::encode_with::<#ty, Self>(__odm_value)
            }
        }
    }
}
