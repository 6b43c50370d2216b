//! The struct of typed fields.

use proc_macro2::TokenStream;
use quote::{format_ident, quote, quote_spanned};
use syn::{Ident, Type, Visibility};

use super::encoder;
use super::generics::Generics;
use super::handle_type::SpannedType;
use super::relations;
use super::tokens::{documented, relation_name};
use crate::model::rust_type::db_ref;
use crate::model::{Field, Model};

/// One handle: its field in the struct of typed fields, and the code that makes it.
#[derive(Clone)]
pub(crate) struct Handle {
    pub(crate) ident: Ident,
    /// The identifier with another span, for where it is set: rustc reports a type that is not a field there,
    /// too.
    pub(crate) set: Ident,
    pub(crate) doc: String,
    pub(crate) ty: TokenStream,
    pub(crate) make: TokenStream,
}

/// The name of the struct of typed fields.
pub(crate) fn name(model: &Model) -> Ident {
    format_ident!("{}Fields", model.ident)
}

/// The handles of a struct.
pub(crate) fn handles(model: &Model, fields: &[Field]) -> Vec<Handle> {
    let stored = fields
        .iter()
        .filter(|field| !field.skipped)
        .map(|field| handle(model, field, &encoder::name(model, None, field)));
    stored.chain(inverses(model)).collect()
}

/// The handles of inverse relations.
pub(crate) fn inverses(model: &Model) -> impl Iterator<Item = Handle> {
    model.inverses().map(|inverse| Handle {
        ident: inverse.name.clone(),
        set: inverse.name.clone(),
        doc: format!("The relation `{}`.", inverse.name),
        ty: relations::handle(model, inverse),
        make: relations::make(model, inverse),
    })
}

/// The handle of one named field.
pub(crate) fn handle(model: &Model, field: &Field, encoder: &Ident) -> Handle {
    let (support, ty, stored) = (&model.support, &field.ty, &field.stored);
    let path = if field.flatten.is_some() {
        quote!(__odm_path.clone())
    } else {
        quote!(__odm_path.child(#stored))
    };
    let doc = format!("The field `{}`.", field.rust);
    if let Some(role) = role(model, field, encoder) {
        if let Some(target) = db_ref(&field.ty) {
            let name = relation_name(model, &field.ident);
            return of_db_ref(
                support,
                field.ident.clone(),
                doc,
                (ty, target),
                &name,
                &path,
            );
        }
        let with = field
            .encoder
            .is_some()
            .then(|| quote!(, #support::With<#encoder>));
        return Handle {
            ident: field.ident.clone(),
            set: field.ident.clone(),
            doc,
            ty: quote!(#support::Field<__OdmModel, #ty, #support::Tagged<#support::#role #with>>),
            make: quote!(#support::Field::at_path(#path)),
        };
    }
    if let Some(currency) = model.currency_of(field) {
        let (currency_type, stored_currency) = (&currency.ty, &currency.stored);
        let spanned = SpannedType::new(ty);
        let amount = &spanned.ty;
        let amount = quote_spanned!(spanned.span=> <#amount as #support::AmountIn<#currency_type>>);
        return Handle {
            ident: field.ident.clone(),
            set: field.ident.clone(),
            doc,
            ty: quote!(#amount::Handle<__OdmModel>),
            make: quote!(#amount::handle(#path, __odm_path.child(#stored_currency))),
        };
    }
    if field.encoder.is_none() {
        return of_type(support, field.ident.clone(), doc, ty, &path);
    }
    let form = encoder::form(model, encoder, ty);
    Handle {
        ident: field.ident.clone(),
        set: field.ident.clone(),
        doc,
        ty: quote!(#form::Handle<__OdmModel, #encoder>),
        make: quote!(#form::handle::<__OdmModel, #encoder>(#path)),
    }
}

/// What the field is declared as besides its type.
fn role(model: &Model, field: &Field, encoder: &Ident) -> Option<TokenStream> {
    if field.flatten.is_some() {
        return None;
    }
    let attributes = &field.attributes;
    if let Some(recent) = &attributes.recent {
        let source = &recent.source;
        return Some(quote!(Recent<#source>));
    }
    if attributes.keywords_from.is_some() {
        return Some(quote!(Keywords<#encoder>));
    }
    let name = relation_name(model, &field.ident);
    let role = if attributes.refers_to.is_some() {
        quote!(Key<#name>)
    } else {
        quote!(Relation<#name>)
    };
    field.is_joined().then_some(role)
}

/// The handle of a DBRef, which rows of joins have by this name.
pub(crate) fn of_db_ref(
    support: &TokenStream,
    ident: Ident,
    doc: String,
    (ty, target): (&Type, &Type),
    name: &TokenStream,
    path: &TokenStream,
) -> Handle {
    Handle {
        set: ident.clone(),
        ident,
        doc,
        ty: quote!(#support::DbRefFields<__OdmModel, #ty, #target, #support::Tagged<#support::Relation<#name>>>),
        make: quote!(#support::DbRefFields::at_path(#path)),
    }
}

/// The handle that the type itself defines.
pub(crate) fn of_type(
    support: &TokenStream,
    ident: Ident,
    doc: String,
    ty: &Type,
    path: &TokenStream,
) -> Handle {
    let spanned = SpannedType::new(ty);
    let mut set = ident.clone();
    set.set_span(spanned.span.resolved_at(ident.span()));
    Handle {
        ident,
        set,
        doc,
        ty: spanned.handle(support, &spanned.ty),
        make: spanned.make(support, path),
    }
}

/// The struct of typed fields of a struct.
pub(crate) fn of_struct(model: &Model, fields: &[Field]) -> TokenStream {
    let handles = handles(model, fields);
    let mut tokens = of_handles(model, &handles);
    tokens.extend(names(model, &handles));
    tokens
}

/// The struct of the fields' names, for messages about fields that are named through a list.
fn names(model: &Model, handles: &[Handle]) -> TokenStream {
    if handles.is_empty() {
        return TokenStream::new();
    }
    let (support, vis, ident) = (&model.support, &model.vis, &model.ident);
    let name = format_ident!("__Odm_{}_Names", ident);
    let generics = Generics::new(model);
    let (parameters, arguments, clause) = (
        generics.parameters(),
        generics.arguments(),
        generics.clause(),
    );
    let fields = handles.iter().map(|handle| &handle.ident);
    let hidden = matches!(vis, Visibility::Public(_)).then(|| quote!(#[doc(hidden)]));
    quote! {
        #hidden
        #[allow(non_camel_case_types, dead_code, missing_debug_implementations)]
        #vis struct #name<__OdmPlace> {
            #(#hidden #vis #fields: #support::Unreached<__OdmPlace>,)*
        }
        impl #parameters #support::NamesFields for #ident #arguments #clause {
            type Names<__OdmPlace> = #name<__OdmPlace>;
        }
    }
}

/// The struct that holds `handles`, and its `Deref` to the handle of the whole value.
pub(crate) fn of_handles(model: &Model, handles: &[Handle]) -> TokenStream {
    let (support, vis, ident) = (&model.support, &model.vis, &model.ident);
    let name = name(model);
    let generics = Generics::new(model);
    let (declared, used, clause) = (&generics.declared, &generics.used, generics.clause());
    let arguments = generics.arguments();
    let fields = declarations(vis, handles);
    let doc = documented(vis, &format!("The typed fields of [`{ident}`]."));
    // A generic type may have parameters that no handle mentions.
    let of = (!generics.empty)
        .then(|| quote!(__odm_of: ::core::marker::PhantomData<fn() -> #ident #arguments>,));
    quote! {
        #doc
        #[allow(dead_code, missing_debug_implementations, private_interfaces, clippy::type_complexity)]
        #vis struct #name<#declared __OdmModel, __OdmAs = #ident #arguments> #clause {
            #fields
            #of
            __odm_this: #support::Field<__OdmModel, __OdmAs>,
        }
        impl<#declared __OdmModel, __OdmAs> ::core::ops::Deref for #name<#used __OdmModel, __OdmAs> #clause {
            type Target = #support::Field<__OdmModel, __OdmAs>;
            fn deref(&self) -> &Self::Target {
                &self.__odm_this
            }
        }
    }
}

/// The fields of a struct of handles.
pub(crate) fn declarations(vis: &Visibility, handles: &[Handle]) -> TokenStream {
    handles
        .iter()
        .map(|handle| {
            let (ident, ty) = (&handle.ident, &handle.ty);
            let doc = documented(vis, &handle.doc);
            quote!(#doc #vis #ident: #ty,)
        })
        .collect()
}
