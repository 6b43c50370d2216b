//! Strings to tokens: words, without the stop words, folded and stemmed.

use std::borrow::Cow;

use rust_stemmers::Stemmer;

use crate::value::text::characters::{is_delimiter, lower, without_diacritics};
use crate::value::text::language::Language;

/// The mark of the order of bytes.
const MARK_OF_ORDER: char = '\u{feff}';

/// How words are made comparable.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Sensitivity {
    pub case: bool,
    pub diacritics: bool,
}

impl Sensitivity {
    /// Whether it tells apart what the index does not.
    pub(super) fn is_any(self) -> bool {
        self.case || self.diacritics
    }
}

/// Makes tokens of strings of one language.
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

    /// The same with stop words among them.
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

    /// Stop words and stems are found before diacritics go: both depend on them.
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
            // The server's stemmer takes õ and û for the letters that are ő and ű.
            let swapped: String = word.chars().map(swap).collect();
            return stemmer.stem(&swapped).chars().map(swap).collect();
        }
        stemmer.stem(word).into_owned()
    }
}

/// A word without marks of the order of bytes: a token loses them, a phrase does not.
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
