//! Summaries of the documents of a relation: `count_of`, `sum_of`, `mean_of`, `min_of`, `max_of`.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::Ident;
use syn::spanned::Spanned;

use super::meta;
use super::tokens::{assert_demand, fields_argument, walk};
use crate::facts::summaries::{SummaryFacts, wrong_type};
use crate::model::Model;
use crate::model::rust_type::{Kind, stored_kind};
use crate::parse::serde::unraw;
use crate::parse::summary::{SummaryKind, SummaryOf};

/// The metadata of a summary.
pub(super) fn meta(support: &TokenStream, summary: &SummaryOf) -> TokenStream {
    let (kind, relation) = (summary.kind, unraw(&summary.relation));
    let path = summary.path.iter().map(unraw);
    quote! {
        #support::SummaryMeta {
            kind: #support::SummaryKind::#kind,
            relation: #relation,
            path: &[#(#path),*],
        }
    }
}

/// Code that compiles only if the field can hold the summary, and the other model declares what the summary needs.
pub(super) fn checks(model: &Model, facts: &SummaryFacts<'_>) -> TokenStream {
    let support = &model.support;
    let summary = facts.summary;
    let mut tokens = own_type(model, facts);
    tokens.extend(by_one(model, facts));
    if let Some(last) = summary.path.last() {
        let lists = is_in_list(support, facts, &summary.path);
        let several = &facts.several;
        let in_no_list = quote_spanned!(last.span()=> ::core::assert!(!(#lists), "{}", #several););
        let form = match summary.kind {
            SummaryKind::Min | SummaryKind::Max => alike(model, facts, last),
            _ => numbers(support, facts, last),
        };
        // All in one constant, which rustc does not evaluate if the types do not fit.
        tokens.extend(quote_spanned! {last.span()=>
            const _: () = {
                #[allow(unused_imports)]
                use #support::Descend as _;
                #in_no_list
                #form
            };
        });
    }
    let relation = summary.relation.span();
    let assertion = assert_demand(model, &facts.stored, relation);
    tokens.extend(quote_spanned!(relation=> const _: () = #assertion;));
    let assertion = assert_demand(model, &facts.alone, relation);
    tokens.extend(quote_spanned!(relation=> const _: () = #assertion;));
    if let (Some(demand), Some(first)) = (&facts.fact, summary.path.first()) {
        let assertion = assert_demand(model, demand, first.span());
        tokens.extend(quote_spanned!(first.span()=> const _: () = #assertion;));
    }
    tokens
}

/// The declared type can hold the summary.
fn own_type(model: &Model, facts: &SummaryFacts<'_>) -> TokenStream {
    let support = &model.support;
    let (field, summary) = (facts.field, facts.summary);
    let test = match summary.kind {
        SummaryKind::Count => quote!(is_integer),
        SummaryKind::Sum => quote!(is_one_number),
        SummaryKind::Mean => quote!(is_mean),
        SummaryKind::Min | SummaryKind::Max => quote!(is_nullable),
    };
    let (ty, message) = (meta::ty(model, None, field), wrong_type(field, summary));
    quote_spanned!(field.ty.span()=> const _: () = ::core::assert!(#support::#test(&#ty), "{}", #message);)
}

/// Each document has one reference at most.
fn by_one(model: &Model, facts: &SummaryFacts<'_>) -> Option<TokenStream> {
    let support = &model.support;
    let message = facts.list.as_ref()?;
    let inverse = facts.inverse;
    // The type of a key may be of another crate, which has no metadata.
    let until = inverse.by.len() - usize::from(inverse.key.is_some());
    let lists = is_in_list(support, facts, inverse.by.get(..until)?);
    let span = facts.summary.relation.span();
    Some(quote_spanned! {span=>
        const _: () = {
            #[allow(unused_imports)]
            use #support::Descend as _;
            ::core::assert!(!(#lists), "{}", #message);
        };
    })
}

/// Whether a field of the other model, or one around it, is a list.
fn is_in_list(support: &TokenStream, facts: &SummaryFacts<'_>, path: &[Ident]) -> TokenStream {
    let target = &facts.inverse.target;
    let argument = fields_argument();
    let fields = quote!(&<#target as #support::Embedded>::Fields<#target>);
    let lists = (1..=path.len()).filter_map(|length| {
        let walk = walk(path.get(..length)?);
        Some(quote!(#support::is_list(&#support::type_of(|#argument: #fields| #support::leaf(&#walk)))))
    });
    quote!(false #(|| #lists)*)
}

/// The summary is stored as the field that it is chosen from.
fn alike(model: &Model, facts: &SummaryFacts<'_>, last: &Ident) -> TokenStream {
    let support = &model.support;
    let (field, summary, target) = (facts.field, facts.summary, &facts.inverse.target);
    let (ty, argument, leaf) = (&field.ty, fields_argument(), walk(&summary.path));
    let fields = quote!(&<#target as #support::Embedded>::Fields<#target>);
    let fits = quote_spanned!(ty.span()=> #support::leaf(&#leaf).fits::<#ty>(););
    // Deeper fields are reached by their types, which do not show a serializer.
    let same_form = (summary.path.len() == 1).then(|| {
        let (name, other_form) = (unraw(last), &facts.other_form);
        let stored = meta::ty(model, None, field);
        quote_spanned!(last.span()=> ::core::assert!(#support::is_stored_alike::<#target>(&#stored, #name), "{}", #other_form);)
    });
    quote! {
        let _ = |#argument: #fields| { #fits };
        #same_form
    }
}

/// The summarized field is a number.
fn numbers(support: &TokenStream, facts: &SummaryFacts<'_>, last: &Ident) -> TokenStream {
    let (summary, target) = (facts.summary, &facts.inverse.target);
    let (argument, other_form) = (fields_argument(), &facts.other_form);
    let fields = quote!(&<#target as #support::Embedded>::Fields<#target>);
    let leaf = walk(&summary.path);
    let test = if summary.path.len() == 1 {
        let name = unraw(last);
        quote!(#support::stores_numbers::<#target>(#name))
    } else {
        quote!(#support::is_number(&#support::type_of(|#argument: #fields| #support::leaf(&#leaf))))
    };
    let ty = &facts.field.ty;
    // A type that is no plain number, such as an amount of money, may have a unit.
    let has_unit = summary.kind == SummaryKind::Sum
        && facts.field.encoder.is_none()
        && matches!(stored_kind(ty), Kind::Unknown);
    let of_one_unit = has_unit.then(|| {
        let adds_up = quote_spanned!(ty.span()=> #support::leaf(&#leaf).adds_up_to::<#ty>(););
        quote!(let _ = |#argument: #fields| { #adds_up };)
    });
    let is_number = quote_spanned!(last.span()=> ::core::assert!(#test, "{}", #other_form););
    quote!(#of_one_unit #is_number)
}
