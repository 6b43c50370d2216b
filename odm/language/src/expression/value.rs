//! The result of an expression: borrowed where it can be, and possibly missing.

use bson::raw::{RawBson, RawBsonRef};

/// A value, or the absence of one, which differs from null.
#[derive(Debug, Clone)]
pub enum Value<'a> {
    Missing,
    Ref(RawBsonRef<'a>),
    Owned(RawBson),
}

impl Value<'_> {
    pub const NULL: Value<'static> = Value::Ref(RawBsonRef::Null);

    /// The value, where there is one.
    pub fn get(&self) -> Option<RawBsonRef<'_>> {
        match self {
            Self::Missing => None,
            Self::Ref(value) => Some(*value),
            Self::Owned(value) => Some(value.as_raw_bson_ref()),
        }
    }

    /// The value; null if it is missing.
    pub fn or_null(&self) -> RawBsonRef<'_> {
        self.get().unwrap_or(RawBsonRef::Null)
    }

    pub fn into_owned(self) -> Option<RawBson> {
        match self {
            Self::Missing => None,
            Self::Ref(value) => Some(value.into()),
            Self::Owned(value) => Some(value),
        }
    }

    /// Whether the value is missing, null or undefined: most operators then return null.
    pub fn is_nullish(&self) -> bool {
        matches!(
            self.get(),
            None | Some(RawBsonRef::Null | RawBsonRef::Undefined)
        )
    }

    /// The value as a boolean, as `$expr`, `$cond` and `$and` read it: missing, null, undefined, false and zero are
    /// false.
    pub fn truthy(&self) -> bool {
        match self.get() {
            None | Some(RawBsonRef::Null | RawBsonRef::Undefined | RawBsonRef::Boolean(false)) => {
                false
            }
            Some(RawBsonRef::Int32(n)) => n != 0,
            Some(RawBsonRef::Int64(n)) => n != 0,
            Some(RawBsonRef::Double(n)) => n.abs() > 0.0 || n.is_nan(),
            Some(RawBsonRef::Decimal128(n)) => !decimal_is_zero(n),
            Some(_) => true,
        }
    }
}

/// Whether a decimal is zero, of either sign and any exponent. A non-canonical coefficient counts as zero, too.
fn decimal_is_zero(decimal: bson::Decimal128) -> bool {
    let bits = u128::from_le_bytes(decimal.bytes());
    let special = (bits >> 122) & 0b1_1111 >= 0b1_1110;
    let large = (bits >> 125) & 0b11 == 0b11;
    !special && (large || bits & ((1 << 113) - 1) == 0)
}

impl From<RawBson> for Value<'_> {
    fn from(value: RawBson) -> Self {
        Self::Owned(value)
    }
}

impl<'a> From<RawBsonRef<'a>> for Value<'a> {
    fn from(value: RawBsonRef<'a>) -> Self {
        Self::Ref(value)
    }
}

impl<'a> From<Option<RawBsonRef<'a>>> for Value<'a> {
    fn from(value: Option<RawBsonRef<'a>>) -> Self {
        value.map_or(Self::Missing, Self::Ref)
    }
}
