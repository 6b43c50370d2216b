//! `#[serde(…)]`, as far as it decides what is stored.
//!
//! serde's own derive reports malformed attributes, so this module reads what it understands and skips the
//! rest.

use proc_macro2::{Span, TokenTree};
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::{Attribute, ExprPath, Ident, LitStr, Token, Type};

use super::case::Case;
use crate::errors::Errors;

/// `#[serde(…)]` on a struct or an enum.
#[derive(Default)]
pub(crate) struct Container {
    pub(crate) rename_all: Option<Case>,
    pub(crate) rename_all_fields: Option<Case>,
    pub(crate) rename: Option<LitStr>,
    pub(crate) tag: Option<LitStr>,
    pub(crate) content: Option<LitStr>,
    pub(crate) untagged: Option<Span>,
    pub(crate) transparent: Option<Span>,
    pub(crate) into: Option<Type>,
    pub(crate) deny_unknown_fields: Option<Span>,
    /// Whether missing fields have a default.
    pub(crate) default: bool,
}

/// `#[serde(…)]` on a variant of an enum.
#[derive(Default)]
pub(crate) struct Variant {
    pub(crate) rename: Option<LitStr>,
    pub(crate) rename_all: Option<Case>,
    pub(crate) skip: bool,
}

/// `#[serde(…)]` on a field.
#[derive(Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "one for each of serde's words"
)]
pub(crate) struct Field {
    pub(crate) rename: Option<LitStr>,
    /// Further names under which the field is read.
    pub(crate) aliases: Vec<LitStr>,
    pub(crate) skip: bool,
    pub(crate) skip_serializing: bool,
    pub(crate) skip_deserializing: bool,
    pub(crate) skip_serializing_if: bool,
    pub(crate) default: Option<Ident>,
    pub(crate) flatten: Option<Ident>,
    /// The function that serializes the field.
    pub(crate) serialize_with: Option<ExprPath>,
    /// The module after `with`.
    pub(crate) module: Option<Module>,
    /// The function that deserializes the field.
    pub(crate) deserialize_with: Option<ExprPath>,
}

/// A module that `with` names, which may declare to the derives what it stores.
#[derive(Clone)]
pub(crate) struct Module {
    pub(crate) path: syn::Path,
    pub(crate) literal: LitStr,
}

impl Module {
    /// The module that a path spells. `with` also takes a type, which by convention begins with a capital letter.
    fn new(path: &ExprPath, literal: &LitStr) -> Option<Self> {
        let last = path.path.segments.last()?;
        let name = unraw(&last.ident);
        let is_module = path.qself.is_none()
            && path.path.segments.iter().all(|one| one.arguments.is_none())
            && !name.starts_with(char::is_uppercase);
        is_module.then(|| Self {
            path: path.path.clone(),
            literal: literal.clone(),
        })
    }
}

/// Reads a container's attributes.
pub(crate) fn container(list: &[Attribute], errors: &mut Errors) -> Container {
    let mut serde = Container::default();
    each(list, errors, |word, input| {
        match word.to_string().as_str() {
            "rename_all" => serde.rename_all = case(word, input)?,
            "rename_all_fields" => serde.rename_all_fields = case(word, input)?,
            "rename" => serde.rename = name(word, input)?,
            "tag" => serde.tag = Some(string(input)?),
            "content" => serde.content = Some(string(input)?),
            "untagged" => serde.untagged = Some(word.span()),
            "transparent" => serde.transparent = Some(word.span()),
            "into" => serde.into = Some(string(input)?.parse()?),
            "deny_unknown_fields" => serde.deny_unknown_fields = Some(word.span()),
            "default" => {
                serde.default = true;
                skip(input)?;
            }
            "remote" | "variant_identifier" | "field_identifier" => {
                return Err(syn::Error::new_spanned(
                    word,
                    format!(
                        "odm does not follow `#[serde({word})]`; derive on the type that is stored, or give the field that holds it a serializer: `#[serde(with = \"…\")]`"
                    ),
                ));
            }
            _ => skip(input)?,
        }
        Ok(())
    });
    serde
}

/// Reads a variant's attributes.
pub(crate) fn variant(list: &[Attribute], errors: &mut Errors) -> Variant {
    let mut serde = Variant::default();
    each(list, errors, |word, input| {
        match word.to_string().as_str() {
            "rename" => serde.rename = name(word, input)?,
            "rename_all" => serde.rename_all = case(word, input)?,
            "skip" | "skip_serializing" => serde.skip = true,
            "untagged" => {
                return Err(syn::Error::new_spanned(
                    word,
                    "odm does not follow `#[serde(untagged)]` on a variant; remove it, so that the variant has a tag, or write it on the enum",
                ));
            }
            "with" | "serialize_with" => {
                return Err(syn::Error::new_spanned(
                    word,
                    format!(
                        "odm does not follow `#[serde({word})]` on a variant; write it on the value that the variant holds"
                    ),
                ));
            }
            _ => skip(input)?,
        }
        Ok(())
    });
    serde
}

/// Reads a field's attributes.
pub(crate) fn field(list: &[Attribute], errors: &mut Errors) -> Field {
    let mut serde = Field::default();
    each(list, errors, |word, input| {
        match word.to_string().as_str() {
            "rename" => serde.rename = name(word, input)?,
            "alias" => serde.aliases.push(string(input)?),
            "skip" => serde.skip = true,
            "skip_serializing" => serde.skip_serializing = true,
            "skip_deserializing" => serde.skip_deserializing = true,
            "skip_serializing_if" => {
                serde.skip_serializing_if = true;
                skip(input)?;
            }
            "default" => {
                serde.default = Some(word.clone());
                skip(input)?;
            }
            "flatten" => serde.flatten = Some(word.clone()),
            "with" => {
                let literal = string(input)?;
                let path: ExprPath = literal.parse()?;
                let function = |name| {
                    let mut path = path.clone();
                    path.path
                        .segments
                        .push(Ident::new(name, word.span()).into());
                    Some(path)
                };
                serde.module = Module::new(&path, &literal);
                serde.serialize_with = function("serialize");
                serde.deserialize_with = function("deserialize");
            }
            "serialize_with" => serde.serialize_with = Some(string(input)?.parse()?),
            "deserialize_with" => serde.deserialize_with = Some(string(input)?.parse()?),
            "getter" => {
                return Err(syn::Error::new_spanned(
                    word,
                    "odm does not follow `#[serde(getter)]`; derive on the type that is stored",
                ));
            }
            _ => skip(input)?,
        }
        Ok(())
    });
    serde
}

fn each(
    list: &[Attribute],
    errors: &mut Errors,
    take: impl FnMut(&Ident, ParseStream<'_>) -> syn::Result<()>,
) {
    super::attributes(list, "serde", errors, take);
}

fn string(input: ParseStream<'_>) -> syn::Result<LitStr> {
    super::value(input)
}

/// `= "name"`, or `(serialize = "name", deserialize = "name")`.
fn name(word: &Ident, input: ParseStream<'_>) -> syn::Result<Option<LitStr>> {
    if input.peek(Token![=]) {
        return string(input).map(Some);
    }
    let (serialize, deserialize) = both(input)?;
    match (serialize, deserialize) {
        (Some(one), Some(other)) if one.value() == other.value() => Ok(Some(one)),
        (None, None) => Ok(None),
        _ => Err(syn::Error::new_spanned(
            word,
            "what is written must be read again under the same name; write `rename = \"…\"`, and `alias = \"…\"` for an older name that is still read",
        )),
    }
}

/// A case: `= "camelCase"`, or `(serialize = "…", deserialize = "…")`.
fn case(word: &Ident, input: ParseStream<'_>) -> syn::Result<Option<Case>> {
    let literal = if input.peek(Token![=]) {
        string(input)?
    } else {
        let (serialize, deserialize) = both(input)?;
        match (serialize, deserialize) {
            (Some(one), Some(other)) if one.value() == other.value() => one,
            (None, None) => return Ok(None),
            _ => {
                return Err(syn::Error::new_spanned(
                    word,
                    format!(
                        "what is written must be read again under the same names; write `{word} = \"…\"`"
                    ),
                ));
            }
        }
    };
    // serde reports an unknown case.
    Ok(Case::named(&literal.value()))
}

fn both(input: ParseStream<'_>) -> syn::Result<(Option<LitStr>, Option<LitStr>)> {
    let (mut serialize, mut deserialize) = (None, None);
    super::inner(input, |word, input| {
        match word.to_string().as_str() {
            "serialize" => serialize = Some(string(input)?),
            "deserialize" => deserialize = Some(string(input)?),
            _ => skip(input)?,
        }
        Ok(())
    })?;
    Ok((serialize, deserialize))
}

/// Skips the rest of a word.
fn skip(input: ParseStream<'_>) -> syn::Result<()> {
    while !input.is_empty() && !input.peek(Token![,]) {
        TokenTree::parse(input)?;
    }
    Ok(())
}

/// The name of an identifier, without `r#`.
pub(crate) fn unraw(ident: &Ident) -> String {
    ident.unraw().to_string()
}
