//! Assertions about types, as code that compiles only if they hold.

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::Ident;
use syn::spanned::Spanned;

use super::encoder;
use super::generics::Generics;
use super::handle_type::SpannedType;
use super::meta;
use super::tokens::{fields_argument, walk};
use crate::facts::Facts;
use crate::facts::assertions::{Assertion, Flaw, Subject};
use crate::model::Model;
use crate::parse::container::CollectionName;

/// Every assertion that is evaluated where the type is declared.
pub(crate) fn all(facts: &Facts<'_>) -> TokenStream {
    let groups = facts.assertions.constants.iter();
    let mut tokens: TokenStream = groups.map(|group| constant(facts.model, group)).collect();
    tokens.extend(collection(facts.model));
    tokens.extend(nested(facts));
    tokens.extend(super::relations::checks(facts));
    tokens.extend(super::bucket::checks(facts));
    tokens.extend(super::overflow::checks(facts));
    tokens.extend(super::time_series::checks(facts.model));
    tokens
}

/// The check of a collection's name that is a constant.
fn collection(model: &Model) -> Option<TokenStream> {
    let Some(CollectionName::Constant(path)) = &model.attributes.collection else {
        return None;
    };
    let support = &model.support;
    let flaw = Ident::new(
        if model.attributes.gridfs.is_some() {
            "files_flaw"
        } else {
            "collection_flaw"
        },
        Span::call_site(),
    );
    Some(quote_spanned! {path.span()=>
        const _: () = if let ::core::option::Option::Some(__odm_flaw) = #support::#flaw(#path) {
            ::core::panic!("{}", __odm_flaw);
        };
    })
}

/// The assertions that are evaluated with the metadata of the type.
pub(super) fn deferred(facts: &Facts<'_>) -> TokenStream {
    let deferred = facts.assertions.deferred.iter();
    deferred.map(|one| assertion(facts.model, one)).collect()
}

/// A constant that is evaluated only for its panics.
fn constant(model: &Model, group: &[Assertion<'_>]) -> TokenStream {
    let support = &model.support;
    let group = group.iter().map(|one| assertion(model, one));
    quote! {
        const _: () = {
            #[allow(unused_imports)]
            use #support::Unprobed as _;
            #(#group)*
        };
    }
}

fn assertion(model: &Model, assertion: &Assertion<'_>) -> TokenStream {
    let support = &model.support;
    match assertion {
        Assertion::Holds {
            span,
            test,
            subject,
            message,
        } => {
            let test = Ident::new(test, *span);
            let ty = type_meta(model, subject);
            quote_spanned! {*span=>
                ::core::assert!(#support::#test(&#ty), "{}", #message);
            }
        }
        Assertion::Sound { span, flaw } => {
            let flaw = found(model, flaw);
            quote_spanned! {*span=>
                if let ::core::option::Option::Some(__odm_flaw) = #flaw {
                    ::core::panic!("{}", __odm_flaw);
                }
            }
        }
        Assertion::NoFieldNamed {
            span,
            ty,
            probed,
            name,
            message,
        } => {
            let fields = if *probed {
                quote!(#support::Probe::<#ty>::FIELDS)
            } else {
                SpannedType::new(ty).item(support, "FIELDS")
            };
            quote_spanned! {*span=>
                ::core::assert!(!#support::has_name(#fields, #name), "{}", #message);
            }
        }
        Assertion::NoSharedName {
            span,
            types: [one, other],
            message,
        } => {
            let fields = quote!(#support::Probe::<#other>::FIELDS);
            quote_spanned! {*span=>
                ::core::assert!(!#support::share_a_name(#support::Probe::<#one>::FIELDS, #fields), "{}", #message);
            }
        }
        Assertion::NotParallel {
            span,
            keys: [one, other],
            message,
        } => {
            let (one, other) = (is_list(model, *span, one), is_list(model, *span, other));
            quote_spanned! {*span=>
                ::core::assert!(!(#one && #other), "{}", #message);
            }
        }
        Assertion::Defaults {
            span,
            variant,
            field,
            message,
        } => {
            let encoder = encoder::name(model, *variant, field);
            let ty = &field.ty;
            quote_spanned! {*span=>
                ::core::assert!(!#support::defaults::<#ty, #encoder>(), "{}", #message);
            }
        }
        Assertion::Evaluated(ty) => {
            let ty = SpannedType::new(ty).ty;
            quote!(let _ = #support::Probe::<#ty>::FIELDS;)
        }
    }
}

/// The flaw that is found in a type, or none.
fn found(model: &Model, flaw: &Flaw<'_>) -> TokenStream {
    let support = &model.support;
    match flaw {
        Flaw::Undeclared(subject, declared) => {
            let (ty, declared) = (type_meta(model, subject), format_ident!("{declared}"));
            quote!(#support::flaw(&#ty, #support::Declared::#declared))
        }
        Flaw::Null(ty) => {
            let ty = SpannedType::new(ty).meta(support);
            quote!(#support::null_flaw(&#ty))
        }
        Flaw::Tuple(ty) => quote!(#support::tuple_flaw(#support::Probe::<#ty>::CONTENTS)),
        Flaw::Id(field) => {
            let ty = meta::ty(model, None, field);
            quote!(#support::id_flaw(&#ty))
        }
    }
}

/// Whether one of the types is a list.
fn is_list(model: &Model, span: Span, subjects: &[Subject<'_>]) -> TokenStream {
    let support = &model.support;
    let mut subjects = subjects.iter().map(|subject| {
        let ty = type_meta(model, subject);
        quote_spanned!(span=> #support::is_list(&#ty))
    });
    match (subjects.next(), subjects.next()) {
        (Some(one), None) => one,
        (one, other) => {
            let all = one.into_iter().chain(other).chain(subjects);
            quote_spanned!(span=> (#(#all)||*))
        }
    }
}

/// The metadata of what an assertion is about.
fn type_meta(model: &Model, subject: &Subject<'_>) -> TokenStream {
    match subject {
        Subject::Field(field, variant) => meta::ty(model, *variant, field),
        Subject::Value(ty) => SpannedType::new(ty).meta(&model.support),
        Subject::Nested(path) => {
            let (support, ident) = (&model.support, &model.ident);
            let (leaf, argument) = (walk(path.idents), fields_argument());
            let ty = quote_spanned!(path.span()=> #support::type_of(|#argument: &<#ident as #support::Embedded>::Fields<#ident>| #support::leaf(&#leaf)));
            quote!({ use #support::Descend as _; #ty })
        }
    }
}

/// A function that names every nested key; it is never called.
fn nested(facts: &Facts<'_>) -> TokenStream {
    if facts.assertions.nested.is_empty() {
        return TokenStream::new();
    }
    let paths = facts.assertions.nested.iter().map(|path| {
        let path = walk(path.idents);
        quote!(let _ = &#path;)
    });
    let (support, ident) = (&facts.model.support, &facts.model.ident);
    let generics = Generics::new(facts.model);
    let (parameters, arguments, clause) = (
        generics.parameters(),
        generics.arguments(),
        generics.clause(),
    );
    quote! {
        const _: () = {
            #[allow(dead_code)]
            fn __odm_paths #parameters (__odm_fields: &<#ident #arguments as #support::Embedded>::Fields<#ident #arguments>) #clause {
                use #support::Descend as _;
                #(#paths)*
            }
        };
    }
}
