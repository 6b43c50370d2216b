//! Expressions that compute what a bucket keeps of its items.
//!
//! Checks, repairs, deletes and summaries use the same expressions, so that they agree with each other.

use bson::{Bson, Document, doc};

use super::interval::{Interval, PointKind};
use crate::model::bucket::{BucketShape, KeptField, KeptKind};
use crate::model::types::TypeMeta;
use crate::model::{BsonType, Shape};

/// Whether the time of `$$item` is in the interval. Expressions compare values of all types: null is less than a date.
pub(super) fn is_within(shape: &BucketShape, interval: &Interval) -> Document {
    let time = format!("$$item.{}", shape.time);
    let ends = interval.from.or(interval.to);
    let mut all = Vec::new();
    if let Some(end) = ends {
        all.push(if end.kind == PointKind::Date {
            doc! {"$eq": [{"$type": &time}, "date"]}
        } else {
            doc! {"$isNumber": &time}
        });
    }
    for (operator, value) in interval.operators() {
        all.push(doc! {operator: [&time, value]});
    }
    doc! {"$and": all}
}

/// The list of items, or an empty one where another program has stored something else.
pub(super) fn items(shape: &BucketShape) -> Bson {
    let items = format!("${}", shape.meta.items);
    doc! {"$cond": [{"$isArray": [&items]}, &items, []]}.into()
}

/// How many items a list has.
pub(super) fn count(shape: &BucketShape, items: impl Into<Bson>) -> Bson {
    converted(doc! {"$size": items.into()}.into(), shape.count)
}

/// The value that is kept of a list of items.
pub(super) fn kept(field: &KeptField, items: impl Into<Bson>) -> Bson {
    let value = format!("$$item.{}", field.source);
    let values = doc! {"$map": {"input": items.into(), "as": "item", "in": value}};
    match field.meta.kind {
        KeptKind::Total => {
            // MongoDB adds doubles and decimals as decimals, and integers beyond 64 bits as doubles.
            let total = if let [BsonType::Decimal] = types(field.ty) {
                let number = doc! {"$isNumber": "$$value"};
                let decimal = doc! {"$cond": [number, {"$toDecimal": "$$value"}, 0]};
                doc! {"$sum": {"$map": {"input": values, "as": "value", "in": decimal}}}
            } else {
                doc! {"$sum": values}
            };
            converted(total.into(), field.ty)
        }
        KeptKind::Smallest => doc! {"$min": measures(field, values)}.into(),
        KeptKind::Largest => doc! {"$max": measures(field, values)}.into(),
    }
}

/// The values of the type that is compared: a string would be larger than every number.
fn measures(field: &KeptField, values: Document) -> Document {
    let is_date = types(field.ty).contains(&BsonType::Date);
    let fits = if is_date {
        doc! {"$eq": [{"$type": "$$value"}, "date"]}
    } else if matches!(field.ty.shape, Shape::Any) {
        return values;
    } else {
        doc! {"$isNumber": "$$value"}
    };
    doc! {"$filter": {"input": values, "as": "value", "cond": fits}}
}

/// A number as the type that a field declares, if it fits.
fn converted(number: Bson, ty: &TypeMeta) -> Bson {
    let to = match types(ty) {
        [BsonType::Int] => "int",
        [BsonType::Long] => "long",
        [BsonType::Double] => "double",
        [BsonType::Decimal] => "decimal",
        _ => return number,
    };
    doc! {"$convert": {"input": &number, "to": to, "onError": &number}}.into()
}

/// The types of a scalar.
pub(super) fn types(ty: &TypeMeta) -> &'static [BsonType] {
    match ty.shape {
        Shape::Scalar(types) => types,
        _ => &[],
    }
}

/// A stage that computes all kept fields anew from the stored items.
pub(super) fn stage(shape: &BucketShape) -> Document {
    let items = items(shape);
    let mut set = doc! {shape.meta.count: count(shape, items.clone())};
    for field in &shape.kept {
        set.insert(field.meta.name, kept(field, items.clone()));
    }
    doc! {"$set": set}
}
