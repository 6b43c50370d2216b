//! Single characters: token delimiters, lower case and the removal of diacritics.

use icu_normalizer::{ComposingNormalizerBorrowed, DecomposingNormalizerBorrowed};

use crate::value::text::language::Language;
use crate::value::text::lower::LOWER;
use crate::value::text::marks::{DELIMITERS, MARKS};

/// Whether a character separates tokens.
pub(super) fn is_delimiter(c: char, language: Language) -> bool {
    // English has words with an apostrophe.
    !(c == '\'' && language == Language::English) && within(DELIMITERS, c)
}

/// The text in lower case, by the rules of the language.
pub(super) fn lower(text: &str, language: Language) -> String {
    text.chars().map(|c| lower_char(c, language)).collect()
}

fn lower_char(c: char, language: Language) -> char {
    match c {
        'I' if language == Language::Turkish => 'ı',
        'İ' if language == Language::Turkish => 'i',
        c => {
            let code = u32::from(c);
            let after = LOWER.partition_point(|(first, ..)| *first <= code);
            let row = after.checked_sub(1).and_then(|at| LOWER.get(at));
            match row {
                Some((first, last, step, by))
                    if code <= *last && (code - first).is_multiple_of(*step) =>
                {
                    code.checked_add_signed(*by)
                        .and_then(char::from_u32)
                        .unwrap_or(c)
                }
                _ => c,
            }
        }
    }
}

/// The text without diacritics.
pub(super) fn without_diacritics(text: &str) -> String {
    if text.is_ascii() && !text.contains(['^', '`']) {
        return text.to_owned();
    }
    let mut bare = String::with_capacity(text.len());
    for c in text.chars() {
        push_without_diacritics(&mut bare, c);
    }
    bare
}

fn push_without_diacritics(bare: &mut String, c: char) {
    if within(MARKS, c) {
        return;
    }
    if c.is_ascii() {
        bare.push(c);
        return;
    }
    let mut buffer = [0; 4];
    let whole: &str = c.encode_utf8(&mut buffer);
    let parts = DecomposingNormalizerBorrowed::new_nfd().normalize(whole);
    let kept: String = parts.chars().filter(|part| !within(MARKS, *part)).collect();
    let composed = ComposingNormalizerBorrowed::new_nfc().normalize(&kept);
    let mut left = composed.chars();
    match (left.next(), left.next()) {
        (Some(base), None) => bare.push(base),
        // Keeps the character unless exactly one character is left without the marks.
        _ => bare.push(c),
    }
}

fn within(ranges: &[(u32, u32)], c: char) -> bool {
    let code = u32::from(c);
    let after = ranges.partition_point(|(first, _)| *first <= code);
    after
        .checked_sub(1)
        .and_then(|at| ranges.get(at))
        .is_some_and(|(_, last)| code <= *last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_are_sorted() {
        let sorted = |ranges: &[(u32, u32)]| {
            ranges
                .windows(2)
                .all(|pair| matches!(pair, [(_, last), (first, _)] if last < first))
        };
        assert!(sorted(DELIMITERS));
        assert!(sorted(MARKS));
        let rows: Vec<_> = LOWER
            .iter()
            .map(|(first, last, ..)| (*first, *last))
            .collect();
        assert!(
            rows.windows(2)
                .all(|pair| matches!(pair, [(one, _), (next, _)] if one < next))
        );
    }

    // Each of these results was observed on MongoDB 6.0.5.
    #[test]
    fn case_folding_agrees_with_mongod() {
        assert_eq!(lower("ÀÉſẞΣς", Language::None), "àésßσσ");
        assert_eq!(lower("Iİ", Language::None), "iİ");
        assert_eq!(lower("Iİ", Language::Turkish), "ıi");
        assert_eq!(without_diacritics("àéİøßầ가"), "aeIøßa가");
        assert_eq!(without_diacritics("e\u{301}^ \u{1fef}\u{387}"), "e \u{387}");
        assert!(is_delimiter('\'', Language::French));
        assert!(!is_delimiter('\'', Language::English));
        assert!(!is_delimiter('_', Language::French));
        assert!(is_delimiter('\u{3000}', Language::None));
    }
}
