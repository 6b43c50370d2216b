//! Comparisons of a value with an operand.

use bson::{RawBson, RawBsonRef};

use crate::value::bson_type::Bracket;
use crate::value::number::Number;

/// The order comparisons.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Comparison {
    Eq,
    Lt,
    Lte,
    Gt,
    Gte,
}

/// The value that a comparison compares with.
#[derive(Debug, Clone)]
pub struct Operand {
    value: RawBson,
    bracket: Bracket,
}

impl Operand {
    pub fn new(value: RawBsonRef<'_>) -> Self {
        Self {
            value: value.into(),
            bracket: Bracket::of(value),
        }
    }

    pub fn value(&self) -> RawBsonRef<'_> {
        self.value.as_raw_bson_ref()
    }

    pub fn bracket(&self) -> Bracket {
        self.bracket
    }

    /// The operand as a number; `None` for other types.
    #[inline]
    pub fn number(&self) -> Option<Number> {
        match &self.value {
            RawBson::Double(value) => Some(Number::Double(*value)),
            RawBson::Int32(value) => Some(Number::Int32(*value)),
            RawBson::Int64(value) => Some(Number::Int64(*value)),
            RawBson::Decimal128(_) => Number::from_raw(self.value()),
            _ => None,
        }
    }
}
