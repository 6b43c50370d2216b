//! `has_one(…)`, `has_many(…)` and `has_squillions(…)`.

use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::{Ident, LitStr, Token, Type};

use super::index::path;
use super::{comma_separated, once, unknown, value};
use crate::attribute_names;

/// A relation in the other direction: `has_many(books: Book, by = publisher)`.
pub(crate) struct Inverse {
    pub(crate) word: Ident,
    pub(crate) expected: Expected,
    pub(crate) name: Ident,
    /// The model whose documents refer to this one.
    pub(crate) target: Type,
    /// The Rust names, in the target, from the struct down to the reference.
    pub(crate) by: Vec<Ident>,
    /// Why no index is needed.
    pub(crate) allow_scan: Option<LitStr>,
}

/// How many documents refer to one of this model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Expected {
    /// `has_one`
    One,
    /// `has_many`
    Many,
    /// `has_squillions`
    Squillions,
}

/// Reads what follows the word.
pub(crate) fn inverse(
    word: &Ident,
    expected: Expected,
    input: ParseStream<'_>,
) -> syn::Result<Inverse> {
    let usage = attribute_names::usage(&word.to_string()).unwrap_or_default();
    let refused = |span| syn::Error::new(span, format!("`{word}` is written {usage}"));
    if !input.peek(syn::token::Paren) {
        return Err(refused(word.span()));
    }
    let content;
    syn::parenthesized!(content in input);
    let name = content.call(Ident::parse_any)?;
    if !content.peek(Token![:]) {
        return Err(refused(name.span()));
    }
    content.parse::<Token![:]>()?;
    let target: Type = content.parse()?;
    if content.is_empty() {
        return Err(refused(word.span()));
    }
    content.parse::<Token![,]>()?;
    let mut by: Option<Vec<Ident>> = None;
    let mut allow_scan: Option<LitStr> = None;
    comma_separated(&content, |word, input| {
        match word.unraw().to_string().as_str() {
            attribute_names::BY => {
                input.parse::<Token![=]>()?;
                once(&mut by, word, path(&input.call(Ident::parse_any)?, input)?)
            }
            attribute_names::ALLOW_SCAN => once(&mut allow_scan, word, value(input)?),
            _ => Err(unknown(
                word,
                "word of a relation",
                attribute_names::INVERSES,
            )),
        }
    })?;
    let Some(by) = by else {
        return Err(refused(word.span()));
    };
    Ok(Inverse {
        word: word.clone(),
        expected,
        name,
        target,
        by,
        allow_scan,
    })
}
