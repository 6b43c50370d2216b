//! Regular expressions in the syntax of PCRE, with bounded backtracking.

use std::fmt;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use bson::RawBsonRef;

use crate::error::{Code, ServerError};

mod pcre;

use self::pcre::{Dialect, Modes, Problem};

/// A compiled regular expression. Cheap to clone.
#[derive(Clone)]
pub struct Regex {
    shared: Arc<Shared>,
}

/// Where a pattern matches, in bytes.
#[derive(Debug)]
pub struct Match {
    pub range: Range<usize>,
    /// The groups of the pattern; `None` for a group that took no part in the match.
    pub groups: Vec<Option<Range<usize>>>,
}

struct Shared {
    pattern: String,
    options: String,
    flags: Flags,
    /// Whether every character of the pattern matches only itself: such a pattern is searched for as a string.
    is_literal: bool,
    /// For ASCII texts that do not end in a newline.
    plain: fancy_regex::Regex,
    /// The pattern for all other texts, if it differs.
    exact: Option<String>,
    exact_compiled: OnceLock<Option<fancy_regex::Regex>>,
}

impl Regex {
    /// Compiles a pattern with the options `i`, `m`, `s`, `x` and `u`.
    pub fn new(pattern: &str, options: &str) -> Result<Self, ServerError> {
        if pattern.contains('\0') {
            return Err(ServerError::new(
                Code::BAD_VALUE,
                "Regular expression cannot contain an embedded null byte",
            ));
        }
        if options.contains('\0') {
            return Err(ServerError::new(
                Code::BAD_VALUE,
                "Regular expression options string cannot contain an embedded null byte",
            ));
        }
        let mut flags = Flags::default();
        for option in options.chars() {
            match option {
                'i' => flags.ignore_case = true,
                'm' => flags.multi_line = true,
                's' => flags.dot_all = true,
                'x' => flags.extended = true,
                'u' => {}
                _ => {
                    return Err(ServerError::new(
                        Code::location(51108),
                        format!(" invalid flag in regex options: {options}"),
                    ));
                }
            }
        }
        check_size(pattern, flags, AROUND)?;
        let modes = flags.modes();
        let translated = |dialect| {
            pcre::translate(pattern, modes, dialect).map_err(|problem| match problem {
                Problem::Invalid(message) => invalid(&message),
                Problem::Unsupported(what) => unsupported(what),
            })
        };
        let (plain, exact) = (translated(Dialect::Plain)?, translated(Dialect::Exact)?);
        let compiled = compile(&plain, flags)?;
        // compiled only to check it: few texts need it
        let exact = if exact == plain {
            None
        } else {
            compile(&exact, flags)?;
            Some(exact)
        };
        Ok(Self {
            shared: Arc::new(Shared {
                pattern: pattern.to_owned(),
                options: options.to_owned(),
                flags,
                is_literal: flags.is_exact() && !pattern.contains(SPECIAL),
                plain: compiled,
                exact,
                exact_compiled: OnceLock::new(),
            }),
        })
    }

    /// Compiles the pattern of a filter. mongod compiles it again inside a group, and a trailing comment or an
    /// unterminated `\Q` swallows the end of that group.
    pub fn in_filter(pattern: &str, options: &str) -> Result<Self, ServerError> {
        let regex = Self::new(pattern, options)?;
        check_size(pattern, regex.shared.flags, AROUND + GROUP)?;
        if pattern.contains("\\Q") || pattern.contains('#') {
            let modes = regex.shared.flags.modes();
            match pcre::translate(&format!("(?:{pattern})"), modes, Dialect::Exact) {
                Err(Problem::Invalid(message)) => return Err(invalid(&message)),
                Err(Problem::Unsupported(what)) => return Err(unsupported(what)),
                Ok(_) => {}
            }
        }
        Ok(regex)
    }

    pub fn pattern(&self) -> &str {
        &self.shared.pattern
    }

    pub fn options(&self) -> &str {
        &self.shared.options
    }

    /// Whether a string matches, or a value is the same regular expression.
    pub fn matches(&self, value: RawBsonRef<'_>) -> Result<bool, ServerError> {
        match value {
            RawBsonRef::String(text) | RawBsonRef::Symbol(text) => self.is_match(text),
            RawBsonRef::RegularExpression(regex) => Ok(regex.pattern.as_str() == self.pattern()
                && regex.options.as_str() == self.options()),
            _ => Ok(false),
        }
    }

    /// Whether a text matches anywhere.
    pub fn is_match(&self, text: &str) -> Result<bool, ServerError> {
        if self.shared.is_literal {
            return Ok(text.contains(self.pattern()));
        }
        self.compiled(text).is_match(text).map_err(exhausted)
    }

    /// The first match at or after a byte.
    pub fn find(&self, text: &str, from: usize) -> Result<Option<Match>, ServerError> {
        if self.shared.is_literal {
            let rest = text.get(from..).unwrap_or_default();
            return Ok(rest.find(self.pattern()).map(|at| Match {
                range: from + at..from + at + self.pattern().len(),
                groups: Vec::new(),
            }));
        }
        let captures = self
            .compiled(text)
            .captures_from_pos(text, from)
            .map_err(exhausted)?;
        Ok(captures.and_then(|captures| {
            Some(Match {
                range: captures.get(0)?.range(),
                groups: captures
                    .iter()
                    .skip(1)
                    .map(|group| group.map(|group| group.range()))
                    .collect(),
            })
        }))
    }

    fn compiled(&self, text: &str) -> &fancy_regex::Regex {
        if text.is_ascii() && !text.ends_with('\n') {
            &self.shared.plain
        } else {
            self.shared.exact()
        }
    }
}

impl Shared {
    fn exact(&self) -> &fancy_regex::Regex {
        self.exact_compiled
            .get_or_init(|| compile(self.exact.as_deref()?, self.flags).ok())
            .as_ref()
            .unwrap_or(&self.plain)
    }
}

/// The maximum number of backtracking steps; mongod's limit is of the same order.
const BACKTRACK_LIMIT: usize = 1_000_000;

fn compile(pattern: &str, flags: Flags) -> Result<fancy_regex::Regex, ServerError> {
    fancy_regex::RegexBuilder::new(pattern)
        .case_insensitive(flags.ignore_case)
        .dot_matches_new_line(flags.dot_all)
        .backtrack_limit(BACKTRACK_LIMIT)
        .build()
        .map_err(|error| match error {
            fancy_regex::Error::CompileError(error)
                if matches!(
                    *error,
                    fancy_regex::CompileError::LookBehindNotConst
                        | fancy_regex::CompileError::VariableLookBehindRequiresFeature
                ) =>
            {
                invalid("lookbehind assertion is not fixed length")
            }
            other => unsupported(&other.to_string()),
        })
}

#[derive(Debug, Clone, Copy, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "they are the options of a pattern"
)]
struct Flags {
    ignore_case: bool,
    multi_line: bool,
    dot_all: bool,
    extended: bool,
}

/// The characters that may have a special meaning in a pattern.
const SPECIAL: [char; 13] = [
    '\\', '^', '$', '.', '|', '?', '*', '+', '(', ')', '[', '{', '}',
];

/// mongod's limit on the size of a compiled pattern, in bytes.
const LARGEST: usize = 65_535;

/// The bytes around the characters in mongod's compiled pattern.
const AROUND: usize = 6;

/// The bytes that one more group around the pattern adds.
const GROUP: usize = 7;

/// Refuses a pattern without special characters whose compiled form is too large for mongod. The compiled form has one
/// more byte for each character.
fn check_size(pattern: &str, flags: Flags, around: usize) -> Result<(), ServerError> {
    let size = pattern.len() + pattern.chars().count() + around;
    if size <= LARGEST || flags.extended || pattern.contains(SPECIAL) {
        return Ok(());
    }
    Err(invalid("regular expression is too large"))
}

impl Flags {
    /// Whether a character without a special meaning matches only itself.
    fn is_exact(self) -> bool {
        !self.ignore_case && !self.extended
    }

    fn modes(self) -> Modes {
        Modes {
            caseless: self.ignore_case,
            multi_line: self.multi_line,
            extended: self.extended,
            look_behind: false,
        }
    }
}

fn exhausted(_: fancy_regex::Error) -> ServerError {
    ServerError::new(
        Code::location(51156),
        "Error occurred while executing regular expression. Result code: -8",
    )
}

fn invalid(message: &str) -> ServerError {
    ServerError::new(
        Code::location(51091),
        format!("Regular expression is invalid: {message}"),
    )
}

fn unsupported(what: &str) -> ServerError {
    ServerError::new(
        Code::NOT_IMPLEMENTED,
        format!("regular expressions of the in-memory engine do not support {what}"),
    )
}

impl fmt::Debug for Regex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "/{}/{}", self.pattern(), self.options())
    }
}
