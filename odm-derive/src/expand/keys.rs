//! References to a unique field other than the `_id`.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote, quote_spanned};
use syn::{Ident, Type};

use super::{meta, relations};
use crate::model::rust_type::{Kind, kind};
use crate::model::{Field, Model};
use crate::parse::relation::Inverse;
use crate::parse::serde::unraw;

/// How many keys a field holds, and the type of one.
fn arity(field: &Field) -> (TokenStream, &Type) {
    match kind(&field.ty) {
        Kind::Optional(inner) => (quote!(AtMostOneKey), inner),
        Kind::List(inner) => (quote!(ManyKeys), inner),
        _ => (quote!(OneKey), &field.ty),
    }
}

/// What the name of the relation stands for.
pub(super) fn reference(model: &Model, field: &Field) -> Option<TokenStream> {
    let reference = field.attributes.refers_to.as_ref()?;
    if !field.is_joined() {
        return None;
    }
    let (support, name) = (&model.support, relations::name(model, &field.ident));
    let (arity, key) = arity(field);
    let (target, by) = (&reference.target, unraw(&reference.by));
    let decode = decode(support, field, key);
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
fn decode(support: &TokenStream, field: &Field, key: &Type) -> TokenStream {
    let Some(function) = &field.decoder else {
        return quote!(<#support::BySerde as #support::Decode<#key>>::decode(__odm_stored));
    };
    // The function reads the field as a whole.
    let ty = &field.ty;
    let (stored, only) = match kind(ty) {
        Kind::Optional(_) => (quote!(__odm_stored), quote!(__odm_keys)),
        Kind::List(_) => (
            quote!(#support::Bson::Array(::std::vec![__odm_stored])),
            quote!(::core::iter::IntoIterator::into_iter(__odm_keys).next()),
        ),
        _ => (
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

/// The metadata of the reference.
pub(super) fn meta(model: &Model, field: &Field) -> Option<TokenStream> {
    let reference = field.attributes.refers_to.as_ref()?;
    let (support, target, by) = (&model.support, &reference.target, unraw(&reference.by));
    let is_list = matches!(kind(&field.ty), Kind::List(_));
    Some(quote! {
        #support::KeyReferenceMeta {
            target: <#target as #support::Document>::model,
            by: #by,
            is_list: #is_list,
        }
    })
}

/// Code that compiles only if the other model has this field, with this type, and a unique index on it.
pub(super) fn checks(model: &Model, field: &Field) -> Option<TokenStream> {
    let reference = field.attributes.refers_to.as_ref()?;
    let (support, target, by) = (&model.support, &reference.target, &reference.by);
    let (_, key) = arity(field);
    let (span, rust) = (by.span(), unraw(by));
    let shown = target.to_token_stream().to_string().replace(' ', "");
    let message = format!(
        "a reference needs a unique field, and `{shown}` has no unique index on `{rust}` alone; add `#[odm(unique)]` to `{rust}`"
    );
    // Without a serializer, the declared types decide.
    let same_form = field.encoder.is_some().then(|| {
        let ty = meta::ty(model, None, field);
        let message = format!(
            "`{}` and `{rust}` of `{shown}` are stored as different types, so no key would be found; give both the same serializer",
            field.rust
        );
        quote_spanned!(span=> ::core::assert!(#support::keys_can_match::<#target>(&#ty, #rust), "{}", #message);)
    });
    Some(quote_spanned! {span=>
        const _: () = {
            #[allow(dead_code)]
            fn __odm_key(__odm_fields: &<#target as #support::Embedded>::Fields<#target>) {
                #support::leaf(&__odm_fields.#by).fits::<#key>();
            }
            #same_form
            ::core::assert!(#support::is_unique::<#target>(&[#rust]), "{}", #message)
        };
    })
}

/// Code that compiles only if the reference is to this key.
pub(super) fn of_inverse(model: &Model, inverse: &Inverse, key: &Ident) -> TokenStream {
    let (support, target) = (&model.support, &inverse.target);
    let [by] = inverse.by.as_slice() else {
        return TokenStream::new();
    };
    let (by, rust) = (unraw(by), unraw(key));
    let shown = target.to_token_stream().to_string().replace(' ', "");
    let message = format!(
        "`{by}` of `{shown}` does not refer to `{rust}`: write `#[odm(refers_to({}, by = {rust}))]` on it",
        model.ident
    );
    quote_spanned! {key.span()=>
        const _: () = ::core::assert!(#support::refers_by::<#target>(#by, #rust), "{}", #message);
    }
}
