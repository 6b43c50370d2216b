//! Metadata for the tests of this module, as a derive would write it.

use crate::model::field::{EmbeddedMeta, FieldMeta, Presence};
use crate::model::{BsonType, KeyKind, KeyMeta, ModelMeta, Rule, Shape, TypeMeta};

pub(crate) const INT: TypeMeta = TypeMeta::scalar(&[BsonType::Int]);
pub(crate) const STRING: TypeMeta = TypeMeta::scalar(&[BsonType::String]);
pub(crate) const DATE: TypeMeta = TypeMeta::scalar(&[BsonType::Date]);

pub(crate) const fn field(name: &'static str, ty: TypeMeta, rules: &'static [Rule]) -> FieldMeta {
    FieldMeta {
        presence: Presence::Always,
        rules,
        ..FieldMeta::always(name, name, ty)
    }
}

pub(crate) const fn shape(shape: Shape) -> TypeMeta {
    TypeMeta::of(shape)
}

pub(crate) const fn array(element: &'static TypeMeta) -> TypeMeta {
    shape(Shape::Array {
        element,
        len: None,
        unique: false,
    })
}

pub(crate) const fn object(name: &'static str, fields: &'static [FieldMeta]) -> EmbeddedMeta {
    EmbeddedMeta {
        fields,
        ..EmbeddedMeta::of(name)
    }
}

/// A model without rules, indexes and options.
pub(crate) const fn model(embedded: fn() -> &'static EmbeddedMeta) -> ModelMeta {
    ModelMeta {
        name: "M",
        collection: "m",
        embedded,
        ..ModelMeta::EMPTY
    }
}

pub(crate) const fn key(path: &'static [&'static str], kind: KeyKind) -> KeyMeta {
    KeyMeta { path, kind }
}
