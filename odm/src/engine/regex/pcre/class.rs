//! Character classes.

use super::escape::set;
use super::{Translated, Translator, invalid, push_literal};

/// The classes of POSIX, over ASCII.
const POSIX: &[&str] = &[
    "alnum", "alpha", "ascii", "blank", "cntrl", "digit", "graph", "lower", "print", "punct",
    "space", "upper", "word", "xdigit",
];

const UNTERMINATED: &str = "missing terminating ] for character class";

/// A member of a class.
enum Member {
    One(char),
    Set(String),
}

impl Translator<'_> {
    pub(super) fn class(&mut self) -> Translated<()> {
        let mut out = String::from("[");
        if self.rest.next_if_eq(&'^').is_some() {
            out.push('^');
        }
        // a bracket that comes first is a member
        let mut first = true;
        while let Some(member) = self.member(first)? {
            first = false;
            match member {
                Member::Set(text) => out.push_str(&text),
                Member::One(from) if self.at_range() => {
                    self.rest.next();
                    self.range(from, &mut out)?;
                }
                Member::One(letter) => push_literal(&mut out, letter),
            }
        }
        out.push(']');
        self.atom(&out);
        Ok(())
    }

    /// Whether a hyphen follows that does not end the class.
    fn at_range(&self) -> bool {
        let mut ahead = self.rest.clone();
        ahead.next() == Some('-') && !matches!(ahead.next(), Some(']') | None)
    }

    fn range(&mut self, from: char, out: &mut String) -> Translated<()> {
        match self.member(false)? {
            Some(Member::One(to)) if to < from => {
                return invalid("range out of order in character class");
            }
            Some(Member::One(to)) => {
                push_literal(out, from);
                out.push('-');
                push_literal(out, to);
            }
            // a hyphen before a set is a member
            Some(Member::Set(text)) => {
                push_literal(out, from);
                push_literal(out, '-');
                out.push_str(&text);
            }
            None => return invalid(UNTERMINATED),
        }
        Ok(())
    }

    /// The next member, `None` at the end of the class.
    fn member(&mut self, first: bool) -> Translated<Option<Member>> {
        let Some(letter) = self.rest.next() else {
            return invalid(UNTERMINATED);
        };
        match letter {
            ']' if !first => Ok(None),
            '[' => self.posix().map(Some),
            '\\' => self.escaped_member().map(Some),
            letter => Ok(Some(Member::One(letter))),
        }
    }

    /// `[:alpha:]`, or a bracket that is itself.
    fn posix(&mut self) -> Translated<Member> {
        let mut ahead = self.rest.clone();
        if ahead.next() != Some(':') {
            return Ok(Member::One('['));
        }
        let sign = match ahead.next_if_eq(&'^') {
            Some(_) => "^",
            None => "",
        };
        let mut name = String::new();
        while let Some(letter) = ahead.next_if(char::is_ascii_alphabetic) {
            name.push(letter);
        }
        if ahead.next() != Some(':') || ahead.next() != Some(']') {
            return Ok(Member::One('['));
        }
        if !POSIX.contains(&name.as_str()) {
            return invalid("unknown POSIX class name");
        }
        self.rest = ahead;
        Ok(Member::Set(format!("[:{sign}{name}:]")))
    }

    fn escaped_member(&mut self) -> Translated<Member> {
        let Some(letter) = self.rest.next() else {
            return invalid("\\ at end of pattern");
        };
        if let Some((members, positive)) = set(letter) {
            return Ok(Member::Set(if positive {
                members.to_owned()
            } else {
                format!("[^{members}]")
            }));
        }
        match letter {
            'b' => Ok(Member::One('\x08')),
            'p' | 'P' => self.property(letter).map(Member::Set),
            '1'..='7' => {
                let value = self.octal(letter.to_digit(8).unwrap_or(0), 2);
                Ok(Member::One(char::from_u32(value).unwrap_or(letter)))
            }
            'N' => invalid("\\N is not supported in a class"),
            _ => Ok(Member::One(self.character(letter)?.unwrap_or(letter))),
        }
    }
}
