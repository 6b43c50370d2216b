//! The languages of text search: their names, their stop words and their stemmers.

use rust_stemmers::{Algorithm, Stemmer};

use crate::value::text::stop_words;

/// A language that a version 3 text index supports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Language {
    /// Neither stop words nor stemming.
    None,
    Danish,
    Dutch,
    English,
    Finnish,
    French,
    German,
    Hungarian,
    Italian,
    Norwegian,
    Portuguese,
    Romanian,
    Russian,
    Spanish,
    Swedish,
    Turkish,
}

impl Language {
    /// Parses a name or a two-letter code, in any case.
    pub fn parse(name: &str) -> Option<Self> {
        Some(match name.to_ascii_lowercase().as_str() {
            "none" => Self::None,
            "da" | "danish" => Self::Danish,
            "nl" | "dutch" => Self::Dutch,
            "en" | "english" => Self::English,
            "fi" | "finnish" => Self::Finnish,
            "fr" | "french" => Self::French,
            "de" | "german" => Self::German,
            "hu" | "hungarian" => Self::Hungarian,
            "it" | "italian" => Self::Italian,
            "nb" | "norwegian" => Self::Norwegian,
            "pt" | "portuguese" => Self::Portuguese,
            "ro" | "romanian" => Self::Romanian,
            "ru" | "russian" => Self::Russian,
            "es" | "spanish" => Self::Spanish,
            "sv" | "swedish" => Self::Swedish,
            "tr" | "turkish" => Self::Turkish,
            _ => return None,
        })
    }

    /// Whether a word in lower case is too common to be a term.
    pub(super) fn is_stop_word(self, word: &str) -> bool {
        stop_words::contains(stop_words::list(self), word)
    }

    /// Its Snowball stemmer.
    pub(super) fn stemmer(self) -> Option<Stemmer> {
        let algorithm = match self {
            Self::None => return None,
            Self::Danish => Algorithm::Danish,
            Self::Dutch => Algorithm::Dutch,
            Self::English => Algorithm::English,
            Self::Finnish => Algorithm::Finnish,
            Self::French => Algorithm::French,
            Self::German => Algorithm::German,
            Self::Hungarian => Algorithm::Hungarian,
            Self::Italian => Algorithm::Italian,
            Self::Norwegian => Algorithm::Norwegian,
            Self::Portuguese => Algorithm::Portuguese,
            Self::Romanian => Algorithm::Romanian,
            Self::Russian => Algorithm::Russian,
            Self::Spanish => Algorithm::Spanish,
            Self::Swedish => Algorithm::Swedish,
            Self::Turkish => Algorithm::Turkish,
        };
        Some(Stemmer::create(algorithm))
    }
}
