//! Relations that both models declare: the metadata of lists of the newest documents, and the code that compares the sides.

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;

use super::tokens::assert_demand;
use crate::facts::Facts;
use crate::facts::relations::{CounterpartFacts, Demand, RecentFacts};
use crate::model::{Derive, Model};
use crate::parse::relation::CounterpartKind;
use crate::parse::serde::unraw;

/// The metadata of a list of the newest documents.
pub(super) fn recent(model: &Model, facts: &RecentFacts<'_>) -> TokenStream {
    let support = &model.support;
    let RecentFacts {
        field,
        recent,
        element,
        ..
    } = facts;
    let (rust, source, (max, _)) = (&field.rust, &recent.source, recent.max);
    let (sort, descending) = (unraw(&recent.sort), recent.descending);
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

/// Code that compiles only if the other models declare their sides of the relations that this one declares on fields.
pub(super) fn checks(facts: &Facts<'_>) -> TokenStream {
    let model = facts.model;
    let (support, ident) = (&model.support, &model.ident);
    let mut tokens = TokenStream::new();
    if let Some(of) = &model.attributes.of
        && model.generics.params.is_empty()
        && model.derive == Derive::Embedded
    {
        let span = of.span();
        tokens.extend(quote_spanned!(span=> const _: () = #support::copies::<#of, #ident>();));
    }
    for recent in &facts.relations.recents {
        tokens.extend(of_recent(model, recent));
    }
    let counterparts = &facts.relations.counterparts;
    for declared in counterparts {
        tokens.extend(of_reference(model, declared));
    }
    tokens
}

/// The elements are parts of the other model's documents, and a reference of that model names the list.
fn of_recent(model: &Model, facts: &RecentFacts<'_>) -> TokenStream {
    let (support, element) = (&model.support, facts.element);
    let (source, sort) = (&facts.recent.source, &facts.recent.sort);
    let types = quote_spanned! {sort.span()=>
        const _: () = {
            #[allow(dead_code)]
            fn __odm_recent(__odm_fields: &<#element as #support::Embedded>::Fields<#element>) {
                let _ = &__odm_fields.#sort;
                #support::copies::<#source, #element>();
            }
        };
    };
    let declared = assertion(model, &facts.demand, source.span());
    quote!(#types #declared)
}

/// The model that the field refers to declares the relation that the counterpart names.
fn of_reference(model: &Model, facts: &CounterpartFacts<'_>) -> TokenStream {
    let (support, ident) = (&model.support, &model.ident);
    let (name, target) = (&facts.counterpart.name, facts.target);
    let types = match facts.counterpart.kind {
        CounterpartKind::Rest => quote_spanned!(name.span()=> let _ = &__odm_fields.#name;),
        CounterpartKind::Recent => quote_spanned! {name.span()=>
            #support::copied_into::<#ident, _, _, _>(&__odm_fields.#name);
        },
        CounterpartKind::TwoWay => quote_spanned! {name.span()=>
            #support::refers_to::<#ident, _, _, _>(&__odm_fields.#name);
        },
    };
    let demand = facts.demand.as_ref();
    let check = demand.map(|demand| {
        let assertion = assert_demand(model, demand, name.span());
        quote_spanned!(name.span()=> #assertion;)
    });
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

/// A constant that is evaluated only for its panic.
pub(super) fn assertion(model: &Model, demand: &Demand<'_>, span: Span) -> TokenStream {
    let assertion = assert_demand(model, demand, span);
    quote_spanned!(span=> const _: () = #assertion;)
}
