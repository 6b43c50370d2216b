//! The groups that a parenthesis opens.

use super::{Problem, Translated, Translator, invalid};

const UNKNOWN: &str = "unrecognized character after (? or (?-";

/// The capturing groups of a pattern, scanned first: references may precede their group.
pub(super) struct Groups {
    names: Vec<Option<String>>,
}

impl Groups {
    pub(super) fn scan(pattern: &str) -> Self {
        let mut names = Vec::new();
        let mut rest = pattern.chars().peekable();
        let mut class = false;
        while let Some(letter) = rest.next() {
            match letter {
                '\\' => {
                    rest.next();
                }
                '[' if !class => {
                    class = true;
                    rest.next_if_eq(&'^');
                    rest.next_if_eq(&']');
                }
                ']' => class = false,
                '(' if !class => {
                    let mut ahead = rest.clone();
                    if ahead.next_if_eq(&'?').is_some() && ahead.peek() == Some(&'(') {
                        // the parenthesis of a condition is not a group
                        rest.nth(1);
                        continue;
                    }
                    let mut ahead = rest.clone();
                    if ahead.next_if_eq(&'?').is_none() {
                        if ahead.peek() != Some(&'*') {
                            names.push(None);
                        }
                        continue;
                    }
                    ahead.next_if_eq(&'P');
                    let close = match (ahead.next(), ahead.peek()) {
                        (Some('<'), Some('=' | '!')) => continue,
                        (Some('<'), _) => '>',
                        (Some('\''), _) => '\'',
                        _ => continue,
                    };
                    names.push(Some(ahead.take_while(|letter| *letter != close).collect()));
                }
                _ => {}
            }
        }
        Self { names }
    }

    pub(super) fn count(&self) -> usize {
        self.names.len()
    }

    pub(super) fn number(&self, name: &str) -> Option<usize> {
        self.names
            .iter()
            .position(|known| known.as_deref() == Some(name))
            .map(|index| index + 1)
    }
}

impl Translator<'_> {
    fn open(&mut self, text: &str) {
        self.open.push(self.modes);
        self.boundary(text);
    }

    fn look_behind(&mut self, text: &str) {
        self.open(text);
        self.modes.look_behind = true;
    }

    /// Opens a capturing group. The translation has numbered groups only: names are resolved before.
    fn capture(&mut self, name: String) {
        self.names.push(name);
        self.open("(");
    }

    pub(super) fn group(&mut self) -> Translated<()> {
        if self.rest.peek() == Some(&'*') {
            return self.verb();
        }
        if self.rest.next_if_eq(&'?').is_none() {
            self.capture(String::new());
            return Ok(());
        }
        match self.rest.next() {
            Some(':') => self.open("(?:"),
            Some('=') => self.open("(?="),
            Some('!') => self.open("(?!"),
            Some('>') => self.open("(?>"),
            Some('#') => {
                if !self.rest.any(|letter| letter == ')') {
                    return invalid("missing ) after comment");
                }
            }
            Some('<') => {
                if self.rest.next_if_eq(&'=').is_some() {
                    self.look_behind("(?<=");
                } else if self.rest.next_if_eq(&'!').is_some() {
                    self.look_behind("(?<!");
                } else {
                    self.named('>', "unrecognized character after (?<")?;
                }
            }
            Some('\'') => self.named('\'', UNKNOWN)?,
            Some('P') => match self.rest.next() {
                Some('<') => self.named('>', "unrecognized character after (?P")?,
                Some('=') => {
                    let name = self.until(')')?;
                    self.refer_by_name(&name)?;
                }
                Some('>') => return Err(Problem::Unsupported("a call of a group")),
                _ => return invalid("unrecognized character after (?P"),
            },
            Some('(') => self.condition()?,
            Some('C') => self.callout()?,
            Some('|') => return Err(Problem::Unsupported("a branch reset group")),
            Some('R' | '&' | '0'..='9' | '+') => {
                return Err(Problem::Unsupported("a call of a group"));
            }
            Some(letter) => self.options(letter)?,
            None => return invalid(UNKNOWN),
        }
        Ok(())
    }

    fn named(&mut self, close: char, otherwise: &str) -> Translated<()> {
        match self.rest.peek() {
            Some(letter) if letter.is_ascii_digit() => {
                return invalid("group name must start with a non-digit");
            }
            Some(letter) if *letter == '_' || letter.is_ascii_alphabetic() => {}
            _ => return invalid(otherwise),
        }
        let name = self.until(close)?;
        if name.len() > 32 {
            return invalid("subpattern name is too long (maximum 32 characters)");
        }
        if self.names.contains(&name) {
            return invalid("two named subpatterns have the same name");
        }
        self.capture(name);
        Ok(())
    }

    /// `(?C)`, `(?C1)`: callouts are checked and ignored.
    fn callout(&mut self) -> Translated<()> {
        let mut number = 0_u32;
        while let Some(digit) = self.rest.next_if(char::is_ascii_digit) {
            number = (number * 10 + digit.to_digit(10).unwrap_or(0)).min(256);
        }
        if self.rest.next() != Some(')') {
            return invalid("closing ) for (?C expected");
        }
        if number > 255 {
            return invalid("number after (?C is > 255");
        }
        Ok(())
    }

    /// `(?(1)yes|no)`.
    fn condition(&mut self) -> Translated<()> {
        let mut text = String::new();
        while let Some(digit) = self.rest.next_if(char::is_ascii_digit) {
            text.push(digit);
        }
        let number: usize = match (text.parse(), self.rest.next()) {
            (Ok(number), Some(')')) => number,
            _ => return Err(Problem::Unsupported("this kind of condition")),
        };
        if number == 0 || number > self.groups.count() {
            return invalid("reference to non-existent subpattern");
        }
        self.open(&format!("(?({number})"));
        Ok(())
    }

    /// `(?i)`, `(?i-s:…)`: the translator applies `m` and `x` itself, and passes `i`, `s` and `U` on.
    fn options(&mut self, first: char) -> Translated<()> {
        let mut modes = self.modes;
        let (mut on, mut without) = (String::new(), String::new());
        let mut off = false;
        let mut letter = Some(first);
        let scoped = loop {
            match letter {
                Some('-') if !off => off = true,
                Some('m') => modes.multi_line = !off,
                Some('i') => {
                    modes.caseless = !off;
                    if off { &mut without } else { &mut on }.push('i');
                }
                Some('x') => modes.extended = !off,
                Some(option @ ('s' | 'U')) if off => without.push(option),
                Some(option @ ('s' | 'U')) => on.push(option),
                Some('J') => return Err(Problem::Unsupported("the option J")),
                Some(':') => break true,
                Some(')') => break false,
                _ => return invalid(UNKNOWN),
            }
            letter = self.rest.next();
        };
        let mut flags = on;
        if !without.is_empty() {
            flags.push('-');
            flags.push_str(&without);
        }
        if scoped {
            self.open(&format!("(?{flags}:"));
        } else if !flags.is_empty() {
            self.boundary(&format!("(?{flags})"));
        }
        self.modes = modes;
        Ok(())
    }

    /// Accepts `(*UTF8)` at the start, which has no effect: texts are always UTF-8.
    fn verb(&mut self) -> Translated<()> {
        let mut ahead = self.rest.clone();
        ahead.next();
        let name: String = ahead.by_ref().take_while(|letter| *letter != ')').collect();
        match name.as_str() {
            "UTF8" | "UTF" if self.out.is_empty() => {
                self.rest = ahead;
                Ok(())
            }
            name if name.starts_with(|letter: char| letter.is_ascii_uppercase()) => {
                Err(Problem::Unsupported("a verb such as (*UCP)"))
            }
            _ => invalid("nothing to repeat"),
        }
    }
}
