//! Reads attributes as they are written, without checking them.

pub(crate) mod bucket;
pub(crate) mod case;
pub(crate) mod collation;
pub(crate) mod container;
pub(crate) mod field;
pub(crate) mod index;
pub(crate) mod keywords;
pub(crate) mod overflow;
pub(crate) mod relation;
pub(crate) mod rule;
pub(crate) mod schema;
pub(crate) mod self_type;
pub(crate) mod serde;
pub(crate) mod summary;
pub(crate) mod time_series;
pub(crate) mod tree;

use proc_macro2::Span;
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::{Attribute, Ident, LitBool, LitInt, LitStr, Token};

use crate::attribute_names;
use crate::errors::Errors;

/// Writes the variants of enums as the names that they have in `odm::support`, too.
macro_rules! quoted_by_name {
    ($($name:ty),*) => {
        $(impl ::quote::ToTokens for $name {
            fn to_tokens(&self, tokens: &mut ::proc_macro2::TokenStream) {
                ::quote::format_ident!("{self:?}").to_tokens(tokens);
            }
        })*
    };
}

pub(crate) use quoted_by_name;

/// Calls `take` for each word of `#[name(word, word = …, word(…))]`; `take` reads what follows the word.
///
/// Returns whether all was read: after a mistake the rest of that attribute is unknown.
pub(crate) fn attributes(
    attributes: &[Attribute],
    name: &str,
    errors: &mut Errors,
    mut take: impl FnMut(&Ident, ParseStream<'_>) -> syn::Result<()>,
) -> bool {
    let mut whole = true;
    for attribute in attributes.iter().filter(|one| one.path().is_ident(name)) {
        let result =
            attribute.parse_args_with(|input: ParseStream<'_>| comma_separated(input, &mut take));
        if let Err(error) = result {
            errors.push(error);
            whole = false;
        }
    }
    whole
}

/// Calls `take` for each word of a list, separated by commas.
pub(crate) fn comma_separated(
    input: ParseStream<'_>,
    take: impl FnMut(&Ident, ParseStream<'_>) -> syn::Result<()>,
) -> syn::Result<()> {
    comma_separated_by(attribute_names::usage, input, take)
}

/// The same, where errors show how a word is written by `usage`.
pub(crate) fn comma_separated_by(
    usage: fn(&str) -> Option<&'static str>,
    input: ParseStream<'_>,
    mut take: impl FnMut(&Ident, ParseStream<'_>) -> syn::Result<()>,
) -> syn::Result<()> {
    let with_usage = |word: &Ident, alone, error| with_usage(usage, word, alone, error);
    while !input.is_empty() {
        let word = input.call(Ident::parse_any)?;
        let alone = input.is_empty();
        take(&word, input).map_err(|error| with_usage(&word, alone, error))?;
        if input.is_empty() {
            break;
        }
        let comma = input.parse::<Token![,]>();
        comma.map_err(|error| with_usage(&word, false, error))?;
    }
    Ok(())
}

/// Replaces the parser's bare "expected …" or "unexpected end" by how `word` is written.
fn with_usage(
    usage: fn(&str) -> Option<&'static str>,
    word: &Ident,
    alone: bool,
    error: syn::Error,
) -> syn::Error {
    let text = error.to_string();
    let ended = text.starts_with("unexpected end");
    match usage(&word.unraw().to_string()) {
        Some(usage) if ended || text.starts_with("expected") => {
            let at_word = alone || ended;
            let span = if at_word { word.span() } else { error.span() };
            syn::Error::new(span, format!("`{word}` is written {usage}"))
        }
        _ => error,
    }
}

/// The words in parentheses after a word.
pub(crate) fn inner(
    input: ParseStream<'_>,
    take: impl FnMut(&Ident, ParseStream<'_>) -> syn::Result<()>,
) -> syn::Result<()> {
    let content;
    syn::parenthesized!(content in input);
    comma_separated(&content, take)
}

/// The value after `=`.
pub(crate) fn value<T: Parse>(input: ParseStream<'_>) -> syn::Result<T> {
    input.parse::<Token![=]>()?;
    input.parse()
}

/// A flag: bare, or `= true`, or `= false`.
pub(crate) fn flag(input: ParseStream<'_>) -> syn::Result<bool> {
    if input.peek(Token![=]) {
        Ok(value::<LitBool>(input)?.value)
    } else {
        Ok(true)
    }
}

/// Reads one of a few strings after `=`.
pub(crate) fn choice(input: ParseStream<'_>, known: &[&str]) -> syn::Result<LitStr> {
    let literal: LitStr = value(input)?;
    if known.contains(&literal.value().as_str()) {
        return Ok(literal);
    }
    let all: Vec<_> = known.iter().map(|one| format!("\"{one}\"")).collect();
    Err(syn::Error::new(
        literal.span(),
        format!("write one of {}", all.join(", ")),
    ))
}

/// A whole number after `=`.
pub(crate) fn number(input: ParseStream<'_>) -> syn::Result<(u32, Span)> {
    let literal: LitInt = value(input)?;
    let number = literal.base10_parse().map_err(|_| {
        syn::Error::new(
            literal.span(),
            format!("write a whole number from 0 to {}", u32::MAX),
        )
    })?;
    Ok((number, literal.span()))
}

/// Reads the seconds of `30d`, `12h`, `90m`, `45s`, `2w`.
fn duration(literal: &LitStr) -> Option<u64> {
    let text = literal.value();
    let text = text.trim();
    let split = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    let (digits, unit) = text.split_at(split);
    let scale: u64 = match unit.trim() {
        "s" => 1,
        "m" => 60,
        "h" => 3_600,
        "d" => 86_400,
        "w" => 604_800,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(scale)
}

/// A number of bytes after `=`: `4_096`, or `"4KiB"`.
pub(crate) fn bytes(input: ParseStream<'_>) -> syn::Result<(u64, Span)> {
    input.parse::<Token![=]>()?;
    if input.peek(LitInt) {
        let literal: LitInt = input.parse()?;
        return Ok((literal.base10_parse()?, literal.span()));
    }
    let literal: LitStr = input.parse()?;
    let text = literal.value();
    let unit_at = text.find(|one: char| !one.is_ascii_digit() && one != '_');
    let (number, unit) = text.split_at(unit_at.unwrap_or(text.len()));
    let unit = match unit.trim() {
        "B" => Some(1),
        "KB" | "kB" => Some(1_000),
        "KiB" => Some(1_024),
        "MB" => Some(1_000_000),
        "MiB" => Some(1_048_576),
        _ => None,
    };
    let number: Option<u64> = number.replace('_', "").parse().ok();
    match (number, unit) {
        (Some(number), Some(unit)) => Ok((number.saturating_mul(unit), literal.span())),
        _ => Err(syn::Error::new(
            literal.span(),
            "write a number of bytes: \"512KiB\", \"1MiB\", \"16MB\" or \"800B\"",
        )),
    }
}

/// Sets a value that may be given only once.
pub(crate) fn once<T>(slot: &mut Option<T>, word: &Ident, value: T) -> syn::Result<()> {
    if slot.is_some() {
        return Err(syn::Error::new_spanned(
            word,
            format!("`{word}` is given twice; keep one"),
        ));
    }
    *slot = Some(value);
    Ok(())
}

/// The error for a word that does not exist here, and may exist in another library with this `advice`.
pub(crate) fn unknown_attribute(
    word: &Ident,
    what: &str,
    known: &[&str],
    advice: impl Fn(&str) -> Option<&'static str>,
) -> syn::Error {
    match advice(&word.unraw().to_string()) {
        Some(advice) => {
            syn::Error::new_spanned(word, format!("unknown {what}: `{word}`; {advice}"))
        }
        None => unknown(word, what, known),
    }
}

/// The error for a word that does not exist.
pub(crate) fn unknown(word: &Ident, what: &str, known: &[&str]) -> syn::Error {
    let text = word.unraw().to_string();
    syn::Error::new_spanned(
        word,
        format!(
            "unknown {what}: `{text}`{}",
            attribute_names::hint(&text, known.iter().copied())
        ),
    )
}
