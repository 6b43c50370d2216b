//! Regular expressions in the syntax of PCRE, with bounded backtracking.

use std::fmt;
use std::sync::Arc;

use bson::RawBsonRef;

use crate::error::{Code, ServerError};

/// A compiled regular expression. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Regex {
    shared: Arc<Shared>,
}

struct Shared {
    pattern: String,
    options: String,
    compiled: fancy_regex::Regex,
}

impl Regex {
    /// Compiles a pattern with the options `i`, `m`, `s`, `x` and `u`.
    pub(crate) fn new(pattern: &str, options: &str) -> Result<Self, ServerError> {
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
        let compiled = fancy_regex::RegexBuilder::new(pattern)
            .case_insensitive(flags.ignore_case)
            .multi_line(flags.multi_line)
            .dot_matches_new_line(flags.dot_all)
            .verbose_mode(flags.extended)
            .build()
            .map_err(|error| match error {
                fancy_regex::Error::ParseError(_, fancy_regex::ParseError::UnclosedOpenParen) => {
                    invalid("missing )")
                }
                other => invalid(&other.to_string()),
            })?;
        Ok(Self {
            shared: Arc::new(Shared {
                pattern: pattern.to_owned(),
                options: options.to_owned(),
                compiled,
            }),
        })
    }

    pub(crate) fn pattern(&self) -> &str {
        &self.shared.pattern
    }

    pub(crate) fn options(&self) -> &str {
        &self.shared.options
    }

    /// Whether a string matches, or a value is this very expression.
    pub(crate) fn matches(&self, value: RawBsonRef<'_>) -> Result<bool, ServerError> {
        match value {
            RawBsonRef::String(text) | RawBsonRef::Symbol(text) => self.is_match(text),
            RawBsonRef::RegularExpression(regex) => Ok(regex.pattern.as_str() == self.pattern()
                && regex.options.as_str() == self.options()),
            _ => Ok(false),
        }
    }

    /// Whether a text matches anywhere.
    pub(crate) fn is_match(&self, text: &str) -> Result<bool, ServerError> {
        self.shared.compiled.is_match(text).map_err(|_| {
            ServerError::new(
                Code::location(51156),
                "Error occurred while executing regular expression. Result code: -8",
            )
        })
    }
}

#[derive(Debug, Clone, Copy, Default)]
struct Flags {
    ignore_case: bool,
    multi_line: bool,
    dot_all: bool,
    extended: bool,
}

fn invalid(message: &str) -> ServerError {
    ServerError::new(
        Code::location(51091),
        format!("Regular expression is invalid: {message}"),
    )
}

impl fmt::Debug for Regex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "/{}/{}", self.pattern(), self.options())
    }
}
