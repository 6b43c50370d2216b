//! `$cmp $eq $gt $gte $lt $lte $ne`, and `$not`.

use std::cmp::Ordering;

use bson::raw::RawBson;

use crate::engine::expression::operator::{Args, Operator, listed, owned};
use crate::engine::expression::value::Value;
use crate::value::order;

/// Sorted by name.
pub(super) const OPERATORS: &[Operator] = &[
    listed("$cmp", 2, 2, |args| owned(ordering(args) as i32)),
    listed("$eq", 2, 2, |args| owned(ordering(args).is_eq())),
    listed("$gt", 2, 2, |args| owned(ordering(args).is_gt())),
    listed("$gte", 2, 2, |args| owned(ordering(args).is_ge())),
    listed("$lt", 2, 2, |args| owned(ordering(args).is_lt())),
    listed("$lte", 2, 2, |args| owned(ordering(args).is_le())),
    listed("$ne", 2, 2, |args| owned(ordering(args).is_ne())),
    listed("$not", 1, 1, |args| {
        owned(RawBson::Boolean(
            !args.values.first().is_some_and(Value::truthy),
        ))
    }),
];

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
