//! The typed fields of an enum: its tag, and the content of each variant that has one.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::Ident;

use super::encoder;
use super::fields::{self, Handle};
use super::generics::Generics;
use super::tokens::{documented, relation_name};
use crate::model::{Enum, Field, Model, Tagging, Variant, VariantContent};
use crate::parse::serde::unraw;

/// The structs of handles: one for the enum, one for each variant with named fields.
pub(crate) fn fields(model: &Model, shape: &Enum, id: Option<Handle>) -> TokenStream {
    let mut tokens = fields::of_handles(model, &handles(model, shape, id));
    for variant in &shape.variants {
        if let VariantContent::Struct(list) = &variant.content {
            tokens.extend(of_variant(model, variant, list));
        }
    }
    tokens
}

/// The handles of an enum; a document has one of its `_id`.
pub(crate) fn handles(model: &Model, shape: &Enum, id: Option<Handle>) -> Vec<Handle> {
    let support = &model.support;
    let mut handles = Vec::new();
    if let Tagging::Internal(tag) | Tagging::Adjacent(tag, _) = &shape.tagging {
        handles.push(Handle {
            ident: format_ident!("tag"),
            set: format_ident!("tag"),
            doc: "The stored name of the variant.".to_owned(),
            ty: quote!(#support::Field<__OdmModel, #support::String>),
            make: quote!(#support::Field::at_path(__odm_path.child(#tag))),
        });
    }
    handles.extend(id);
    for variant in &shape.variants {
        let ident = variant.handle();
        if handles.iter().any(|handle: &Handle| handle.ident == ident) {
            continue;
        }
        let mut path = path(&shape.tagging, variant);
        if shape.variants.len() > 1 {
            path = quote!(#path.optional());
        }
        let doc = format!("What is stored of the variant `{}`.", unraw(&variant.ident));
        let (ty, make) = match &variant.content {
            VariantContent::Unit | VariantContent::Opaque => continue,
            VariantContent::Newtype(ty) if variant.db_ref().is_some() => {
                let target = variant.db_ref().unwrap_or(ty);
                let name = relation_name(model, &ident);
                let types = (&**ty, target);
                handles.push(fields::of_db_ref(support, ident, doc, types, &name, &path));
                continue;
            }
            VariantContent::Newtype(ty) => {
                handles.push(fields::of_type(support, ident, doc, ty, &path));
                continue;
            }
            VariantContent::Tuple(types) => (
                quote!(#support::Field<__OdmModel, (#(#types,)*)>),
                quote!(#support::Field::at_path(#path)),
            ),
            VariantContent::Struct(_) => {
                let generics = Generics::new(model);
                let (name, used) = (variant_name(model, variant), &generics.used);
                (
                    quote!(#name<#used __OdmModel>),
                    quote!(#name::<#used __OdmModel>::__odm_handles(#path)),
                )
            }
        };
        handles.push(Handle {
            set: ident.clone(),
            ident,
            doc,
            ty,
            make,
        });
    }
    handles.extend(fields::inverses(model));
    handles
}

fn variant_name(model: &Model, variant: &Variant) -> Ident {
    format_ident!("{}{}Fields", model.ident, unraw(&variant.ident))
}

/// The path of a variant's content.
fn path(tagging: &Tagging, variant: &Variant) -> TokenStream {
    let stored = &variant.stored;
    match tagging {
        Tagging::External => quote!(__odm_path.child(#stored)),
        Tagging::Adjacent(_, content) => quote!(__odm_path.child(#content)),
        Tagging::Internal(_) | Tagging::Untagged => quote!(__odm_path.clone()),
    }
}

/// The struct of handles of a variant with named fields.
fn of_variant(model: &Model, variant: &Variant, list: &[Field]) -> TokenStream {
    let (support, vis) = (&model.support, &model.vis);
    let name = variant_name(model, variant);
    let generics = Generics::new(model);
    let (declared, used, clause) = (&generics.declared, &generics.used, generics.clause());
    let stored: Vec<&Field> = list.iter().filter(|field| !field.skipped).collect();
    let mut encoders = TokenStream::new();
    let handles: Vec<Handle> = stored
        .iter()
        .map(|field| {
            let encoder = encoder::name(model, Some(&variant.ident), field);
            encoders.extend(encoder::encoder(model, &encoder, field));
            fields::handle(model, field, &encoder)
        })
        .collect();
    let fields = fields::declarations(vis, &handles);
    let idents = handles.iter().map(|handle| &handle.set);
    let makes = handles.iter().map(|handle| &handle.make);
    let doc = documented(
        vis,
        &format!(
            "The typed fields of the variant [`{}::{}`].",
            model.ident, variant.ident
        ),
    );
    let (ident, arguments) = (&model.ident, generics.arguments());
    quote! {
        #doc
        #[allow(dead_code, missing_debug_implementations, private_interfaces, clippy::type_complexity)]
        #vis struct #name<#declared __OdmModel> #clause {
            #fields
            __odm_of: ::core::marker::PhantomData<fn() -> (__OdmModel, #ident #arguments)>,
        }
        impl<#declared __OdmModel> #name<#used __OdmModel> #clause {
            fn __odm_handles(__odm_path: #support::Path) -> Self {
                Self {
                    #(#idents: #makes,)*
                    __odm_of: ::core::marker::PhantomData,
                }
            }
            #[doc(hidden)]
            #[allow(dead_code)]
            #vis fn descend(&self) -> &Self {
                self
            }
        }
        #encoders
    }
}
