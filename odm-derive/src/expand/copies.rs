//! Copies of fields of other documents: `copy_of`.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::Ident;
use syn::spanned::Spanned;

use super::meta;
use super::tokens::{assert_demand, fields_argument, option, walk};
use crate::facts::relations::{CopyFacts, Declares, Demand};
use crate::model::Model;
use crate::model::rust_type::{Kind, kind};
use crate::parse::relation::CopyOf;
use crate::parse::serde::unraw;

/// The metadata of a copy.
pub(super) fn meta(support: &TokenStream, ty: &syn::Type, copy: &CopyOf) -> TokenStream {
    let (reference, once) = (unraw(&copy.reference), copy.once.is_some());
    let path = copy.path.iter().map(unraw);
    let refresh = copy.refresh.as_ref().map(|refresh| {
        let (older_than, at) = (refresh.older_than, unraw(&refresh.at));
        quote!(#support::RefreshMeta { older_than: #older_than, at: #at })
    });
    let refresh = option(refresh.as_ref());
    let projected = if copy.path.is_empty() {
        quote! {{
            #[allow(unused_imports)]
            use #support::Unprobed as _;
            #support::Probe::<#ty>::PROJECTED
        }}
    } else {
        quote!(&[])
    };
    quote! {
        #support::CopyMeta {
            reference: #reference,
            path: &[#(#path),*],
            projected: #projected,
            once: #once,
            refresh: #refresh,
        }
    }
}

/// Code that compiles only if the field can hold what it copies, and the other model declares what a copy needs.
pub(super) fn checks(model: &Model, facts: &CopyFacts<'_>) -> TokenStream {
    let support = &model.support;
    let CopyFacts {
        field,
        variant,
        copy,
        source,
        demands,
        other_form,
        time,
    } = facts;
    let ty = &field.ty;
    let time = time.map(|(at, time)| {
        let stored = meta::ty(model, *variant, time);
        let message = time_form(&time.rust);
        quote_spanned!(at.span()=> const _: () = ::core::assert!(#support::is_one_date(&#stored), #message);)
    });
    let Some(last) = copy.path.last() else {
        let part = match kind(ty) {
            Kind::Optional(inner) => inner,
            _ => ty,
        };
        let fits = quote_spanned!(ty.span()=> const _: () = #support::copies::<#source, #part>(););
        let demands = demands
            .iter()
            .map(|demand| assertion(model, demand, &copy.word));
        return quote!(#fits #time #(#demands)*);
    };
    let argument = fields_argument();
    let fields = quote!(&<#source as #support::Embedded>::Fields<#source>);
    let leaf = walk(&copy.path);
    let stored = meta::ty(model, *variant, field);
    let message = format!(
        "`{}` is in a list of `{}`, so there is no one value to copy; copy the list, or a field outside of it",
        unraw(last),
        unraw(copy.path.first().unwrap_or(last)),
    );
    let lists = (1..copy.path.len()).filter_map(|length| {
        let walk = walk(copy.path.get(..length)?);
        Some(quote!(#support::is_list(&#support::type_of(|#argument: #fields| #support::leaf(&#walk)))))
    });
    let lists: Vec<TokenStream> = lists.collect();
    let in_no_list = (!lists.is_empty())
        .then(|| quote_spanned!(last.span()=> ::core::assert!(!(#(#lists)||*), #message);));
    // Deeper fields are reached by their types, which do not show a serializer.
    let same_form = (copy.path.len() == 1).then(|| {
        let name = unraw(last);
        quote_spanned!(last.span()=> ::core::assert!(#support::is_stored_alike::<#source>(&#stored, #name), #other_form);)
    });
    let fits = quote_spanned!(ty.span()=> #support::leaf(&#leaf).fits::<#ty>(););
    // All in one constant, which rustc does not evaluate if the types do not fit.
    let checks = quote_spanned! {last.span()=>
        const _: () = {
            #[allow(unused_imports)]
            use #support::Descend as _;
            let _ = |#argument: #fields| { #fits };
            #in_no_list
            #same_form
        };
    };
    let demands = demands.iter().map(|demand| {
        let span = match demand.declares {
            Declares::Fact { .. } | Declares::Seldom { .. } | Declares::Often { .. } => last,
            _ => &copy.reference,
        };
        assertion(model, demand, span)
    });
    quote!(#checks #time #(#demands)*)
}

/// The error for a time of copies that is stored as something else than a date.
fn time_form(name: &str) -> String {
    format!(
        "`{name}` is the time of a copy: declare it as `bson::DateTime`, or as an `Option` of it"
    )
}

fn assertion(model: &Model, demand: &Demand<'_>, at: &Ident) -> TokenStream {
    let assertion = assert_demand(model, demand, at.span());
    quote_spanned!(at.span()=> const _: () = #assertion;)
}
