//! Indexes: `index(…)`, `unique(…)`, `ttl(…)`, `text(…)`, `wildcard(…)`.

use proc_macro2::Span;
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::token::Paren;
use syn::{Expr, Ident, LitBool, LitInt, LitStr, Token};

use super::collation::{Collation, collation};
use super::rule::closure;
use super::serde::unraw;
use super::{duration, inner, number, once, unknown, value};
use crate::attribute_names;

/// The direction or kind of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeyKind {
    Ascending,
    Descending,
    Hashed,
    Text(u32),
    Sphere,
    Wildcard,
}

/// One key: Rust fields from the struct down.
#[derive(Clone)]
pub(crate) struct Key {
    pub(crate) path: Vec<Ident>,
    pub(crate) kind: KeyKind,
    /// The span of what follows the field, such as `desc`.
    pub(crate) kind_span: Option<Span>,
}

/// The fields that `wildcard(only(…))` and `wildcard(except(…))` name.
pub(crate) struct Projection {
    pub(crate) word: Ident,
    pub(crate) paths: Vec<Vec<Ident>>,
}

impl Projection {
    /// Whether the index includes the named fields, rather than leaving them out.
    pub(crate) fn includes(&self) -> bool {
        self.word == attribute_names::ONLY
    }
}

/// One declared index.
pub(crate) struct Index {
    /// `index`, `unique`, `ttl`, `text`, `wildcard` or `keywords`.
    pub(crate) word: Ident,
    pub(crate) keys: Vec<Key>,
    pub(crate) name: Option<LitStr>,
    pub(crate) unique: Option<Span>,
    pub(crate) sparse: Option<Span>,
    pub(crate) hidden: Option<Span>,
    pub(crate) partial: Option<Expr>,
    pub(crate) expire_after: Option<(u32, Span)>,
    pub(crate) collation: Option<Collation>,
    pub(crate) default_language: Option<LitStr>,
    pub(crate) language_override: Option<LitStr>,
    pub(crate) projection: Option<Projection>,
    /// Whether a tree, a bucket or an overflow needs it, and no attribute declares it.
    pub(crate) is_implied: bool,
    /// The stored name of the variant whose documents it has, if it is on a field of one.
    pub(crate) variant: Option<String>,
}

impl Index {
    /// The index that a tree or an overflow needs.
    pub(crate) fn of_tree(word: &Ident, keys: Vec<Ident>, unique: bool) -> Self {
        let keys = keys.into_iter().map(|field| Key {
            path: vec![field],
            kind: KeyKind::Ascending,
            kind_span: None,
        });
        let mut index = Self::new(word);
        index.keys = keys.collect();
        index.is_implied = true;
        index.unique = unique.then(|| word.span());
        index
    }

    /// The index by which a bucket is found: the key of the bucket, the start of its span, and the fullest first.
    pub(crate) fn of_bucket(word: &Ident, keys: Vec<Ident>, count: Ident) -> Self {
        let mut index = Self::of_tree(word, keys, false);
        index.keys.push(Key {
            path: vec![count],
            kind: KeyKind::Descending,
            kind_span: None,
        });
        index
    }

    /// The index of a list of keywords.
    pub(super) fn of_keywords(word: &Ident, field: &Ident) -> Self {
        let mut index = Self::new(word);
        index.keys.push(Key {
            path: vec![field.clone()],
            kind: KeyKind::Ascending,
            kind_span: None,
        });
        index
    }

    /// Whether `keywords` declares it.
    pub(crate) fn is_of_keywords(&self) -> bool {
        self.word == attribute_names::KEYWORDS
    }

    fn new(word: &Ident) -> Self {
        Self {
            word: word.clone(),
            keys: Vec::new(),
            name: None,
            unique: (word == attribute_names::UNIQUE).then(|| word.span()),
            sparse: None,
            hidden: None,
            partial: None,
            expire_after: None,
            collation: None,
            default_language: None,
            language_override: None,
            projection: None,
            is_implied: false,
            variant: None,
        }
    }
}

/// Reads an index on the struct; the word is already read, and its parentheses follow.
pub(crate) fn on_container(word: &Ident, input: ParseStream<'_>) -> syn::Result<Index> {
    let mut index = Index::new(word);
    let kind = match word.to_string().as_str() {
        attribute_names::TEXT => KeyKind::Text(1),
        attribute_names::WILDCARD => KeyKind::Wildcard,
        _ => KeyKind::Ascending,
    };
    if kind == KeyKind::Wildcard && !input.peek(Paren) {
        index.keys.push(whole_document());
        return Ok(index);
    }
    if !input.peek(Paren) {
        return Err(syn::Error::new_spanned(
            word,
            format!(
                "`{word}` on a struct names its fields: `{word}(field, other = desc)`; on a field, `{word}` alone"
            ),
        ));
    }
    inner(input, |word, input| {
        if !input.peek(Token![.]) && option(&mut index, word, input)? {
            return Ok(());
        }
        let key = key(word, input, kind)?;
        index.keys.push(key);
        Ok(())
    })?;
    if index.keys.is_empty() {
        if kind == KeyKind::Wildcard {
            index.keys.push(whole_document());
        } else {
            return Err(syn::Error::new_spanned(
                word,
                format!("`{word}` names no field; write `{word}(field)`"),
            ));
        }
    }
    if word == attribute_names::TTL && index.expire_after.is_none() {
        return Err(syn::Error::new_spanned(
            word,
            "`ttl` needs the time after which documents expire: `ttl(field, after = \"30d\")`",
        ));
    }
    Ok(index)
}

/// Reads a shard key, as the index that it needs: `shard_key(host = hashed, time)`.
pub(crate) fn of_shard_key(word: &Ident, input: ParseStream<'_>) -> syn::Result<Index> {
    let mut index = Index::new(word);
    if input.peek(Paren) {
        inner(input, |word, input| {
            let key = key(word, input, KeyKind::Ascending)?;
            if !matches!(key.kind, KeyKind::Ascending | KeyKind::Hashed) {
                return Err(syn::Error::new(
                    key.kind_span.unwrap_or_else(|| word.span()),
                    "a field of a shard key is ascending, which is usual, or `hashed`",
                ));
            }
            index.keys.push(key);
            Ok(())
        })?;
    }
    if index.keys.is_empty() {
        return Err(syn::Error::new_spanned(
            word,
            "`shard_key` names its fields: `shard_key(host = hashed, time)`",
        ));
    }
    Ok(index)
}

/// Reads an index on a field: `index`, `index(desc, options…)`, `unique`, `unique(options…)`.
pub(crate) fn on_field(word: &Ident, field: &Ident, input: ParseStream<'_>) -> syn::Result<Index> {
    let mut index = Index::new(word);
    let mut kind: Option<(KeyKind, Span)> = None;
    if input.peek(Paren) {
        let content;
        syn::parenthesized!(content in input);
        while !content.is_empty() {
            if content.peek(LitStr) {
                let literal: LitStr = content.parse()?;
                kind = Some((
                    named_kind(&literal.value(), literal.span())?,
                    literal.span(),
                ));
            } else {
                let word = content.call(Ident::parse_any)?;
                if !option(&mut index, &word, &content)? {
                    let one = named_kind(&word.to_string(), word.span()).map_err(|_| {
                        let all: Vec<_> = attribute_names::KEY_KINDS
                            .iter()
                            .chain(attribute_names::INDEX_OPTIONS)
                            .copied()
                            .collect();
                        unknown(&word, "option of an index", &all)
                    })?;
                    let mut slot = kind;
                    once(&mut slot, &word, (one, word.span()))?;
                    kind = slot;
                }
            }
            if content.is_empty() {
                break;
            }
            content.parse::<Token![,]>()?;
        }
    }
    index.keys.push(Key {
        path: vec![field.clone()],
        kind: kind.map_or(KeyKind::Ascending, |(kind, _)| kind),
        kind_span: kind.map(|(_, span)| span),
    });
    Ok(index)
}

fn whole_document() -> Key {
    Key {
        path: Vec::new(),
        kind: KeyKind::Wildcard,
        kind_span: None,
    }
}

/// Reads the rest of a path after its first field: `.b.c`.
pub(super) fn path(first: &Ident, input: ParseStream<'_>) -> syn::Result<Vec<Ident>> {
    let mut path = vec![first.clone()];
    while input.parse::<Option<Token![.]>>()?.is_some() {
        path.push(input.call(Ident::parse_any)?);
    }
    Ok(path)
}

/// Reads `(a, b.c)` after `only` or `except`.
fn projection(index: &mut Index, word: &Ident, input: ParseStream<'_>) -> syn::Result<()> {
    if index.projection.is_some() {
        return Err(syn::Error::new_spanned(
            word,
            "a wildcard index takes one `only` or one `except`; keep one",
        ));
    }
    let mut paths = Vec::new();
    inner(input, |first, input| {
        paths.push(path(first, input)?);
        Ok(())
    })?;
    if paths.is_empty() {
        return Err(syn::Error::new_spanned(
            word,
            format!("`{word}` names no field; write `wildcard({word}(field))`"),
        ));
    }
    index.projection = Some(Projection {
        word: word.clone(),
        paths,
    });
    Ok(())
}

/// Reads a key after its first field: `.b.c`, then `= desc`, or `(weight = 10)`.
fn key(first: &Ident, input: ParseStream<'_>, kind: KeyKind) -> syn::Result<Key> {
    let path = path(first, input)?;
    let mut key = Key {
        path,
        kind,
        kind_span: None,
    };
    if matches!(kind, KeyKind::Text(_)) && input.peek(Paren) {
        let mut weight: Option<(u32, Span)> = None;
        inner(input, |word, input| match word.to_string().as_str() {
            "weight" => once(&mut weight, word, number(input)?),
            _ => Err(unknown(word, "word of a text field", &["weight"])),
        })?;
        if let Some((weight, span)) = weight {
            if !(1..=99_999).contains(&weight) {
                return Err(syn::Error::new(
                    span,
                    "a weight must be between 1 and 99999",
                ));
            }
            key.kind = KeyKind::Text(weight);
        }
    } else if input.parse::<Option<Token![=]>>()?.is_some() {
        let (text, span) = if input.peek(LitStr) {
            let literal: LitStr = input.parse()?;
            (literal.value(), literal.span())
        } else if input.peek(LitInt) {
            let literal: LitInt = input.parse()?;
            (literal.base10_digits().to_owned(), literal.span())
        } else {
            let ident = input.call(Ident::parse_any)?;
            (ident.to_string(), ident.span())
        };
        if kind != KeyKind::Ascending {
            return Err(syn::Error::new(
                span,
                "keys of this index have no direction; name the field alone",
            ));
        }
        key.kind = named_kind(&text, span)?;
        key.kind_span = Some(span);
    }
    Ok(key)
}

fn named_kind(text: &str, span: Span) -> syn::Result<KeyKind> {
    Ok(match text {
        attribute_names::ASC => KeyKind::Ascending,
        attribute_names::DESC => KeyKind::Descending,
        attribute_names::HASHED => KeyKind::Hashed,
        attribute_names::SPHERE => KeyKind::Sphere,
        _ => {
            return Err(syn::Error::new(
                span,
                "a key must be `asc`, `desc`, `hashed` or `\"2dsphere\"`; text and wildcard indexes have words of their own: `text(field)`, `wildcard(field)`",
            ));
        }
    })
}

/// Reads an option, if `word` is one. For a word that could also be a field, the tokens after it decide:
/// `name` or `name = desc` is a key, `name = "…"` an option.
fn option(index: &mut Index, word: &Ident, input: ParseStream<'_>) -> syn::Result<bool> {
    let equals = input.peek(Token![=]);
    let string = equals && input.peek2(LitStr);
    let list = input.peek(Paren);
    let bare = !equals && !list;
    let (is_ttl, is_wildcard) = (
        index.word == attribute_names::TTL,
        index.word == attribute_names::WILDCARD,
    );
    match unraw(word).as_str() {
        attribute_names::NAME if string => once(&mut index.name, word, value(input)?)?,
        attribute_names::UNIQUE | attribute_names::SPARSE | attribute_names::HIDDEN
            if equals && input.peek2(LitBool) =>
        {
            return Err(flag(index, word, input));
        }
        attribute_names::UNIQUE if bare => once(&mut index.unique, word, word.span())?,
        attribute_names::SPARSE if bare => once(&mut index.sparse, word, word.span())?,
        attribute_names::HIDDEN if bare => once(&mut index.hidden, word, word.span())?,
        attribute_names::PARTIAL if equals => {
            input.parse::<Token![=]>()?;
            once(&mut index.partial, word, closure(input)?)?;
        }
        attribute_names::EXPIRE_AFTER if string => expire_after(index, word, input)?,
        "after" if string && is_ttl => expire_after(index, word, input)?,
        attribute_names::ONLY | attribute_names::EXCEPT if list && is_wildcard => {
            projection(index, word, input)?;
        }
        attribute_names::COLLATION if list => {
            once(&mut index.collation, word, collation(word, input)?)?;
        }
        attribute_names::DEFAULT_LANGUAGE if string => {
            once(&mut index.default_language, word, value(input)?)?;
        }
        attribute_names::LANGUAGE_OVERRIDE if string => {
            once(&mut index.language_override, word, value(input)?)?;
        }
        _ => return Ok(false),
    }
    Ok(true)
}

/// The error for `unique = true`.
fn flag(index: &Index, word: &Ident, input: ParseStream<'_>) -> syn::Error {
    let value = input
        .parse::<Token![=]>()
        .and_then(|_| input.parse::<LitBool>());
    let message = match value {
        Ok(value) if !value.value => format!("an index without `{word}` says nothing: leave it out"),
        _ if word == attribute_names::UNIQUE && index.word == attribute_names::INDEX => {
            "`unique` has no value, and stands in place of `index`: `unique` on a field, `unique(field)` on the struct".to_owned()
        }
        _ => format!("`{word}` has no value: write `{word}`"),
    };
    syn::Error::new_spanned(word, message)
}

fn expire_after(index: &mut Index, word: &Ident, input: ParseStream<'_>) -> syn::Result<()> {
    let literal: LitStr = value(input)?;
    let after = (seconds(&literal)?, literal.span());
    once(&mut index.expire_after, word, after)
}

pub(super) fn seconds(literal: &LitStr) -> syn::Result<u32> {
    match duration(literal) {
        Some(total) if i32::try_from(total).is_ok() => Ok(u32::try_from(total).unwrap_or(u32::MAX)),
        Some(_) => Err(syn::Error::new(
            literal.span(),
            "too long: the server takes at most 2147483647 seconds, about 68 years",
        )),
        None => Err(syn::Error::new(
            literal.span(),
            "write a number and a unit (s, m, h, d, w), such as \"30d\"; \"0s\" expires at the date itself",
        )),
    }
}
