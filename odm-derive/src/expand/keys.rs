//! References to a unique field other than the `_id`.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};

use super::meta;
use super::tokens::{assert_demand, relation_name};
use crate::facts::relations::{KeyArity, KeyFacts};
use crate::model::Model;
use crate::parse::serde::unraw;

/// What the name of the relation stands for.
pub(super) fn reference(model: &Model, facts: &KeyFacts<'_>) -> Option<TokenStream> {
    let KeyFacts {
        field,
        reference,
        arity,
        key,
        ..
    } = facts;
    if !field.is_joined() {
        return None;
    }
    let (support, name) = (&model.support, relation_name(model, &field.ident));
    let (target, by) = (&reference.target, unraw(&reference.by));
    let decode = decode(support, facts);
    Some(quote! {
        impl #support::KeyReference for #name {
            type Target = #target;
            type Key = #key;
            type Arity = #support::#arity;
            const BY: &'static [&'static str] = &[#by];
            fn decode(__odm_stored: #support::Bson) -> ::core::result::Result<#key, #support::BsonError> {
                #decode
            }
        }
    })
}

/// Code that reads one stored key.
fn decode(support: &TokenStream, facts: &KeyFacts<'_>) -> TokenStream {
    let key = facts.key;
    let Some(function) = &facts.field.decoder else {
        return quote!(<#support::BySerde as #support::Decode<#key>>::decode(__odm_stored));
    };
    // The function reads the field as a whole.
    let ty = &facts.field.ty;
    let (stored, only) = match facts.arity {
        KeyArity::AtMostOneKey => (quote!(__odm_stored), quote!(__odm_keys)),
        KeyArity::ManyKeys => (
            quote!(#support::Bson::Array(::std::vec![__odm_stored])),
            quote!(::core::iter::IntoIterator::into_iter(__odm_keys).next()),
        ),
        KeyArity::OneKey => (
            quote!(__odm_stored),
            quote!(::core::option::Option::Some(__odm_keys)),
        ),
    };
    quote! {
        struct __OdmKeys(#ty);
        impl<'de> #support::Deserialize<'de> for __OdmKeys {
            fn deserialize<__OdmDeserializer: #support::Deserializer<'de>>(
                __odm_deserializer: __OdmDeserializer,
            ) -> ::core::result::Result<Self, __OdmDeserializer::Error> {
                #function(__odm_deserializer).map(__OdmKeys)
            }
        }
        let __OdmKeys(__odm_keys) = <#support::BySerde as #support::Decode<__OdmKeys>>::decode(#stored)?;
        #support::one_key(#only)
    }
}

/// Code that compiles only if the other model has this field, with this type, and a unique index on it.
pub(super) fn checks(model: &Model, facts: &KeyFacts<'_>) -> TokenStream {
    let (reference, key, other_form) = (facts.reference, facts.key, &facts.other_form);
    let (support, target, by) = (&model.support, &reference.target, &reference.by);
    let (span, rust) = (by.span(), unraw(by));
    // Without a serializer, the declared types decide.
    let same_form = facts.field.encoder.is_some().then(|| {
        let ty = meta::ty(model, None, facts.field);
        quote_spanned!(span=> ::core::assert!(#support::keys_can_match::<#target>(&#ty, #rust), "{}", #other_form);)
    });
    let unique = assert_demand(model, &facts.unique, span);
    quote_spanned! {span=>
        const _: () = {
            #[allow(dead_code)]
            fn __odm_key(__odm_fields: &<#target as #support::Embedded>::Fields<#target>) {
                #support::leaf(&__odm_fields.#by).holds_keys::<#key>();
            }
            #same_form
            #unique
        };
    }
}
