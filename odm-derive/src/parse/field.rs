//! `#[odm(…)]` on a field.

use proc_macro2::Span;
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::{Attribute, Ident, LitStr};

use super::bucket::{self, Kept, KeptKind};
use super::index::{self, Index};
use super::keywords;
use super::relation::{self, CopyOf, Counterpart, CounterpartKind, KeyReference, Recent};
use super::rule::{FieldRule, Rule, field_rule};
use super::summary::{self, SummaryKind, SummaryOf};
use super::{attributes, number, once, unknown, unknown_attribute, value};
use crate::attribute_names;
use crate::errors::Errors;
use crate::other_words;

/// The `#[odm(…)]` attributes of a field.
#[derive(Default)]
pub(crate) struct FieldAttributes {
    pub(crate) indexes: Vec<Index>,
    pub(crate) rules: Vec<FieldRule>,
    pub(crate) list: Option<List>,
    /// Whether an attribute could not be read, so that what it declares is missing here.
    pub(crate) is_malformed: bool,
    pub(crate) recent: Option<Recent>,
    /// What the keywords in the field are computed from.
    pub(crate) keywords_from: Option<keywords::Sources>,
    pub(crate) refers_to: Option<KeyReference>,
    pub(crate) copy_of: Option<CopyOf>,
    /// `often`: the value changes often.
    pub(crate) often: Option<Ident>,
    pub(crate) summary: Option<SummaryOf>,
    /// What a bucket keeps of its items in the field.
    pub(crate) kept: Option<Kept>,
    pub(crate) counterpart: Option<Counterpart>,
    pub(crate) unbounded: Option<Unbounded>,
    pub(crate) version: Option<Ident>,
    /// The field with the currency of this amount.
    pub(crate) currency: Option<CurrencyField>,
    pub(crate) created_at: Option<Ident>,
    pub(crate) updated_at: Option<UpdatedAt>,
    pub(crate) bson_type: Option<LitStr>,
}

impl FieldAttributes {
    /// The first word that a flattened field can't have, since it is stored as several fields or none.
    pub(crate) fn first_word_of_one_field(&self) -> Option<&Ident> {
        let mut rules = self.rules.iter();
        rules
            .find(|rule| !matches!(rule.rule, Rule::Bytes(_)))
            .map(|rule| &rule.word)
            .or_else(|| self.indexes.first().map(|index| &index.word))
            .or_else(|| {
                let list = self.list.as_ref().filter(|list| list.max.is_some());
                list.map(|list| &list.word)
            })
            .or(self.version.as_ref())
            .or_else(|| self.copy_of.as_ref().map(|one| &one.word))
            .or_else(|| self.summary.as_ref().map(|one| &one.word))
            .or_else(|| self.kept.as_ref().map(|one| &one.word))
            .or_else(|| self.currency.as_ref().map(|one| &one.word))
            .or_else(|| self.timestamp())
    }

    /// `created_at` or `updated_at`.
    pub(crate) fn timestamp(&self) -> Option<&Ident> {
        let updated = self.updated_at.as_ref().map(|one| &one.word);
        self.created_at.as_ref().or(updated)
    }

    /// The first word that only a named field can have.
    pub(crate) fn first_word(&self) -> Option<&Ident> {
        self.rules
            .first()
            .map(|rule| &rule.word)
            .or_else(|| self.indexes.first().map(|index| &index.word))
            .or_else(|| self.list.as_ref().map(|list| &list.word))
            .or_else(|| self.counterpart.as_ref().map(|one| &one.word))
            .or_else(|| self.refers_to.as_ref().map(|one| &one.word))
            .or_else(|| self.copy_of.as_ref().map(|one| &one.word))
            .or_else(|| self.summary.as_ref().map(|one| &one.word))
            .or_else(|| self.kept.as_ref().map(|one| &one.word))
            .or_else(|| self.unbounded.as_ref().map(|one| &one.word))
            .or(self.version.as_ref())
            .or_else(|| self.currency.as_ref().map(|one| &one.word))
            .or_else(|| self.timestamp())
    }
}

impl FieldAttributes {
    /// Reads what a reference says about the other model.
    fn counterpart(
        &mut self,
        word: &Ident,
        kind: CounterpartKind,
        input: ParseStream<'_>,
    ) -> syn::Result<()> {
        let counterpart = relation::counterpart(word, kind, input)?;
        if let Some(before) = &self.counterpart {
            let message = format!(
                "the field already has `{}`, and a reference can have only one counterpart; keep one of the two",
                before.word
            );
            return Err(syn::Error::new_spanned(word, message));
        }
        self.counterpart = Some(counterpart);
        Ok(())
    }

    /// Reads what a bucket keeps of its items.
    fn kept(&mut self, word: &Ident, kind: KeptKind, input: ParseStream<'_>) -> syn::Result<()> {
        let kept = bucket::kept(word, kind, input)?;
        if let Some(before) = &self.kept {
            let message = format!(
                "the field already has `{}`, and it can keep one value; declare another field for `{word}`",
                before.word
            );
            return Err(syn::Error::new_spanned(word, message));
        }
        self.kept = Some(kept);
        Ok(())
    }

    /// Reads what is computed from documents of another model.
    fn summary(
        &mut self,
        word: &Ident,
        kind: SummaryKind,
        input: ParseStream<'_>,
    ) -> syn::Result<()> {
        let summary = summary::summary(word, kind, input)?;
        if let Some(before) = &self.summary {
            let message = format!(
                "the field already has `{}`, and it can hold one summary; declare another field for `{word}`",
                before.word
            );
            return Err(syn::Error::new_spanned(word, message));
        }
        self.summary = Some(summary);
        Ok(())
    }
}

/// `updated_at` or `updated_at(server)`.
pub(crate) struct UpdatedAt {
    pub(crate) word: Ident,
    /// Whether updates take the server's clock.
    pub(crate) server: bool,
}

/// `unbounded = "the reason"`: a list of documents or references that declares no bound.
pub(crate) struct Unbounded {
    pub(crate) word: Ident,
    pub(crate) reason: LitStr,
}

/// `currency = other_field`.
pub(crate) struct CurrencyField {
    pub(crate) word: Ident,
    pub(crate) field: Ident,
}

/// A declared cardinality.
pub(crate) struct List {
    /// `embed`, `keywords`, `references` or `recent`; `bucket` or `overflow` for a list that the struct bounds.
    pub(crate) word: Ident,
    /// `None` for one document: `embed` alone.
    pub(crate) max: Option<(u32, Span)>,
    /// Why `max` is larger than the rule of thumb.
    pub(crate) allow: Option<LitStr>,
    /// Whether `overflow` bounds it, and its elements are references.
    pub(crate) of_references: bool,
}

impl List {
    /// Whether it keeps documents, and not references: `embed`, `recent`, the items of a bucket or the elements of an overflow.
    pub(crate) fn embeds(&self) -> bool {
        self.word == attribute_names::EMBED
            || self.is_recent()
            || (self.is_filled() && !self.of_references)
    }

    /// Whether `bucket` on the struct bounds it.
    pub(crate) fn is_bucket(&self) -> bool {
        self.word == attribute_names::BUCKET
    }

    /// Whether `overflow` on the struct bounds it.
    pub(crate) fn is_overflow(&self) -> bool {
        self.word == attribute_names::OVERFLOW
    }

    /// Whether a word on the struct bounds it.
    pub(crate) fn is_filled(&self) -> bool {
        self.is_bucket() || self.is_overflow()
    }

    /// Whether it is `keywords`.
    pub(crate) fn is_keywords(&self) -> bool {
        self.word == attribute_names::KEYWORDS
    }

    /// Whether it is `recent`.
    pub(crate) fn is_recent(&self) -> bool {
        self.word == attribute_names::RECENT
    }
}

/// Reads a field's attributes.
pub(crate) fn field(list: &[Attribute], ident: &Ident, errors: &mut Errors) -> FieldAttributes {
    let mut field = FieldAttributes::default();
    let before = errors.len();
    attributes(list, "odm", errors, |word, input| {
        if let Some(rule) = field_rule(word, input)? {
            if field.rules.iter().any(|one| one.word == rule.word) {
                return Err(syn::Error::new_spanned(
                    word,
                    format!("`{word}` is given twice; keep one"),
                ));
            }
            field.rules.push(rule);
            return Ok(());
        }
        if let Some(kind) = KeptKind::of_word(&word.to_string()) {
            return field.kept(word, kind, input);
        }
        if let Some(kind) = SummaryKind::of_word(&word.to_string()) {
            return field.summary(word, kind, input);
        }
        match word.to_string().as_str() {
            attribute_names::INDEX | attribute_names::UNIQUE => {
                field.indexes.push(index::on_field(word, ident, input)?);
                Ok(())
            }
            attribute_names::EMBED | attribute_names::REFERENCES => {
                let list = cardinality(word, input)?;
                once(&mut field.list, word, list)
            }
            attribute_names::KEYWORDS => {
                let (list, sources) = keywords::on_field(word, input)?;
                once(&mut field.list, word, list)?;
                field.keywords_from = sources;
                field.indexes.push(Index::of_keywords(word, ident));
                Ok(())
            }
            attribute_names::RECENT => {
                let recent = relation::recent(word, input)?;
                let list = List {
                    word: word.clone(),
                    max: Some(recent.max),
                    allow: None,
                    of_references: false,
                };
                once(&mut field.list, word, list)?;
                once(&mut field.recent, word, recent)
            }
            attribute_names::REFERS_TO => {
                let reference = relation::key_reference(word, input)?;
                once(&mut field.refers_to, word, reference)
            }
            attribute_names::COPY_OF => {
                let copy = relation::copy_of(word, input)?;
                once(&mut field.copy_of, word, copy)
            }
            attribute_names::OFTEN => once(&mut field.often, word, word.clone()),
            attribute_names::ON_DELETE => Err(syn::Error::new(
                word.span(),
                "`on_delete` stands in the relation of the other model, whose documents are deleted: \
                 `has_many(books: Book, by = author, on_delete = cascade)`",
            )),
            attribute_names::REST_OF => field.counterpart(word, CounterpartKind::Rest, input),
            attribute_names::RECENT_IN => field.counterpart(word, CounterpartKind::Recent, input),
            attribute_names::TWO_WAY => field.counterpart(word, CounterpartKind::TwoWay, input),
            attribute_names::UNBOUNDED => {
                let (word, reason) = (word.clone(), value(input)?);
                once(
                    &mut field.unbounded,
                    &word.clone(),
                    Unbounded { word, reason },
                )
            }
            attribute_names::VERSION => once(&mut field.version, word, word.clone()),
            attribute_names::CURRENCY => {
                input.parse::<syn::Token![=]>()?;
                let currency = CurrencyField {
                    word: word.clone(),
                    field: input.call(Ident::parse_any)?,
                };
                once(&mut field.currency, word, currency)
            }
            attribute_names::CREATED_AT if input.peek(syn::token::Paren) => {
                Err(syn::Error::new_spanned(
                    word,
                    "an insert takes the client's clock, because MongoDB sets no dates in inserts; write `created_at` alone",
                ))
            }
            attribute_names::CREATED_AT => once(&mut field.created_at, word, word.clone()),
            attribute_names::UPDATED_AT => {
                let updated = updated_at(word, input)?;
                once(&mut field.updated_at, word, updated)
            }
            attribute_names::BSON_TYPE => once(&mut field.bson_type, word, value(input)?),
            other if attribute_names::CONTAINER.contains(&other) => Err(syn::Error::new_spanned(
                word,
                match attribute_names::usage(other) {
                    Some(usage) => {
                        format!(
                            "`{other}` belongs on the struct, not on a field; it is written {usage}"
                        )
                    }
                    None => format!("`{other}` belongs on the struct, not on a field"),
                },
            )),
            _ => Err(unknown_attribute(
                word,
                "attribute of a field",
                attribute_names::FIELD,
                other_words::on_field,
            )),
        }
    });
    field.is_malformed = errors.len() > before;
    field
}

fn updated_at(word: &Ident, input: ParseStream<'_>) -> syn::Result<UpdatedAt> {
    let mut server: Option<Ident> = None;
    if input.peek(syn::token::Paren) {
        super::inner(input, |word, _| match word.to_string().as_str() {
            attribute_names::SERVER => once(&mut server, word, word.clone()),
            _ => Err(unknown(
                word,
                "word of `updated_at`",
                &[attribute_names::SERVER],
            )),
        })?;
    }
    Ok(UpdatedAt {
        word: word.clone(),
        server: server.is_some(),
    })
}

fn cardinality(word: &Ident, input: ParseStream<'_>) -> syn::Result<List> {
    let embeds = word == attribute_names::EMBED;
    let usage = if embeds {
        "`embed(few, max = N)` with N up to 200"
    } else {
        "`references(many, max = N)` with N up to 5000"
    };
    if !input.peek(syn::token::Paren) {
        if embeds && (input.is_empty() || input.peek(syn::Token![,])) {
            let word = word.clone();
            return Ok(List {
                word,
                max: None,
                allow: None,
                of_references: false,
            });
        }
        return Err(syn::Error::new_spanned(word, format!("write {usage}")));
    }
    let mut how: Option<Ident> = None;
    let mut max: Option<(u32, Span)> = None;
    let mut allow: Option<LitStr> = None;
    super::inner(input, |word, input| {
        match word.unraw().to_string().as_str() {
            attribute_names::MAX => once(&mut max, word, number(input)?),
            attribute_names::ALLOW => once(&mut allow, word, value(input)?),
            "few" | "many" => once(&mut how, word, word.clone()),
            _ => Err(unknown(
                word,
                "word of a cardinality",
                &[
                    if embeds { "few" } else { "many" },
                    attribute_names::MAX,
                    attribute_names::ALLOW,
                ],
            )),
        }
    })?;
    match how {
        Some(how) if embeds && how == "many" => Err(syn::Error::new_spanned(
            how,
            "`many` documents can't be embedded; write `embed(few, max = N)` with N up to 200, or keep their ids: `references(many, max = N)`",
        )),
        Some(how) if !embeds && how == "few" => Err(syn::Error::new_spanned(
            how,
            "`few` is for embedded documents, `embed(few, max = N)`; for an array of ids write `references(many, max = N)`",
        )),
        Some(_) if max.is_some() => Ok(List {
            word: word.clone(),
            max,
            allow,
            of_references: false,
        }),
        _ => Err(syn::Error::new_spanned(word, format!("write {usage}"))),
    }
}
