//! The words that MongoDB 6.0.5 leaves out of text indexes, by language: found by querying it for the words of
//! published stop word lists and of large vocabularies.

use crate::value::text::language::Language;

/// The stop words of a language: one word per line, sorted by bytes.
pub(super) fn list(language: Language) -> &'static str {
    match language {
        Language::None => "",
        Language::Danish => include_str!("stop_words/danish.txt"),
        Language::Dutch => include_str!("stop_words/dutch.txt"),
        Language::English => include_str!("stop_words/english.txt"),
        Language::Finnish => include_str!("stop_words/finnish.txt"),
        Language::French => include_str!("stop_words/french.txt"),
        Language::German => include_str!("stop_words/german.txt"),
        Language::Hungarian => include_str!("stop_words/hungarian.txt"),
        Language::Italian => include_str!("stop_words/italian.txt"),
        Language::Norwegian => include_str!("stop_words/norwegian.txt"),
        Language::Portuguese => include_str!("stop_words/portuguese.txt"),
        Language::Romanian => include_str!("stop_words/romanian.txt"),
        Language::Russian => include_str!("stop_words/russian.txt"),
        Language::Spanish => include_str!("stop_words/spanish.txt"),
        Language::Swedish => include_str!("stop_words/swedish.txt"),
        Language::Turkish => include_str!("stop_words/turkish.txt"),
    }
}

/// Whether a list contains a word, by binary search over its lines.
pub(super) fn contains(list: &str, word: &str) -> bool {
    let (mut low, mut high) = (0, list.len());
    while low < high {
        let middle = usize::midpoint(low, high);
        let bytes = list.as_bytes();
        let from = bytes
            .get(low..middle)
            .and_then(|before| before.iter().rposition(|byte| *byte == b'\n'))
            .map_or(low, |at| low + at + 1);
        let to = bytes
            .get(from..high)
            .and_then(|after| after.iter().position(|byte| *byte == b'\n'))
            .map_or(high, |at| from + at);
        match bytes.get(from..to).unwrap_or_default().cmp(word.as_bytes()) {
            std::cmp::Ordering::Equal => return true,
            std::cmp::Ordering::Less => low = to + 1,
            std::cmp::Ordering::Greater => high = from,
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Language; 15] = [
        Language::Danish,
        Language::Dutch,
        Language::English,
        Language::Finnish,
        Language::French,
        Language::German,
        Language::Hungarian,
        Language::Italian,
        Language::Norwegian,
        Language::Portuguese,
        Language::Romanian,
        Language::Russian,
        Language::Spanish,
        Language::Swedish,
        Language::Turkish,
    ];

    #[test]
    fn only_stop_words_are_found() {
        for language in ALL {
            let list = list(language);
            assert!(list.lines().is_sorted(), "{language:?}");
            assert!(list.lines().count() > 50, "{language:?}");
            for word in list.lines() {
                assert!(contains(list, word), "{word}");
                let longer = format!("{word}q");
                assert_eq!(
                    contains(list, &longer),
                    list.lines().any(|other| other == longer)
                );
            }
            assert!(!contains(list, ""));
            assert!(!contains(list, "zebra"));
        }
        assert!(!contains(list(Language::None), "the"));
    }
}
