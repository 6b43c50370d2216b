//! Buckets of many small documents: `bucket(…)` on a struct, and on its fields `start_of(…)`, `item_count`, `smallest(…)`,
//! `largest(…)` and `total(…)`.

use proc_macro2::Span;
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::{Ident, LitInt, LitStr, Token, Type};

use super::index::path;
use super::relation::{Arguments, refused};
use super::{duration, inner, number, once, quoted_by_name, unknown, value};
use crate::attribute_names;

/// `bucket(of = Reading, by = sensor, max = 200, span = "1h")`
pub(crate) struct Bucket {
    pub(crate) word: Ident,
    /// The type of the items.
    pub(crate) of: Type,
    /// The fields that all items of a bucket have in common.
    pub(crate) by: Vec<Ident>,
    pub(crate) max: (u32, Span),
    pub(crate) length: Length,
}

/// The length of the span of a bucket.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Length {
    /// `"1h"`, in milliseconds.
    Time(i64),
    /// `1_000`, of a field that is a whole number.
    Numbers(i64),
}

impl Length {
    /// In milliseconds, or in numbers.
    pub(crate) fn units(self) -> i64 {
        match self {
            Self::Time(units) | Self::Numbers(units) => units,
        }
    }
}

/// What a bucket keeps of its items in a field.
pub(crate) struct Kept {
    pub(crate) word: Ident,
    pub(crate) kind: KeptKind,
    /// The Rust names, in an item, from the struct down to the field; none for a count.
    pub(crate) path: Vec<Ident>,
}

/// The kinds of kept values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeptKind {
    /// `start_of`
    Start,
    /// `item_count`
    Count,
    /// `smallest`
    Smallest,
    /// `largest`
    Largest,
    /// `total`
    Total,
}

quoted_by_name!(KeptKind);

impl KeptKind {
    /// The kind that a word of a field declares.
    pub(crate) fn of_word(word: &str) -> Option<Self> {
        Some(match word {
            attribute_names::START_OF => Self::Start,
            attribute_names::ITEM_COUNT => Self::Count,
            attribute_names::SMALLEST => Self::Smallest,
            attribute_names::LARGEST => Self::Largest,
            attribute_names::TOTAL => Self::Total,
            _ => return None,
        })
    }
}

/// Reads what follows a word of a field.
pub(super) fn kept(word: &Ident, kind: KeptKind, input: ParseStream<'_>) -> syn::Result<Kept> {
    let mut names = Vec::new();
    if kind == KeptKind::Count {
        if !input.is_empty() && !input.peek(Token![,]) {
            return Err(refused(word, word.span()));
        }
    } else {
        let arguments = Arguments::new(word, input)?;
        let content = &arguments.content;
        if content.is_empty() {
            return Err(refused(word, word.span()));
        }
        let first = content.call(Ident::parse_any)?;
        names = path(&first, content)?;
        if !content.is_empty() {
            return Err(refused(word, content.span()));
        }
    }
    Ok(Kept {
        word: word.clone(),
        kind,
        path: names,
    })
}

/// Reads what follows `bucket`.
pub(super) fn bucket(word: &Ident, input: ParseStream<'_>) -> syn::Result<Bucket> {
    let (mut of, mut by, mut max, mut length) = (None, None, None, None);
    if !input.peek(syn::token::Paren) {
        return Err(refused(word, word.span()));
    }
    inner(input, |word, input| {
        match word.unraw().to_string().as_str() {
            attribute_names::OF => once(&mut of, word, value::<Type>(input)?),
            attribute_names::BY => once(&mut by, word, keys(word, input)?),
            attribute_names::MAX => once(&mut max, word, number(input)?),
            attribute_names::SPAN => once(&mut length, word, span(input)?),
            _ => Err(unknown(word, "word of `bucket`", attribute_names::BUCKETS)),
        }
    })?;
    let missing = |missing: &str| {
        let usage = attribute_names::usage(attribute_names::BUCKET).unwrap_or_default();
        syn::Error::new(
            word.span(),
            format!("a bucket needs {missing}; it is written {usage}"),
        )
    };
    let length = length.ok_or_else(|| missing("the length of its span, `span = \"1h\"`"))?;
    Ok(Bucket {
        word: word.clone(),
        of: of.ok_or_else(|| missing("the type of its items, `of = Reading`"))?,
        by: by.ok_or_else(|| missing("the fields that its items share, `by = sensor`"))?,
        max: max.ok_or_else(|| missing("the number of items that it can hold, `max = 200`"))?,
        length,
    })
}

/// `by = sensor`, or `by(region, sensor)`.
fn keys(word: &Ident, input: ParseStream<'_>) -> syn::Result<Vec<Ident>> {
    if !input.peek(syn::token::Paren) {
        input.parse::<Token![=]>()?;
        return Ok(vec![input.call(Ident::parse_any)?]);
    }
    let mut keys = Vec::new();
    inner(input, |key, _| {
        keys.push(key.clone());
        Ok(())
    })?;
    if keys.is_empty() {
        return Err(syn::Error::new(
            word.span(),
            "name the fields that the items of a bucket share: `by = sensor`, or `by(region, sensor)`",
        ));
    }
    Ok(keys)
}

/// `span = "1h"`, or `span = 1_000`.
fn span(input: ParseStream<'_>) -> syn::Result<Length> {
    input.parse::<Token![=]>()?;
    if input.peek(LitInt) {
        let literal: LitInt = input.parse()?;
        let numbers: i64 = literal.base10_parse()?;
        if numbers < 1 {
            return Err(syn::Error::new(
                literal.span(),
                "a span has at least 1 number",
            ));
        }
        return Ok(Length::Numbers(numbers));
    }
    let literal: LitStr = input.parse()?;
    let milliseconds = duration(&literal)
        .and_then(|seconds| seconds.checked_mul(1_000))
        .and_then(|milliseconds| i64::try_from(milliseconds).ok());
    match milliseconds {
        Some(0) => Err(syn::Error::new(
            literal.span(),
            "a span has at least 1 second",
        )),
        Some(milliseconds) => Ok(Length::Time(milliseconds)),
        None => Err(syn::Error::new(
            literal.span(),
            "write a number and a unit (s, m, h, d, w), such as \"1h\"; where the items are ordered by a whole number, write it without quotes: `span = 1_000`",
        )),
    }
}
