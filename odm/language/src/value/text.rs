//! Text search: words of strings, their weight in a document, and the queries that look for them.
//!
//! A text index keeps, for each term of a document, a score ([`Fields::scores`]); `$text` asks it for terms
//! (`Search::terms`) and then looks at the document again for what terms cannot say (`Search::accepts`).
//!
//! What this module is not: it keeps no index and plans nothing. Start at `tokens.rs`.

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
