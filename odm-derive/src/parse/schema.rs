//! Versions of a schema: `schema(…)` on a struct.

use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::{Ident, LitInt, LitStr, Path, Token};

use super::{comma_separated_by, once, unknown, value};
use crate::attribute_names;

/// `schema(version = 3, steps(split_name, add_currency), field = "schemaVersion", newer = read)`
pub(crate) struct Schema {
    pub(crate) word: Ident,
    /// The version of the documents that the program writes.
    pub(crate) version: LitInt,
    /// The functions that make the next version of a document, from version 1 on.
    pub(crate) steps: Vec<Path>,
    /// The stored name of the field with the version of a document.
    pub(crate) field: Option<LitStr>,
    /// Whether documents of newer versions are read.
    pub(crate) reads_newer: bool,
}

impl Schema {
    /// The stored name of the field with the version.
    pub(crate) fn field_name(&self) -> String {
        let name = self.field.as_ref().map(LitStr::value);
        name.unwrap_or_else(|| attribute_names::SCHEMA_FIELD.to_owned())
    }
}

/// Reads what follows `schema`.
pub(super) fn schema(word: &Ident, input: ParseStream<'_>) -> syn::Result<Schema> {
    let (mut version, mut steps, mut field, mut newer) = (None, None, None, None);
    if input.peek(syn::token::Paren) {
        let content;
        syn::parenthesized!(content in input);
        comma_separated_by(
            attribute_names::schema_usage,
            &content,
            |word, input| match word.unraw().to_string().as_str() {
                attribute_names::VERSION => once(&mut version, word, value::<LitInt>(input)?),
                attribute_names::STEPS => once(&mut steps, word, paths(input)?),
                attribute_names::FIELD_NAME => once(&mut field, word, value::<LitStr>(input)?),
                attribute_names::NEWER => once(&mut newer, word, reads_newer(input)?),
                _ => Err(unknown(
                    word,
                    "word of `schema`",
                    attribute_names::SCHEMA_WORDS,
                )),
            },
        )?;
    }
    let Some(version) = version else {
        return Err(syn::Error::new(
            word.span(),
            "the schema needs the version of the documents that the program writes, and a function for each step to it: \
             `schema(version = 2, steps(split_name))`",
        ));
    };
    Ok(Schema {
        word: word.clone(),
        version,
        steps: steps.unwrap_or_default(),
        field,
        reads_newer: newer.unwrap_or_default(),
    })
}

fn paths(input: ParseStream<'_>) -> syn::Result<Vec<Path>> {
    let content;
    syn::parenthesized!(content in input);
    let paths = content.parse_terminated(Path::parse_mod_style, Token![,])?;
    Ok(paths.into_iter().collect())
}

/// `newer = error` or `newer = read`
fn reads_newer(input: ParseStream<'_>) -> syn::Result<bool> {
    input.parse::<Token![=]>()?;
    let choice = input.call(Ident::parse_any)?;
    match choice.to_string().as_str() {
        "error" => Ok(false),
        "read" => Ok(true),
        _ => Err(syn::Error::new(
            choice.span(),
            "write `newer = error`, or `newer = read` to read a newer document as if it had this version",
        )),
    }
}
