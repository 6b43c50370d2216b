//! `$cmp $eq $gt $gte $lt $lte $ne`, and `$not`.

use std::cmp::Ordering;

use bson::raw::RawBson;

use crate::engine::expression::operator::{Args, Operator, Outcome, Shape, owned};
use crate::engine::expression::value::Value;
use crate::value::order;

/// Sorted by name.
pub(super) const OPERATORS: &[Operator] = &[
    row("$cmp", |args| owned(ordering(args) as i32)),
    row("$eq", |args| owned(ordering(args).is_eq())),
    row("$gt", |args| owned(ordering(args).is_gt())),
    row("$gte", |args| owned(ordering(args).is_ge())),
    row("$lt", |args| owned(ordering(args).is_lt())),
    row("$lte", |args| owned(ordering(args).is_le())),
    row("$ne", |args| owned(ordering(args).is_ne())),
    Operator {
        name: "$not",
        shape: Shape::Listed(1, 1),
        eval: |args| {
            owned(RawBson::Boolean(
                !args.values.first().is_some_and(Value::truthy),
            ))
        },
    },
];

const fn row(name: &'static str, eval: for<'a> fn(&mut Args<'a>) -> Outcome<'a>) -> Operator {
    Operator {
        name,
        shape: Shape::Listed(2, 2),
        eval,
    }
}

/// Missing is below everything, as undefined is, and equal to neither it nor null.
fn ordering(args: &Args<'_>) -> Ordering {
    match (args.get(0), args.get(1)) {
        (None, None) => Ordering::Equal,
        (None, Some(bson::RawBsonRef::MinKey)) => Ordering::Greater,
        (None, Some(_)) | (Some(bson::RawBsonRef::MinKey), None) => Ordering::Less,
        (Some(_), None) => Ordering::Greater,
        (Some(left), Some(right)) => order::compare(left, right, args.globals.collator()),
    }
}
