//! The escapes after a backslash.

use super::{Dialect, Problem, Translated, Translator, invalid, property};

const WORD: &str = "0-9A-Za-z_";
const DIGIT: &str = "0-9";
const SPACE: &str = r"\t\n\x0B\x0C\r\x20";
const HORIZONTAL: &str = r"\t\x20\x{A0}\x{1680}\x{180E}\x{2000}-\x{200A}\x{202F}\x{205F}\x{3000}";
const VERTICAL: &str = r"\n\x0B\x0C\r\x{85}\x{2028}\x{2029}";

const NO_GROUP: &str = "reference to non-existent subpattern";
const NOT_KNOWN: &str = "PCRE does not support \\L, \\l, \\N{name}, \\U, or \\u";
const TOO_LARGE: &str = "character value in \\x{} or \\o{} is too large";

/// The set of an escape: its characters, and whether the escape matches them or all others.
pub(super) fn set(letter: char) -> Option<(&'static str, bool)> {
    let members = match letter.to_ascii_lowercase() {
        'w' => WORD,
        'd' => DIGIT,
        's' => SPACE,
        'h' => HORIZONTAL,
        'v' => VERTICAL,
        _ => return None,
    };
    Some((members, letter.is_ascii_lowercase()))
}

impl Translator<'_> {
    pub(super) fn escape(&mut self) -> Translated<()> {
        let Some(letter) = self.rest.next() else {
            return invalid("\\ at end of pattern");
        };
        if let Some((members, positive)) = set(letter) {
            let text = match (self.dialect, letter) {
                (Dialect::Plain, 'w' | 'W' | 'd' | 'D' | 's' | 'S') => format!("\\{letter}"),
                // `-i` keeps `ſ`, the long s, out of `\w`: case folding would let it in as an s
                _ if positive => format!("(?-i:[{members}])"),
                _ => format!("(?-i:[^{members}])"),
            };
            self.atom(&text);
            return Ok(());
        }
        match letter {
            'b' | 'B' if self.dialect == Dialect::Plain => self.boundary(&format!("\\{letter}")),
            // see above
            'b' => self.boundary(&format!(
                "(?-i:(?<=[{WORD}])(?![{WORD}])|(?<![{WORD}])(?=[{WORD}]))"
            )),
            'B' => self.boundary(&format!(
                "(?-i:(?<=[{WORD}])(?=[{WORD}])|(?<![{WORD}])(?![{WORD}]))"
            )),
            'A' | 'G' => self.boundary(r"\A"),
            'z' => self.boundary(r"\z"),
            'Z' => {
                let end = self.text_end();
                self.boundary(end);
            }
            'K' => self.boundary(r"\K"),
            'R' => self.atom(r"(?>\r\n|[\n\x0B\x0C\r\x{85}\x{2028}\x{2029}])"),
            'N' if self.rest.peek() == Some(&'{') && !self.at_quantifier() => {
                return invalid(NOT_KNOWN);
            }
            'N' => self.atom(r"[^\n]"),
            'X' => return Err(Problem::Unsupported("\\X")),
            'C' => return Err(Problem::Unsupported("\\C")),
            'Q' => self.quoted(),
            'E' => {}
            'p' | 'P' => {
                let property = self.property(letter)?;
                // a property applies to the character itself, not to its other case
                if self.modes.caseless {
                    self.atom(&format!("(?-i:{property})"));
                } else {
                    self.atom(&property);
                }
            }
            'k' => self.named_reference()?,
            'g' => self.reference()?,
            '1'..='9' => self.digits(letter)?,
            _ => {
                let literal = self.character(letter)?.unwrap_or(letter);
                self.literal(literal);
            }
        }
        Ok(())
    }

    /// Emits everything up to `\E` literally.
    fn quoted(&mut self) {
        while let Some(letter) = self.rest.next() {
            if letter == '\\' && self.rest.next_if_eq(&'E').is_some() {
                return;
            }
            self.literal(letter);
        }
    }

    /// `\pL`, `\p{Lu}`, `\p{^Lu}`.
    pub(super) fn property(&mut self, letter: char) -> Translated<String> {
        let mut negated = letter == 'P';
        let name = match self.rest.next() {
            Some('{') => {
                if self.rest.next_if_eq(&'^').is_some() {
                    negated = !negated;
                }
                let mut name = String::new();
                loop {
                    match self.rest.next() {
                        Some('}') => break name,
                        Some(letter) => name.push(letter),
                        None => return invalid("malformed \\P or \\p sequence"),
                    }
                }
            }
            Some(letter) => letter.to_string(),
            None => return invalid("malformed \\P or \\p sequence"),
        };
        property::translate(&name, negated)
            .map_or_else(|| invalid("unknown property name after \\P or \\p"), Ok)
    }

    /// The character of a numeric or letter escape; `None` if the letter has no such meaning.
    pub(super) fn character(&mut self, letter: char) -> Translated<Option<char>> {
        Ok(Some(match letter {
            'a' => '\x07',
            'e' => '\x1B',
            'f' => '\x0C',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            '0' => scalar(self.octal(0, 2))?,
            'x' => self.hexadecimal()?,
            'o' => self.braced_octal()?,
            'c' => match self.rest.next() {
                Some(letter) if letter.is_ascii() => {
                    char::from(u8::try_from(letter.to_ascii_uppercase()).unwrap_or(0) ^ 0x40)
                }
                Some(_) => return invalid("\\c must be followed by an ASCII character"),
                None => return invalid("\\c at end of pattern"),
            },
            'l' | 'L' | 'N' | 'U' | 'u' => {
                return invalid(NOT_KNOWN);
            }
            _ => return Ok(None),
        }))
    }

    /// Continues an octal number by at most `most` digits.
    pub(super) fn octal(&mut self, start: u32, most: usize) -> u32 {
        let mut value = start;
        for _ in 0..most {
            match self.rest.next_if(|letter| matches!(letter, '0'..='7')) {
                Some(digit) => value = value * 8 + digit.to_digit(8).unwrap_or(0),
                None => break,
            }
        }
        value
    }

    /// `\o{101}`
    fn braced_octal(&mut self) -> Translated<char> {
        if self.rest.next_if_eq(&'{').is_none() {
            return invalid("missing opening brace after \\o");
        }
        if self.rest.peek() == Some(&'}') {
            return invalid("digits missing in \\x{} or \\o{}");
        }
        let mut value = 0_u32;
        loop {
            match self.rest.next().map(|letter| (letter, letter.to_digit(8))) {
                Some((_, Some(digit))) => match value.checked_mul(8) {
                    Some(eightfold) => value = eightfold | digit,
                    None => return invalid(TOO_LARGE),
                },
                Some(('}', None)) => return scalar(value),
                _ => {
                    return invalid("non-octal character in \\o{} (closing brace missing?)");
                }
            }
        }
    }

    fn hexadecimal(&mut self) -> Translated<char> {
        let mut ahead = self.rest.clone();
        if ahead.next() == Some('{') {
            let mut digits = String::new();
            while let Some(digit) = ahead.next_if(char::is_ascii_hexdigit) {
                digits.push(digit);
            }
            if ahead.next() == Some('}') && !digits.is_empty() {
                self.rest = ahead;
                return match u32::from_str_radix(&digits, 16) {
                    Ok(value) => scalar(value),
                    Err(_) => invalid(TOO_LARGE),
                };
            }
        }
        let mut value = 0;
        for _ in 0..2 {
            match self.rest.next_if(char::is_ascii_hexdigit) {
                Some(digit) => value = value * 16 + digit.to_digit(16).unwrap_or(0),
                None => break,
            }
        }
        scalar(value)
    }

    /// `\1` refers to a group; without such a group, a number of several digits is octal.
    fn digits(&mut self, first: char) -> Translated<()> {
        let mut text = String::from(first);
        let mut ahead = self.rest.clone();
        while let Some(digit) = ahead.next_if(char::is_ascii_digit) {
            text.push(digit);
        }
        let number: usize = text.parse().unwrap_or(usize::MAX);
        // `\8` and `\9` without such a group are literal
        if number < 8 || number <= self.groups.count() {
            self.rest = ahead;
            return self.refer(number);
        }
        let literal = match first.to_digit(8) {
            Some(digit) => scalar(self.octal(digit, 2))?,
            None => first,
        };
        self.literal(literal);
        Ok(())
    }

    fn refer(&mut self, number: usize) -> Translated<()> {
        if number == 0 || number > self.groups.count() {
            return invalid(NO_GROUP);
        }
        // the group keeps a following digit out of the number
        self.atom(&format!("(?:\\{number})"));
        Ok(())
    }

    /// `\k<name>`, `\k'name'`, `\k{name}`.
    fn named_reference(&mut self) -> Translated<()> {
        let close = match self.rest.next() {
            Some('<') => '>',
            Some('\'') => '\'',
            Some('{') => '}',
            _ => {
                return invalid("\\k is not followed by a braced, angle-bracketed, or quoted name");
            }
        };
        let name = self.until(close)?;
        self.refer_by_name(&name)
    }

    pub(super) fn refer_by_name(&mut self, name: &str) -> Translated<()> {
        match self.groups.number(name) {
            Some(number) => self.refer(number),
            None => invalid(NO_GROUP),
        }
    }

    /// `\g1`, `\g{1}`, `\g{-1}`, `\g{name}`.
    fn reference(&mut self) -> Translated<()> {
        let text = match self.rest.peek() {
            Some('{') => {
                self.rest.next();
                let sign = self.rest.next_if_eq(&'-');
                sign.into_iter().chain(self.until('}')?.chars()).collect()
            }
            Some('<' | '\'') => return Err(Problem::Unsupported("a call of a group")),
            _ => {
                let mut text = String::new();
                while let Some(letter) = self
                    .rest
                    .next_if(|letter| letter.is_ascii_digit() || *letter == '-')
                {
                    text.push(letter);
                }
                text
            }
        };
        if let Some(back) = text.strip_prefix('-') {
            let back: usize = back.parse().unwrap_or(0);
            return match (self.names.len() + 1).checked_sub(back) {
                Some(number) if back > 0 => self.refer(number),
                _ => invalid(NO_GROUP),
            };
        }
        match text.parse() {
            Ok(0) => invalid("a numbered reference must not be zero"),
            Ok(number) => self.refer(number),
            Err(_) if text.is_empty() => invalid("a numbered reference must not be zero"),
            Err(_) => self.refer_by_name(&text),
        }
    }

    /// Consumes the text up to a closing character.
    pub(super) fn until(&mut self, close: char) -> Translated<String> {
        let mut text = String::new();
        loop {
            match self.rest.next() {
                Some(letter) if letter == close => return Ok(text),
                Some(letter) if letter == '_' || letter.is_ascii_alphanumeric() => {
                    text.push(letter);
                }
                _ => return invalid("syntax error in subpattern name (missing terminator)"),
            }
        }
    }
}

fn scalar(value: u32) -> Translated<char> {
    match char::from_u32(value) {
        Some(letter) => Ok(letter),
        None if value <= 0xFFFF => {
            invalid("disallowed Unicode code point (>= 0xd800 && <= 0xdfff)")
        }
        None => invalid(TOO_LARGE),
    }
}
