//! The array operators.

use std::cmp::Ordering;

use bson::raw::{RawArray, RawArrayBuf, RawBson, RawBsonRef, RawDocumentBuf};
use bson::spec::ElementType;

use crate::error::{Code, ServerError, refuse};
use crate::expression::compat::messages;
use crate::expression::memory_limit;
use crate::expression::named::{BareArgument, Named, UNKNOWN_ARGUMENT, Wording};
use crate::expression::operator::{
    ANY, Args, ArgumentForm, Operator, Outcome, count, integral_32, listed, null, owned, row,
};
use crate::expression::sort::ElementOrder;
use crate::expression::string::bounds;
use crate::expression::value::Value;
use crate::value::number::Number;
use crate::value::order;
use crate::value::raw::append;
use crate::value::raw::{elements, get, values};

/// Sorted by name.
pub(super) const OPERATORS: &[Operator] = &[
    listed("$allElementsTrue", 1, 1, |args| every(args, true)),
    listed("$anyElementTrue", 1, 1, |args| every(args, false)),
    listed("$arrayElemAt", 2, 2, element_at),
    listed("$arrayToObject", 1, 1, to_object),
    listed("$concatArrays", 0, ANY, concat),
    listed("$first", 1, 1, |args| end(args, true)),
    listed("$in", 2, 2, contains),
    listed("$indexOfArray", 2, 4, index_of),
    listed("$isArray", 1, 1, |args| {
        owned(matches!(args.get(0), Some(RawBsonRef::Array(_))))
    }),
    listed("$last", 1, 1, |args| end(args, false)),
    listed("$range", 2, 3, range),
    listed("$reverseArray", 1, 1, reverse),
    listed("$size", 1, 1, size),
    listed("$slice", 2, 3, slice),
    row(
        "$sortArray",
        ArgumentForm::Named(&Named {
            names: &["input", "sortBy"],
            required: &[("input", 2_942_502), ("sortBy", 2_942_503)],
            unknown: (2_942_501, UNKNOWN_ARGUMENT),
            bare: BareArgument::Refused(
                2_942_500,
                Wording("<operator> requires an object as an argument, found: <type>"),
            ),
            ..Named::DEFAULT
        }),
        sort,
    ),
];

fn array<'v>(args: &'v Args<'_>, index: usize) -> Option<&'v RawArray> {
    match args.get(index) {
        Some(RawBsonRef::Array(array)) => Some(array),
        _ => None,
    }
}

fn every<'a>(args: &Args<'a>, all: bool) -> Outcome<'a> {
    let Some(items) = array(args, 0) else {
        return refuse(
            if all { 17040 } else { 17041 },
            format!(
                "{}'s argument must be an array, but is {}",
                args.operator,
                args.type_name(0)
            ),
        );
    };
    let mut truths = values(items).map(|item| Value::Ref(item).truthy());
    owned(if all {
        truths.all(|t| t)
    } else {
        truths.any(|t| t)
    })
}

/// The element at a position; a negative position counts from the end. Missing if out of bounds.
fn at<'a>(args: &mut Args<'a>, position: i32) -> Value<'a> {
    let pick = |items: &RawArray| {
        let index = if position < 0 {
            let back = usize::try_from(position.unsigned_abs()).unwrap_or(usize::MAX);
            values(items).count().checked_sub(back)?
        } else {
            usize::try_from(position).ok()?
        };
        Some(index)
    };
    match args.take(0) {
        Value::Ref(RawBsonRef::Array(items)) => pick(items)
            .and_then(|index| values(items).nth(index))
            .into(),
        Value::Owned(RawBson::Array(items)) => pick(&items)
            .and_then(|index| values(&items).nth(index))
            .map_or(Value::Missing, |item| Value::Owned(item.into())),
        _ => Value::NULL,
    }
}

fn element_at<'a>(args: &mut Args<'a>) -> Outcome<'a> {
    if args.any_nullish() {
        return null();
    }
    if array(args, 0).is_none() {
        return refuse(
            28689,
            format!(
                "$arrayElemAt's first argument must be an array, but is {}",
                args.type_name(0)
            ),
        );
    }
    let index = args.or_null(1);
    if Number::from_raw(index).is_none() {
        return refuse(
            28690,
            format!(
                "$arrayElemAt's second argument must be a numeric value, but is {}",
                args.type_name(1)
            ),
        );
    }
    let Some(position) = integral_32(index) else {
        return refuse(
            28691,
            format!(
                "$arrayElemAt's second argument must be representable as a 32-bit integer: {}",
                coerced(index)
            ),
        );
    };
    Ok(at(args, position))
}

/// A number as a double, as the errors about indexes print it.
fn coerced(value: RawBsonRef<'_>) -> String {
    Number::from_raw(value).map_or_else(String::new, |number| messages::double(number.to_f64()))
}

fn end<'a>(args: &mut Args<'a>, first: bool) -> Outcome<'a> {
    if args.is_nullish(0) {
        return null();
    }
    if array(args, 0).is_none() {
        return refuse(
            28689,
            format!(
                "{}'s argument must be an array, but is {}",
                args.operator,
                args.type_name(0)
            ),
        );
    }
    Ok(at(args, if first { 0 } else { -1 }))
}

fn concat<'a>(args: &mut Args<'a>) -> Outcome<'a> {
    let mut joined = RawArrayBuf::new();
    for index in 0..args.values.len() {
        if args.is_nullish(index) {
            return null();
        }
        match array(args, index) {
            Some(items) => {
                memory_limit::check(
                    args.operator,
                    joined.as_bytes().len() + items.as_bytes().len(),
                )?;
                values(items).for_each(|item| joined.push(item));
            }
            None => {
                return refuse(
                    28664,
                    format!(
                        "$concatArrays only supports arrays, not {}",
                        args.type_name(index)
                    ),
                );
            }
        }
    }
    owned(joined)
}

fn contains<'a>(args: &mut Args<'a>) -> Outcome<'a> {
    let Some(items) = array(args, 1) else {
        return refuse(
            40081,
            format!(
                "$in requires an array as a second argument, found: {}",
                args.type_name(1)
            ),
        );
    };
    let found = args.get(0).is_some_and(|wanted| {
        values(items).any(|item| order::equal(item, wanted, args.globals.collator()))
    });
    owned(found)
}

fn index_of<'a>(args: &mut Args<'a>) -> Outcome<'a> {
    if args.is_nullish(0) {
        return null();
    }
    let Some(items) = array(args, 0) else {
        return refuse(
            40090,
            format!(
                "$indexOfArray requires an array as a first argument, found: {}",
                args.type_name(0)
            ),
        );
    };
    let (start, end) = bounds(args, values(items).count())?;
    let found = values(items)
        .enumerate()
        .take(end)
        .skip(start)
        .find(|(_, item)| {
            args.get(1)
                .is_some_and(|wanted| order::equal(*item, wanted, args.globals.collator()))
        });
    owned(found.map_or(RawBson::Int32(-1), |(index, _)| count(index)))
}

fn range<'a>(args: &mut Args<'a>) -> Outcome<'a> {
    let number = |index: usize, what: &str, code: i32| {
        let value = args.or_null(index);
        if Number::from_raw(value).is_none() {
            return refuse(
                code,
                format!(
                    "$range requires a numeric {what} value, found value of type:{}{}",
                    // mongod's own spelling.
                    if index == 2 { "" } else { " " },
                    args.type_name(index)
                ),
            );
        }
        match integral_32(value) {
            Some(n) => Ok(i64::from(n)),
            None => refuse(
                code + 1,
                format!(
                    "$range requires a{} {what} value that can be represented as a 32-bit integer, found value: {}",
                    if what == "ending" { "n" } else { "" },
                    messages::computed(value)
                ),
            ),
        }
    };
    let start = number(0, "starting", 34443)?;
    let end = number(1, "ending", 34445)?;
    let step = if args.values.len() > 2 {
        number(2, "step", 34447)?
    } else {
        1
    };
    if step == 0 {
        return refuse(34449, "$range requires a non-zero step value");
    }
    let length = ((end - start) / step + i64::from((end - start) % step != 0)).max(0);
    // mongod's memory use: 16 bytes per number, plus the list itself
    let bytes = length * 16 + 40;
    if usize::try_from(bytes).is_ok_and(|bytes| bytes > memory_limit::LIMIT) {
        return Err(memory_limit::exceeded(&format!(
            "$range would use too much memory ({bytes} bytes) and cannot spill to disk. Memory limit: {} bytes",
            memory_limit::LIMIT
        )));
    }
    let mut items = RawArrayBuf::new();
    let mut at = start;
    while (step > 0 && at < end) || (step < 0 && at > end) {
        items.push(i32::try_from(at).unwrap_or_default());
        at += step;
    }
    owned(items)
}

fn reverse<'a>(args: &mut Args<'a>) -> Outcome<'a> {
    if args.is_nullish(0) {
        return null();
    }
    match array(args, 0) {
        Some(items) => {
            let mut items: Vec<_> = values(items).collect();
            items.reverse();
            owned(items.into_iter().collect::<RawArrayBuf>())
        }
        None => refuse(
            34435,
            format!(
                "The argument to $reverseArray must be an array, but was of type: {}",
                args.type_name(0)
            ),
        ),
    }
}

fn size<'a>(args: &mut Args<'a>) -> Outcome<'a> {
    match array(args, 0) {
        Some(items) => owned(count(values(items).count())),
        None => refuse(
            17124,
            format!(
                "The argument to $size must be an array, but was of type: {}",
                args.type_name(0)
            ),
        ),
    }
}

fn slice<'a>(args: &mut Args<'a>) -> Outcome<'a> {
    if args.is_nullish(0) || args.is_nullish(1) {
        return null();
    }
    let Some(items) = array(args, 0) else {
        return refuse(
            28724,
            format!(
                "First argument to $slice must be an array, but is of type: {}",
                args.type_name(0)
            ),
        );
    };
    let number = |index: usize, which: &str, code: i32| {
        let value = args.or_null(index);
        if Number::from_raw(value).is_none() {
            return refuse(
                code,
                format!(
                    "{which} argument to $slice must be {}, but is of type: {}",
                    if index == 1 {
                        "a numeric value"
                    } else {
                        "numeric"
                    },
                    args.type_name(index)
                ),
            );
        }
        integral_32(value).map_or_else(
            || {
                refuse(
                    code + 1,
                    format!(
                        "{which} argument to $slice can't be represented as a 32-bit integer: {}",
                        coerced(value)
                    ),
                )
            },
            |n| Ok(i64::from(n)),
        )
    };
    let length = i64::try_from(values(items).count()).unwrap_or(i64::MAX);
    let second = number(1, "Second", 28725)?;
    let (start, take) = if args.values.len() > 2 {
        if args.is_nullish(2) {
            return null();
        }
        let take = number(2, "Third", 28727)?;
        if take <= 0 {
            return refuse(
                28729,
                format!("Third argument to $slice must be positive: {take}"),
            );
        }
        let start = if second < 0 {
            (length + second).max(0)
        } else {
            second
        };
        (start, take)
    } else if second < 0 {
        ((length + second).max(0), -second)
    } else {
        (0, second)
    };
    let skip = usize::try_from(start).unwrap_or(usize::MAX);
    let take = usize::try_from(take).unwrap_or(usize::MAX);
    owned(values(items).skip(skip).take(take).collect::<RawArrayBuf>())
}

/// Parses the order of `sortBy`, which is not an expression.
pub(super) fn sort_by(by: RawBsonRef<'_>) -> Result<ElementOrder, ServerError> {
    let is_number = Number::from_raw(by).is_some();
    ElementOrder::parse(by).or_else(|error| match by {
        RawBsonRef::Document(_) => refuse(2_942_505, format!("BadValue: {}", error.message())),
        _ if is_number => refuse(2_942_506, error.message()),
        _ => refuse(2_942_507, error.message()),
    })
}

fn sort<'a>(args: &mut Args<'a>) -> Outcome<'a> {
    let order = sort_by(args.or_null(1))?;
    if args.is_nullish(0) {
        return null();
    }
    let Some(items) = array(args, 0) else {
        return refuse(
            2_942_504,
            format!(
                "The input argument to $sortArray must be an array, but was of type: {}",
                args.type_name(0)
            ),
        );
    };
    let mut items: Vec<_> = values(items).collect();
    items.sort_by(|left, right| order.compare(*left, *right, args.globals.collator()));
    owned(items.into_iter().collect::<RawArrayBuf>())
}

fn to_object<'a>(args: &mut Args<'a>) -> Outcome<'a> {
    if args.is_nullish(0) {
        return null();
    }
    let Some(items) = array(args, 0) else {
        return refuse(
            40386,
            format!(
                "$arrayToObject requires an array input, found: {}",
                args.type_name(0)
            ),
        );
    };
    let mut fields: Vec<(&str, RawBsonRef<'_>)> = Vec::new();
    // The type of the first element, which all others must share.
    let mut first = None;
    for item in values(items) {
        let is_other = first.is_some_and(|first| first != item.element_type());
        if is_other {
            let (code, shown) = match first {
                Some(ElementType::Array) => (40396, "Array"),
                _ => (40391, "Object"),
            };
            return refuse(
                code,
                format!(
                    "$arrayToObject requires a consistent input format. Elements mustall be arrays or all be objects. {shown} was detected, now found: {}",
                    messages::type_name(Some(item))
                ),
            );
        }
        first = Some(item.element_type());
        let (key, value) = match item {
            RawBsonRef::Array(pair) => array_pair(pair)?,
            RawBsonRef::Document(document) => object_pair(document)?,
            other => {
                return refuse(
                    40398,
                    format!(
                        "Unrecognised input type format for $arrayToObject: {}",
                        messages::type_name(Some(other))
                    ),
                );
            }
        };
        if key.contains('\0') {
            let code = match first {
                Some(ElementType::Array) => 4_940_400,
                _ => 4_940_401,
            };
            return refuse(code, "Key field cannot contain an embedded null byte");
        }
        match fields.iter_mut().find(|(known, _)| *known == key) {
            Some((_, slot)) => *slot = value,
            None => fields.push((key, value)),
        }
    }
    let mut document = RawDocumentBuf::new();
    for (key, value) in fields {
        append(&mut document, key, value);
    }
    owned(document)
}

fn array_pair(pair: &RawArray) -> Result<(&str, RawBsonRef<'_>), ServerError> {
    let items: Vec<_> = values(pair).collect();
    match items.as_slice() {
        [RawBsonRef::String(key), value] => Ok((key, *value)),
        [other, _] => refuse(
            40395,
            format!(
                "$arrayToObject requires an array of key-value pairs, where the key must be of type string. Found key type: {}",
                messages::type_name(Some(*other))
            ),
        ),
        _ => refuse(
            40397,
            format!(
                "$arrayToObject requires an array of size 2 arrays,found array of size: {}",
                items.len()
            ),
        ),
    }
}

fn object_pair(document: &bson::raw::RawDocument) -> Result<(&str, RawBsonRef<'_>), ServerError> {
    let size = elements(document).count();
    if size != 2 {
        return refuse(
            40392,
            format!(
                "$arrayToObject requires an object keys of 'k' and 'v'. Found incorrect number of keys:{size}"
            ),
        );
    }
    match (get(document, "k"), get(document, "v")) {
        (Some(RawBsonRef::String(key)), Some(value)) => Ok((key, value)),
        (Some(other), Some(_)) => refuse(40394, format!("$arrayToObject requires an object with keys 'k' and 'v', where the value of 'k' must be of type string. Found type: {}", messages::type_name(Some(other)))),
        _ => Err(ServerError::new(Code::location(40393), "$arrayToObject requires an object with keys 'k' and 'v'. Missing either or both keys from: ".to_owned() + &messages::computed(RawBsonRef::Document(document)))),
    }
}

/// Keeps the first of equal values, in order.
pub(super) fn distinct<'v>(
    items: impl Iterator<Item = RawBsonRef<'v>>,
    args: &Args<'_>,
) -> Vec<RawBsonRef<'v>> {
    let mut sorted: Vec<_> = items.collect();
    sorted.sort_by(|left, right| order::compare(*left, *right, args.globals.collator()));
    sorted.dedup_by(|left, right| {
        order::compare(*left, *right, args.globals.collator()) == Ordering::Equal
    });
    sorted
}
