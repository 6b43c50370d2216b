//! Splits strings into tokens: words without the stop words, folded and stemmed.

use std::borrow::Cow;

use rust_stemmers::Stemmer;

use crate::value::text::characters::{is_delimiter, lower, without_diacritics};
use crate::value::text::language::Language;

/// The byte order mark.
const MARK_OF_ORDER: char = '\u{feff}';

/// The differences that a comparison of words respects.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Sensitivity {
    pub case: bool,
    pub diacritics: bool,
}

impl Sensitivity {
    /// Whether this distinguishes words that the index treats as equal.
    pub(super) fn is_any(self) -> bool {
        self.case || self.diacritics
    }
}

/// Splits strings of one language into tokens.
pub(super) struct Tokenizer {
    language: Language,
    stemmer: Option<Stemmer>,
}

impl Tokenizer {
    pub(super) fn new(language: Language) -> Self {
        Self {
            language,
            stemmer: language.stemmer(),
        }
    }

    pub(super) fn language(&self) -> Language {
        self.language
    }

    /// The tokens of a string, in its order.
    pub(super) fn tokens<'t>(
        &'t self,
        text: &'t str,
        sensitivity: Sensitivity,
    ) -> impl Iterator<Item = String> + 't {
        self.words(text)
            .filter(|word| {
                let lower = lower(word, self.language);
                !self.language.is_stop_word(&lower)
            })
            .map(move |word| self.token(&word, sensitivity))
    }

    /// The tokens of a string, including stop words.
    pub(super) fn all_tokens<'t>(
        &'t self,
        text: &'t str,
        sensitivity: Sensitivity,
    ) -> impl Iterator<Item = String> + 't {
        self.words(text)
            .map(move |word| self.token(&word, sensitivity))
    }

    fn words<'t>(&'t self, text: &'t str) -> impl Iterator<Item = Cow<'t, str>> + 't {
        text.split(move |c| is_delimiter(c, self.language))
            .map(without_marks_of_order)
            .filter(|word| !word.is_empty())
    }

    /// Removes diacritics last, because stop words and stems depend on them.
    fn token(&self, word: &str, sensitivity: Sensitivity) -> String {
        let lower = lower(word, self.language);
        let stem = self.stem(if sensitivity.case { word } else { &lower });
        if sensitivity.diacritics {
            stem
        } else {
            without_diacritics(&stem)
        }
    }

    fn stem(&self, word: &str) -> String {
        let Some(stemmer) = &self.stemmer else {
            return word.to_owned();
        };
        if self.language == Language::Hungarian {
            // MongoDB's stemmer treats õ and û as the letters ő and ű.
            let swapped: String = word.chars().map(swap).collect();
            return stemmer.stem(&swapped).chars().map(swap).collect();
        }
        stemmer.stem(word).into_owned()
    }
}

/// A word without byte order marks. Only tokens lose them; phrases keep them.
fn without_marks_of_order(word: &str) -> Cow<'_, str> {
    if word.contains(MARK_OF_ORDER) {
        Cow::Owned(word.replace(MARK_OF_ORDER, ""))
    } else {
        Cow::Borrowed(word)
    }
}

fn swap(c: char) -> char {
    match c {
        'ő' => 'õ',
        'õ' => 'ő',
        'ű' => 'û',
        'û' => 'ű',
        c => c,
    }
}
