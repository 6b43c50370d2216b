//! Time-series collections: `time_series(…)` on a struct.

use proc_macro2::Span;
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::{Ident, LitStr, Token};

use super::index::seconds;
use super::relation::refused;
use super::{choice, inner, once, unknown, value};
use crate::attribute_names;

/// `time_series(time = at, meta = sensor, granularity = "minutes", expire_after = "30d")`
pub(crate) struct TimeSeries {
    pub(crate) word: Ident,
    /// The field with the time of a document.
    pub(crate) time: Ident,
    /// The field that tells series apart.
    pub(crate) meta: Option<Ident>,
    pub(crate) granularity: Option<LitStr>,
    /// After how many seconds MongoDB removes documents, and where it is written.
    pub(crate) expire_after: Option<(u32, Span)>,
}

/// Reads what follows `time_series`.
pub(super) fn time_series(word: &Ident, input: ParseStream<'_>) -> syn::Result<TimeSeries> {
    if !input.peek(syn::token::Paren) {
        return Err(refused(word, word.span()));
    }
    let (mut time, mut meta, mut granularity, mut expire_after) = (None, None, None, None);
    inner(input, |word, input| {
        match word.unraw().to_string().as_str() {
            attribute_names::TIME => once(&mut time, word, field(input)?),
            attribute_names::META => once(&mut meta, word, field(input)?),
            attribute_names::GRANULARITY => {
                let chosen = choice(input, &["seconds", "minutes", "hours"])?;
                once(&mut granularity, word, chosen)
            }
            attribute_names::EXPIRE_AFTER => {
                let literal: LitStr = value(input)?;
                let after = (seconds(&literal)?, literal.span());
                once(&mut expire_after, word, after)
            }
            _ => Err(unknown(
                word,
                "word of `time_series`",
                attribute_names::TIME_SERIES_WORDS,
            )),
        }
    })?;
    let Some(time) = time else {
        return Err(syn::Error::new(
            word.span(),
            "a time series needs the field with the time of a document: `time_series(time = at)`",
        ));
    };
    Ok(TimeSeries {
        word: word.clone(),
        time,
        meta,
        granularity,
        expire_after,
    })
}

fn field(input: ParseStream<'_>) -> syn::Result<Ident> {
    input.parse::<Token![=]>()?;
    input.call(Ident::parse_any)
}
