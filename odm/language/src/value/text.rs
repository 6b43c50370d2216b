//! Text search: words of strings, their weight in a document, and the queries that look for them.
//!
//! A text index stores a score for each term of a document ([`Fields::scores`]). `$text` looks up its terms in the
//! index ([`Search::keys`]) and then checks phrases, exclusions and sensitivity on the document itself
//! ([`Search::accepts`]).
//!
//! This module neither stores the index nor plans queries. Start at `tokens.rs`.

mod characters;
mod fields;
mod language;
mod lower;
mod marks;
mod search;
mod stop_words;
mod tokens;

pub use self::fields::Fields;
pub use self::language::Language;
pub use self::search::{Request, Search};

/// The terms of a string, in its order: its words without the stop words, folded and stemmed as a text index does.
pub fn terms(text: &str, language: Language) -> Vec<String> {
    let tokenizer = tokens::Tokenizer::new(language);
    tokenizer
        .tokens(text, tokens::Sensitivity::default())
        .collect()
}
