//! The effect of an operator at the end of its path.

use std::fmt;

use bson::raw::RawBsonRef;
use odm_language::error::{Code, ServerError};
use odm_language::expression::Globals;
use odm_language::value::print;

use crate::updater::node::Node;

/// An operator with its operand, applied to the value at a path.
pub(super) trait Operator: fmt::Debug + Send + Sync {
    /// Changes the value at the path, or creates it.
    fn apply<'a>(
        &'a self,
        current: Option<&mut Node<'a>>,
        at: &OperatorContext<'_>,
    ) -> Result<Effect<'a>, ServerError>;

    /// Whether the operator turned an array of the first length into one of the second by appending elements.
    fn appends(&self, _before: usize, _after: usize) -> bool {
        false
    }

    /// Whether the operator rebuilds the array even if nothing changes.
    fn remakes(&self) -> bool {
        false
    }

    /// Whether the operator adds elements to an array.
    fn adds(&self) -> bool {
        false
    }

    /// The error of an operator that always fails.
    fn fault(&self) -> Option<&ServerError> {
        None
    }

    /// The reaction to a path that leads through a value without fields.
    fn blocked(&self, _inserting: bool) -> BlockedPath {
        BlockedPath::Create
    }
}

/// The outcome of an operator at one path.
#[derive(Debug)]
pub(super) enum Effect<'a> {
    /// Nothing changed.
    Nothing,
    /// Nothing changed, because a sort found an empty array. mongod counts that as a change for indexes.
    Resorted,
    /// The given node was changed in place.
    Edited,
    /// This value replaces the old one.
    Put(Node<'a>),
    /// Removes the value; in an array, null replaces it.
    Remove,
}

/// The reaction to a path that leads through a value without fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BlockedPath {
    /// Error: the field cannot be created.
    Create,
    /// Error: the path cannot be traversed.
    Traverse,
    /// The operator does nothing.
    Ignore,
}

/// The context of an operator.
#[derive(Debug)]
pub(super) struct OperatorContext<'r> {
    /// The path so far, with array indexes instead of positional parts.
    pub(super) path: String,
    /// The document's name in messages: `_id: 1`, or `no id`.
    pub(super) document: DocumentName<'r>,
    pub(super) globals: &'r Globals,
    /// True for the document of an upsert.
    pub(super) inserting: bool,
    /// The paths of empty arrays that a sort applied to.
    pub(super) resorted: Vec<String>,
}

/// How messages name a document: by its `_id`.
#[derive(Debug, Clone, Copy)]
pub(super) struct DocumentName<'r>(pub(super) Option<RawBsonRef<'r>>);

impl fmt::Display for DocumentName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(id) => f.write_str(&print::field("_id", id)),
            None => f.write_str("no id"),
        }
    }
}

impl OperatorContext<'_> {
    /// The last part of the path.
    pub(super) fn name(&self) -> &str {
        self.path.rsplit('.').next().unwrap_or(&self.path)
    }
}

/// An error with the code `BadValue`.
pub(super) fn bad_value(message: impl Into<String>) -> ServerError {
    ServerError::new(Code::BAD_VALUE, message)
}

/// The integer value of a number without a fraction, as in options (`2`, `2.0`).
pub(super) fn integral(value: RawBsonRef<'_>) -> Option<i64> {
    match value {
        RawBsonRef::Int32(n) => Some(n.into()),
        RawBsonRef::Int64(n) => Some(n),
        RawBsonRef::Double(n) => whole(n),
        RawBsonRef::Decimal128(n) => n.to_string().parse::<f64>().ok().and_then(whole),
        _ => None,
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the range is checked")]
fn whole(n: f64) -> Option<i64> {
    (n.fract().abs() < f64::MIN_POSITIVE && n.abs() < 9.2e18).then_some(n as i64)
}
