//! Relations that both models declare: the metadata of each side, and the code that compares the two.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote, quote_spanned};
use syn::Type;

use crate::facts::Facts;
use crate::model::rust_type::{Kind, kind};
use crate::model::{Derive, Field, Model};
use crate::parse::relation::{Counterpart, CounterpartKind, Inverse, InverseKind, Recent};
use crate::parse::serde::unraw;

/// A reference that has a counterpart in the other model.
struct Declared<'a> {
    field: &'a Field,
    counterpart: &'a Counterpart,
    /// The other model.
    target: &'a Type,
}

/// The references of a document that have a counterpart.
fn all<'a>(facts: &'a Facts<'_>) -> impl Iterator<Item = Declared<'a>> {
    let is_document = facts.model.derive == Derive::Document;
    let fields = facts.fields.iter().filter(move |_| is_document);
    fields.filter_map(|one| {
        Some(Declared {
            field: one.field,
            counterpart: one.field.attributes.counterpart.as_ref()?,
            target: one.relation.as_ref()?.target,
        })
    })
}

/// The lists of a document that copy the newest documents of another model.
pub(super) fn recents(model: &Model) -> impl Iterator<Item = (&Field, &Recent)> {
    let is_document = model.derive == Derive::Document;
    let fields = model.fields().iter().filter(move |_| is_document);
    fields.filter_map(|field| Some((field, field.attributes.recent.as_ref()?)))
}

/// What a reference says about the relation of the other model.
pub(super) fn meta(model: &Model, counterpart: &Counterpart) -> TokenStream {
    let support = &model.support;
    let (kind, name) = (variant(counterpart.kind), unraw(&counterpart.name));
    quote!(#support::CounterpartMeta { kind: #support::CounterpartKind::#kind, name: #name })
}

fn variant(kind: CounterpartKind) -> TokenStream {
    match kind {
        CounterpartKind::Rest => quote!(Rest),
        CounterpartKind::Recent => quote!(Recent),
        CounterpartKind::TwoWay => quote!(TwoWay),
    }
}

/// The metadata of a list of the newest documents.
pub(super) fn recent(model: &Model, field: &Field, recent: &Recent) -> TokenStream {
    let support = &model.support;
    let (rust, source, (max, _)) = (&field.rust, &recent.source, recent.max);
    let (sort, descending) = (unraw(&recent.sort), recent.descending);
    let element = element(field);
    quote! {
        #support::RecentMeta {
            field: #rust,
            source: <#source as #support::Document>::model,
            copied: {
                #[allow(unused_imports)]
                use #support::Unprobed as _;
                #support::Probe::<#element>::PROJECTED
            },
            max: #max,
            sort: #sort,
            descending: #descending,
        }
    }
}

/// The type of the elements of a list.
fn element(field: &Field) -> &Type {
    match kind(&field.ty) {
        Kind::List(element) => element,
        _ => &field.ty,
    }
}

/// Code that compiles only if the other models declare their sides of the relations that this one declares on fields.
pub(super) fn checks(facts: &Facts<'_>) -> TokenStream {
    let model = facts.model;
    let (support, ident) = (&model.support, &model.ident);
    let mut tokens = TokenStream::new();
    if let Some(of) = &model.attributes.of
        && model.generics.params.is_empty()
        && model.derive == Derive::Embedded
    {
        let span = syn::spanned::Spanned::span(of);
        tokens.extend(quote_spanned!(span=> const _: () = #support::copies::<#of, #ident>();));
    }
    for (field, recent) in recents(model) {
        tokens.extend(of_recent(model, field, recent));
    }
    let mut has_recent = false;
    for declared in all(facts) {
        has_recent |= declared.counterpart.kind == CounterpartKind::Recent;
        tokens.extend(of_reference(model, &declared));
    }
    if has_recent {
        tokens.extend(quote!(impl #support::InRecentLists for #ident {}));
    }
    tokens
}

/// The elements are parts of the other model's documents, and a reference of that model names the list.
fn of_recent(model: &Model, field: &Field, recent: &Recent) -> TokenStream {
    let (support, rust, source) = (&model.support, &field.rust, &recent.source);
    let (element, sort) = (element(field), &recent.sort);
    let span = syn::spanned::Spanned::span(source);
    let types = quote_spanned! {sort.span()=>
        const _: () = {
            #[allow(dead_code)]
            fn __odm_recent(__odm_fields: &<#element as #support::Embedded>::Fields<#element>) {
                let _ = &__odm_fields.#sort;
                #support::copies::<#source, #element>();
            }
        };
    };
    let message = format!(
        "`{}` does not declare the other side of `{rust}`: write `#[odm(recent_in = {rust})]` on its reference to `{}`",
        shown(source),
        model.ident,
    );
    let declared = quote_spanned! {span=>
        const _: () = ::core::assert!(
            #support::has_counterpart::<#source>(#support::CounterpartKind::Recent, ::core::option::Option::None, #rust),
            "{}", #message
        );
    };
    quote!(#types #declared)
}

/// The model that the field refers to declares the relation that the counterpart names.
fn of_reference(model: &Model, declared: &Declared<'_>) -> TokenStream {
    let (support, ident) = (&model.support, &model.ident);
    let Declared {
        field,
        counterpart,
        target,
    } = declared;
    let (name, rust, target_name) = (&counterpart.name, &field.rust, shown(target));
    let word = unraw(name);
    let advised = match counterpart.kind {
        CounterpartKind::Rest => Some((
            quote!(#support::has_subset::<#target>(#word, #rust)),
            format!("write `#[odm(subset({word}: {ident}, by = {rust}))]` on it"),
        )),
        // The type of the list shows what it copies.
        CounterpartKind::Recent => None,
        CounterpartKind::TwoWay => Some((
            quote!(#support::has_counterpart::<#target>(#support::CounterpartKind::TwoWay, ::core::option::Option::Some(#word), #rust)),
            format!("write `#[odm(two_way = {rust})]` on its field `{word}`"),
        )),
    };
    let check = advised.map(|(check, advice)| {
        let message =
            format!("`{target_name}` does not declare the other side of `{rust}`: {advice}");
        quote_spanned!(name.span()=> ::core::assert!(#check, "{}", #message);)
    });
    let types = match counterpart.kind {
        CounterpartKind::Rest => quote_spanned!(name.span()=> let _ = &__odm_fields.#name;),
        CounterpartKind::Recent => quote_spanned! {name.span()=>
            #support::copied_into::<#ident, _, _, _>(&__odm_fields.#name);
        },
        CounterpartKind::TwoWay => quote_spanned! {name.span()=>
            #support::refers_to::<#ident, _, _, _>(&__odm_fields.#name);
        },
    };
    quote_spanned! {name.span()=>
        const _: () = {
            #[allow(dead_code)]
            fn __odm_counterpart(__odm_fields: &<#target as #support::Embedded>::Fields<#target>) {
                #types
            }
            #check
        };
    }
}

/// The rest of a subset declares the relation, too.
pub(super) fn of_inverse(model: &Model, inverse: &Inverse) -> TokenStream {
    if inverse.kind != InverseKind::Rest {
        return TokenStream::new();
    }
    let (support, target) = (&model.support, &inverse.target);
    let name = unraw(&inverse.name);
    let Some(by) = inverse.by.first() else {
        return TokenStream::new();
    };
    let rust = unraw(by);
    let message = format!(
        "`{}` does not declare the other side of `{name}`: write `#[odm(rest_of = {name})]` on its field `{rust}`",
        shown(target),
    );
    quote_spanned! {by.span()=>
        const _: () = ::core::assert!(
            #support::has_counterpart::<#target>(#support::CounterpartKind::Rest, ::core::option::Option::Some(#rust), #name),
            "{}", #message
        );
    }
}

/// A type as the user wrote it.
fn shown(ty: &Type) -> String {
    ty.to_token_stream().to_string().replace(' ', "")
}
