//! Checks of field types, evaluated when a model is compiled.

use crate::model::{BsonType, Shape, TypeMeta};

/// Whether the type is an array.
pub const fn is_list(ty: &TypeMeta) -> bool {
    matches!(ty.shape, Shape::Array { .. } | Shape::Tuple(_))
}

/// Whether the type is not an array.
pub const fn is_no_list(ty: &TypeMeta) -> bool {
    !is_list(ty)
}

/// Whether every document has one value of the type: it is neither null nor an array.
pub const fn is_one_value(ty: &TypeMeta) -> bool {
    !ty.nullable && !is_list(ty) && !matches!(ty.shape, Shape::Any)
}

/// Whether the type is not a map.
pub const fn is_no_map(ty: &TypeMeta) -> bool {
    !matches!(ty.shape, Shape::Map(_))
}

/// Whether the type has fields, declared or not.
pub const fn has_fields(ty: &TypeMeta) -> bool {
    match ty.shape {
        Shape::Embedded(_) | Shape::Map(_) => true,
        Shape::Reference { id, .. } => has_fields(id),
        _ => false,
    }
}

/// Whether the type is a list or a map, whose number of elements can be bounded.
pub const fn has_elements(ty: &TypeMeta) -> bool {
    matches!(
        ty.shape,
        Shape::Array { .. } | Shape::Tuple(_) | Shape::Map(_)
    )
}

/// Whether serde can write a tag among the fields of a value of the type.
pub const fn takes_a_tag(ty: &TypeMeta) -> bool {
    match ty.shape {
        Shape::Any | Shape::Scalar([BsonType::Null]) => true,
        _ => has_fields(ty) && !ty.nullable,
    }
}

/// Whether the type, or the type of the elements, is a number. An unknown type may be one, and counts.
pub const fn is_number(ty: &TypeMeta) -> bool {
    all_of(
        ty,
        &[
            BsonType::Int,
            BsonType::Long,
            BsonType::Double,
            BsonType::Decimal,
        ],
    )
}

/// Whether the type is known to be a single number that is never null.
pub const fn is_one_number(ty: &TypeMeta) -> bool {
    !ty.nullable && matches!(ty.shape, Shape::Scalar(_)) && is_number(ty)
}

/// Whether the type is known to hold the mean of some numbers, or none.
pub const fn is_mean(ty: &TypeMeta) -> bool {
    ty.nullable
        && matches!(ty.shape, Shape::Scalar(_))
        && all_of(ty, &[BsonType::Double, BsonType::Decimal])
}

/// Whether the type can be null.
pub const fn is_nullable(ty: &TypeMeta) -> bool {
    ty.nullable
}

/// Whether the type is a single integer that is never null. An unknown type may be one, and counts.
pub const fn is_integer(ty: &TypeMeta) -> bool {
    !ty.nullable && !is_list(ty) && all_of(ty, &[BsonType::Int, BsonType::Long])
}

/// Whether the type, or the type of the elements, is a date. An unknown type may be one, and counts.
pub const fn is_date(ty: &TypeMeta) -> bool {
    all_of(ty, &[BsonType::Date])
}

/// Whether the type is a single date. An unknown type may be one, and counts.
pub const fn is_one_date(ty: &TypeMeta) -> bool {
    !is_list(ty) && is_date(ty)
}

/// Whether the type is a single date that is never null. An unknown type may be one, and counts.
pub const fn is_start_date(ty: &TypeMeta) -> bool {
    !ty.nullable && is_one_date(ty)
}

/// Whether the type is a single number or date, or none. An unknown type may be one, and counts.
pub const fn is_measure(ty: &TypeMeta) -> bool {
    !is_list(ty) && (is_number(ty) || is_date(ty))
}

/// Whether the type can hold an `_id` that MongoDB makes.
pub const fn is_object_id(ty: &TypeMeta) -> bool {
    match ty.shape {
        Shape::Any => true,
        Shape::Scalar(types) => contains(types, BsonType::ObjectId),
        Shape::Reference { id, .. } => is_object_id(id),
        _ => false,
    }
}

/// Whether a total of the one type can add up numbers of the other: it has all of their digits before the point.
pub const fn can_total(total: &TypeMeta, source: &TypeMeta) -> bool {
    if is_list(source) || !is_number(source) {
        return false;
    }
    let Shape::Scalar(types) = total.shape else {
        return true;
    };
    if contains(types, BsonType::Decimal) {
        return true;
    }
    if contains(types, BsonType::Double) {
        return all_of(source, &[BsonType::Int, BsonType::Long, BsonType::Double]);
    }
    all_of(source, &[BsonType::Int, BsonType::Long])
}

/// Whether the type, or the type of the elements, is known to be a date.
pub const fn is_known_date(ty: &TypeMeta) -> bool {
    !holds_anything(ty) && is_date(ty)
}

/// Whether the type is known to be a single date.
pub const fn is_known_one_date(ty: &TypeMeta) -> bool {
    !is_list(ty) && is_known_date(ty)
}

const fn holds_anything(ty: &TypeMeta) -> bool {
    match ty.shape {
        Shape::Any | Shape::Tuple(_) => true,
        Shape::Array { element, .. } => holds_anything(element),
        _ => false,
    }
}

/// Whether the type, or the type of the elements, is a string. An unknown type may be one, and counts.
pub const fn is_text(ty: &TypeMeta) -> bool {
    all_of(ty, &[BsonType::String])
}

/// Whether the type is a list of strings. An unknown type of elements may be one, and counts.
pub const fn is_list_of_text(ty: &TypeMeta) -> bool {
    match ty.shape {
        Shape::Array { element, .. } => is_text(element) && !is_list(element),
        Shape::Tuple(_) => true,
        _ => false,
    }
}

/// Whether the type can be a list of documents.
pub const fn may_hold_documents(ty: &TypeMeta) -> bool {
    match ty.shape {
        Shape::Any => true,
        Shape::Array { element, .. } => {
            matches!(
                element.shape,
                Shape::Any | Shape::Embedded(_) | Shape::Map(_)
            )
        }
        _ => false,
    }
}

/// Whether a geospatial index may find a place in the type: in a subdocument, or in an array of two numbers.
pub const fn may_hold_place(ty: &TypeMeta) -> bool {
    match ty.shape {
        Shape::Scalar(types) => {
            contains(types, BsonType::Object)
                || contains(types, BsonType::Array)
                || matches!(types, [BsonType::Null])
        }
        Shape::OneOf(_) => false,
        Shape::Reference { id, .. } => may_hold_place(id),
        _ => true,
    }
}

/// Whether a text index finds strings in the type.
pub const fn may_hold_text(ty: &TypeMeta) -> bool {
    match ty.shape {
        Shape::OneOf(_) | Shape::Map(_) => true,
        Shape::Array { element: ty, .. } | Shape::Reference { id: ty, .. } => may_hold_text(ty),
        _ => is_text(ty),
    }
}

/// Whether a value of the one type, or an element of it, can be equal to a value of the other.
pub(super) const fn may_be_equal(one: &TypeMeta, other: &TypeMeta) -> bool {
    match (one.shape, other.shape) {
        (Shape::Array { element, .. }, _) => may_be_equal(element, other),
        (Shape::Scalar(mut rest), Shape::Scalar(others)) => {
            while let [one, behind @ ..] = rest {
                if contains(others, *one) {
                    return true;
                }
                rest = behind;
            }
            false
        }
        _ => true,
    }
}

/// Whether both types may be stored alike: lists as lists, and scalars as the same types.
pub(super) const fn may_be_alike(one: &TypeMeta, other: &TypeMeta) -> bool {
    match (one.shape, other.shape) {
        (Shape::Array { element, .. }, Shape::Array { element: other, .. }) => {
            may_be_alike(element, other)
        }
        (Shape::Array { .. }, Shape::Scalar(_)) | (Shape::Scalar(_), Shape::Array { .. }) => false,
        _ => may_be_equal(one, other),
    }
}

/// Whether every value of the type, or of its elements, is of one of `types`.
const fn all_of(ty: &TypeMeta, types: &[BsonType]) -> bool {
    match ty.shape {
        // A value of the tuple may be one, and counts.
        Shape::Any | Shape::Tuple(_) => true,
        Shape::Array { element: ty, .. } | Shape::Reference { id: ty, .. } => all_of(ty, types),
        Shape::Scalar(mut rest) => {
            while let [one, behind @ ..] = rest {
                if !contains(types, *one) {
                    return false;
                }
                rest = behind;
            }
            true
        }
        Shape::OneOf(_) | Shape::Map(_) | Shape::Embedded(_) => false,
    }
}

const fn contains(mut types: &[BsonType], one: BsonType) -> bool {
    while let [first, behind @ ..] = types {
        if *first as u8 == one as u8 {
            return true;
        }
        types = behind;
    }
    false
}
