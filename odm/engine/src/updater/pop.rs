//! `$pop`: `{a: [1, 2]}` `{$pop: {a: -1}}` -> `{a: [2]}`.

use bson::raw::RawBsonRef;
use odm_language::error::{Code, ServerError};
use odm_language::expression::compat::messages;
use odm_language::value::print;

use crate::updater::node::Node;
use crate::updater::operator::{BlockedPath, Effect, Operator, OperatorContext, integral};

#[derive(Debug)]
pub(super) enum Pop {
    First,
    Last,
}

impl Pop {
    pub(super) fn parse(path: &str, value: RawBsonRef<'_>) -> Result<Self, ServerError> {
        let refuse = |message| Err(ServerError::new(Code::FAILED_TO_PARSE, message));
        let element = || print::field(path, value);
        match (value, integral(value)) {
            (_, Some(1)) => Ok(Self::Last),
            (_, Some(-1)) => Ok(Self::First),
            (_, Some(other)) => refuse(format!("$pop expects 1 or -1, found: {other}")),
            (RawBsonRef::Double(n), None) if n.is_nan() => refuse(format!(
                "Expected an integer, but found NaN in: {}",
                element()
            )),
            (RawBsonRef::Double(_) | RawBsonRef::Decimal128(_), None) => {
                refuse(format!("Expected an integer: {}", element()))
            }
            (_, None) => refuse(format!("Expected a number in: {}", element())),
        }
    }
}

impl Operator for Pop {
    fn apply<'a>(
        &'a self,
        current: Option<&mut Node<'a>>,
        at: &OperatorContext<'_>,
    ) -> Result<Effect<'a>, ServerError> {
        let Some(node) = current else {
            return Ok(Effect::Nothing);
        };
        let kind = node.with(|value| messages::type_name(Some(value)));
        let Some(elements) = node.elements() else {
            return Err(ServerError::new(
                Code::TYPE_MISMATCH,
                format!(
                    "Path '{}' contains an element of non-array type '{kind}'",
                    at.path
                ),
            ));
        };
        if elements.is_empty() {
            return Ok(Effect::Nothing);
        }
        match self {
            Self::First => drop(elements.remove(0)),
            Self::Last => drop(elements.pop()),
        }
        Ok(Effect::Edited)
    }

    fn blocked(&self, _inserting: bool) -> BlockedPath {
        BlockedPath::Traverse
    }
}
