//! Models of several in one collection: the enum, and the structs of its variants.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Ident, Type};

use super::document;
use super::fields::Handle;
use super::handle_type::at;
use crate::facts::Facts;
use crate::facts::document_enum::{DocumentEnum, Holds};
use crate::model::{Model, VariantContent};
use crate::parse::container::VariantOf;

/// The model that a variant holds, as the struct declares it. All names of it have one span, so that rustc reports a struct
/// that is not declared as a variant once.
fn declared_variant(model: &Model, ty: &Type) -> TokenStream {
    let (support, ident) = (&model.support, &model.ident);
    let span = ty.span();
    let ty = at(ty.to_token_stream(), span);
    quote_spanned!(span=> <#ty as #support::DeclaredVariant<#ident>>)
}

/// The type of the `_id`: that of the first variant.
fn id_type(model: &Model, shape: &DocumentEnum<'_>) -> TokenStream {
    match shape.variants.first().map(|one| one.holds) {
        Some(Holds::Model(ty)) => {
            let declared = declared_variant(model, ty);
            quote!(#declared::Id)
        }
        Some(Holds::Fields(field)) => field.ty.to_token_stream(),
        None => quote!(()),
    }
}

/// The handle of the `_id`, which all variants have.
pub(super) fn id_handle(facts: &Facts<'_>) -> Option<Handle> {
    let (model, shape) = (facts.model, facts.document_enum.as_ref()?);
    let (support, ty) = (&model.support, id_type(model, shape));
    let ident = Ident::new("id", Span::call_site());
    Some(Handle {
        set: ident.clone(),
        ident,
        doc: "The `_id`.".to_owned(),
        ty: quote!(<#ty as #support::FieldType>::Handle<__OdmModel, #ty>),
        make: quote!(<#ty as #support::FieldType>::handle(__odm_path.child("_id"))),
    })
}

/// The metadata of the `_id`.
pub(super) fn id_meta(facts: &Facts<'_>) -> TokenStream {
    let Some(shape) = &facts.document_enum else {
        return TokenStream::new();
    };
    let (support, ty) = (&facts.model.support, id_type(facts.model, shape));
    quote!(#support::field("id", "_id", <#ty as #support::FieldType>::TYPE),)
}

/// Writes the implementations for an enum.
pub(crate) fn document(facts: &Facts<'_>, shape: &DocumentEnum<'_>) -> TokenStream {
    let model = facts.model;
    let (support, ident) = (&model.support, &model.ident);
    let ids = shape.variants.iter().map(|one| {
        let variant = &one.variant.ident;
        match one.holds {
            Holds::Model(ty) => {
                let declared = declared_variant(model, ty);
                quote_spanned! {ty.span()=>
                    Self::#variant(__odm_of) => #support::SameId::<Self::Id>::same(#declared::id(__odm_of)),
                }
            }
            Holds::Fields(field) => {
                let name = &field.ident;
                quote_spanned! {field.ty.span()=>
                    Self::#variant { #name: __odm_id, .. } => #support::SameId::<Self::Id>::same(__odm_id),
                }
            }
        }
    });
    let id = quote!(match self { #(#ids)* });
    let models = shape.models().map(|(_, ty)| {
        let declared = declared_variant(model, ty);
        quote!(#declared::model)
    });
    let mut tokens =
        document::document(facts, &id_type(model, shape), &id, &quote!(&[#(#models),*]));
    let tag = &shape.tag;
    let only = shape.variants.len() == 1;
    tokens.extend(shape.models().map(|(variant, ty)| {
        let (name, stored) = (&variant.ident, &variant.stored);
        let others = (!only).then(|| quote!(_ => ::core::option::Option::None,));
        quote! {
            impl #support::VariantOf<#ident> for #ty {
                const TAG: &'static str = #tag;
                const NAME: &'static str = #stored;
                fn into_model(self) -> #ident {
                    #ident::#name(self)
                }
                fn of_model(__odm_model: #ident) -> ::core::option::Option<Self> {
                    match __odm_model {
                        #ident::#name(__odm_of) => ::core::option::Option::Some(__odm_of),
                        #others
                    }
                }
            }
            impl #support::RowOf<#ty> for #ident {}
        }
    }));
    tokens
}

/// Implementations for what the variants of a refused enum hold, so that their structs are not refused as well.
pub(super) fn fallback(model: &Model) -> TokenStream {
    let Some(shape) = model.document_enum() else {
        return TokenStream::new();
    };
    let (support, ident) = (&model.support, &model.ident);
    let mut held: Vec<String> = Vec::new();
    let mut tokens = TokenStream::new();
    for variant in &shape.variants {
        let VariantContent::Newtype(ty) = &variant.content else {
            continue;
        };
        let text = ty.to_token_stream().to_string();
        if held.contains(&text) || !model.generics.params.is_empty() {
            continue;
        }
        held.push(text);
        tokens.extend(quote! {
            #[diagnostic::do_not_recommend]
            impl #support::VariantOf<#ident> for #ty {
                const TAG: &'static str = "";
                const NAME: &'static str = "";
                fn into_model(self) -> #ident {
                    ::core::unreachable!()
                }
                fn of_model(_: #ident) -> ::core::option::Option<Self> {
                    ::core::option::Option::None
                }
            }
        });
    }
    tokens
}

/// The name of the collection of a variant's struct: that of the enum.
pub(super) fn collection(support: &TokenStream, of: &VariantOf) -> TokenStream {
    let model = at(of.model.to_token_stream(), of.model.span());
    quote_spanned!(of.model.span()=> <#model as #support::RefTarget>::TARGET_COLLECTION)
}

/// The metadata by which the struct of a variant knows its enum.
pub(super) fn variant_of(support: &TokenStream, of: &VariantOf) -> TokenStream {
    let span = of.model.span();
    let model = at(of.model.to_token_stream(), span);
    let variant = quote_spanned!(span=> <Self as #support::VariantOf<#model>>);
    quote_spanned! {span=>
        &#support::VariantOfMeta {
            model: <#model as #support::Document>::model,
            tag: #variant::TAG,
            name: #variant::NAME,
        }
    }
}

/// `impl DeclaredVariant` for the struct of a variant.
pub(super) fn declared(model: &Model) -> Option<TokenStream> {
    let of = &model.attributes.variant_of.as_ref()?.model;
    let (support, ident) = (&model.support, &model.ident);
    Some(quote! {
        impl #support::DeclaredVariant<#of> for #ident {
            type Id = <Self as #support::Document>::Id;
            fn model() -> &'static #support::ModelMeta {
                <Self as #support::Document>::MODEL
            }
            fn id(&self) -> &Self::Id {
                #support::Document::id(self)
            }
        }
    })
}
