//! The checks of a budget, as code that compiles only if they hold.

use proc_macro2::TokenStream;
use quote::quote_spanned;
use syn::spanned::Spanned;

use crate::facts::Facts;
use crate::model::rust_type::has_one_size;

/// Every check of a model's budget; none for a model without one.
pub(crate) fn checks(facts: &Facts<'_>) -> TokenStream {
    let model = facts.model;
    let (support, ident) = (&model.support, &model.ident);
    let Some(budget) = &model.attributes.budget else {
        return TokenStream::new();
    };
    let mut tokens = TokenStream::new();
    for field in model.fields() {
        if field.skipped || (field.encoder.is_none() && has_one_size(&field.ty)) {
            continue;
        }
        let name = &field.rust;
        tokens.extend(quote_spanned! {field.ty.span()=>
            const _: () = if let ::core::option::Option::Some(__odm_flaw) = #support::unbounded::<#ident>(#name) {
                ::core::panic!("{}", __odm_flaw.get());
            };
        });
    }
    let (max, allowed) = (budget.max, budget.allow.is_some());
    let span = budget.allow.as_ref().map_or(budget.span, Spanned::span);
    tokens.extend(quote_spanned! {span=>
        const _: () = if let ::core::option::Option::Some(__odm_flaw) = #support::budget_flaw::<#ident>(#max, #allowed) {
            ::core::panic!("{}", __odm_flaw.get());
        };
    });
    tokens
}
