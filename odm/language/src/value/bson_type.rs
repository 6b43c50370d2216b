//! BSON types: the codes and aliases of `$type`, and the brackets of the sort order.

use bson::{RawBsonRef, spec::ElementType};

/// A bracket of MongoDB's order: values compare by bracket first.
///
/// `Undefined` has its own bracket below `Null`. Strings and symbols share one, and so do the four types of number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Bracket {
    MinKey,
    Undefined,
    Null,
    Number,
    String,
    Document,
    Array,
    Binary,
    ObjectId,
    Boolean,
    DateTime,
    Timestamp,
    Regex,
    DbPointer,
    Code,
    CodeWithScope,
    MaxKey,
}

impl Bracket {
    /// The bracket of a value.
    pub fn of(value: RawBsonRef<'_>) -> Self {
        Self::of_type(value.element_type())
    }

    /// The bracket of a type.
    pub fn of_type(kind: ElementType) -> Self {
        match kind {
            ElementType::Double
            | ElementType::Int32
            | ElementType::Int64
            | ElementType::Decimal128 => Self::Number,
            ElementType::String | ElementType::Symbol => Self::String,
            ElementType::EmbeddedDocument => Self::Document,
            ElementType::Array => Self::Array,
            ElementType::Binary => Self::Binary,
            ElementType::Undefined => Self::Undefined,
            ElementType::ObjectId => Self::ObjectId,
            ElementType::Boolean => Self::Boolean,
            ElementType::DateTime => Self::DateTime,
            ElementType::Null => Self::Null,
            ElementType::RegularExpression => Self::Regex,
            ElementType::DbPointer => Self::DbPointer,
            ElementType::JavaScriptCode => Self::Code,
            ElementType::JavaScriptCodeWithScope => Self::CodeWithScope,
            ElementType::Timestamp => Self::Timestamp,
            ElementType::MaxKey => Self::MaxKey,
            ElementType::MinKey => Self::MinKey,
        }
    }
}

/// Every type with its code and its alias, in the order of the BSON specification.
const TYPES: &[(ElementType, i32, &str)] = &[
    (ElementType::Double, 1, "double"),
    (ElementType::String, 2, "string"),
    (ElementType::EmbeddedDocument, 3, "object"),
    (ElementType::Array, 4, "array"),
    (ElementType::Binary, 5, "binData"),
    (ElementType::Undefined, 6, "undefined"),
    (ElementType::ObjectId, 7, "objectId"),
    (ElementType::Boolean, 8, "bool"),
    (ElementType::DateTime, 9, "date"),
    (ElementType::Null, 10, "null"),
    (ElementType::RegularExpression, 11, "regex"),
    (ElementType::DbPointer, 12, "dbPointer"),
    (ElementType::JavaScriptCode, 13, "javascript"),
    (ElementType::Symbol, 14, "symbol"),
    (
        ElementType::JavaScriptCodeWithScope,
        15,
        "javascriptWithScope",
    ),
    (ElementType::Int32, 16, "int"),
    (ElementType::Timestamp, 17, "timestamp"),
    (ElementType::Int64, 18, "long"),
    (ElementType::Decimal128, 19, "decimal"),
    (ElementType::MinKey, -1, "minKey"),
    (ElementType::MaxKey, 127, "maxKey"),
];

/// The alias of a type: `int`, `objectId`, …
pub fn alias(kind: ElementType) -> &'static str {
    TYPES
        .iter()
        .find(|(known, ..)| *known == kind)
        .map_or("missing", |(_, _, alias)| alias)
}

/// The code of a type: 16 for `int`.
pub fn code(kind: ElementType) -> Option<i32> {
    let (_, code, _) = TYPES.iter().find(|(known, ..)| *known == kind)?;
    Some(*code)
}

/// Every type, in the order of the BSON specification.
pub fn every_type() -> impl Iterator<Item = ElementType> {
    TYPES.iter().map(|(kind, ..)| *kind)
}

/// A set of types, as `$type` and `bsonType` take it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub struct TypeSet(u32);

impl TypeSet {
    /// The four types of numbers: the alias `number`.
    pub const NUMBER: Self = Self(
        1 << ElementType::Double as u32
            | 1 << ElementType::Int32 as u32
            | 1 << ElementType::Int64 as u32
            | 1 << ElementType::Decimal128 as u32,
    );

    /// The set of one type.
    pub fn one(kind: ElementType) -> Self {
        Self(Self::bit(kind))
    }

    /// The types of an alias, `None` for an unknown alias.
    pub fn from_alias(alias: &str) -> Option<Self> {
        if alias == "number" {
            return Some(Self::NUMBER);
        }
        let (kind, ..) = TYPES.iter().find(|(_, _, known)| *known == alias)?;
        Some(Self::one(*kind))
    }

    /// The type with a code, `None` for an unknown code.
    pub fn from_code(code: i32) -> Option<Self> {
        let (kind, ..) = TYPES.iter().find(|(_, known, _)| *known == code)?;
        Some(Self::one(*kind))
    }

    /// The union of both sets.
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether the two sets have a type in common.
    pub fn intersects(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Whether a type is in the set.
    pub fn contains(self, kind: ElementType) -> bool {
        self.0 & Self::bit(kind) != 0
    }

    fn bit(kind: ElementType) -> u32 {
        match kind {
            ElementType::MinKey => 1 << 30,
            ElementType::MaxKey => 1 << 31,
            other => 1 << other as u32,
        }
    }
}
