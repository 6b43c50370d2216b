//! The types of scalars.

use crate::pull::item::{ANY, Type};
use crate::pull::shape::{Kind, Shape};

/// The type of values that are neither documents nor arrays; of others, or of several types, that of any value.
pub(in crate::pull) fn scalar(shape: &Shape) -> Type {
    let mut types = shape.types();
    let Some(first) = types.clone().next() else {
        return ANY;
    };
    if types.clone().nth(1).is_none() {
        return one(first);
    }
    let is_integer = |kind: Kind| matches!(kind, Kind::Int | Kind::Long);
    if types.clone().all(is_integer) {
        return Type::Plain("i64");
    }
    if types.all(|kind| is_integer(kind) || kind == Kind::Double) && !shape.exceeds_double {
        return Type::Plain("f64");
    }
    ANY
}

fn one(kind: Kind) -> Type {
    Type::Plain(match kind {
        Kind::Double => "f64",
        Kind::String => "String",
        Kind::Binary => "bson::Binary",
        Kind::Uuid => "bson::Uuid",
        Kind::ObjectId => "ObjectId",
        Kind::Bool => "bool",
        Kind::Date => "DateTime",
        Kind::Regex => "bson::Regex",
        Kind::JavaScriptWithScope => "bson::JavaScriptCodeWithScope",
        Kind::Int => "i32",
        Kind::Timestamp => "bson::Timestamp",
        Kind::Long => "i64",
        Kind::Decimal => "bson::Decimal128",
        Kind::Document
        | Kind::DbRef
        | Kind::Array
        | Kind::Null
        | Kind::JavaScript
        | Kind::MinKey
        | Kind::MaxKey
        | Kind::Deprecated => "bson::Bson",
    })
}
