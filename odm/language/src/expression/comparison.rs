//! `$cmp $eq $gt $gte $lt $lte $ne`, and `$not`.

use std::cmp::Ordering;

use bson::raw::{RawBson, RawBsonRef};

use crate::expression::operator::{Args, Operator, listed, owned};
use crate::expression::value::Value;
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

/// A missing value compares as undefined: below everything but `MinKey`.
fn ordering(args: &Args<'_>) -> Ordering {
    let side = |index| args.get(index).unwrap_or(RawBsonRef::Undefined);
    order::compare(side(0), side(1), args.globals.collator())
}
