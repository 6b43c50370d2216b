//! Relations with other models: `has_one(…)`, `has_many(…)`, `has_squillions(…)` and `subset(…)` on a struct,
//! `recent(…)`, `rest_of`, `recent_in` and `two_way` on a field.

use proc_macro2::Span;
use syn::ext::IdentExt;
use syn::parse::{ParseBuffer, ParseStream};
use syn::{Ident, LitStr, Token, Type};

use super::index::path;
use super::{comma_separated, duration, number, once, quoted_by_name, unknown, value};
use crate::attribute_names;

/// An inverse relation: `has_many(books: Book, by = publisher)`.
pub(crate) struct Inverse {
    pub(crate) word: Ident,
    pub(crate) kind: InverseKind,
    pub(crate) name: Ident,
    /// The model whose documents refer to this one.
    pub(crate) target: Type,
    /// The Rust names, in the target, from the struct down to the reference.
    pub(crate) by: Vec<Ident>,
    /// The field of this model whose value is stored there, if that is not the `_id`.
    pub(crate) key: Option<Ident>,
    /// Why no index is needed.
    pub(crate) allow_scan: Option<LitStr>,
    /// What becomes of the documents that refer to a deleted one.
    pub(crate) on_delete: Option<Ident>,
    /// How copies of this model's fields in those documents are kept in step.
    pub(crate) guarantee: Option<Ident>,
}

/// How many documents refer to one of this model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum InverseKind {
    /// `has_one`
    One,
    /// `has_many`
    Many,
    /// `has_squillions`
    Squillions,
    /// `subset`
    Rest,
}

quoted_by_name!(InverseKind, CounterpartKind);

/// A copy of the newest documents of another model: `recent(LogMessage, max = 1_000, sort = -time)`.
pub(crate) struct Recent {
    pub(crate) source: Type,
    pub(crate) max: (u32, Span),
    /// The Rust name, in an element, of the field that decides which are the newest.
    pub(crate) sort: Ident,
    /// Whether the newest come first.
    pub(crate) descending: bool,
}

/// A reference to a unique field other than the `_id`: `refers_to(Book, by = isbn)`.
pub(crate) struct KeyReference {
    pub(crate) word: Ident,
    pub(crate) target: Type,
    /// The Rust name, in the target, of the unique field.
    pub(crate) by: Ident,
}

/// A copy of what a reference beside it leads to: `copy_of(host.ipaddr)`.
pub(crate) struct CopyOf {
    pub(crate) word: Ident,
    /// The Rust name of the reference, in the same struct.
    pub(crate) reference: Ident,
    /// The Rust names, in the other model, from the struct down to the copied field; none for a struct that is a projection.
    pub(crate) path: Vec<Ident>,
    /// `once`, if a filled copy stays as it is.
    pub(crate) once: Option<Ident>,
    /// Why a field that changes often is copied.
    pub(crate) allow_often: Option<LitStr>,
    /// `refresh(…)`, if the age of the copy decides when it is written again.
    pub(crate) refresh: Option<Refresh>,
}

/// The age at which a copy is written again: `refresh(older_than = "1d", at = checked)`.
pub(crate) struct Refresh {
    pub(crate) word: Ident,
    /// The greatest age in seconds.
    pub(crate) older_than: u32,
    /// The Rust name, in the same struct, of the field with the time of the copy.
    pub(crate) at: Ident,
}

impl CopyOf {
    /// The word by which the copy does not follow changes of the other document, if it has one.
    pub(crate) fn left_alone(&self) -> Option<&Ident> {
        self.once
            .as_ref()
            .or(self.refresh.as_ref().map(|it| &it.word))
    }
}

/// The arguments of a word: `word(argument, …)`.
pub(super) struct Arguments<'a> {
    word: &'a Ident,
    pub(super) content: ParseBuffer<'a>,
}

impl<'a> Arguments<'a> {
    pub(super) fn new(word: &'a Ident, input: ParseStream<'a>) -> syn::Result<Self> {
        if !input.peek(syn::token::Paren) {
            return Err(refused(word, word.span()));
        }
        let content;
        syn::parenthesized!(content in input);
        Ok(Self { word, content })
    }

    /// Reads the model that the relation is with, which is not the last argument.
    fn model(&self) -> syn::Result<Type> {
        let model = self.content.parse()?;
        if self.content.is_empty() {
            return Err(refused(self.word, self.word.span()));
        }
        self.content.parse::<Token![,]>()?;
        Ok(model)
    }
}

/// The error for a word that is not written as it has to be.
pub(super) fn refused(word: &Ident, span: Span) -> syn::Error {
    let usage = attribute_names::usage(&word.to_string()).unwrap_or_default();
    syn::Error::new(span, format!("`{word}` is written {usage}"))
}

/// Reads what follows `refers_to`.
pub(crate) fn key_reference(word: &Ident, input: ParseStream<'_>) -> syn::Result<KeyReference> {
    let arguments = Arguments::new(word, input)?;
    let target = arguments.model()?;
    let content = &arguments.content;
    let by = content.call(Ident::parse_any)?;
    if by != attribute_names::BY {
        return Err(unknown(&by, "word of `refers_to`", &[attribute_names::BY]));
    }
    content.parse::<Token![=]>()?;
    let by = content.call(Ident::parse_any)?;
    if !content.is_empty() {
        return Err(refused(word, word.span()));
    }
    Ok(KeyReference {
        word: word.clone(),
        target,
        by,
    })
}

/// Reads what follows `copy_of`.
pub(crate) fn copy_of(word: &Ident, input: ParseStream<'_>) -> syn::Result<CopyOf> {
    let arguments = Arguments::new(word, input)?;
    let content = &arguments.content;
    if content.is_empty() {
        return Err(refused(word, word.span()));
    }
    let first = content.call(Ident::parse_any)?;
    let mut names = path(&first, content)?;
    let reference = names.remove(0);
    let mut stays: Option<Ident> = None;
    let mut allow_often: Option<LitStr> = None;
    let mut by_age: Option<Refresh> = None;
    if !content.is_empty() {
        content.parse::<Token![,]>()?;
        comma_separated(content, |word, input| {
            match word.unraw().to_string().as_str() {
                attribute_names::ONCE => once(&mut stays, word, word.clone()),
                attribute_names::ALLOW_OFTEN => once(&mut allow_often, word, value(input)?),
                attribute_names::REFRESH => once(&mut by_age, word, refresh(word, input)?),
                _ => Err(unknown(word, "word of `copy_of`", attribute_names::COPIES)),
            }
        })?;
    }
    Ok(CopyOf {
        word: word.clone(),
        reference,
        path: names,
        once: stays,
        allow_often,
        refresh: by_age,
    })
}

/// Reads what follows `refresh`.
fn refresh(word: &Ident, input: ParseStream<'_>) -> syn::Result<Refresh> {
    let arguments = Arguments::new(word, input)?;
    let (mut older_than, mut at) = (None, None);
    comma_separated(&arguments.content, |word, input| {
        match word.unraw().to_string().as_str() {
            attribute_names::OLDER_THAN => {
                let age: LitStr = value(input)?;
                once(&mut older_than, word, seconds(&age)?)
            }
            attribute_names::AT => {
                input.parse::<Token![=]>()?;
                once(&mut at, word, input.call(Ident::parse_any)?)
            }
            _ => Err(unknown(
                word,
                "word of `refresh`",
                attribute_names::REFRESHES,
            )),
        }
    })?;
    let (Some(older_than), Some(at)) = (older_than, at) else {
        return Err(refused(word, word.span()));
    };
    Ok(Refresh {
        word: word.clone(),
        older_than,
        at,
    })
}

/// Reads an age, such as `1d`.
fn seconds(age: &LitStr) -> syn::Result<u32> {
    let total = duration(age).and_then(|total| u32::try_from(total).ok());
    total.filter(|total| *total > 0).ok_or_else(|| {
        let message = "write an age of at least a second, as a number and a unit (s, m, h, d, w), such as \"1d\"";
        syn::Error::new(age.span(), message)
    })
}

/// What a reference says about the relation that the other model declares: `recent_in = logmsgs`.
pub(crate) struct Counterpart {
    pub(crate) word: Ident,
    pub(crate) kind: CounterpartKind,
    /// The name of the relation in the other model.
    pub(crate) name: Ident,
}

/// The word of a [`Counterpart`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CounterpartKind {
    /// `rest_of`
    Rest,
    /// `recent_in`
    Recent,
    /// `two_way`
    TwoWay,
}

/// Reads what follows `recent`.
pub(crate) fn recent(word: &Ident, input: ParseStream<'_>) -> syn::Result<Recent> {
    let arguments = Arguments::new(word, input)?;
    let source = arguments.model()?;
    let mut max: Option<(u32, Span)> = None;
    let mut sort: Option<(Ident, bool)> = None;
    comma_separated(&arguments.content, |word, input| {
        match word.unraw().to_string().as_str() {
            attribute_names::MAX => once(&mut max, word, number(input)?),
            attribute_names::SORT => {
                input.parse::<Token![=]>()?;
                let descending = input.parse::<Option<Token![-]>>()?.is_some();
                let field = input.call(Ident::parse_any)?;
                once(&mut sort, word, (field, descending))
            }
            _ => Err(unknown(word, "word of `recent`", attribute_names::RECENTS)),
        }
    })?;
    match (max, sort) {
        (Some(max), Some((sort, descending))) => Ok(Recent {
            source,
            max,
            sort,
            descending,
        }),
        _ => Err(refused(word, word.span())),
    }
}

/// Reads what follows `rest_of`, `recent_in` or `two_way`.
pub(crate) fn counterpart(
    word: &Ident,
    kind: CounterpartKind,
    input: ParseStream<'_>,
) -> syn::Result<Counterpart> {
    if !input.peek(Token![=]) {
        return Err(refused(word, word.span()));
    }
    input.parse::<Token![=]>()?;
    Ok(Counterpart {
        word: word.clone(),
        kind,
        name: input.call(Ident::parse_any)?,
    })
}

/// Reads what follows the word.
pub(crate) fn inverse(
    word: &Ident,
    kind: InverseKind,
    input: ParseStream<'_>,
) -> syn::Result<Inverse> {
    let arguments = Arguments::new(word, input)?;
    let name = arguments.content.call(Ident::parse_any)?;
    if !arguments.content.peek(Token![:]) {
        return Err(refused(word, name.span()));
    }
    if syn::parse_str::<Ident>(&name.to_string()).is_err() {
        return Err(syn::Error::new(
            name.span(),
            format!("`{name}` is a keyword of Rust: write `r#{name}`"),
        ));
    }
    arguments.content.parse::<Token![:]>()?;
    let target = arguments.model()?;
    let mut by: Option<Vec<Ident>> = None;
    let mut key: Option<Ident> = None;
    let mut allow_scan: Option<LitStr> = None;
    let mut on_delete: Option<Ident> = None;
    let mut guarantee: Option<Ident> = None;
    comma_separated(&arguments.content, |word, input| {
        match word.unraw().to_string().as_str() {
            attribute_names::BY => {
                input.parse::<Token![=]>()?;
                once(&mut by, word, path(&input.call(Ident::parse_any)?, input)?)
            }
            attribute_names::KEY => {
                input.parse::<Token![=]>()?;
                once(&mut key, word, input.call(Ident::parse_any)?)
            }
            attribute_names::ALLOW_SCAN => once(&mut allow_scan, word, value(input)?),
            attribute_names::ON_DELETE => {
                let known = attribute_names::DELETE_POLICIES;
                once(&mut on_delete, word, choice(input, "delete policy", known)?)
            }
            attribute_names::GUARANTEE => {
                let known = attribute_names::GUARANTEES;
                once(&mut guarantee, word, choice(input, "guarantee", known)?)
            }
            _ => Err(unknown(
                word,
                "word of a relation",
                attribute_names::INVERSES,
            )),
        }
    })?;
    let Some(by) = by else {
        return Err(refused(word, word.span()));
    };
    Ok(Inverse {
        word: word.clone(),
        kind,
        name,
        target,
        by,
        key,
        allow_scan,
        on_delete,
        guarantee,
    })
}

/// Reads `= word`, where the word is one of those that are known.
fn choice(input: ParseStream<'_>, what: &str, known: &[&str]) -> syn::Result<Ident> {
    input.parse::<Token![=]>()?;
    let chosen = input.call(Ident::parse_any)?;
    if !known.contains(&chosen.unraw().to_string().as_str()) {
        return Err(unknown(&chosen, what, known));
    }
    Ok(chosen)
}
