//! How much space text takes, without a font.

/// The width of a character of a fixed-width font, in hundredths of the font's size. Common ones have 55 to 60.
const NARROW: usize = 62;
/// The width of a character that such fonts take from a font for East Asia, or from one for signs.
const WIDE: usize = 130;

/// The ranges of wide characters: East Asian scripts and their punctuation, and signs drawn as pictures.
const WIDE_RANGES: [(u32, u32); 10] = [
    (0x1100, 0x115F),
    (0x2E80, 0xA4CF),
    (0xA960, 0xA97C),
    (0xAC00, 0xD7A3),
    (0xF900, 0xFAFF),
    (0xFE30, 0xFE6F),
    (0xFF00, 0xFF60),
    (0xFFE0, 0xFFE6),
    (0x1F000, 0x1FAFF),
    (0x20000, 0x3FFFD),
];

/// The width of a line of text in a fixed-width font of this size, in pixels.
pub(super) fn width(text: &str, size: usize) -> i32 {
    let hundredths: usize = text.chars().map(|one| of(one) * size).sum();
    i32::try_from(hundredths.div_ceil(100)).unwrap_or(i32::MAX)
}

fn of(one: char) -> usize {
    let code = u32::from(one);
    let mut ranges = WIDE_RANGES.iter();
    if ranges.any(|(first, last)| (*first..=*last).contains(&code)) {
        WIDE
    } else {
        NARROW
    }
}

/// The text, with `…` in place of what is beyond this many characters.
pub(super) fn shortened(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let kept = text.chars().take(most.saturating_sub(1));
    kept.chain(['…']).collect()
}

/// The words of a text on lines of about this many characters, and at most three lines.
pub(super) fn wrapped(text: &str, most: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(last) if last.chars().count() + word.chars().count() < most => {
                last.push(' ');
                last.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    let is_long = lines.len() > 3;
    lines.truncate(3);
    if is_long && let Some(last) = lines.last_mut() {
        last.push('…');
    }
    lines.iter().map(|line| shortened(line, 2 * most)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_characters_count_twice() {
        assert_eq!(width("abcd", 100), 248);
        assert_eq!(width("漢字", 100), 260);
    }

    #[test]
    fn long_texts_are_cut() {
        assert_eq!(shortened("abcdef", 6), "abcdef");
        assert_eq!(shortened("abcdefg", 6), "abcde…");
    }

    #[test]
    fn labels_break_between_words() {
        let label = "logmsgs, the newest 1000 of LogMessage";
        let lines = ["logmsgs, the newest", "1000 of LogMessage"];
        assert_eq!(wrapped(label, 20), lines);
        assert_eq!(wrapped("a b c d", 1), ["a", "b", "c…"]);
    }
}
