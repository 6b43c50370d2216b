//! Replaces `Self` in the types of fields, because generated code repeats these types in places where `Self`
//! is something else, or is not allowed.

use proc_macro2::{Group, TokenStream, TokenTree};
use quote::{ToTokens, quote_spanned};
use syn::{Data, DeriveInput, Field, Ident, Type};

/// Replaces `Self` by the name of the type, with its parameters.
pub(crate) fn replace_self(input: &mut DeriveInput) {
    let ident = input.ident.clone();
    let (_, arguments, _) = input.generics.split_for_impl();
    let arguments = arguments.to_token_stream();
    for field in fields(&mut input.data) {
        let (tokens, found) = replace(field.ty.to_token_stream(), &ident, &arguments);
        if found && let Ok(ty) = syn::parse2::<Type>(tokens) {
            field.ty = ty;
        }
    }
}

fn fields(data: &mut Data) -> Vec<&mut Field> {
    match data {
        Data::Struct(data) => data.fields.iter_mut().collect(),
        Data::Enum(data) => data
            .variants
            .iter_mut()
            .flat_map(|variant| variant.fields.iter_mut())
            .collect(),
        Data::Union(_) => Vec::new(),
    }
}

fn replace(tokens: TokenStream, ident: &Ident, arguments: &TokenStream) -> (TokenStream, bool) {
    let mut found = false;
    let mut written = TokenStream::new();
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Ident(word) if word == "Self" => {
                found = true;
                let span = word.span();
                let name = Ident::new(&ident.to_string(), span);
                // In `Self::Item`, a type with parameters needs angle brackets.
                let leads =
                    matches!(tokens.peek(), Some(TokenTree::Punct(next)) if next.as_char() == ':');
                written.extend(if leads {
                    quote_spanned!(span=> <#name #arguments>)
                } else {
                    quote_spanned!(span=> #name #arguments)
                });
            }
            TokenTree::Group(group) => {
                let (inner, within) = replace(group.stream(), ident, arguments);
                found |= within;
                let mut copy = Group::new(group.delimiter(), inner);
                copy.set_span(group.span());
                written.extend([TokenTree::Group(copy)]);
            }
            token => written.extend([token]),
        }
    }
    (written, found)
}
