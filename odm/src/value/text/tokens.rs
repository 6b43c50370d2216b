//! Strings to tokens: words, without the stop words, folded and stemmed.

use rust_stemmers::Stemmer;

use crate::value::text::characters::{is_delimiter, lower, without_diacritics};
use crate::value::text::language::Language;

/// How words are made comparable.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Sensitivity {
    pub(crate) case: bool,
    pub(crate) diacritics: bool,
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
        text.split(move |c| is_delimiter(c, self.language))
            .filter(|word| !word.is_empty())
            .filter_map(move |word| self.token(word, sensitivity))
    }

    fn token(&self, word: &str, sensitivity: Sensitivity) -> Option<String> {
        // Stop words and stems are found before diacritics go: both depend on them.
        let lower = lower(word, self.language);
        if self.language.is_stop_word(&lower) {
            return None;
        }
        let stem = self.stem(if sensitivity.case { word } else { &lower });
        Some(if sensitivity.diacritics {
            stem
        } else {
            without_diacritics(&stem)
        })
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

fn swap(c: char) -> char {
    match c {
        'ő' => 'õ',
        'õ' => 'ő',
        'ű' => 'û',
        'û' => 'ű',
        c => c,
    }
}
