//! Answers to what the data leaves open.

use std::fmt;
use std::str::FromStr;

use crate::error::{Error, Result};

/// An answer for a field that the data leaves open: [`Repair::answer`](super::Repair::answer).
///
/// Its text is the name in lower case, with hyphens: `set-null`.
///
/// ```
/// use odm::repair::Answer;
///
/// assert_eq!("set-null".parse::<Answer>()?, Answer::SetNull);
/// assert_eq!(Answer::KeepFirst.to_string(), "keep-first");
/// # Ok::<(), odm::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Answer {
    /// A reference to nothing becomes null, as by `on_delete = set_null`.
    SetNull,
    /// A reference to nothing is taken out of its list, or the element that holds it, as by `on_delete = pull`.
    Pull,
    /// A document with a reference to nothing is deleted, with its own dependents, as by `on_delete = cascade`.
    Delete,
    /// This side of a `two_way` reference follows the other one.
    Follow,
    /// Nodes whose parents do not exist, or lead back to them, become roots.
    BecomeRoot,
    /// A list that is too long keeps its first elements.
    KeepFirst,
    /// A list that is too long keeps its last elements.
    KeepLast,
    /// A field that is not declared is removed.
    RemoveField,
    /// The documents are left as they are.
    Leave,
}

impl Answer {
    /// All answers, in the order of this list.
    pub const ALL: [Self; 9] = [
        Self::SetNull,
        Self::Pull,
        Self::Delete,
        Self::Follow,
        Self::BecomeRoot,
        Self::KeepFirst,
        Self::KeepLast,
        Self::RemoveField,
        Self::Leave,
    ];
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::SetNull => "set-null",
            Self::Pull => "pull",
            Self::Delete => "delete",
            Self::Follow => "follow",
            Self::BecomeRoot => "become-root",
            Self::KeepFirst => "keep-first",
            Self::KeepLast => "keep-last",
            Self::RemoveField => "remove-field",
            Self::Leave => "leave",
        })
    }
}

impl FromStr for Answer {
    type Err = Error;

    /// Reads the text of an answer.
    ///
    /// # Errors
    ///
    /// There is no such answer.
    fn from_str(text: &str) -> Result<Self> {
        let mut all = Self::ALL.into_iter();
        all.find(|answer| answer.to_string() == text)
            .ok_or_else(|| {
                let all = Self::ALL.map(|answer| answer.to_string()).join(", ");
                Error::usage(format!("an answer is one of {all}, not {text:?}"))
            })
    }
}

/// The answers of a repair.
#[derive(Debug, Clone, Default)]
pub(super) struct Answers(Vec<Given>);

/// An answer for the fields of a model.
#[derive(Debug, Clone)]
pub(super) struct Given {
    pub(super) model: String,
    pub(super) path: String,
    pub(super) answer: Answer,
}

impl Answers {
    pub(super) fn add(&mut self, model: impl Into<String>, path: String, answer: Answer) {
        let model = model.into();
        self.0.push(Given {
            model,
            path,
            answer,
        });
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Given> {
        self.0.iter()
    }

    /// The answer for a field.
    pub(super) fn of(&self, model: &str, path: &str) -> Option<Answer> {
        let given = self
            .iter()
            .find(|given| given.model == model && given.is_for(path));
        given.map(|given| given.answer)
    }
}

impl Given {
    fn is_for(&self, path: &str) -> bool {
        let (mut own, mut names) = (self.path.split('.'), path.split('.'));
        loop {
            match (own.next(), names.next()) {
                (None, None) => return true,
                (Some(own), Some(name)) if own == "*" || own == name => {}
                _ => return false,
            }
        }
    }
}
