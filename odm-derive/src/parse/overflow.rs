//! Documents for what does not fit a list of another: `overflow(…)` on a struct.

use proc_macro2::Span;
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::{Ident, Token};

use super::relation::refused;
use super::{inner, number, once, unknown};
use crate::attribute_names;

/// `overflow(list = readers, by = book, number = number, max = 1_000)`
pub(crate) struct Overflow {
    pub(crate) word: Ident,
    /// The list, in this struct and in the one to which `by` refers.
    pub(crate) list: Ident,
    /// The reference to the document whose list has no room.
    pub(crate) by: Ident,
    /// The field that numbers the overflow documents of one document.
    pub(crate) number: Ident,
    /// The largest number of elements in one overflow document.
    pub(crate) max: (u32, Span),
}

/// Reads what follows `overflow`.
pub(super) fn overflow(word: &Ident, input: ParseStream<'_>) -> syn::Result<Overflow> {
    let (mut list, mut by, mut ordinal, mut max) = (None, None, None, None);
    if !input.peek(syn::token::Paren) {
        return Err(refused(word, word.span()));
    }
    inner(input, |word, input| {
        match word.unraw().to_string().as_str() {
            attribute_names::LIST => once(&mut list, word, field(input)?),
            attribute_names::BY => once(&mut by, word, field(input)?),
            attribute_names::NUMBER => once(&mut ordinal, word, field(input)?),
            attribute_names::MAX => once(&mut max, word, number(input)?),
            _ => Err(unknown(
                word,
                "word of `overflow`",
                attribute_names::OVERFLOWS,
            )),
        }
    })?;
    let missing = |missing: &str| {
        let usage = attribute_names::usage(attribute_names::OVERFLOW).unwrap_or_default();
        syn::Error::new(
            word.span(),
            format!("an overflow needs {missing}; it is written {usage}"),
        )
    };
    Ok(Overflow {
        word: word.clone(),
        list: list.ok_or_else(|| missing("the list that both structs have, `list = readers`"))?,
        by: by.ok_or_else(|| missing("the reference to the other document, `by = book`"))?,
        number: ordinal
            .ok_or_else(|| missing("the field that numbers its documents, `number = number`"))?,
        max: max.ok_or_else(|| {
            missing("the number of elements that one document can hold, `max = 1_000`")
        })?,
    })
}

/// `= field`
fn field(input: ParseStream<'_>) -> syn::Result<Ident> {
    input.parse::<Token![=]>()?;
    input.call(Ident::parse_any)
}
