//! Metadata of fields and variants, as expressions.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Ident, LitStr};

use super::copies;
use super::encoder;
use super::handle_type::SpannedType;
use super::summaries;
use super::tokens::option;
use crate::facts::Facts;
use crate::facts::field::{FieldFacts, Presence};
use crate::model::rust_type::{Kind, bson_variant, is_option, kind};
use crate::model::{Enum, Field, Model, Shape, Tagging, VariantContent};
use crate::parse::relation::{Counterpart, KeyReference};
use crate::parse::rule::{Bound, Number, Rule, Size};
use crate::parse::serde::unraw;

/// The fields of a struct.
pub(crate) fn of_struct(facts: &Facts<'_>) -> TokenStream {
    let model = facts.model;
    let support = &model.support;
    let mut tokens = TokenStream::new();
    if let Shape::Struct {
        tag: Some((tag, name)),
        ..
    } = &model.shape
    {
        tokens.extend(quote!(#support::field(#tag, #tag, #support::choice(&[#name])),));
    }
    tokens.extend(fields(model, facts.fields_of(None)));
    tokens
}

/// Named fields.
fn fields<'a>(model: &Model, fields: impl Iterator<Item = &'a FieldFacts<'a>>) -> TokenStream {
    fields
        .filter(|one| !one.field.skipped)
        .map(|one| field(model, one))
        .collect()
}

fn field(model: &Model, one: &FieldFacts<'_>) -> TokenStream {
    let (support, field) = (&model.support, one.field);
    let ty = ty(model, one.variant, field);
    let (rust, flatten) = (&field.rust, field.flatten.is_some());
    let stored = if flatten { "" } else { field.stored.as_str() };
    let rules = rules(support, &one.rules);
    let attributes = &field.attributes;
    let mut more = TokenStream::new();
    if flatten {
        more.extend(quote!(flatten: true,));
    }
    if !field.aliases.is_empty() {
        let aliases = &field.aliases;
        more.extend(quote!(aliases: &[#(#aliases),*],));
    }
    if !rules.is_empty() {
        more.extend(quote!(rules: &[#rules],));
    }
    if let Some(reference) = &attributes.refers_to {
        let refers_to = key_reference(support, field, reference);
        more.extend(quote!(refers_to: ::core::option::Option::Some(#refers_to),));
    }
    if let Some(declared) = &attributes.counterpart {
        let counterpart = counterpart(support, declared);
        more.extend(quote!(counterpart: ::core::option::Option::Some(#counterpart),));
    }
    if let Some(copy) = &attributes.copy_of {
        let copy = copies::meta(support, &field.ty, copy);
        more.extend(quote!(copy_of: ::core::option::Option::Some(#copy),));
    }
    if attributes.often.is_some() {
        more.extend(quote!(often: true,));
    }
    if let Some(unbounded) = &attributes.unbounded {
        let reason = &unbounded.reason;
        more.extend(quote!(unbounded: ::core::option::Option::Some(#reason),));
    }
    if let Some(summary) = &attributes.summary {
        let summary = summaries::meta(support, summary);
        more.extend(quote!(summary: ::core::option::Option::Some(#summary),));
    }
    let field = quote!(#support::field(#rust, #stored, #ty));
    let presence = match one.presence {
        Presence::OfType => None,
        Presence::Always => Some(quote!(Always)),
        Presence::Defaulted if more.is_empty() => {
            return quote!(#support::defaulted(#rust, #stored, #ty),);
        }
        Presence::Defaulted => Some(quote!(Defaulted)),
        Presence::Sometimes => Some(quote!(Sometimes)),
    };
    if let Some(presence) = presence {
        more.extend(quote!(presence: #support::Presence::#presence,));
    }
    if more.is_empty() {
        quote!(#field,)
    } else {
        quote!(#support::FieldMeta { #more ..#field },)
    }
}

/// A reference to a unique field of another model.
fn key_reference(support: &TokenStream, field: &Field, reference: &KeyReference) -> TokenStream {
    let (target, by) = (&reference.target, unraw(&reference.by));
    let is_list = matches!(kind(&field.ty), Kind::List(_));
    quote! {
        #support::KeyReferenceMeta {
            target: <#target as #support::Document>::model,
            by: #by,
            is_list: #is_list,
        }
    }
}

/// What a reference says about the relation of the other model.
fn counterpart(support: &TokenStream, declared: &Counterpart) -> TokenStream {
    let (kind, name) = (declared.kind, unraw(&declared.name));
    quote!(#support::CounterpartMeta { kind: #support::CounterpartKind::#kind, name: #name })
}

/// How a field is stored.
pub(crate) fn ty(model: &Model, variant: Option<&Ident>, field: &Field) -> TokenStream {
    let (support, ty) = (&model.support, &field.ty);
    if field.encoder.is_none() {
        return SpannedType::new(ty).meta(support);
    }
    if field.module.is_some() {
        let encoder = encoder::name(model, variant, field);
        return quote!(#support::form::<#ty, #encoder>());
    }
    let declared = declared(support, field.attributes.bson_type.as_ref());
    if field.attributes.bson_type.is_some() && is_option(ty) {
        quote!(#declared.nullable())
    } else {
        declared
    }
}

/// The type that `bson_type` declares, or anything.
pub(crate) fn declared(support: &TokenStream, bson_type: Option<&LitStr>) -> TokenStream {
    let variant = bson_type.and_then(|alias| bson_variant(&alias.value()));
    if let Some(variant) = variant {
        let variant = Ident::new(variant, proc_macro2::Span::call_site());
        quote!(#support::TypeMeta::scalar(&[#support::BsonType::#variant]))
    } else {
        quote!(#support::TypeMeta::ANY)
    }
}

fn rules(support: &TokenStream, rules: &[Rule]) -> TokenStream {
    let rules = rules.iter().map(|rule| {
        let rule = match rule {
            Rule::Range { min, max } => {
                let (min, max) = (end(support, *min), end(support, *max));
                quote!(Range { min: #min, max: #max })
            }
            Rule::Length(size) => sized(&quote!(Length), *size),
            Rule::Pattern(pattern) => quote!(Pattern(#pattern)),
            Rule::OneOf(strings) => quote!(OneOf(&[#(#strings),*])),
            Rule::Items(size) => sized(&quote!(Items), *size),
            Rule::UniqueItems => quote!(UniqueItems),
            Rule::Bytes(max) => quote!(Bytes { max: #max }),
        };
        quote!(#support::Rule::#rule,)
    });
    rules.collect()
}

fn sized(variant: &TokenStream, size: Size) -> TokenStream {
    let (min, max) = (option(size.min.as_ref()), option(size.max.as_ref()));
    quote!(#variant { min: #min, max: #max })
}

fn end(support: &TokenStream, bound: Option<Bound>) -> TokenStream {
    let bound = bound.map(|bound| {
        let exclusive = bound.exclusive;
        let value = match bound.value {
            Number::Int(int) => quote!(Int(#int)),
            Number::Double(double) => quote!(Double(#double)),
        };
        quote!(#support::Bound { value: #support::Limit::#value, exclusive: #exclusive })
    });
    option(bound.as_ref())
}

/// The tagging and the variants of an enum.
pub(crate) fn of_enum(facts: &Facts<'_>, shape: &Enum) -> (TokenStream, TokenStream) {
    let model = facts.model;
    let support = &model.support;
    let tagging = match &shape.tagging {
        Tagging::External => quote!(#support::Tagging::External),
        Tagging::Internal(tag) => quote!(#support::Tagging::Internal { tag: #tag }),
        Tagging::Adjacent(tag, content) => {
            quote!(#support::Tagging::Adjacent { tag: #tag, content: #content })
        }
        Tagging::Untagged => quote!(#support::Tagging::Untagged),
    };
    let variants = shape.variants.iter().map(|variant| {
        let (rust, stored) = (unraw(&variant.ident), &variant.stored);
        let content = match &variant.content {
            VariantContent::Unit => quote!(Unit),
            VariantContent::Newtype(ty) => {
                let ty = SpannedType::new(ty).meta(support);
                quote!(Newtype(#ty))
            }
            VariantContent::Opaque => quote!(Newtype(#support::TypeMeta::ANY)),
            VariantContent::Tuple(types) => {
                let types = types.iter().map(|ty| SpannedType::new(ty).meta(support));
                quote!(Tuple(&[#(#types),*]))
            }
            VariantContent::Struct(_) => {
                let fields = fields(model, facts.fields_of(Some(&variant.ident)));
                quote!(Struct(&[#fields]))
            }
        };
        quote!(#support::VariantMeta { rust: #rust, name: #stored, content: #support::VariantContent::#content },)
    });
    (tagging, variants.collect())
}

/// The tag of an enum, as a field that every variant has.
pub(crate) fn of_tag(model: &Model, shape: &Enum) -> TokenStream {
    let support = &model.support;
    match &shape.tagging {
        Tagging::Internal(tag) | Tagging::Adjacent(tag, _) => {
            let names = shape.variants.iter().map(|variant| &variant.stored);
            quote!(#support::field("tag", #tag, #support::choice(&[#(#names),*])),)
        }
        Tagging::External | Tagging::Untagged => TokenStream::new(),
    }
}
