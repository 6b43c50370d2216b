//! `collation(…)`, of an index or of the collection.

use syn::parse::ParseStream;
use syn::{Ident, LitStr};

use super::{choice, flag, inner, number, once, unknown, value};
use crate::attribute_names;

/// A collation.
#[derive(Clone, Default)]
pub(crate) struct Collation {
    pub(crate) locale: Option<LitStr>,
    pub(crate) strength: Option<u32>,
    pub(crate) case_level: Option<bool>,
    pub(crate) case_first: Option<LitStr>,
    pub(crate) numeric_ordering: Option<bool>,
    pub(crate) alternate: Option<LitStr>,
    pub(crate) max_variable: Option<LitStr>,
    pub(crate) backwards: Option<bool>,
    pub(crate) normalization: Option<bool>,
}

impl Collation {
    /// All options without their spans, for comparison.
    pub(crate) fn options(&self) -> impl PartialEq + use<> {
        let text = |literal: &Option<LitStr>| literal.as_ref().map(LitStr::value);
        (
            (text(&self.locale), self.strength),
            (text(&self.case_first), self.case_level),
            (text(&self.alternate), text(&self.max_variable)),
            (self.numeric_ordering, self.backwards, self.normalization),
        )
    }
}

/// Reads `(locale = "en", strength = 2, …)`.
pub(crate) fn collation(word: &Ident, input: ParseStream<'_>) -> syn::Result<Collation> {
    let mut collation = Collation::default();
    inner(input, |word, input| match word.to_string().as_str() {
        "locale" => once(&mut collation.locale, word, value(input)?),
        "strength" => {
            let (strength, span) = number(input)?;
            if !(1..=5).contains(&strength) {
                return Err(syn::Error::new(
                    span,
                    "`strength` must be 1 (base letters) to 5 (identical)",
                ));
            }
            once(&mut collation.strength, word, strength)
        }
        "case_level" => once(&mut collation.case_level, word, flag(input)?),
        "case_first" => once(
            &mut collation.case_first,
            word,
            choice(input, &["upper", "lower", "off"])?,
        ),
        "numeric_ordering" => once(&mut collation.numeric_ordering, word, flag(input)?),
        "alternate" => once(
            &mut collation.alternate,
            word,
            choice(input, &["non-ignorable", "shifted"])?,
        ),
        "max_variable" => once(
            &mut collation.max_variable,
            word,
            choice(input, &["punct", "space"])?,
        ),
        "backwards" => once(&mut collation.backwards, word, flag(input)?),
        "normalization" => once(&mut collation.normalization, word, flag(input)?),
        _ => Err(unknown(
            word,
            "word of `collation`",
            attribute_names::COLLATIONS,
        )),
    })?;
    match &collation.locale {
        None => Err(syn::Error::new_spanned(
            word,
            "a collation needs a locale: `collation(locale = \"en\")`",
        )),
        Some(locale) if locale.value().is_empty() => Err(syn::Error::new(
            locale.span(),
            "the locale can't be empty: write `en`, `fr_CA`, or `simple` for comparing bytes",
        )),
        Some(_) => Ok(collation),
    }
}
