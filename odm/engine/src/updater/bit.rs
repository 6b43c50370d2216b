//! `$bit`: `{a: 5}` `{$bit: {a: {and: 4}}}` -> `{a: 4}`.

use bson::raw::{RawBson, RawBsonRef};
use odm_language::error::ServerError;
use odm_language::expression::compat::messages;
use odm_language::value::print;

use crate::updater::node::{Node, fields, identical};
use crate::updater::operator::{Effect, Operator, OperatorContext, bad_value};

#[derive(Debug)]
pub(super) struct Bit {
    steps: Vec<(Step, Integer)>,
}

#[derive(Debug, Clone, Copy)]
enum Step {
    And,
    Or,
    Xor,
}

#[derive(Debug, Clone, Copy)]
enum Integer {
    Int(i32),
    Long(i64),
}

impl Integer {
    fn from_bson(value: RawBsonRef<'_>) -> Option<Self> {
        match value {
            RawBsonRef::Int32(n) => Some(Self::Int(n)),
            RawBsonRef::Int64(n) => Some(Self::Long(n)),
            _ => None,
        }
    }

    fn into_bson(self) -> RawBson {
        match self {
            Self::Int(n) => RawBson::Int32(n),
            Self::Long(n) => RawBson::Int64(n),
        }
    }

    fn long(self) -> i64 {
        match self {
            Self::Int(n) => n.into(),
            Self::Long(n) => n,
        }
    }
}

impl Step {
    fn run(self, left: Integer, right: Integer) -> Integer {
        match (left, right) {
            (Integer::Int(left), Integer::Int(right)) => Integer::Int(match self {
                Self::And => left & right,
                Self::Or => left | right,
                Self::Xor => left ^ right,
            }),
            _ => Integer::Long(match self {
                Self::And => left.long() & right.long(),
                Self::Or => left.long() | right.long(),
                Self::Xor => left.long() ^ right.long(),
            }),
        }
    }
}

impl Bit {
    pub(super) fn parse(value: RawBsonRef<'_>) -> Result<Self, ServerError> {
        let RawBsonRef::Document(document) = value else {
            return Err(bad_value(format!(
                "The $bit modifier is not compatible with a {}. You must pass in an embedded document: {{$bit: {{field: {{and/or/xor: #}}}}",
                messages::type_name(Some(value))
            )));
        };
        let mut steps = Vec::new();
        for (name, operand) in fields(document) {
            let step = match name {
                "and" => Step::And,
                "or" => Step::Or,
                "xor" => Step::Xor,
                _ => {
                    return Err(bad_value(format!(
                        "The $bit modifier only supports 'and', 'or', and 'xor', not '{name}' which is an unknown operator: {{{}}}",
                        print::field(name, operand)
                    )));
                }
            };
            let operand = Integer::from_bson(operand).ok_or_else(|| {
                bad_value(format!(
                    "The $bit modifier field must be an Integer(32/64 bit); a '{}' is not supported here: {{{}}}",
                    messages::type_name(Some(operand)),
                    print::field(name, operand)
                ))
            })?;
            steps.push((step, operand));
        }
        if steps.is_empty() {
            return Err(bad_value(
                "You must pass in at least one bitwise operation. The format is: {$bit: {field: {and/or/xor: #}}",
            ));
        }
        Ok(Self { steps })
    }

    fn run(&self, start: Integer) -> RawBson {
        self.steps
            .iter()
            .fold(start, |value, (step, operand)| step.run(value, *operand))
            .into_bson()
    }
}

impl Operator for Bit {
    fn apply<'a>(
        &'a self,
        current: Option<&mut Node<'a>>,
        at: &OperatorContext<'_>,
    ) -> Result<Effect<'a>, ServerError> {
        let Some(node) = current else {
            return Ok(Effect::Put(Node::Owned(self.run(Integer::Int(0)))));
        };
        node.with(|old| {
            let start = Integer::from_bson(old).ok_or_else(|| {
                bad_value(format!(
                    "Cannot apply $bit to a value of non-integral type.{} has the field {} of non-integer type {}",
                    at.document,
                    at.name(),
                    messages::type_name(Some(old))
                ))
            })?;
            let result = self.run(start);
            Ok(if identical(old, result.as_raw_bson_ref()) {
                Effect::Nothing
            } else {
                Effect::Put(Node::Owned(result))
            })
        })
    }
}
