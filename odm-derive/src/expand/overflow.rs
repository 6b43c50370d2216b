//! Overflow documents of a list.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::Ident;
use syn::spanned::Spanned;

use super::meta;
use crate::facts::Facts;
use crate::facts::field::Presence;
use crate::facts::overflow::{OtherErrors, OverflowFacts, unset, wrong_id, wrong_number};
use crate::model::rust_type::Kind;
use crate::model::{Field, Model};

/// The metadata of an overflow.
pub(super) fn meta(model: &Model, facts: &OverflowFacts<'_>) -> TokenStream {
    let (support, of) = (&model.support, facts.of);
    let (by, number, list) = (&facts.by.stored, &facts.number.stored, &facts.list.stored);
    let (max, _) = facts.overflow.max;
    quote! {
        &#support::OverflowMeta {
            of: #support::model_of::<#of>(),
            by: #by,
            number: #number,
            list: #list,
            max: #max,
        }
    }
}

/// The implementation for a model of overflow documents.
pub(super) fn implementation(model: &Model, facts: &OverflowFacts<'_>) -> TokenStream {
    let (support, ident) = (&model.support, &model.ident);
    let (of, item) = (facts.of, facts.item);
    quote! {
        impl #support::OverflowModel for #ident {
            type Of = #of;
            type Item = #item;
        }
    }
}

/// Code that compiles only if the types of the fields are those of an overflow, and the other model has the list.
pub(super) fn checks(facts: &Facts<'_>) -> TokenStream {
    let (model, Some(overflow)) = (facts.model, &facts.overflow) else {
        return TokenStream::new();
    };
    let number = overflow.number;
    let mut tokens = holds(model, number, "is_integer", &wrong_number(number));
    if let Some(id) = &facts.id {
        tokens.extend(holds(model, id.field, "is_object_id", &wrong_id(id.field)));
    }
    let unknown = facts.fields.iter().filter(|one| {
        let attributes = &one.field.attributes;
        matches!(one.stored, Kind::Unknown)
            && matches!(one.presence, Presence::OfType)
            && !one.field.skipped
            && one.field.flatten.is_none()
            && one.field.stored != "_id"
            && attributes.version.is_none()
            && attributes.timestamp().is_none()
            && attributes.copy_of.is_none()
            && model.overflow_role(one.field).is_none()
    });
    for one in unknown {
        tokens.extend(holds(model, one.field, "is_nullable", &unset(one.field)));
    }
    tokens.extend(other(model, overflow));
    tokens
}

/// The type of a field passes a test of `odm::support`.
fn holds(model: &Model, field: &Field, test: &str, message: &str) -> TokenStream {
    let (support, ty) = (&model.support, meta::ty(model, None, field));
    let span = field.ty.span();
    let test = Ident::new(test, span);
    quote_spanned!(span=> const _: () = ::core::assert!(#support::#test(&#ty), "{}", #message);)
}

/// The other model has the list, with a bound, deletes overflow documents with its own, and has no versions.
fn other(model: &Model, facts: &OverflowFacts<'_>) -> TokenStream {
    let (support, of) = (&model.support, facts.of);
    let OtherErrors {
        no_list,
        unbounded,
        no_cascade,
        versions,
    } = OtherErrors::new(model, facts);
    let (rust, stored) = (&facts.list.rust, &facts.list.stored);
    let by = &facts.by.rust;
    let ty = meta::ty(model, None, facts.list);
    let span = facts.overflow.list.span();
    let list = quote_spanned! {span=>
        const _: () = {
            ::core::assert!(#support::has_list::<#of>(#rust, #stored, &#ty), "{}", #no_list);
            ::core::assert!(#support::has_bounded_list::<#of>(#rust), "{}", #unbounded);
        };
    };
    let span = facts.overflow.by.span();
    let cascade = quote_spanned! {span=>
        const _: () = {
            ::core::assert!(#support::cascades_by::<#of>(#by), "{}", #no_cascade);
            ::core::assert!(!#support::has_versions::<#of>(), "{}", #versions);
        };
    };
    quote!(#list #cascade)
}
