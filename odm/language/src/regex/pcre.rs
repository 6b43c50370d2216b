//! Translates PCRE's syntax into that of `fancy_regex`.
//!
//! In PCRE, `\w`, `\d`, `\s` and `\b` cover ASCII only, `$` also matches before a final newline, a bracket inside a
//! class is an ordinary character, and so on. Most of that makes no difference for an ASCII text that does not end in a
//! newline: [`Dialect::Plain`] is the fast translation for those texts, and [`Dialect::Exact`] is correct for every
//! text.

use std::iter::Peekable;
use std::str::Chars;

mod class;
mod escape;
mod group;
mod property;

/// The texts that a translation is valid for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    /// ASCII texts that do not end in a newline.
    Plain,
    Exact,
}

/// The options that change the meaning of the rest of their group.
#[derive(Debug, Clone, Copy, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "they are the options of a pattern"
)]
pub(super) struct Modes {
    pub(super) caseless: bool,
    pub(super) multi_line: bool,
    pub(super) extended: bool,
    /// Whether this is inside a look-behind, whose length has to be fixed.
    pub(super) look_behind: bool,
}

/// Why a pattern has no translation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Problem {
    /// PCRE refuses it, with this message.
    Invalid(String),
    /// PCRE supports it, `fancy_regex` does not.
    Unsupported(&'static str),
}

type Translated<T> = Result<T, Problem>;

fn invalid<T>(message: &str) -> Translated<T> {
    Err(Problem::Invalid(message.to_owned()))
}

/// PCRE's limit on the depth of nested groups.
const MAX_NESTED: usize = 250;

/// Translates a pattern.
pub(super) fn translate(pattern: &str, modes: Modes, dialect: Dialect) -> Translated<String> {
    let groups = group::Groups::scan(pattern);
    let mut translator = Translator {
        rest: pattern.chars().peekable(),
        out: String::with_capacity(pattern.len() + 8),
        dialect,
        modes,
        open: Vec::new(),
        names: Vec::new(),
        groups,
        repeatable: false,
    };
    translator.run()?;
    if !translator.open.is_empty() {
        return invalid("missing )");
    }
    Ok(translator.out)
}

struct Translator<'a> {
    rest: Peekable<Chars<'a>>,
    out: String,
    dialect: Dialect,
    modes: Modes,
    /// The modes to restore at the end of each open group.
    open: Vec<Modes>,
    names: Vec<String>,
    groups: group::Groups,
    /// Whether a quantifier may follow.
    repeatable: bool,
}

impl Translator<'_> {
    fn run(&mut self) -> Translated<()> {
        while let Some(letter) = self.rest.next() {
            if self.modes.extended && self.skipped(letter) {
                continue;
            }
            match letter {
                '\\' => self.escape()?,
                '[' => self.class()?,
                '(' if self.open.len() >= MAX_NESTED => {
                    return invalid("parentheses are too deeply nested");
                }
                '(' => self.group()?,
                ')' => {
                    let Some(modes) = self.open.pop() else {
                        return invalid("unmatched parentheses");
                    };
                    self.modes = modes;
                    self.atom(")");
                }
                '|' => self.boundary("|"),
                '^' => {
                    let start = self.line_start();
                    self.boundary(start);
                }
                '$' => {
                    let end = self.line_end();
                    self.boundary(end);
                }
                '.' => self.atom("."),
                '*' | '+' | '?' => {
                    self.check_repeatable()?;
                    self.check_length()?;
                    self.out.push(letter);
                    self.quantified();
                }
                '{' => self.braces()?,
                literal => self.literal(literal),
            }
        }
        Ok(())
    }

    /// Emits an item that a quantifier may follow.
    fn atom(&mut self, text: &str) {
        self.out.push_str(text);
        self.repeatable = true;
    }

    /// Emits an item that no quantifier may follow.
    fn boundary(&mut self, text: &str) {
        self.out.push_str(text);
        self.repeatable = false;
    }

    fn literal(&mut self, letter: char) {
        push_literal(&mut self.out, letter);
        self.repeatable = true;
    }

    /// In extended mode, skips white space, and comments up to the end of their line.
    fn skipped(&mut self, letter: char) -> bool {
        if letter == '#' {
            for letter in self.rest.by_ref() {
                if letter == '\n' {
                    break;
                }
            }
            return true;
        }
        matches!(letter, ' ' | '\t' | '\n' | '\r' | '\x0B' | '\x0C')
    }

    fn line_start(&self) -> &'static str {
        match (self.modes.multi_line, self.dialect) {
            (false, _) => r"\A",
            (true, Dialect::Plain) => "(?m:^)",
            // not after a newline that ends the text
            (true, Dialect::Exact) => r"(?:\A|(?m:^)(?!\z))",
        }
    }

    fn line_end(&self) -> &'static str {
        if self.modes.multi_line {
            "(?m:$)"
        } else {
            self.text_end()
        }
    }

    /// The end of the text, also before a final newline.
    fn text_end(&self) -> &'static str {
        match self.dialect {
            Dialect::Plain => r"\z",
            Dialect::Exact => r"(?=\n?\z)",
        }
    }

    fn check_repeatable(&self) -> Translated<()> {
        if self.repeatable {
            Ok(())
        } else {
            invalid("nothing to repeat")
        }
    }

    fn check_length(&self) -> Translated<()> {
        if self.modes.look_behind {
            invalid("lookbehind assertion is not fixed length")
        } else {
            Ok(())
        }
    }

    /// Consumes the suffix that makes a quantifier lazy or possessive; a second quantifier may not follow.
    fn quantified(&mut self) {
        if let Some(suffix) = self.rest.next_if(|letter| matches!(letter, '?' | '+')) {
            self.out.push(suffix);
        }
        self.repeatable = false;
    }

    /// The text between the braces ahead, if they are a quantifier: `{n}`, `{n,}` or `{n,m}`.
    fn counts(mut ahead: Peekable<Chars<'_>>) -> Option<(String, Peekable<Chars<'_>>)> {
        let mut text = String::new();
        loop {
            match ahead.next()? {
                '}' => break,
                letter @ ('0'..='9' | ',') => text.push(letter),
                _ => return None,
            }
        }
        let (least, most) = text.split_once(',').unwrap_or((&text, &text));
        (!least.is_empty() && !most.contains(',')).then_some((text, ahead))
    }

    /// Whether the next character is a brace that begins a quantifier.
    fn at_quantifier(&self) -> bool {
        let mut ahead = self.rest.clone();
        ahead.next() == Some('{') && Self::counts(ahead).is_some()
    }

    /// A quantifier in braces, or a literal brace.
    fn braces(&mut self) -> Translated<()> {
        let Some((text, ahead)) = Self::counts(self.rest.clone()) else {
            self.literal('{');
            return Ok(());
        };
        let (least, most) = text.split_once(',').unwrap_or((&text, &text));
        let number = |text: &str| match text.parse::<u32>() {
            Ok(number) if number <= 65535 => Ok(number),
            _ => Err(Problem::Invalid("number too big in {} quantifier".into())),
        };
        let bounds = (
            number(least)?,
            if most.is_empty() {
                None
            } else {
                Some(number(most)?)
            },
        );
        if bounds.1.is_some_and(|most| most < bounds.0) {
            return invalid("numbers out of order in {} quantifier");
        }
        self.check_repeatable()?;
        if bounds.1 != Some(bounds.0) {
            self.check_length()?;
        }
        self.rest = ahead;
        self.out.push('{');
        self.out.push_str(&text);
        self.out.push('}');
        self.quantified();
        Ok(())
    }
}

/// Appends a literal character, inside or outside of a class.
fn push_literal(out: &mut String, letter: char) {
    if letter.is_ascii() && !letter.is_ascii_alphanumeric() {
        if letter.is_ascii_punctuation() {
            out.push('\\');
            out.push(letter);
        } else {
            // white space and control characters
            out.push_str(r"\x");
            out.extend(
                [u32::from(letter) >> 4, u32::from(letter) & 0xF]
                    .map(|half| char::from_digit(half, 16).unwrap_or('0')),
            );
        }
    } else {
        out.push(letter);
    }
}
