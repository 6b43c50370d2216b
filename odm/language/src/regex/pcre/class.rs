//! Character classes.

use super::escape::set;
use super::{Dialect, Translated, Translator, invalid, push_literal};

/// POSIX's classes, over ASCII.
const POSIX: &[&str] = &[
    "alnum", "alpha", "ascii", "blank", "cntrl", "digit", "graph", "lower", "print", "punct",
    "space", "upper", "word", "xdigit",
];

const COLLATING: &str = "POSIX collating elements are not supported";
const UNTERMINATED: &str = "missing terminating ] for character class";

/// A member of a class.
enum Member {
    One(char),
    Set(String),
    /// A Unicode property, which ignores the case-insensitive option.
    Property(String),
}

/// The members of a class.
#[derive(Default)]
struct Members {
    /// Members that follow the case-insensitive option.
    folded: String,
    /// Members that ignore the case-insensitive option.
    strict: String,
    /// Whether the position is inside `\Q…\E`.
    quoted: bool,
}

impl Translator<'_> {
    pub(super) fn class(&mut self) -> Translated<()> {
        if let Some((kind, _)) = self.posix_name() {
            return invalid(match kind {
                ':' => "POSIX named classes are supported only within a class",
                _ => COLLATING,
            });
        }
        let negated = self.rest.next_if_eq(&'^').is_some();
        let mut members = Members::default();
        // a closing bracket in the first place is a member
        let mut first = true;
        while let Some(member) = self.member(first, &mut members)? {
            first = false;
            match member {
                Member::Property(text) if self.modes.caseless => members.strict.push_str(&text),
                Member::Set(text) if self.modes.caseless && self.dialect == Dialect::Exact => {
                    members.strict.push_str(&text);
                }
                Member::Set(text) | Member::Property(text) => members.folded.push_str(&text),
                Member::One(from) if self.at_range(&mut members) => {
                    self.range(from, &mut members)?;
                }
                Member::One(letter) => push_literal(&mut members.folded, letter),
            }
        }
        let sign = if negated { "^" } else { "" };
        let Members { folded, strict, .. } = members;
        let class = match (strict.is_empty(), folded.is_empty()) {
            (true, _) => format!("[{sign}{folded}]"),
            (_, true) => format!("(?-i:[{sign}{strict}])"),
            _ if negated => format!("(?:(?!(?-i:[{strict}]))[^{folded}])"),
            _ => format!("(?:(?-i:[{strict}])|[{folded}])"),
        };
        self.atom(&class);
        Ok(())
    }

    /// Consumes a hyphen that makes a range, not one that ends the class.
    fn at_range(&mut self, members: &mut Members) -> bool {
        let mut ahead = self.rest.clone();
        let mut quoted = members.quoted;
        let hyphen = loop {
            match ahead.next() {
                Some('\\') if ahead.next_if_eq(&'E').is_some() => quoted = false,
                letter => break letter == Some('-'),
            }
        };
        let is_range = hyphen && !quoted && !matches!(ahead.peek(), Some(']') | None);
        if is_range {
            self.rest = ahead;
            members.quoted = false;
        }
        is_range
    }

    fn range(&mut self, from: char, members: &mut Members) -> Translated<()> {
        let to = self.member(false, members)?;
        let out = &mut members.folded;
        match to {
            Some(Member::One(to)) if to < from => {
                return invalid("range out of order in character class");
            }
            Some(Member::One(to)) => {
                push_literal(out, from);
                out.push('-');
                push_literal(out, to);
            }
            // a hyphen before a set is a literal member
            Some(Member::Set(text) | Member::Property(text)) => {
                push_literal(out, from);
                push_literal(out, '-');
                out.push_str(&text);
            }
            None => return invalid(UNTERMINATED),
        }
        Ok(())
    }

    /// The next member, `None` at the end of the class.
    fn member(&mut self, first: bool, members: &mut Members) -> Translated<Option<Member>> {
        loop {
            let Some(letter) = self.rest.next() else {
                return invalid(UNTERMINATED);
            };
            return match letter {
                '\\' if self.rest.next_if_eq(&'E').is_some() => {
                    members.quoted = false;
                    continue;
                }
                letter if members.quoted => Ok(Some(Member::One(letter))),
                '\\' if self.rest.next_if_eq(&'Q').is_some() => {
                    members.quoted = true;
                    continue;
                }
                ']' if !first => Ok(None),
                '[' => self.posix().map(Some),
                '\\' => self.escaped_member().map(Some),
                letter => Ok(Some(Member::One(letter))),
            };
        }
    }

    /// `[:alpha:]`, or a literal bracket.
    fn posix(&mut self) -> Translated<Member> {
        let Some((kind, name)) = self.posix_name() else {
            return Ok(Member::One('['));
        };
        if kind != ':' {
            return invalid(COLLATING);
        }
        let (sign, class) = match name.strip_prefix('^') {
            Some(class) => ("^", class),
            None => ("", &*name),
        };
        if !POSIX.contains(&class) {
            return invalid("unknown POSIX class name");
        }
        // skips the name, the colons and the bracket
        self.rest.nth(name.chars().count() + 2);
        // without case, `upper` and `lower` match any letter
        let class = match class {
            "upper" | "lower" if self.modes.caseless => "alpha",
            class => class,
        };
        Ok(Member::Set(format!("[:{sign}{class}:]")))
    }

    /// The sign and the name in `:alpha:]`, `.a.]` and `=a=]`, if one of them follows.
    fn posix_name(&self) -> Option<(char, String)> {
        let mut ahead = self.rest.clone();
        let kind = ahead.next_if(|letter| matches!(letter, ':' | '.' | '='))?;
        let mut name = String::new();
        loop {
            match (ahead.next()?, ahead.peek()) {
                ('\\', Some(letter @ (']' | '\\'))) => {
                    name.push(*letter);
                    ahead.next();
                }
                ('[', Some(next)) if *next == kind => return None,
                (']', _) => return None,
                (letter, Some(']')) if letter == kind => return Some((kind, name)),
                (letter, _) => name.push(letter),
            }
        }
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
            'p' | 'P' => self.property(letter).map(Member::Property),
            '1'..='7' => {
                let value = self.octal(letter.to_digit(8).unwrap_or(0), 2);
                Ok(Member::One(char::from_u32(value).unwrap_or(letter)))
            }
            'N' => invalid("\\N is not supported in a class"),
            _ => Ok(Member::One(self.character(letter)?.unwrap_or(letter))),
        }
    }
}
