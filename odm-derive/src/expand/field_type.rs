//! `impl FieldType`: how the type is stored, and its handle.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::Type;

use super::encoder;
use super::fields::{Handle, name};
use super::generics::Generics;
use super::handle_type::{SpannedType, sound};
use crate::facts::Facts;
use crate::model::{Derive, Model, Opaque, TupleValue};

/// Writes the implementation for a type with a struct of typed fields.
pub(crate) fn of_fields(facts: &Facts<'_>, handles: &[Handle], nullable: bool) -> TokenStream {
    let model = facts.model;
    let (support, fields) = (&model.support, name(model));
    let generics = Generics::new(model);
    let used = &generics.used;
    let idents = handles.iter().map(|handle| &handle.set);
    let makes = handles.iter().map(|handle| &handle.make);
    let of = (!generics.empty).then(|| quote!(__odm_of: ::core::marker::PhantomData,));
    let declared = quote!(<Self as #support::Embedded>::META.fields);
    implement(
        model,
        &generics,
        &own(model, nullable),
        Some(&declared),
        &sound(
            model,
            &facts.unproven,
            &quote!(#fields<#used __OdmModel, __OdmAs>),
        ),
        &quote! {
            #fields {
                #(#idents: #makes,)*
                #of
                __odm_this: #support::Field::at_path(__odm_path),
            }
        },
    )
}

/// The metadata of a type with a struct of typed fields.
fn own(model: &Model, nullable: bool) -> TokenStream {
    let support = &model.support;
    match model.derive {
        Derive::Document => quote!(#support::document::<Self>()),
        Derive::Embedded if model.attributes.result.is_some() => {
            quote!(#support::result::<Self>())
        }
        Derive::Embedded if nullable => quote!(#support::embedded::<Self>().nullable()),
        Derive::Embedded => quote!(#support::embedded::<Self>()),
    }
}

/// Writes the implementation for a type that is stored as another one.
pub(crate) fn forward(
    facts: &Facts<'_>,
    ty: &Type,
    wraps: bool,
    has_contents: bool,
) -> TokenStream {
    let model = facts.model;
    let support = &model.support;
    let generics = Generics::new(model);
    let (ident, parameters, arguments) =
        (&model.ident, generics.parameters(), generics.arguments());
    let predicates = &generics.predicates;
    let spanned = SpannedType::new(ty);
    let inner = sound(model, &facts.unproven, &spanned.ty);
    let handle = quote!(<#inner as #support::FieldType>::Handle<__OdmModel, __OdmAs>);
    let mut meta = spanned.meta(support);
    if has_contents {
        meta = quote!(#support::forwarded(#meta));
    }
    let mut tokens = implement(
        model,
        &generics,
        &meta,
        Some(&spanned.item(support, "FIELDS")),
        &handle,
        &spanned.make(support, &quote!(__odm_path)),
    );
    let wrap = if wraps {
        quote!(|__odm_inner| ::core::option::Option::Some(Self(__odm_inner)))
    } else {
        quote!(|_| ::core::option::Option::None)
    };
    tokens.extend(quote! {
        #support::forward! { [#support] [#parameters] [#ident #arguments] [#ty] [#wrap] [#predicates] }
    });
    tokens
}

/// Writes the implementation for a newtype with a serializer of its own.
pub(crate) fn opaque(model: &Model, opaque: &Opaque) -> TokenStream {
    let support = &model.support;
    let Opaque {
        ty,
        module,
        bson_type,
    } = opaque;
    if module.is_none() {
        let ty = super::meta::declared(support, bson_type.as_ref());
        return without_fields(model, &ty);
    }
    let (ident, vis) = (&model.ident, &model.vis);
    let generics = Generics::new(model);
    let (parameters, arguments) = (generics.parameters(), generics.arguments());
    let predicates = &generics.predicates;
    let name = format_ident!("__Odm_{}", ident);
    let marked = encoder::marked(model, &name, module.as_ref());
    let form = encoder::form(model, &name, ty);
    let mut tokens = without_fields(model, &quote!(#support::form::<#ty, #name>()));
    tokens.extend(quote! {
        #[doc(hidden)]
        #[allow(non_camel_case_types, missing_debug_implementations)]
        #vis enum #name {}
        #marked
        #support::forward_stored! { [#support] [#parameters] [#ident #arguments] [#form::OfNewtype] [#predicates] }
    });
    tokens
}

/// Writes the implementation for a tuple struct, which is stored as an array.
pub(crate) fn tuple(model: &Model, values: &[TupleValue], with_contents: &[&Type]) -> TokenStream {
    let support = &model.support;
    let types = values.iter().map(|TupleValue { ty, is_opaque }| {
        if *is_opaque || model.depends_on_parameter(ty) {
            quote!(#support::TypeMeta::ANY)
        } else {
            quote!(#support::Probe::<#ty>::TYPE)
        }
    });
    without_fields(
        model,
        &quote!({
            #[allow(unused_imports)]
            use #support::Unprobed as _;
            #support::tuple(&[#(#types),*], &[#(#support::Probe::<#with_contents>::CONTENTS),*])
        }),
    )
}

/// Writes the implementations for an enum of unit variants, which can also be the key of a map.
pub(crate) fn choice(model: &Model, names: &[String]) -> TokenStream {
    let (support, ident) = (&model.support, &model.ident);
    let generics = Generics::new(model);
    let (parameters, arguments, clause) = (
        generics.parameters(),
        generics.arguments(),
        generics.clause(),
    );
    let mut tokens = without_fields(model, &quote!(#support::choice(&[#(#names),*])));
    tokens.extend(quote! {
        impl #parameters #support::MapKey for #ident #arguments #clause {
            const KEYS: #support::Keys = #support::Keys::Names(&[#(#names),*]);
        }
    });
    tokens
}

fn without_fields(model: &Model, ty: &TokenStream) -> TokenStream {
    let support = &model.support;
    implement(
        model,
        &Generics::new(model),
        ty,
        None,
        &quote!(#support::Field<__OdmModel, __OdmAs>),
        &quote!(#support::Field::at_path(__odm_path)),
    )
}

/// The implementation itself. `fields` is the constant of the declared fields, if the type has any.
pub(crate) fn implement(
    model: &Model,
    generics: &Generics,
    ty: &TokenStream,
    fields: Option<&TokenStream>,
    handle: &TokenStream,
    make: &TokenStream,
) -> TokenStream {
    let (support, ident) = (&model.support, &model.ident);
    let (parameters, arguments, clause) = (
        generics.parameters(),
        generics.arguments(),
        generics.clause(),
    );
    let fields =
        fields.map(|fields| quote!(const FIELDS: &'static [#support::FieldMeta] = #fields;));
    quote! {
        impl #parameters #support::FieldType for #ident #arguments #clause {
            const TYPE: #support::TypeMeta = #ty;
            #fields
            type Handle<__OdmModel, __OdmAs> = #handle;
            #[inline]
            fn handle<__OdmModel, __OdmAs>(
                __odm_path: #support::Path,
            ) -> Self::Handle<__OdmModel, __OdmAs> {
                #make
            }
        }
    }
}
