//! Operators with named arguments (`{$op: {input: a, …}}`): the names, and how mongod refuses other arguments.

use bson::raw::{RawBsonRef, RawDocument};

use crate::error::{Code, ServerError};
use crate::expression::compat::messages;
use crate::version::ServerVersion;

/// The named arguments of an operator.
#[derive(Debug)]
pub(super) struct Named {
    /// In the order of evaluation.
    pub(super) names: &'static [&'static str],
    /// The required arguments with the code for their absence, in the order in which mongod looks for them.
    pub(super) required: &'static [(&'static str, i32)],
    /// The wording of the error for an absent argument.
    pub(super) missing: Wording,
    pub(super) unknown: (i32, Wording),
    pub(super) bare: BareArgument,
    /// Whether mongod checks the names of all arguments before it compiles any.
    pub(super) is_checked_first: bool,
    /// A further check of the names, which runs before the search for required arguments.
    pub(super) check: Option<Check>,
    pub(super) constant: Option<Constant>,
    /// The arguments that later versions have added.
    pub(super) added: &'static [(&'static str, ServerVersion)],
}

/// What an argument means that is not an object of named arguments.
#[derive(Debug, Clone, Copy)]
pub(super) enum BareArgument {
    Refused(i32, Wording),
    /// The first argument, or an array of only that.
    Only,
    /// The first argument; the last one is the current document.
    OfCurrent,
}

/// A check of names: its argument reports whether a name was written.
pub(super) type Check = fn(&dyn Fn(&str) -> bool) -> Result<(), ServerError>;

/// An argument that must be a constant string, with the codes for others.
#[derive(Debug)]
pub(super) struct Constant {
    pub(super) argument: &'static str,
    pub(super) path: i32,
    pub(super) wrong_type: i32,
    pub(super) computed: i32,
}

/// The text of a message. `<operator>` and `<key>` stand for names, `<type>` for the type of the operator's argument, and
/// `<argument>` for the operator with its argument.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wording(pub(super) &'static str);

pub(super) const UNKNOWN_ARGUMENT: Wording = Wording("<operator> found an unknown argument: <key>");
pub(super) const TO_BE_SPECIFIED: Wording = Wording("<operator> requires '<key>' to be specified");

impl Named {
    /// The values of rows that mention no others.
    pub(super) const DEFAULT: Self = Self {
        names: &[],
        required: &[],
        missing: TO_BE_SPECIFIED,
        unknown: (2, UNKNOWN_ARGUMENT),
        bare: BareArgument::Only,
        is_checked_first: false,
        check: None,
        constant: None,
        added: &[],
    };

    /// The first version that has the argument.
    pub(super) fn since(&self, key: &str) -> ServerVersion {
        let added = self.added.iter().find(|(name, _)| *name == key);
        added.map_or(ServerVersion::V6_0, |(_, since)| *since)
    }

    pub(super) fn position(&self, key: &str, version: ServerVersion) -> Option<usize> {
        let names = &mut self.names.iter();
        names.position(|known| *known == key && self.since(key) <= version)
    }

    /// The error for an argument that is not an object.
    pub(super) fn not_an_object(
        (code, wording): (i32, Wording),
        operator: &str,
        argument: RawBsonRef<'_>,
    ) -> ServerError {
        error(code, wording.fill(operator, "", argument))
    }

    /// The error for an unknown named argument.
    pub(super) fn unknown(&self, operator: &str, key: &str, given: &RawDocument) -> ServerError {
        let (code, wording) = self.unknown;
        error(
            code,
            wording.fill(operator, key, RawBsonRef::Document(given)),
        )
    }

    /// The error for an absent argument.
    pub(super) fn missing(
        &self,
        code: i32,
        operator: &str,
        key: &str,
        given: &RawDocument,
    ) -> ServerError {
        error(
            code,
            self.missing
                .fill(operator, key, RawBsonRef::Document(given)),
        )
    }
}

impl Wording {
    fn fill(self, operator: &str, key: &str, argument: RawBsonRef<'_>) -> String {
        let Self(mut rest) = self;
        let mut message = String::new();
        while let Some((before, (name, after))) = rest
            .split_once('<')
            .and_then(|(before, after)| Some((before, after.split_once('>')?)))
        {
            message.push_str(before);
            match name {
                "operator" => message.push_str(operator),
                "key" => message.push_str(key),
                "type" => message.push_str(messages::type_name(Some(argument))),
                _ => message.push_str(&messages::element(operator, argument)),
            }
            rest = after;
        }
        message + rest
    }
}

fn error(code: i32, message: String) -> ServerError {
    ServerError::new(Code::location(code), message)
}
