//! All that generated code may name; no part of the public API.

pub use std::string::String;

pub use bson::Bson;
pub use serde::de::DeserializeOwned;
pub use serde::{Serialize, Serializer};

pub use crate::error::Result;
pub use crate::model::field::VariantContent;
pub use crate::model::rule::Number;
pub use crate::model::{
    Bound, BsonType, Capped, CollationMeta, Document, Embedded, EmbeddedMeta, EnumMeta,
    ExpressionRule, FieldMeta, FieldType, IndexMeta, KeyKind, KeyMeta, ModelMeta, Path, Presence,
    Projection, Rule, Tagging, TypeMeta, ValidationAction, ValidationLevel, VariantMeta,
};
pub use crate::query::{Descend, Encode, Field};

use crate::model::Shape;
use crate::query::Filter;

/// A field that every document has, without rules.
pub const fn field(rust: &'static str, name: &'static str, ty: TypeMeta) -> FieldMeta {
    FieldMeta {
        rust,
        name,
        ty,
        presence: Presence::Always,
        flatten: false,
        rules: &[],
    }
}

/// An index without options.
pub const fn index(keys: &'static [KeyMeta]) -> IndexMeta {
    IndexMeta {
        name: None,
        keys,
        unique: false,
        sparse: false,
        hidden: false,
        partial: None,
        expire_after_seconds: None,
        collation: None,
        default_language: None,
        language_override: None,
        wildcard_projection: &[],
    }
}

/// The type of a derived struct or enum.
pub const fn embedded<T: Embedded>() -> TypeMeta {
    TypeMeta {
        shape: Shape::Embedded(T::meta),
        nullable: false,
    }
}

/// The type of an enum whose variants hold nothing.
pub const fn choice(names: &'static [&'static str]) -> TypeMeta {
    TypeMeta {
        shape: Shape::OneOf(names),
        nullable: false,
    }
}

/// The type of a tuple struct: an array of a fixed length.
pub const fn tuple(len: usize) -> TypeMeta {
    TypeMeta {
        shape: Shape::Array {
            element: &TypeMeta::ANY,
            len: Some(len),
            unique: false,
        },
        nullable: false,
    }
}

/// The document of a filter that an attribute gives.
pub fn filter<M: Embedded, F>(make: F) -> Result<bson::Document>
where
    F: FnOnce(M::Fields<M>) -> Filter<M>,
{
    make(M::fields(Path::root())).to_document()
}

/// A function that serializes values of type `T`, as a type.
pub trait SerializeWith<T: ?Sized> {
    /// Calls it.
    fn serialize<S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error>;
}

/// Encodes a value by such a function.
pub fn encode_with<T: ?Sized, E: SerializeWith<T>>(value: &T) -> Result<Bson> {
    struct With<'a, T: ?Sized, E>(&'a T, std::marker::PhantomData<E>);
    impl<T: ?Sized, E: SerializeWith<T>> Serialize for With<'_, T, E> {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            E::serialize(self.0, serializer)
        }
    }
    crate::query::encode(&With::<T, E>(value, std::marker::PhantomData))
}

/// Implements for a newtype the marker traits that its inner type has.
#[doc(hidden)]
#[macro_export]
macro_rules! __odm_forward {
    ([$($parameters:tt)*] [$($this:tt)*] [$inner:ty] [$($predicates:tt)*]) => {};
}
pub use crate::__odm_forward as forward;

#[cfg(test)]
mod tests;
