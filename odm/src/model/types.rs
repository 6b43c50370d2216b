//! How Rust types are stored.

use bson::Bson;

use super::ModelMeta;
use super::field::{EmbeddedMeta, FieldMeta};
use super::path::Path;
use super::rule::{Keys, Rule};

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
    ///
    /// ```
    /// # use odm::model::BsonType;
    /// assert_eq!(BsonType::ObjectId.alias(), "objectId");
    /// ```
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
    /// The shape of a value that is not null.
    pub shape: Shape,
    /// Whether some values are stored as `null` (`Option`).
    pub nullable: bool,
    /// The values of its BSON types that the Rust type holds: a `u8` is an `int` from 0 to 255. See also
    /// [`all_rules`](Self::all_rules).
    pub rules: &'static [Rule],
    /// The stored type, whose rules hold, too, if a serializer of the field stores another type.
    #[doc(hidden)]
    pub base: Option<&'static TypeMeta>,
    /// The facts that the derives check beyond the shape.
    #[doc(hidden)]
    pub contents: Contents,
}

/// The contents of a type, as far as the derives check them. A derived struct or enum in it counts as one; its
/// own derive checks its fields.
#[doc(hidden)]
#[derive(Debug, Clone, Copy)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct Contents {
    /// How many derived structs and enums the type contains.
    pub documents: Count,
    /// How many references the type contains.
    pub references: Count,
    /// Whether one of the documents is a struct with a collection of its own.
    pub has_collection: bool,
    /// Whether one of the documents is a struct that pipelines make, and no document holds.
    pub is_result: bool,
    /// Whether two different values are both stored as null: `None` and `Some(None)`.
    pub null_is_ambiguous: bool,
    /// The advice for a type of another crate in it that needs a serializer of the field.
    pub bare: Option<&'static Bare>,
    /// Whether it is JSON of another crate, in which `{"$oid": …}` is an object as any other.
    pub is_verbatim: bool,
}

/// The advice for a type of another crate that serde does not store as its module does.
#[doc(hidden)]
#[derive(Debug, Clone, Copy)]
pub struct Bare {
    /// On a field.
    pub field: &'static str,
    /// On a field that is an `Option`.
    pub option: &'static str,
    /// For an `_id`.
    pub id: &'static str,
}

/// How many values a type holds.
#[doc(hidden)]
#[derive(Debug, Clone, Copy)]
pub enum Count {
    /// None.
    Zero,
    /// A number that the type fixes.
    Fixed,
    /// Any number: a list or a map whose entries each contain a [fixed](Self::Fixed) number of values.
    Any,
    /// Any number, in a list or a map that is itself inside a list, a map or an array.
    AnyInside,
}

impl Count {
    /// The count for a type that contains both: the larger one.
    const fn and(self, other: Self) -> Self {
        if self as u8 >= other as u8 {
            self
        } else {
            other
        }
    }

    /// The count for a list or a map of such values.
    const fn repeated(self) -> Self {
        match self {
            Self::Zero => Self::Zero,
            Self::Fixed => Self::Any,
            Self::Any | Self::AnyInside => Self::AnyInside,
        }
    }

    /// At most [`Fixed`](Self::Fixed), for types whose larger counts are reported elsewhere.
    pub(crate) const fn at_most_fixed(self) -> Self {
        match self {
            Self::Zero => Self::Zero,
            _ => Self::Fixed,
        }
    }

    /// The count for an array of a fixed length of such values.
    const fn enclosed(self) -> Self {
        match self {
            Self::Any => Self::AnyInside,
            other => other,
        }
    }
}

impl Contents {
    /// The contents of a type without documents and references.
    pub const NONE: Self = Self {
        documents: Count::Zero,
        references: Count::Zero,
        has_collection: false,
        is_result: false,
        null_is_ambiguous: false,
        bare: None,
        is_verbatim: false,
    };

    /// The contents of a derived struct or enum.
    pub const DOCUMENT: Self = Self {
        documents: Count::Fixed,
        ..Self::NONE
    };

    /// The contents of a reference.
    pub const REFERENCE: Self = Self {
        references: Count::Fixed,
        ..Self::NONE
    };

    /// The contents of a list or a map of such values, of any length.
    #[must_use]
    pub const fn repeated(self) -> Self {
        Self {
            documents: self.documents.repeated(),
            references: self.references.repeated(),
            ..self
        }
    }

    /// The contents of an array of a fixed length of such values.
    #[must_use]
    pub const fn enclosed(self) -> Self {
        Self {
            documents: self.documents.enclosed(),
            references: self.references.enclosed(),
            ..self
        }
    }

    /// The contents of an array of several types.
    const fn of_tuple(mut types: &[TypeMeta]) -> Self {
        let mut all = Self::NONE;
        while let [first, behind @ ..] = types {
            all = all.and(first.contents);
            types = behind;
        }
        all.enclosed()
    }

    /// The contents of a type that contains both.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self {
            documents: self.documents.and(other.documents),
            references: self.references.and(other.references),
            has_collection: self.has_collection || other.has_collection,
            is_result: self.is_result || other.is_result,
            null_is_ambiguous: self.null_is_ambiguous || other.null_is_ambiguous,
            bare: match self.bare {
                None => other.bare,
                bare => bare,
            },
            is_verbatim: self.is_verbatim || other.is_verbatim,
        }
    }
}

/// The shape of a stored value.
#[derive(Debug, Clone, Copy)]
pub enum Shape {
    /// Anything: a `Bson`, or a field with a serializer of its own and no declared type.
    Any,
    /// A value of one of these types.
    Scalar(&'static [BsonType]),
    /// One of these strings: an enum of unit variants.
    OneOf(&'static [&'static str]),
    /// An array.
    Array {
        /// The type of the elements.
        element: &'static TypeMeta,
        /// The length, for `[T; N]`.
        len: Option<usize>,
        /// Whether no two elements are equal (sets).
        unique: bool,
    },
    /// An array with one value of each of these types.
    Tuple(&'static [TypeMeta]),
    /// A subdocument with any keys, all of one type.
    Map(&'static TypeMeta),
    /// A derived struct or enum; behind a function, so that models can contain themselves.
    Embedded(fn() -> &'static EmbeddedMeta),
    /// The id of a document of another collection.
    Reference {
        /// The model of that document; behind a function, so that models can refer to each other.
        to: fn() -> &'static ModelMeta,
        /// The type of its id.
        id: &'static TypeMeta,
    },
}

impl TypeMeta {
    /// Anything at all.
    pub const ANY: Self = Self::of(Shape::Any).nullable();

    /// Anything that JSON has.
    #[cfg(feature = "serde_json_1")]
    pub(crate) const JSON: Self = Self::ANY.holding(Contents {
        is_verbatim: true,
        ..Contents::NONE
    });

    /// A value of one of `types`.
    ///
    /// ```
    /// # use odm::model::{BsonType, Shape, TypeMeta};
    /// let number = TypeMeta::scalar(&[BsonType::Int, BsonType::Long]);
    /// assert!(matches!(number.shape, Shape::Scalar([BsonType::Int, BsonType::Long])));
    /// ```
    pub const fn scalar(types: &'static [BsonType]) -> Self {
        Self::of(Shape::Scalar(types))
    }

    /// A value of this shape, which is never `null`.
    ///
    /// ```
    /// # use odm::model::{Shape, TypeMeta};
    /// let status = TypeMeta::of(Shape::OneOf(&["open", "paid"]));
    /// assert!(matches!(status.shape, Shape::OneOf(["open", "paid"])) && !status.nullable);
    /// ```
    pub const fn of(shape: Shape) -> Self {
        let contents = match shape {
            Shape::Array {
                element, len: None, ..
            }
            | Shape::Map(element) => element.contents.repeated(),
            Shape::Array { element, .. } => element.contents.enclosed(),
            Shape::Tuple(types) => Contents::of_tuple(types),
            Shape::Embedded(_) => Contents::DOCUMENT,
            Shape::Reference { .. } => Contents::REFERENCE,
            Shape::Any | Shape::Scalar(_) | Shape::OneOf(_) => Contents::NONE,
        };
        Self {
            shape,
            nullable: false,
            rules: &[],
            base: None,
            contents,
        }
    }

    /// This type, of which only the values that keep `rules` are read.
    ///
    /// ```
    /// # use odm::model::{BsonType, Rule, TypeMeta};
    /// const PERCENT: TypeMeta = TypeMeta::scalar(&[BsonType::Int]).with_rules(&[Rule::between(0, 100)]);
    /// assert_eq!(PERCENT.rules.len(), 1);
    /// ```
    #[must_use]
    pub const fn with_rules(self, rules: &'static [Rule]) -> Self {
        Self { rules, ..self }
    }

    /// A type that is stored as `base`, of which only the values that keep `rules` are read.
    #[doc(hidden)]
    #[must_use]
    pub const fn narrowed(base: &'static Self, rules: &'static [Rule]) -> Self {
        if rules.is_empty() {
            return *base;
        }
        Self {
            rules,
            base: Some(base),
            ..*base
        }
    }

    /// A map of values of type `value` whose keys are `keys`.
    pub(crate) const fn map(value: &'static Self, keys: &'static [Rule; 1]) -> Self {
        let map = Self::of(Shape::Map(value));
        match keys {
            [Rule::Keys(Keys::Any)] => map,
            _ => map.with_rules(keys),
        }
    }

    /// The rules that every value of the type keeps.
    ///
    /// ```
    /// # use odm::model::{FieldType, Rule};
    /// assert!(matches!(u8::TYPE.all_rules().next(), Some(Rule::Range { .. })));
    /// assert_eq!(i32::TYPE.all_rules().count(), 0);
    /// ```
    pub fn all_rules(&self) -> impl Iterator<Item = &'static Rule> {
        let types = std::iter::successors(Some(self), |ty| ty.base);
        types.flat_map(|ty| ty.rules)
    }

    /// This type, or `null`.
    ///
    /// ```
    /// # use odm::model::{BsonType, TypeMeta};
    /// assert!(TypeMeta::scalar(&[BsonType::Date]).nullable().nullable);
    /// ```
    #[must_use]
    pub const fn nullable(self) -> Self {
        Self {
            nullable: true,
            ..self
        }
    }

    /// This type with other contents, for a shape that does not show them.
    #[doc(hidden)]
    #[must_use]
    pub const fn holding(self, contents: Contents) -> Self {
        Self { contents, ..self }
    }

    /// This type, which needs a serializer of the field.
    #[doc(hidden)]
    #[must_use]
    pub const fn bare(self, bare: &'static Bare) -> Self {
        let mut contents = self.contents;
        contents.bare = Some(bare);
        self.holding(contents)
    }

    /// An `Option` of the type.
    #[doc(hidden)]
    #[must_use]
    pub const fn optional(self) -> Self {
        let is_null = match self.shape {
            // For `Any`, the program decides what null means.
            Shape::Any => false,
            Shape::Scalar([BsonType::Null]) => true,
            _ => self.nullable,
        };
        let mut contents = self.contents;
        contents.null_is_ambiguous |= is_null;
        self.nullable().holding(contents)
    }
}

/// A type that can be the key of a map; keys are stored as field names.
///
/// Implemented for strings, and by `#[derive(Embedded)]` for newtypes of such types and for enums of unit
/// variants. A type that serializes as a string in another way can implement it by hand.
///
/// ```
/// use std::collections::BTreeMap;
/// use odm::prelude::*;
///
/// #[derive(PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, Embedded)]
/// enum Weekday {
///     Monday,
///     Tuesday,
/// }
///
/// #[derive(Serialize, Deserialize, Embedded)]
/// struct Opening {
///     hours: BTreeMap<Weekday, String>,
/// }
/// # let opening = Opening { hours: [(Weekday::Monday, "9-17".to_owned())].into() };
/// # let stored = odm::query::encode(&opening)?;
/// # assert_eq!(stored, doc! {"hours": {"Monday": "9-17"}}.into());
/// # Ok::<(), odm::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be the key of a map",
    label = "not stored as a string",
    note = "keys are the names of fields: declare a `String`, or derive `Embedded` for a newtype of one or for an enum whose variants hold nothing",
    note = "of integers, ids and references, write `#[serde(with = \"odm::map_keys\")]` on the field",
    note = "of other types, keep a list of pairs: a `Vec` of a struct that has the key and the value"
)]
pub trait MapKey {
    /// The names that can be keys; any, unless an implementation says which.
    const KEYS: Keys = Keys::Any;
}

/// A type that a model's field can have.
///
/// Implemented for types that serde and BSON store as one value, and for `Option`, `Box`, sequences and maps
/// of such types. The derives implement it for your own types.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be a field of a model",
    label = "not a type that odm knows how to store",
    note = "derive it: `#[derive(Embedded)]` on the struct or enum, with `#[serde(transparent)]` for a newtype",
    note = "or, for a foreign type, give the field a serializer: `#[serde(with = \"…\")]`; an `_id` gets one through a newtype: `struct BookId(#[serde(with = \"…\")] Uuid);`",
    note = "odm has one for the types of chrono, jiff, rust_decimal, serde_json, time, url and uuid: enable its feature, such as `chrono_0_4`, and write `#[serde(with = \"odm::chrono_0_4\")]`"
)]
pub trait FieldType {
    /// How the type is stored.
    const TYPE: TypeMeta;

    /// The typed handle of a field of a model `M` that is declared as `As` (this type, or an
    /// `Option` of it): a [`Field`](crate::query::Field), or the struct of fields that a derive makes.
    type Handle<M, As>;

    /// The fields of a derived struct or enum; other types have none.
    ///
    /// Only assertions evaluate it: a model that contains itself can't list its fields in its
    /// [`TYPE`](Self::TYPE).
    #[doc(hidden)]
    const FIELDS: &'static [FieldMeta] = &[];

    /// Always true. The derives evaluate it so that rustc reports a type that does not implement this trait.
    #[doc(hidden)]
    const IS_FIELD: bool = true;

    /// The handle for the field at `path`.
    fn handle<M, As>(path: Path) -> Self::Handle<M, As>;

    /// The stored form of `value`, if it is known without running the type's serializer.
    ///
    /// Only for types of the `bson` crate, and types made of them. Those serialize in a roundabout way: an
    /// `ObjectId` serializes as a struct with 24 digits, from which the serializer has to recover 12 bytes.
    #[doc(hidden)]
    #[inline]
    fn stored(_value: &Self) -> Option<Bson> {
        None
    }
}
