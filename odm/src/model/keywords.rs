//! Keywords that are computed from other fields.

use bson::raw::{RawArrayBuf, RawBsonRef, RawDocument, RawDocumentBuf};
use bson::{Bson, Document};
use odm_language::value::text::{Language, terms};

use crate::error::{Error, Result};

/// A list of keywords that is computed from other fields of the document: `keywords(from(title, body), max = 200)`.
#[derive(Debug)]
pub struct KeywordsMeta {
    /// The stored name of the list.
    pub field: &'static str,
    /// The stored names of the fields that it is computed from.
    pub sources: &'static [&'static str],
    /// The language of their text, as a text index names it.
    pub language: &'static str,
    /// The largest number of keywords.
    pub max: u32,
}

impl KeywordsMeta {
    /// The words of the sources, each once.
    fn words<'a>(&self, source: impl Fn(&str) -> Option<RawBsonRef<'a>>) -> Result<Vec<String>> {
        let mut words = Vec::new();
        for name in self.sources {
            collect(source(name), language(self.language), &mut words);
        }
        words.sort_unstable();
        words.dedup();
        let (count, max) = (words.len(), self.max);
        if count > max as usize {
            let message = format!(
                "{} have {count} different words, and at most {max} are kept; allow more with `keywords(max = …)`, or shorten the text",
                self.listed()
            );
            return Err(Error::usage(message).with_path(self.field));
        }
        Ok(words)
    }

    /// The words of sources that an update sets.
    pub(crate) fn of_values(&self, sources: &Document) -> Result<Bson> {
        let sources = RawDocumentBuf::try_from(sources).map_err(Error::encode)?;
        let words = self.words(|name| sources.get(name).ok().flatten())?;
        Ok(Bson::Array(words.into_iter().map(Bson::from).collect()))
    }

    /// The names of the sources, for messages.
    pub(crate) fn listed(&self) -> String {
        let names = self.sources.iter().map(|name| format!("`{name}`"));
        names.collect::<Vec<_>>().join(", ")
    }
}

/// Replaces the computed keywords of a document by the words of their sources.
pub(crate) fn derive(all: &[KeywordsMeta], mut document: RawDocumentBuf) -> Result<RawDocumentBuf> {
    for keywords in all {
        let words = keywords.words(|name| document.get(name).ok().flatten())?;
        document = with_words(&document, keywords.field, &words)?;
    }
    Ok(document)
}

fn with_words(document: &RawDocument, field: &str, words: &[String]) -> Result<RawDocumentBuf> {
    let mut array = RawArrayBuf::new();
    for word in words {
        array.push(word.as_str());
    }
    let mut array = Some(array);
    let mut changed = RawDocumentBuf::new();
    for element in document {
        let (name, value) = element.map_err(Error::encode)?;
        match array.take_if(|_| name.as_str() == field) {
            Some(words) => changed.append(name, words),
            None => changed.append(name, value),
        }
    }
    Ok(changed)
}

/// Adds the words of a string, or of the strings in an array.
fn collect(value: Option<RawBsonRef<'_>>, language: Language, words: &mut Vec<String>) {
    match value {
        Some(RawBsonRef::String(text)) => words.extend(terms(text, language)),
        Some(RawBsonRef::Array(elements)) => {
            for element in elements.into_iter().flatten() {
                collect(Some(element), language, words);
            }
        }
        _ => {}
    }
}

/// The language of this name. The derive has checked it.
pub(crate) fn language(name: &str) -> Language {
    Language::parse(name).unwrap_or(Language::None)
}

/// The words that a search looks for, each once.
pub(crate) fn search_terms(text: &str, language_name: &str) -> Vec<String> {
    let mut words = terms(text, language(language_name));
    words.sort_unstable();
    words.dedup();
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use bson::rawdoc;

    const WORDS: KeywordsMeta = KeywordsMeta {
        field: "words",
        sources: &["title", "tags"],
        language: "english",
        max: 5,
    };

    #[test]
    fn words_are_those_of_a_text_index() {
        let document = rawdoc! {
            "words": ["old"], "title": "The Running Shoes: Crème!", "tags": ["shoe", "Run"], "n": 1,
        };
        let derived = derive(&[WORDS], document).unwrap();
        let expected = rawdoc! {
            "words": ["creme", "run", "shoe"], "title": "The Running Shoes: Crème!", "tags": ["shoe", "Run"], "n": 1,
        };
        assert_eq!(derived, expected);
        assert_eq!(search_terms("a shoe of the shoes", "english"), ["shoe"]);
    }

    #[test]
    fn too_many_words_are_refused() {
        let document = rawdoc! {"title": "one two three four five six", "words": []};
        let error = derive(&[WORDS], document).unwrap_err().to_string();
        assert!(
            error.contains("`title`, `tags` have 6") && error.contains("words"),
            "{error}"
        );
    }
}
