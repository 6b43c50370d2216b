//! `impl Embedded`: the stored shape as constant data.

use proc_macro2::TokenStream;
use quote::quote;

use super::assertions;
use super::generics::Generics;
use super::meta;
use super::tokens::option;
use crate::facts::Facts;
use crate::model::Enum;

/// Writes the implementation for a struct.
pub(crate) fn of_struct(facts: &Facts<'_>) -> TokenStream {
    let fields = meta::of_struct(facts);
    embedded(facts, &fields, &quote!(::core::option::Option::None))
}

/// Writes the implementation for an enum.
pub(crate) fn of_enum(facts: &Facts<'_>, shape: &Enum) -> TokenStream {
    let support = &facts.model.support;
    let (tagging, variants) = meta::of_enum(facts, shape);
    let mut fields = meta::of_tag(facts.model, shape);
    fields.extend(super::document_enum::id_meta(facts));
    embedded(
        facts,
        &fields,
        &quote!(::core::option::Option::Some(#support::EnumMeta { tagging: #tagging, variants: &[#variants] })),
    )
}

fn embedded(facts: &Facts<'_>, fields: &TokenStream, variants: &TokenStream) -> TokenStream {
    let model = facts.model;
    let (support, ident) = (&model.support, &model.ident);
    let rust = ident.to_string();
    let generics = Generics::new(model);
    let handle = quote!(<Self as #support::FieldType>::Handle<__OdmModel, Self>);
    let (parameters, arguments, clause) = (
        generics.parameters(),
        generics.arguments(),
        generics.clause(),
    );
    let deny = model.attributes.deny_undeclared.is_some();
    let depth = option(
        model
            .attributes
            .depth
            .as_ref()
            .map(|depth| depth.max)
            .as_ref(),
    );
    let deferred = assertions::deferred(facts);
    let meta = quote! {
        &#support::EmbeddedMeta {
            fields: &[#fields],
            variants: #variants,
            deny_undeclared: #deny,
            depth: #depth,
            ..#support::EmbeddedMeta::of(#rust)
        }
    };
    let meta = if deferred.is_empty() {
        meta
    } else {
        quote!({ #deferred #meta })
    };
    quote! {
        impl #parameters #support::Embedded for #ident #arguments #clause {
            type Fields<__OdmModel> = #handle;
            const META: &'static #support::EmbeddedMeta = #meta;
            #[inline]
            fn fields<__OdmModel>(__odm_path: #support::Path) -> #handle {
                <Self as #support::FieldType>::handle(__odm_path)
            }
        }
        impl #parameters #support::Inside for #ident #arguments #clause {
            type Inside = Self;
        }
    }
}
