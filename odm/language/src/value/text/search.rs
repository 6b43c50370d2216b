//! `$text`: reads the search string and decides whether a document matches.

use std::collections::BTreeSet;

use bson::raw::{RawArrayBuf, RawDocument, RawDocumentBuf, cstr};

use crate::error::{Code, ServerError};
use crate::value::text::characters::{lower, without_diacritics};
use crate::value::text::fields::Fields;
use crate::value::text::language::Language;
use crate::value::text::tokens::{Sensitivity, Tokenizer};

/// A `$text`, as it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    pub search: String,
    pub language: Option<String>,
    pub case_sensitive: bool,
    pub diacritic_sensitive: bool,
}

/// A request in its language: words, excluded words, phrases, excluded phrases.
#[derive(Debug, Clone)]
pub struct Search {
    fields: Fields,
    sensitivity: Sensitivity,
    /// The terms to look up, in the form that the index stores.
    keys: BTreeSet<String>,
    terms: BTreeSet<String>,
    excluded: BTreeSet<String>,
    phrases: Vec<String>,
    excluded_phrases: Vec<String>,
}

impl Search {
    /// Reads a request for an index of these fields.
    pub fn new(request: &Request, fields: &Fields) -> Result<Self, ServerError> {
        let language = match request.language.as_deref() {
            None | Some("") => fields.language(),
            Some(name) => Language::parse(name).ok_or_else(|| {
                ServerError::new(
                    Code::BAD_VALUE,
                    format!("unsupported language: \"{name}\" for text index version 3"),
                )
            })?,
        };
        let sensitivity = Sensitivity {
            case: request.case_sensitive,
            diacritics: request.diacritic_sensitive,
        };
        let parts = split(&request.search);
        let tokenizer = Tokenizer::new(language);
        let terms = |text: &str, sensitivity| tokenizer.tokens(text, sensitivity).collect();
        Ok(Self {
            fields: fields.clone(),
            sensitivity,
            keys: terms(&parts.words, Sensitivity::default()),
            terms: terms(&parts.words, sensitivity),
            excluded: terms(&parts.excluded, sensitivity),
            phrases: parts.phrases,
            excluded_phrases: parts.excluded_phrases,
        })
    }

    /// The terms to look up: a document must have one of them.
    pub fn keys(&self) -> &BTreeSet<String> {
        &self.keys
    }

    /// `parsedTextQuery` of `explain`.
    pub fn document(&self) -> RawDocumentBuf {
        let mut document = RawDocumentBuf::new();
        document.append(cstr!("terms"), array(&self.terms));
        document.append(cstr!("negatedTerms"), array(&self.excluded));
        document.append(cstr!("phrases"), array(&self.phrases));
        document.append(cstr!("negatedPhrases"), array(&self.excluded_phrases));
        document
    }

    /// Whether a document that has one of the [`keys`](Self::keys) matches the rest of the search, too.
    pub fn accepts(&self, document: &RawDocument) -> Result<bool, ServerError> {
        let decided = !self.sensitivity.is_any()
            && self.excluded.is_empty()
            && self.phrases.is_empty()
            && self.excluded_phrases.is_empty();
        if decided {
            return Ok(true);
        }
        Ok(
            (!self.sensitivity.is_any() || self.has_any(&self.terms, document)?)
                && (self.excluded.is_empty() || !self.has_any(&self.excluded, document)?)
                && self.has_phrases(document)?,
        )
    }

    /// Whether a document matches the search.
    pub fn matches(&self, document: &RawDocument) -> Result<bool, ServerError> {
        let scores = self.fields.scores(document)?;
        Ok(self.keys.iter().any(|key| scores.contains_key(key)) && self.accepts(document)?)
    }

    fn has_any(
        &self,
        terms: &BTreeSet<String>,
        document: &RawDocument,
    ) -> Result<bool, ServerError> {
        Ok(self.fields.texts(document)?.iter().any(|found| {
            // A word that is not a stop word in the language of the request may be one in the language of the document.
            Tokenizer::new(found.language)
                .all_tokens(found.string, self.sensitivity)
                .any(|token| terms.contains(&token))
        }))
    }

    fn has_phrases(&self, document: &RawDocument) -> Result<bool, ServerError> {
        if self.phrases.is_empty() && self.excluded_phrases.is_empty() {
            return Ok(true);
        }
        let texts = self.fields.texts(document)?;
        let has = |phrase: &String| {
            texts.iter().any(|found| {
                let fold = |text: &str| self.fold(text, found.language);
                fold(found.string).contains(&fold(phrase))
            })
        };
        Ok(self.phrases.iter().all(has) && !self.excluded_phrases.iter().any(has))
    }

    fn fold(&self, text: &str, language: Language) -> String {
        let cased = if self.sensitivity.case {
            text.to_owned()
        } else {
            lower(text, language)
        };
        if self.sensitivity.diacritics {
            cased
        } else {
            without_diacritics(&cased)
        }
    }
}

fn array<'s>(texts: impl IntoIterator<Item = &'s String>) -> RawArrayBuf {
    texts.into_iter().map(String::as_str).collect()
}

/// The parts of a search string.
#[derive(Debug, Default, PartialEq, Eq)]
struct Parts {
    words: String,
    excluded: String,
    phrases: Vec<String>,
    excluded_phrases: Vec<String>,
}

/// A tab ends a word, but does not end an exclusion.
fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\n' | '\u{b}' | '\u{c}' | '\r')
}

/// Splits a search string: `-` excludes the words up to the next space, and `"` encloses phrases, whose words are terms
/// as well.
fn split(search: &str) -> Parts {
    let mut parts = Parts::default();
    let mut after_space = true;
    let mut excludes = false;
    let mut phrase: Option<&str> = None;
    let mut rest = search.trim_start_matches(is_space);
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '-' | '"' => 1,
            _ => rest
                .find(|c| matches!(c, '-' | '"') || is_space(c))
                .unwrap_or(rest.len()),
        };
        let (token, after) = rest.split_at(length);
        match first {
            '-' => excludes |= phrase.is_none() && after_space,
            '"' => {
                if let Some(start) = phrase.take() {
                    let end = start.len().saturating_sub(rest.len());
                    let text = start.get(..end).unwrap_or_default().to_owned();
                    if excludes {
                        parts.excluded_phrases.push(text);
                    } else {
                        parts.phrases.push(text);
                    }
                } else {
                    phrase = Some(after);
                    excludes &= !after_space;
                }
            }
            _ if phrase.is_some() && excludes => {}
            _ => {
                excludes &= !after_space;
                let words = if excludes {
                    &mut parts.excluded
                } else {
                    &mut parts.words
                };
                words.push_str(token);
                words.push(' ');
            }
        }
        rest = after.trim_start_matches(is_space);
        after_space = rest.len() < after.len();
    }
    parts
}
