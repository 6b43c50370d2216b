//! What an operator does at the end of its path.

use std::fmt;

use bson::raw::RawBsonRef;
use odm_language::error::{Code, ServerError};
use odm_language::expression::Globals;
use odm_language::value::print;

use crate::updater::node::Node;

/// One operator with its argument, as it acts on the value at a path.
pub(super) trait Behaviour: fmt::Debug + Send + Sync {
    /// Changes the value at the path, or makes one where there is none.
    fn apply<'a>(
        &'a self,
        current: Option<&mut Node<'a>>,
        at: &At<'_>,
    ) -> Result<Change<'a>, ServerError>;

    /// Whether it made an array of the second length of one of the first by putting elements behind its last.
    fn appends(&self, _before: usize, _after: usize) -> bool {
        false
    }

    /// Whether it makes the array anew even where that changes nothing.
    fn remakes(&self) -> bool {
        false
    }

    /// Whether it puts elements into an array.
    fn adds(&self) -> bool {
        false
    }

    /// Why it fails, whatever is at the path.
    fn fault(&self) -> Option<&ServerError> {
        None
    }

    /// What a path that cannot be walked to its end means.
    fn blocked(&self, _inserting: bool) -> Blocked {
        Blocked::Create
    }
}

/// The outcome of an operator at one path.
#[derive(Debug)]
pub(super) enum Change<'a> {
    /// Nothing changed.
    Nothing,
    /// Nothing changed, as there was nothing to sort. A server counts that as a change of what an index may be on.
    Resorted,
    /// The node given was changed in place.
    Edited,
    /// This value takes the place of what was there.
    Put(Node<'a>),
    /// What was there goes; in an array, null takes its place.
    Remove,
}

/// What happens where a path leads through a value that has no fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Blocked {
    /// Refused: the field cannot be created.
    Create,
    /// Refused: the path cannot be traversed.
    Traverse,
    /// Nothing is done.
    Ignore,
}

/// Where and when an operator acts.
#[derive(Debug)]
pub(super) struct At<'r> {
    /// The path so far, with array indexes in the place of positional parts.
    pub(super) path: String,
    /// `_id: 1`, or `no id`: how messages name the document.
    pub(super) document: Named<'r>,
    pub(super) globals: &'r Globals,
    /// True for the document of an upsert.
    pub(super) inserting: bool,
    /// The arrays without elements that were sorted.
    pub(super) resorted: Vec<String>,
}

/// How messages name a document: by its `_id`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Named<'r>(pub(super) Option<RawBsonRef<'r>>);

impl fmt::Display for Named<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(id) => f.write_str(&print::field("_id", id)),
            None => f.write_str("no id"),
        }
    }
}

impl At<'_> {
    /// The last part of the path.
    pub(super) fn name(&self) -> &str {
        self.path.rsplit('.').next().unwrap_or(&self.path)
    }
}

/// What every operator asks of the thing it is given.
pub(super) fn bad_value(message: impl Into<String>) -> ServerError {
    ServerError::new(Code::BAD_VALUE, message)
}

/// A number without a fraction, as options are given (`2`, `2.0`).
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
