//! Types that can be fields without a derive.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::num::{
    NonZeroI8, NonZeroI16, NonZeroI32, NonZeroI64, NonZeroU8, NonZeroU16, NonZeroU32, NonZeroU64,
    NonZeroUsize,
};
use std::rc::Rc;
use std::sync::Arc;

use bson::oid::ObjectId;
use bson::{
    Binary, Bson, DateTime, Decimal128, Document, JavaScriptCodeWithScope, RawArrayBuf, RawBson,
    RawDocumentBuf, Regex, Timestamp, Uuid, doc,
};

use crate::model::{BsonType, FieldMeta, FieldType, MapKey, Path, Rule, Shape, TypeMeta};

/// Implements `FieldType` for a type whose handle is the plain [`Field`].
macro_rules! field_type {
    ([$($generics:tt)*] $type:ty, $meta:expr $(, $stored:expr)?) => {
        #[diagnostic::do_not_recommend]
        impl<$($generics)*> $crate::model::RefTarget for $type {
            type TargetId = ();
        }

        impl<$($generics)*> $crate::model::FieldType for $type {
            const TYPE: $crate::model::TypeMeta = $meta;
            type Handle<M, As> = $crate::query::Field<M, As>;

            #[inline]
            fn handle<M, As>(path: $crate::model::Path) -> $crate::query::Field<M, As> {
                $crate::query::Field::at_path(path)
            }

            $(#[inline]
            fn stored(value: &Self) -> Option<bson::Bson> {
                let stored: fn(&Self) -> Option<bson::Bson> = $stored;
                stored(value)
            })?
        }
    };
}

pub(crate) use field_type;

macro_rules! scalars {
    ($($kind:ident: $($type:ty),*;)*) => {
        $($(field_type!([] $type, TypeMeta::scalar(&[BsonType::$kind]));)*)*
    };
}

// as `bson` writes them; a test serializes samples and compares
scalars! {
    // An `f32` reads every double, as the nearest value that it has.
    Double: f32, f64;
    String: String, Box<str>, Arc<str>, Rc<str>, &str, Cow<'_, str>;
    Bool: bool;
    Null: ();
    Regex: Regex;
    JavaScriptWithScope: JavaScriptCodeWithScope;
    Int: i32;
    Long: i64, isize;
}

/// Like `scalars!`, for types that hold some values of their BSON type.
macro_rules! narrow_scalars {
    ($($kind:ident: $($type:ty => $rules:expr),*;)*) => {
        $($(field_type!([] $type, TypeMeta::scalar(&[BsonType::$kind]).with_rules(const { $rules }));)*)*
    };
}

const NATURAL: &[Rule] = &[Rule::at_least(0)];
const POSITIVE: &[Rule] = &[Rule::at_least(1)];
const NOT_ZERO: Rule = Rule::Schema(|| doc! {"not": {"enum": [0]}});

narrow_scalars! {
    Int:
        i8 => &[Rule::between(-0x80, 0x7F)],
        i16 => &[Rule::between(-0x8000, 0x7FFF)],
        u8 => &[Rule::between(0, 0xFF)],
        u16 => &[Rule::between(0, 0xFFFF)],
        NonZeroI8 => &[Rule::between(-0x80, 0x7F), NOT_ZERO],
        NonZeroI16 => &[Rule::between(-0x8000, 0x7FFF), NOT_ZERO],
        NonZeroI32 => &[NOT_ZERO],
        NonZeroU8 => &[Rule::between(1, 0xFF)],
        NonZeroU16 => &[Rule::between(1, 0xFFFF)];
    // The largest `long` is less than the largest `u64`.
    Long:
        u32 => &[Rule::between(0, 0xFFFF_FFFF)],
        u64 => NATURAL,
        usize => NATURAL,
        NonZeroI64 => &[NOT_ZERO],
        NonZeroU32 => &[Rule::between(1, 0xFFFF_FFFF)],
        NonZeroU64 => POSITIVE,
        NonZeroUsize => POSITIVE;
}

/// Like `scalars!`, for types of the `bson` crate that serialize in a roundabout way; each row gives the
/// stored value directly.
macro_rules! known_scalars {
    ($($kind:ident: $type:ty => $stored:expr;)*) => {
        $(field_type!([] $type, TypeMeta::scalar(&[BsonType::$kind]), |value| Some($stored(value)));)*
    };
}

known_scalars! {
    ObjectId: ObjectId => |id: &ObjectId| Bson::ObjectId(*id);
    Date: DateTime => |date: &DateTime| Bson::DateTime(*date);
    Decimal: Decimal128 => |decimal: &Decimal128| Bson::Decimal128(*decimal);
    Timestamp: Timestamp => |timestamp: &Timestamp| Bson::Timestamp(*timestamp);
    Binary: Binary => |binary: &Binary| Bson::Binary(binary.clone());
}

field_type!([] std::path::PathBuf, TypeMeta::scalar(&[BsonType::String]));

field_type!(
    [] char,
    TypeMeta::scalar(&[BsonType::String]).with_rules(&[Rule::Length { min: Some(1), max: Some(1) }])
);
// A `u32` for the length, a byte for the subtype and 16 bytes.
field_type!([] Uuid, TypeMeta::scalar(&[BsonType::Binary]).with_rules(&[Rule::Bytes { max: 21 }]), |uuid| Some(Bson::Binary((*uuid).into())));

macro_rules! map_keys {
    ($($type:ty),*) => {
        $(impl MapKey for $type {})*
    };
}

map_keys!(String, Box<str>, Arc<str>, Rc<str>, &str, Cow<'_, str>);

field_type!([] Bson, TypeMeta::ANY);
field_type!([] RawBson, TypeMeta::ANY);
field_type!([] Document, TypeMeta::of(Shape::Map(&TypeMeta::ANY)));
field_type!([] RawDocumentBuf, TypeMeta::of(Shape::Map(&TypeMeta::ANY)));
field_type!([] RawArrayBuf, array(&TypeMeta::ANY, None, false));

field_type!([T: FieldType] Vec<T>, array(&T::TYPE, None, false));
field_type!([T: FieldType] Box<[T]>, array(&T::TYPE, None, false));
field_type!([T: FieldType] Arc<[T]>, array(&T::TYPE, None, false));
field_type!([T: FieldType] Rc<[T]>, array(&T::TYPE, None, false));
field_type!([T: FieldType + Clone] Cow<'_, [T]>, array(&T::TYPE, None, false));
field_type!([T: FieldType] VecDeque<T>, array(&T::TYPE, None, false));
field_type!([T: FieldType, const N: usize] [T; N], array(&T::TYPE, Some(N), false));
field_type!([T: FieldType, S] HashSet<T, S>, array(&T::TYPE, None, true));
field_type!([T: FieldType] BTreeSet<T>, array(&T::TYPE, None, true));
field_type!([K: MapKey, V: FieldType, S] HashMap<K, V, S>, TypeMeta::map(&V::TYPE, &[Rule::Keys(K::KEYS)]));
field_type!([K: MapKey, V: FieldType] BTreeMap<K, V>, TypeMeta::map(&V::TYPE, &[Rule::Keys(K::KEYS)]));
field_type!([A: FieldType] (A,), array(&A::TYPE, Some(1), false));
field_type!(
    [A: FieldType, B: FieldType] (A, B),
    TypeMeta::of(Shape::Tuple(&[A::TYPE, B::TYPE]))
);
field_type!(
    [A: FieldType, B: FieldType, C: FieldType] (A, B, C),
    TypeMeta::of(Shape::Tuple(&[A::TYPE, B::TYPE, C::TYPE]))
);
field_type!(
    [A: FieldType, B: FieldType, C: FieldType, D: FieldType] (A, B, C, D),
    TypeMeta::of(Shape::Tuple(&[A::TYPE, B::TYPE, C::TYPE, D::TYPE]))
);

const fn array(element: &'static TypeMeta, len: Option<usize>, unique: bool) -> TypeMeta {
    TypeMeta::of(Shape::Array {
        element,
        len,
        unique,
    })
}

impl<T: FieldType> FieldType for Option<T> {
    const TYPE: TypeMeta = T::TYPE.optional();
    const FIELDS: &'static [FieldMeta] = T::FIELDS;
    type Handle<M, As> = T::Handle<M, As>;

    #[inline]
    fn handle<M, As>(path: Path) -> Self::Handle<M, As> {
        T::handle(path.of_option())
    }

    #[inline]
    fn stored(value: &Self) -> Option<Bson> {
        value.as_ref().and_then(T::stored)
    }
}

#[cfg(test)]
mod tests;
