//! `$inc`, `$mul`: `{a: 2}` `{$inc: {a: 3}}` -> `{a: 5}`.

use bson::raw::{RawBson, RawBsonRef};
use odm_language::error::{Code, ServerError};
use odm_language::expression::compat::messages;
use odm_language::value::number::Number;
use odm_language::value::order;
use odm_language::value::print;

use crate::updater::node::Node;
use crate::updater::operator::{Effect, Operator, OperatorContext, bad_value};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operation {
    Inc,
    Mul,
}

#[derive(Debug)]
pub(super) struct Arithmetic {
    operation: Operation,
    operand: Number,
}

impl Arithmetic {
    pub(super) fn parse(
        operation: Operation,
        path: &str,
        value: RawBsonRef<'_>,
    ) -> Result<Self, ServerError> {
        let operand = Number::from_raw(value).ok_or_else(|| {
            let verb = match operation {
                Operation::Inc => "increment",
                Operation::Mul => "multiply",
            };
            ServerError::new(
                Code::TYPE_MISMATCH,
                format!(
                    "Cannot {verb} with non-numeric argument: {{{}}}",
                    print::field(path, value)
                ),
            )
        })?;
        Ok(Self { operation, operand })
    }

    fn name(&self) -> &'static str {
        match self.operation {
            Operation::Inc => "$inc",
            Operation::Mul => "$mul",
        }
    }

    /// The value that a missing field becomes.
    fn initial(&self) -> Number {
        match (self.operation, self.operand) {
            (Operation::Inc, operand) => operand,
            (Operation::Mul, operand) => zero(operand),
        }
    }
}

/// Zero of the same type.
fn zero(number: Number) -> Number {
    number.checked_mul(Number::Int32(0)).unwrap_or(number)
}

impl Operator for Arithmetic {
    fn apply<'a>(
        &'a self,
        current: Option<&mut Node<'a>>,
        at: &OperatorContext<'_>,
    ) -> Result<Effect<'a>, ServerError> {
        let Some(node) = current else {
            return Ok(Effect::Put(Node::Owned(self.initial().to_raw().into())));
        };
        node.with(|old| {
            let number = Number::from_raw(old).ok_or_else(|| {
                ServerError::new(
                    Code::TYPE_MISMATCH,
                    format!(
                        "Cannot apply {} to a value of non-numeric type. {{{}}} has the field '{}' of non-numeric type {}",
                        self.name(),
                        at.document,
                        at.name(),
                        messages::type_name(Some(old)),
                    ),
                )
            })?;
            let result = match self.operation {
                Operation::Inc => number.checked_add(self.operand),
                Operation::Mul => number.checked_mul(self.operand),
            };
            let result = result.ok_or_else(|| {
                let kind = if matches!(old, RawBsonRef::Int32(_)) { "Int" } else { "Long" };
                bad_value(format!(
                    "Failed to apply {} operations to current value ((Number{kind}){}) for document {{{}}}",
                    self.name(),
                    messages::stored(old),
                    at.document,
                ))
            })?;
            let result = RawBson::from(result.to_raw());
            // NaN equals nothing, so it always counts as a change.
            let same = !number.is_nan()
                && old.element_type() == result.element_type()
                && order::equal(old, result.as_raw_bson_ref(), None);
            Ok(if same {
                Effect::Nothing
            } else {
                Effect::Put(Node::Owned(result))
            })
        })
    }
}
