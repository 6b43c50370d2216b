//! The model's declaration at the path of a sort key.

use crate::model::field::EmbeddedMeta;
use crate::model::{BsonType, ModelMeta, Shape, TypeMeta};

/// The kind of value that the model declares at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Declared {
    /// A list stands at the path or on its way.
    List,
    /// One value, which the struct writes as it read it, unless it is a default.
    Exact,
    /// One value, which a conversion may have changed.
    Single,
    /// Anything.
    Open,
}

pub(super) fn declared(model: &ModelMeta, path: &str) -> Declared {
    let names: Vec<&str> = path.split('.').collect();
    in_struct((model.embedded)(), &names)
}

fn in_struct(meta: &EmbeddedMeta, names: &[&str]) -> Declared {
    let [name, inside @ ..] = names else {
        return Declared::Open;
    };
    if meta.variants.is_some() {
        return Declared::Open;
    }
    let mut fields = meta.fields.iter();
    if let Some(field) = fields.find(|field| !field.flatten && field.name == *name) {
        return in_type(&field.ty, inside);
    }
    let flattened = meta.fields.iter().filter(|field| field.flatten);
    let mut inside = flattened.map(|field| in_type(&field.ty, names));
    inside
        .find(|declared| *declared != Declared::Open)
        .unwrap_or(Declared::Open)
}

fn in_type(ty: &TypeMeta, names: &[&str]) -> Declared {
    match (ty.shape, names) {
        (Shape::Array { .. }, _) | (Shape::Tuple(_), []) => Declared::List,
        (Shape::Embedded(meta), names) => in_struct(meta(), names),
        (Shape::Reference { id, .. }, names) => in_type(id, names),
        (Shape::Map(element), [_, inside @ ..]) => match in_type(element, inside) {
            Declared::Exact => Declared::Single,
            declared => declared,
        },
        (Shape::OneOf(_), []) => Declared::Exact,
        (Shape::Scalar(types), []) if types.iter().all(|ty| is_exact(*ty)) => Declared::Exact,
        (Shape::Scalar(types), []) if !types.contains(&BsonType::Array) => Declared::Single,
        _ => Declared::Open,
    }
}

/// Whether Rust types read a value of this type without rounding it.
fn is_exact(ty: BsonType) -> bool {
    matches!(
        ty,
        BsonType::String
            | BsonType::ObjectId
            | BsonType::Bool
            | BsonType::Date
            | BsonType::Int
            | BsonType::Long
            | BsonType::Null
    )
}
