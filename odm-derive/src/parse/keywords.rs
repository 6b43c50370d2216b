//! `keywords(…)` on a field.

use proc_macro2::Span;
use syn::parse::ParseStream;
use syn::token::Paren;
use syn::{Ident, LitStr};

use super::field::List;
use super::{inner, number, once, unknown, value};
use crate::attribute_names;

/// What keywords are computed from.
pub(crate) struct Sources {
    /// `from`.
    pub(crate) word: Ident,
    pub(crate) fields: Vec<Ident>,
    pub(crate) language: LitStr,
}

/// Reads what follows `keywords`.
pub(super) fn on_field(
    word: &Ident,
    input: ParseStream<'_>,
) -> syn::Result<(List, Option<Sources>)> {
    let mut max: Option<(u32, Span)> = None;
    let mut allow: Option<LitStr> = None;
    let mut from: Option<(Ident, Vec<Ident>)> = None;
    let mut language: Option<LitStr> = None;
    if input.peek(Paren) {
        inner(input, |word, input| match word.to_string().as_str() {
            attribute_names::MAX => once(&mut max, word, number(input)?),
            attribute_names::ALLOW => once(&mut allow, word, value(input)?),
            attribute_names::LANGUAGE => once(&mut language, word, value(input)?),
            attribute_names::FROM if input.peek(Paren) => {
                let mut fields = Vec::new();
                inner(input, |field, _| {
                    fields.push(field.clone());
                    Ok(())
                })?;
                once(&mut from, word, (word.clone(), fields))
            }
            _ => Err(unknown(
                word,
                "word of `keywords`",
                attribute_names::KEYWORD_WORDS,
            )),
        })?;
    }
    if max.is_none() {
        return Err(syn::Error::new_spanned(
            word,
            "say how many keywords there can be: write `keywords(max = 100)`",
        ));
    }
    let sources = match (from, language) {
        (Some((word, fields)), Some(language)) if !fields.is_empty() => Some(Sources {
            word,
            fields,
            language,
        }),
        (None, None) => None,
        _ => {
            return Err(syn::Error::new_spanned(
                word,
                "computed keywords need sources and a language: write `keywords(from(title, body), language = \"english\", max = 100)`",
            ));
        }
    };
    let list = List {
        word: word.clone(),
        max,
        allow,
        of_references: false,
    };
    Ok((list, sources))
}
