//! Buckets of many small documents.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Ident, Index};

use super::encoder;
use super::meta;
use super::tokens::{fields_argument, walk};
use crate::facts::Facts;
use crate::facts::bucket::{
    BucketFacts, SourceErrors, role, unset, wrong_count, wrong_id, wrong_start, wrong_total,
};
use crate::facts::field::Presence;
use crate::model::rust_type::Kind;
use crate::model::{Field, Model};
use crate::parse::bucket::{KeptKind, Length};
use crate::parse::serde::unraw;

/// The metadata of a bucket.
pub(super) fn meta(model: &Model, facts: &BucketFacts<'_>) -> TokenStream {
    let support = &model.support;
    let item = &facts.bucket.of;
    let by = facts.by.iter().map(|field| &field.stored);
    let (start, items, count) = (
        &facts.start.stored,
        &facts.items.stored,
        &facts.count.stored,
    );
    let (time, span, (max, _)) = (
        names(facts.time),
        facts.bucket.length.units(),
        facts.bucket.max,
    );
    let kept = facts.kept.iter().map(|one| {
        let (rust, name, kind) = (&one.field.rust, &one.field.stored, one.kept.kind);
        let path = names(&one.kept.path);
        quote!(#support::KeptMeta { rust: #rust, name: #name, kind: #support::KeptKind::#kind, path: #path })
    });
    quote! {
        &#support::BucketMeta {
            item: <#item as #support::Embedded>::meta,
            by: &[#(#by),*],
            start: #start,
            time: #time,
            items: #items,
            count: #count,
            max: #max,
            span: #span,
            kept: &[#(#kept),*],
        }
    }
}

fn names(path: &[Ident]) -> TokenStream {
    let names = path.iter().map(unraw);
    quote!(&[#(#names),*])
}

/// The implementation for a bucket.
pub(super) fn implementation(model: &Model, facts: &BucketFacts<'_>) -> TokenStream {
    let (support, ident) = (&model.support, &model.ident);
    let (item, time) = (&facts.bucket.of, &facts.start.ty);
    let key = Ident::new("__odm_key", Span::call_site());
    let (ty, values) = match facts.by.as_slice() {
        [one] => (one.ty.to_token_stream(), vec![encode(model, one, &key)]),
        all => {
            let types = all.iter().map(|field| &field.ty);
            let values = all.iter().enumerate().map(|(position, field)| {
                let position = Index::from(position);
                encode(model, field, quote!(&#key.#position))
            });
            (quote!((#(#types,)*)), values.collect())
        }
    };
    let start = encode(model, facts.start, quote!(__odm_time));
    quote! {
        impl #support::BucketModel for #ident {
            type Item = #item;
            type Key = #ty;
            type Time = #time;
            fn encode_key(#key: &Self::Key) -> #support::Result<#support::Vec<#support::Bson>> {
                ::core::iter::Iterator::collect(::core::iter::IntoIterator::into_iter([#(#values),*]))
            }
            fn encode_time(__odm_time: &Self::Time) -> #support::Result<#support::Bson> {
                #start
            }
        }
    }
}

/// The stored form of a value of the field.
fn encode(model: &Model, field: &Field, value: impl ToTokens) -> TokenStream {
    let (support, ty) = (&model.support, &field.ty);
    let encoder = if field.encoder.is_some() {
        let name = encoder::name(model, None, field);
        quote!(#support::With<#name>)
    } else {
        quote!(#support::BySerde)
    };
    quote!(<#encoder as #support::Encode<#ty>>::encode(#value))
}

/// Code that compiles only if the types of the fields are those of a bucket.
pub(super) fn checks(facts: &Facts<'_>) -> TokenStream {
    let (model, Some(bucket)) = (facts.model, &facts.bucket) else {
        return TokenStream::new();
    };
    let start_test = match bucket.bucket.length {
        Length::Time(_) => "is_start_date",
        Length::Numbers(_) => "is_integer",
    };
    let start = wrong_start(bucket.bucket, bucket.start);
    let mut tokens = holds(model, bucket.start, start_test, &start);
    tokens.extend(holds(
        model,
        bucket.count,
        "is_integer",
        &wrong_count(bucket.count),
    ));
    if let Some(id) = &facts.id {
        tokens.extend(holds(model, id.field, "is_object_id", &wrong_id(id.field)));
    }
    tokens.extend(source(
        model,
        bucket,
        bucket.start,
        bucket.time,
        KeptKind::Start,
    ));
    for one in &bucket.kept {
        if one.kept.kind == KeptKind::Total {
            tokens.extend(holds(
                model,
                one.field,
                "is_one_number",
                &wrong_total(one.field),
            ));
        }
        tokens.extend(source(
            model,
            bucket,
            one.field,
            &one.kept.path,
            one.kept.kind,
        ));
    }
    let unknown = facts.fields.iter().filter(|one| {
        let attributes = &one.field.attributes;
        let is_unknown = matches!(one.stored, Kind::Unknown);
        is_unknown
            && matches!(one.presence, Presence::OfType)
            && !one.field.skipped
            && one.field.flatten.is_none()
            && one.field.stored != "_id"
            && attributes.version.is_none()
            && attributes.timestamp().is_none()
            && role(model, one.field).is_none()
    });
    for one in unknown {
        tokens.extend(holds(model, one.field, "is_nullable", &unset(one.field)));
    }
    tokens
}

/// The type of a field passes a test of `odm::support`.
fn holds(model: &Model, field: &Field, test: &str, message: &str) -> TokenStream {
    let (support, ty) = (&model.support, meta::ty(model, None, field));
    let span = field.ty.span();
    let test = Ident::new(test, span);
    quote_spanned!(span=> const _: () = ::core::assert!(#support::#test(&#ty), "{}", #message);)
}

/// The field of the items from which a value is kept is one value, which the field can hold.
fn source(
    model: &Model,
    bucket: &BucketFacts<'_>,
    field: &Field,
    path: &[Ident],
    kind: KeptKind,
) -> Option<TokenStream> {
    let support = &model.support;
    let item = &bucket.bucket.of;
    let last = path.last()?;
    let errors = SourceErrors::new(item, path, field, kind);
    let argument = fields_argument();
    let fields = quote!(&<#item as #support::Embedded>::Fields<#item>);
    let type_at = |path: &[Ident]| {
        let walk = walk(path);
        quote!(#support::type_of(|#argument: #fields| #support::leaf(&#walk)))
    };
    let lists = (1..=path.len()).filter_map(|length| {
        let ty = type_at(path.get(..length)?);
        Some(quote!(#support::is_list(&#ty)))
    });
    let several = &errors.several;
    let lists =
        quote_spanned!(last.span()=> ::core::assert!(!(false #(|| #lists)*), "{}", #several););
    let (leaf, ty) = (walk(path), &field.ty);
    // Deeper fields are reached by their types, which do not show a serializer.
    let is_own = path.len() == 1;
    let name = unraw(last);
    let test = match kind {
        KeptKind::Total if is_own => {
            let total = meta::ty(model, None, field);
            quote!(#support::adds_up::<#item>(&#total, #name))
        }
        KeptKind::Total => {
            let (total, ty) = (meta::ty(model, None, field), type_at(path));
            quote!(#support::can_total(&#total, &#ty))
        }
        _ => {
            let stored = meta::ty(model, None, field);
            quote!(#support::is_measure(&#stored))
        }
    };
    let no_measure = &errors.no_measure;
    let measure = quote_spanned!(last.span()=> ::core::assert!(#test, "{}", #no_measure););
    let fits = if kind == KeptKind::Total {
        quote_spanned!(ty.span()=> let _ = |#argument: #fields| { let _ = &#leaf; };)
    } else {
        quote_spanned!(ty.span()=> let _ = |#argument: #fields| { #support::leaf(&#leaf).fits::<#ty>(); };)
    };
    let alike = (is_own && kind != KeptKind::Total).then(|| {
        let (stored, other_form) = (meta::ty(model, None, field), &errors.other_form);
        quote_spanned!(last.span()=> ::core::assert!(#support::is_stored_alike::<#item>(&#stored, #name), "{}", #other_form);)
    });
    // All in one constant, which rustc does not evaluate if the types do not fit.
    Some(quote_spanned! {last.span()=>
        const _: () = {
            #[allow(unused_imports)]
            use #support::Descend as _;
            #lists
            #fits
            #measure
            #alike
        };
    })
}
