//! How Rust types are stored.

use super::field::EmbeddedMeta;
use super::path::Path;

/// A BSON type, by its alias in `$type` and `bsonType`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum BsonType {
    /// 1, `double`
    Double,
    /// 2, `string`
    String,
    /// 3, `object`
    Object,
    /// 4, `array`
    Array,
    /// 5, `binData`
    Binary,
    /// 7, `objectId`
    ObjectId,
    /// 8, `bool`
    Bool,
    /// 9, `date`
    Date,
    /// 10, `null`
    Null,
    /// 11, `regex`
    Regex,
    /// 13, `javascript`
    JavaScript,
    /// 15, `javascriptWithScope`
    JavaScriptWithScope,
    /// 16, `int`
    Int,
    /// 17, `timestamp`
    Timestamp,
    /// 18, `long`
    Long,
    /// 19, `decimal`
    Decimal,
    /// -1, `minKey`
    MinKey,
    /// 127, `maxKey`
    MaxKey,
}

impl BsonType {
    /// The alias that `$type` and `bsonType` use.
    pub const fn alias(self) -> &'static str {
        match self {
            Self::Double => "double",
            Self::String => "string",
            Self::Object => "object",
            Self::Array => "array",
            Self::Binary => "binData",
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
        }
    }
}

/// How a Rust type is stored.
#[derive(Debug, Clone, Copy)]
pub struct TypeMeta {
    /// The shape of a value that is there.
    pub shape: Shape,
    /// Whether `null` is stored for some values (`Option`).
    pub nullable: bool,
}

/// The shape of a stored value.
#[derive(Debug, Clone, Copy)]
pub enum Shape {
    /// Anything: a `Bson`, or a field with a serializer of its own and no declared type.
    Any,
    /// A value of one of these types.
    Scalar(&'static [BsonType]),
    /// One of these strings: an enum whose variants all hold nothing.
    OneOf(&'static [&'static str]),
    /// An array.
    Array {
        /// What the elements are.
        element: &'static TypeMeta,
        /// The length, for `[T; N]`.
        len: Option<usize>,
        /// Whether no two elements are equal (sets).
        unique: bool,
    },
    /// A subdocument with any keys, all of one type.
    Map(&'static TypeMeta),
    /// A derived struct or enum; behind a function, so that models can contain themselves.
    Embedded(fn() -> &'static EmbeddedMeta),
}

impl TypeMeta {
    /// Anything at all.
    pub const ANY: Self = Self {
        shape: Shape::Any,
        nullable: true,
    };

    /// A value of one of `types`.
    pub const fn scalar(types: &'static [BsonType]) -> Self {
        Self {
            shape: Shape::Scalar(types),
            nullable: false,
        }
    }

    /// The same, or `null`.
    #[must_use]
    pub const fn nullable(self) -> Self {
        Self {
            shape: self.shape,
            nullable: true,
        }
    }
}

/// A type that a field of a model can have.
///
/// Implemented for what serde and BSON store as one value, for `Option`, `Box`, sequences and maps
/// of such types, and by the derives for yours.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be a field of a model",
    label = "not a type that odm knows how to store",
    note = "derive it: `#[derive(Embedded)]` on the struct or enum, with `#[serde(transparent)]` for a newtype",
    note = "or, for a foreign type, give the field a serializer: `#[serde(with = \"…\")]`"
)]
pub trait FieldType {
    /// How the type is stored.
    const TYPE: TypeMeta;

    /// The typed handle of a field of a model `M` that is declared as `As` (this type, or an
    /// `Option` of it): a [`Field`](crate::query::Field), or the struct of fields that a derive makes.
    type Handle<M, As>;

    /// What the derives ask of a field's type, to learn whether it is one.
    #[doc(hidden)]
    const IS_FIELD: bool = true;

    /// The handle for the field at `path`.
    fn handle<M, As>(path: Path) -> Self::Handle<M, As>;
}
