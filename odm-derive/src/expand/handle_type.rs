//! Makes rustc report a type that is not a field once, and at its name.
//!
//! The derives name a field's type several times, and rustc reports every one of them. It shows messages of
//! the same text and span only once, so all these names get the same span. [`sound`] silences the errors at
//! every use of the model.

use proc_macro2::{Group, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Ident, Type};

use crate::model::Model;
use crate::model::rust_type::{Kind, kind, unknown_span};

/// A type whose tokens all have the same span.
pub(crate) struct SpannedType {
    pub(crate) span: Span,
    pub(crate) ty: TokenStream,
    /// The type inside an `Option`, or the type itself. `Option<T>` takes every item but `TYPE` from `T`. Generated code
    /// names only this type, so that all errors about it have the same text.
    stored: TokenStream,
    is_optional: bool,
}

impl SpannedType {
    pub(crate) fn new(ty: &Type) -> Self {
        let span = unknown_span(ty).unwrap_or_else(|| ty.span());
        let stored = match kind(ty) {
            Kind::Optional(inner) => Some(inner),
            _ => None,
        };
        Self {
            span,
            ty: at(ty.to_token_stream(), span),
            stored: at(stored.unwrap_or(ty).to_token_stream(), span),
            is_optional: stored.is_some(),
        }
    }

    /// `<T as FieldType>::item`.
    pub(crate) fn item(&self, support: &TokenStream, item: &str) -> TokenStream {
        let ty = &self.stored;
        let item = Ident::new(item, self.span);
        quote_spanned!(self.span=> <#ty as #support::FieldType>::#item)
    }

    /// `<T as FieldType>::Handle<M, As>`.
    pub(crate) fn handle(&self, support: &TokenStream, declared: &TokenStream) -> TokenStream {
        let handle = self.item(support, "Handle");
        quote_spanned!(self.span=> #handle<__OdmModel, #declared>)
    }

    /// `<T as FieldType>::handle(path)`.
    pub(crate) fn make(&self, support: &TokenStream, path: &TokenStream) -> TokenStream {
        let make = self.item(support, "handle");
        let of_option = self.is_optional.then(|| quote!(.of_option()));
        quote_spanned!(self.span=> #make(#path #of_option))
    }

    /// `<T as FieldType>::TYPE`.
    pub(crate) fn meta(&self, support: &TokenStream) -> TokenStream {
        let meta = self.item(support, "TYPE");
        if self.is_optional {
            quote_spanned!(self.span=> #meta.optional())
        } else {
            meta
        }
    }
}

/// The same tokens with one span; each keeps its hygiene.
pub(super) fn at(tokens: TokenStream, span: Span) -> TokenStream {
    tokens
        .into_iter()
        .map(|mut token| {
            if let TokenTree::Group(group) = &token {
                let mut spanned = Group::new(group.delimiter(), at(group.stream(), span));
                spanned.set_span(span.resolved_at(group.span()));
                return TokenTree::Group(spanned);
            }
            token.set_span(span.resolved_at(token.span()));
            token
        })
        .collect()
}

/// `ty`, wrapped so that it is valid only if every one of `unproven` is a field type. Otherwise its constant
/// can't be evaluated, and rustc takes `ty` for an error that it has already reported.
pub(crate) fn sound(model: &Model, unproven: &[&Type], ty: &TokenStream) -> TokenStream {
    if unproven.is_empty() {
        return ty.clone();
    }
    let support = &model.support;
    let named = unproven.iter().map(|field| {
        let spanned = SpannedType::new(field);
        let is_field = spanned.item(support, "IS_FIELD");
        quote_spanned!(spanned.span=> let _ = #is_field;)
    });
    quote!(#support::Sound<{ #(#named)* true }, #ty>)
}
