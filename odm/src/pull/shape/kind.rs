//! The types of values, as far as they have Rust types of their own.

use bson::raw::RawBsonRef;
use bson::spec::BinarySubtype;

/// The type of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(in crate::pull) enum Kind {
    Double,
    String,
    Document,
    DbRef,
    Array,
    Binary,
    Uuid,
    ObjectId,
    Bool,
    Date,
    Null,
    Regex,
    JavaScript,
    JavaScriptWithScope,
    Int,
    Timestamp,
    Long,
    Decimal,
    MinKey,
    MaxKey,
    /// A type that MongoDB has deprecated.
    Deprecated,
}

impl Kind {
    pub(super) fn of(value: RawBsonRef<'_>) -> Self {
        match value {
            RawBsonRef::Double(_) => Self::Double,
            RawBsonRef::String(_) => Self::String,
            RawBsonRef::Document(_) => Self::Document,
            RawBsonRef::Array(_) => Self::Array,
            RawBsonRef::Binary(binary) => {
                let is_uuid = binary.subtype == BinarySubtype::Uuid && binary.bytes.len() == 16;
                if is_uuid { Self::Uuid } else { Self::Binary }
            }
            RawBsonRef::ObjectId(_) => Self::ObjectId,
            RawBsonRef::Boolean(_) => Self::Bool,
            RawBsonRef::DateTime(_) => Self::Date,
            RawBsonRef::Null => Self::Null,
            RawBsonRef::RegularExpression(_) => Self::Regex,
            RawBsonRef::JavaScriptCode(_) => Self::JavaScript,
            RawBsonRef::JavaScriptCodeWithScope(_) => Self::JavaScriptWithScope,
            RawBsonRef::Int32(_) => Self::Int,
            RawBsonRef::Timestamp(_) => Self::Timestamp,
            RawBsonRef::Int64(_) => Self::Long,
            RawBsonRef::Decimal128(_) => Self::Decimal,
            RawBsonRef::MinKey => Self::MinKey,
            RawBsonRef::MaxKey => Self::MaxKey,
            RawBsonRef::Undefined | RawBsonRef::DbPointer(_) | RawBsonRef::Symbol(_) => {
                Self::Deprecated
            }
        }
    }

    /// The name in comments: MongoDB's alias, where it has one.
    pub(in crate::pull) fn name(self) -> &'static str {
        match self {
            Self::Double => "double",
            Self::String => "string",
            Self::Document => "object",
            Self::DbRef => "DBRef",
            Self::Array => "array",
            Self::Binary => "binData",
            Self::Uuid => "UUID",
            Self::ObjectId => "objectId",
            Self::Bool => "bool",
            Self::Date => "date",
            Self::Null => "null",
            Self::Regex => "regex",
            Self::JavaScript => "javascript",
            Self::JavaScriptWithScope => "javascriptWithScope",
            Self::Int => "int",
            Self::Timestamp => "timestamp",
            Self::Long => "long",
            Self::Decimal => "decimal",
            Self::MinKey => "minKey",
            Self::MaxKey => "maxKey",
            Self::Deprecated => "a deprecated type",
        }
    }
}
