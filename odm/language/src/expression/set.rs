//! Arrays as sets: `$setDifference $setEquals $setIntersection $setIsSubset $setUnion`. Results are sorted, unless a
//! [`Shuffle`](crate::shuffle::Shuffle) is set.

use bson::raw::{RawArray, RawArrayBuf, RawBsonRef};

use crate::error::{ServerError, refuse};
use crate::expression::array::distinct;
use crate::expression::operator::{
    ANY, Args, ArgumentForm, Operator, Outcome, listed, null, owned, row,
};
use crate::value::order;
use crate::value::raw::values;

/// Sorted by name.
pub(super) const OPERATORS: &[Operator] = &[
    listed("$setDifference", 2, 2, difference),
    row(
        "$setEquals",
        ArgumentForm::Listed(2, ANY, Some((17045, "needs at least two arguments had: "))),
        equals,
    ),
    listed("$setIntersection", 0, ANY, intersection),
    listed("$setIsSubset", 2, 2, subset),
    listed("$setUnion", 0, ANY, union),
];

/// `$setIsSubset` for the places where mongod compares a constant set like any other.
pub(super) static SUBSET_AS_WRITTEN: Operator = listed("$setIsSubset", 2, 2, subset);

fn array<'v>(
    args: &'v Args<'_>,
    index: usize,
    code: i32,
    message: &str,
) -> Result<&'v RawArray, ServerError> {
    match args.get(index) {
        Some(RawBsonRef::Array(array)) => Ok(array),
        _ => refuse(code, format!("{message}{}", args.type_name(index))),
    }
}

/// A result, whose order MongoDB does not specify.
fn set<'a>(mut items: Vec<RawBsonRef<'_>>, args: &Args<'_>) -> Outcome<'a> {
    if let Some(shuffle) = args.globals.shuffle() {
        shuffle.shuffle(&mut items);
    }
    owned(items.into_iter().collect::<RawArrayBuf>())
}

fn has(items: &RawArray, wanted: RawBsonRef<'_>, args: &Args<'_>) -> bool {
    values(items).any(|item| order::equal(item, wanted, args.globals.collator()))
}

fn difference<'a>(args: &mut Args<'a>) -> Outcome<'a> {
    if args.any_nullish() {
        return null();
    }
    let left = array(
        args,
        0,
        17048,
        "both operands of $setDifference must be arrays. First argument is of type: ",
    )?;
    let right = array(
        args,
        1,
        17049,
        "both operands of $setDifference must be arrays. Second argument is of type: ",
    )?;
    let mut kept: Vec<RawBsonRef<'_>> = Vec::new();
    for item in values(left) {
        let again = kept
            .iter()
            .any(|known| order::equal(*known, item, args.globals.collator()));
        if !again && !has(right, item, args) {
            kept.push(item);
        }
    }
    set(kept, args)
}

/// Checks an operand of `$setEquals`.
fn set_of<'v>(args: &'v Args<'_>, index: usize) -> Result<&'v RawArray, ServerError> {
    let message = format!(
        "All operands of $setEquals must be arrays. {}-th argument is of type: ",
        index + 1
    );
    array(args, index, 17044, &message)
}

fn equals<'a>(args: &mut Args<'a>) -> Outcome<'a> {
    let first = set_of(args, 0)?;
    let first = distinct(values(first), args);
    for index in 1..args.values.len() {
        let other = set_of(args, index)?;
        let other = distinct(values(other), args);
        let same = first.len() == other.len()
            && first
                .iter()
                .zip(&other)
                .all(|(left, right)| order::equal(*left, *right, args.globals.collator()));
        if !same {
            return owned(false);
        }
    }
    owned(true)
}

/// The operands of `$setIntersection` and `$setUnion`; `None` if one is null and none before it is invalid.
fn all_arrays<'v>(args: &'v Args<'_>, code: i32) -> Result<Option<Vec<&'v RawArray>>, ServerError> {
    let mut lists = Vec::new();
    for index in 0..args.values.len() {
        if args.is_nullish(index) {
            return Ok(None);
        }
        let Some(RawBsonRef::Array(list)) = args.get(index) else {
            return refuse(
                code,
                format!(
                    "All operands of {} must be arrays. One argument is of type: {}",
                    args.operator,
                    args.type_name(index)
                ),
            );
        };
        lists.push(list);
    }
    Ok(Some(lists))
}

fn intersection<'a>(args: &mut Args<'a>) -> Outcome<'a> {
    let Some(lists) = all_arrays(args, 17047)? else {
        return null();
    };
    let mut sets = lists.into_iter().map(|list| distinct(values(list), args));
    let Some(mut kept) = sets.next() else {
        return owned(RawArrayBuf::new());
    };
    for mut other in sets {
        // Of equal numbers (1 and 1.0), the result has those of the smaller set.
        if other.len() < kept.len() {
            std::mem::swap(&mut kept, &mut other);
        }
        kept.retain(|item| {
            let mut others = other.iter();
            others.any(|other| order::equal(*other, *item, args.globals.collator()))
        });
    }
    set(kept, args)
}

fn subset<'a>(args: &mut Args<'a>) -> Outcome<'a> {
    let left = array(
        args,
        0,
        17046,
        "both operands of $setIsSubset must be arrays. First argument is of type: ",
    )?;
    let right = array(
        args,
        1,
        17042,
        "both operands of $setIsSubset must be arrays. Second argument is of type: ",
    )?;
    owned(values(left).all(|item| has(right, item, args)))
}

fn union<'a>(args: &mut Args<'a>) -> Outcome<'a> {
    let Some(lists) = all_arrays(args, 17043)? else {
        return null();
    };
    let all = lists.iter().flat_map(|list| values(list));
    set(distinct(all, args), args)
}
