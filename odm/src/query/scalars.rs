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
    RawDocumentBuf, Regex, Timestamp, Uuid,
};

use crate::model::{BsonType, Contents, FieldMeta, FieldType, MapKey, Path, Shape, TypeMeta};

/// Implements `FieldType` for a type whose handle is the plain [`Field`].
macro_rules! field_type {
    ([$($generics:tt)*] $type:ty, $meta:expr $(; fields: $fields:expr)? $(, $stored:expr)?) => {
        impl<$($generics)*> $crate::model::FieldType for $type {
            const TYPE: $crate::model::TypeMeta = $meta;
            $(const FIELDS: &'static [$crate::model::FieldMeta] = $fields;)?
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
    Double: f32, f64;
    String: String, Box<str>, Arc<str>, Rc<str>, &str, Cow<'_, str>, char;
    Bool: bool;
    Null: ();
    Regex: Regex;
    JavaScriptWithScope: JavaScriptCodeWithScope;
    Int: i8, i16, i32, u8, u16, NonZeroI8, NonZeroI16, NonZeroI32, NonZeroU8, NonZeroU16;
    Long: i64, isize, u32, u64, usize, NonZeroI64, NonZeroU32, NonZeroU64, NonZeroUsize;
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
    Binary: Uuid => |uuid: &Uuid| Bson::Binary((*uuid).into());
    Binary: Binary => |binary: &Binary| Bson::Binary(binary.clone());
}

macro_rules! map_keys {
    ($($type:ty),*) => {
        $(impl MapKey for $type {})*
    };
}

map_keys!(String, Box<str>, Arc<str>, Rc<str>, &str, Cow<'_, str>);

field_type!([] Bson, TypeMeta::ANY);
field_type!([] RawBson, TypeMeta::ANY);
field_type!([] Document, map(&TypeMeta::ANY));
field_type!([] RawDocumentBuf, map(&TypeMeta::ANY));
field_type!([] RawArrayBuf, array(&TypeMeta::ANY, None, false));

field_type!([T: FieldType] Vec<T>, array(&T::TYPE, None, false));
field_type!([T: FieldType] VecDeque<T>, array(&T::TYPE, None, false));
field_type!([T: FieldType, const N: usize] [T; N], array(&T::TYPE, Some(N), false));
field_type!([T: FieldType, S] HashSet<T, S>, array(&T::TYPE, None, true));
field_type!([T: FieldType] BTreeSet<T>, array(&T::TYPE, None, true));
field_type!([K: MapKey, V: FieldType, S] HashMap<K, V, S>, map(&V::TYPE));
field_type!([K: MapKey, V: FieldType] BTreeMap<K, V>, map(&V::TYPE));
field_type!([A: FieldType] (A,), array(&A::TYPE, Some(1), false));
field_type!([A: FieldType, B: FieldType] (A, B), tuple(2, A::TYPE.contents.and(B::TYPE.contents)));
field_type!(
    [A: FieldType, B: FieldType, C: FieldType] (A, B, C),
    tuple(3, A::TYPE.contents.and(B::TYPE.contents).and(C::TYPE.contents))
);
field_type!(
    [A: FieldType, B: FieldType, C: FieldType, D: FieldType] (A, B, C, D),
    tuple(4, A::TYPE.contents.and(B::TYPE.contents).and(C::TYPE.contents).and(D::TYPE.contents))
);

// a plain handle, so that a model can contain itself: `fields()` reaches inside
field_type!([T: FieldType] Box<T>, T::TYPE; fields: T::FIELDS, |value| T::stored(value));
field_type!([T: FieldType] Arc<T>, T::TYPE; fields: T::FIELDS, |value| T::stored(value));
field_type!([T: FieldType] Rc<T>, T::TYPE; fields: T::FIELDS, |value| T::stored(value));

const fn map(value: &'static TypeMeta) -> TypeMeta {
    TypeMeta::of(Shape::Map(value))
}

const fn array(element: &'static TypeMeta, len: Option<usize>, unique: bool) -> TypeMeta {
    TypeMeta::of(Shape::Array {
        element,
        len,
        unique,
    })
}

/// An array of several types.
const fn tuple(len: usize, contents: Contents) -> TypeMeta {
    array(&TypeMeta::ANY, Some(len), false).holding(contents.enclosed())
}

impl<T: FieldType> FieldType for Option<T> {
    const TYPE: TypeMeta = T::TYPE.optional();
    const FIELDS: &'static [FieldMeta] = T::FIELDS;
    type Handle<M, As> = T::Handle<M, As>;

    #[inline]
    fn handle<M, As>(path: Path) -> Self::Handle<M, As> {
        T::handle(path)
    }

    #[inline]
    fn stored(value: &Self) -> Option<Bson> {
        value.as_ref().and_then(T::stored)
    }
}

#[cfg(test)]
mod tests;
