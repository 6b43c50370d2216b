//! The strings of a document that a text index reads, with their language and their weight.

use std::collections::BTreeMap;

use bson::Document;
use bson::raw::{RawBsonRef, RawDocument};

use crate::error::{Code, ServerError};
use crate::value::raw;
use crate::value::text::language::Language;
use crate::value::text::tokens::{Sensitivity, Tokenizer};

/// The fields of a text index.
#[derive(Debug, Clone)]
pub struct Fields {
    /// The weights of the paths that the index names.
    weights: BTreeMap<String, f64>,
    /// Whether the index reads all strings of the document: `$**`.
    wildcard: bool,
    language: Language,
    /// The default language, as the index options spell it.
    language_name: String,
    /// The name of the field that sets the language of the document around it.
    language_field: String,
}

/// The weight of a string whose path the index does not name.
const DEFAULT_WEIGHT: f64 = 1.0;

/// One string of a document.
pub(super) struct Text<'d> {
    pub(super) string: &'d str,
    pub(super) language: Language,
    weight: f64,
}

/// Counts of one term in one string.
#[derive(Default)]
struct Count {
    times: f64,
    /// The first occurrence counts 1, and each further one half of the previous one.
    frequency: f64,
    next: f64,
}

impl Fields {
    /// Reads the fields from the normalized options of an index.
    pub fn new(options: &Document) -> Self {
        let mut weights = BTreeMap::new();
        let mut wildcard = false;
        for (path, weight) in options.get_document("weights").into_iter().flatten() {
            // `$**` makes this a wildcard index; its weight has no effect, as in mongod.
            if path == "$**" {
                wildcard = true;
                continue;
            }
            let weight = match weight {
                bson::Bson::Int32(weight) => f64::from(*weight),
                other => other.as_f64().unwrap_or(DEFAULT_WEIGHT).trunc(),
            };
            weights.insert(path.clone(), weight);
        }
        let language_name = options.get_str("default_language").unwrap_or("english");
        Self {
            weights,
            wildcard,
            language: Language::parse(language_name).unwrap_or(Language::English),
            language_name: language_name.to_owned(),
            language_field: options
                .get_str("language_override")
                .unwrap_or("language")
                .to_owned(),
        }
    }

    /// The language of documents that do not name one.
    pub fn language(&self) -> Language {
        self.language
    }

    /// The name of the default language, as the index options spell it.
    pub fn language_name(&self) -> &str {
        &self.language_name
    }

    /// The terms of a document, each with its score.
    pub fn scores(&self, document: &RawDocument) -> Result<BTreeMap<String, f64>, ServerError> {
        let mut scores = BTreeMap::new();
        let mut tokenizer = Tokenizer::new(self.language);
        self.each(document, &mut |found| {
            if tokenizer.language() != found.language {
                tokenizer = Tokenizer::new(found.language);
            }
            add(&mut scores, &tokenizer, &found);
        })?;
        Ok(scores)
    }

    /// Whether a top-level field may contain or affect words, given its values before and after a change.
    pub fn may_read(&self, name: &str, values: [Option<RawBsonRef<'_>>; 2]) -> bool {
        let may_hold = |value: &RawBsonRef<'_>| {
            matches!(
                value,
                RawBsonRef::String(_) | RawBsonRef::Document(_) | RawBsonRef::Array(_)
            )
        };
        // Fields below an empty name have the same paths as the fields beside it.
        if name == self.language_field || name.is_empty() {
            return true;
        }
        (self.wildcard || self.weights.contains_key(name) || self.has_below(name))
            && values.iter().flatten().any(may_hold)
    }

    /// All strings that the index reads.
    pub(super) fn texts<'d>(
        &self,
        document: &'d RawDocument,
    ) -> Result<Vec<Text<'d>>, ServerError> {
        let mut texts = Vec::new();
        self.each(document, &mut |text| texts.push(text))?;
        Ok(texts)
    }

    fn each<'d>(
        &self,
        document: &'d RawDocument,
        found: &mut dyn FnMut(Text<'d>),
    ) -> Result<(), ServerError> {
        self.walk(document, "", false, self.language, found)
    }

    fn walk<'d>(
        &self,
        document: &'d RawDocument,
        prefix: &str,
        is_array: bool,
        around: Language,
        found: &mut dyn FnMut(Text<'d>),
    ) -> Result<(), ServerError> {
        let language = self.language_of(document, around)?;
        for (name, value) in raw::elements(document) {
            if self.wildcard && name == self.language_field {
                continue;
            }
            let path = match (prefix, is_array) {
                ("", _) => name.to_owned(),
                (_, true) => prefix.to_owned(),
                (_, false) => format!("{prefix}.{name}"),
            };
            let weight = self.weights.get(&path).copied();
            match value {
                RawBsonRef::String(text) if weight.is_some() || self.wildcard => found(Text {
                    string: text,
                    language,
                    weight: weight.unwrap_or(DEFAULT_WEIGHT),
                }),
                RawBsonRef::Document(inner) if self.wildcard || self.has_below(&path) => {
                    self.walk(inner, &path, false, language, found)?;
                }
                // Only wildcard indexes read arrays inside arrays.
                RawBsonRef::Array(array)
                    if self.wildcard
                        || !is_array && (weight.is_some() || self.has_below(&path)) =>
                {
                    self.walk(raw::array_document(array), &path, true, language, found)?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Whether the index names a path below this one.
    fn has_below(&self, path: &str) -> bool {
        let below = format!("{path}.");
        self.weights
            .range(below.clone()..)
            .next()
            .is_some_and(|(named, _)| named.starts_with(&below))
    }

    fn language_of(
        &self,
        document: &RawDocument,
        around: Language,
    ) -> Result<Language, ServerError> {
        match raw::get(document, &self.language_field) {
            None => Ok(around),
            Some(RawBsonRef::String(name)) => Language::parse(name).ok_or_else(|| {
                ServerError::new(
                    Code::location(17262),
                    format!("language override unsupported: {name}"),
                )
            }),
            Some(_) => Err(ServerError::new(
                Code::location(17261),
                "found language override field in document with non-string type",
            )),
        }
    }
}

/// Adds the scores of the terms of one string.
fn add(scores: &mut BTreeMap<String, f64>, tokenizer: &Tokenizer, found: &Text<'_>) {
    let mut counts: BTreeMap<String, Count> = BTreeMap::new();
    let mut all = 0.0;
    for token in tokenizer.tokens(found.string, Sensitivity::default()) {
        all += 1.0;
        let count = counts.entry(token).or_default();
        count.next = if count.times > 0.0 {
            count.next * 2.0
        } else {
            1.0
        };
        count.times += 1.0;
        count.frequency += 1.0 / count.next;
    }
    for (term, count) in counts {
        // A term scores higher the larger its share of the string is.
        let share = 0.5 * count.times / all + 0.5;
        let whole = if found.string.eq_ignore_ascii_case(&term) {
            1.1
        } else {
            1.0
        };
        *scores.entry(term).or_default() += found.weight * count.frequency * share * whole;
    }
}
