//! The string operators. Code points and bytes are counted as in mongod.

use std::cmp::Ordering;

use bson::raw::{RawArrayBuf, RawBsonRef};

use crate::error::{ServerError, refuse};
use crate::expression::calendar;
use crate::expression::compat::messages;
use crate::expression::memory_limit;
use crate::expression::named::{BareArgument, Named, UNKNOWN_ARGUMENT, Wording};
use crate::expression::operator::{
    ANY, Args, ArgumentForm, Operator, Outcome, coerced, count, integral_32, listed, null, owned,
    row,
};
use crate::value::decimal::Rounding;
use crate::value::number::Number;

const TRIM: ArgumentForm = ArgumentForm::Named(&Named {
    names: &["input", "chars"],
    required: &[("input", 50695)],
    missing: Wording("<operator> requires an '<key>' field"),
    unknown: (50694, UNKNOWN_ARGUMENT),
    bare: BareArgument::Refused(
        50696,
        Wording("<operator> only supports an object as an argument, found <type>"),
    ),
    ..Named::DEFAULT
});

const REPLACE: ArgumentForm = ArgumentForm::Named(&Named {
    names: &["input", "find", "replacement"],
    required: &[("input", 51749), ("find", 51748), ("replacement", 51747)],
    unknown: (51750, UNKNOWN_ARGUMENT),
    bare: BareArgument::Refused(
        51751,
        Wording("<operator> requires an object as an argument, found: <type>"),
    ),
    ..Named::DEFAULT
});

/// Sorted by name.
pub(super) const OPERATORS: &[Operator] = &[
    listed("$concat", 0, ANY, concat),
    listed("$indexOfBytes", 2, 4, index_of_bytes),
    listed("$indexOfCP", 2, 4, index_of),
    row("$ltrim", TRIM, |args| trim(args, true, false)),
    row("$replaceAll", REPLACE, |args| {
        replace(args, |input, find, by| input.replace(find, by))
    }),
    row("$replaceOne", REPLACE, |args| {
        replace(args, |input, find, by| input.replacen(find, by, 1))
    }),
    row("$rtrim", TRIM, |args| trim(args, false, true)),
    listed("$split", 2, 2, split),
    listed("$strLenBytes", 1, 1, |args| length(args, 34473, str::len)),
    listed("$strLenCP", 1, 1, |args| {
        length(args, 34471, |s| s.chars().count())
    }),
    listed("$strcasecmp", 2, 2, compare_caseless),
    listed("$substr", 3, 3, substring_bytes),
    listed("$substrBytes", 3, 3, substring_bytes),
    listed("$substrCP", 3, 3, substring_points),
    listed("$toLower", 1, 1, |args| {
        owned(coerce(args, 0)?.to_ascii_lowercase())
    }),
    listed("$toUpper", 1, 1, |args| {
        owned(coerce(args, 0)?.to_ascii_uppercase())
    }),
    row("$trim", TRIM, |args| trim(args, true, true)),
];

fn string<'v>(args: &'v Args<'_>, index: usize) -> Option<&'v str> {
    match args.get(index) {
        Some(RawBsonRef::String(text)) => Some(text),
        _ => None,
    }
}

/// The text of a value where mongod converts it implicitly: null is an empty text.
fn coerce(args: &Args<'_>, index: usize) -> Result<String, ServerError> {
    Ok(match args.get(index) {
        None | Some(RawBsonRef::Null | RawBsonRef::Undefined) => String::new(),
        Some(
            RawBsonRef::String(text) | RawBsonRef::Symbol(text) | RawBsonRef::JavaScriptCode(text),
        ) => text.to_owned(),
        Some(RawBsonRef::DateTime(date)) => calendar::iso_text(date.timestamp_millis())
            .map_err(|error| error.within("failed while coercing date to string"))?,
        Some(value) if Number::from_raw(value).is_some() => messages::computed(value),
        Some(RawBsonRef::Timestamp(at)) => calendar::clock(at),
        Some(_) => {
            return refuse(
                16007,
                format!(
                    "can't convert from BSON type {} to String",
                    args.type_name(index)
                ),
            );
        }
    })
}

fn concat<'a>(args: &mut Args<'a>) -> Outcome<'a> {
    let mut joined = String::new();
    for index in 0..args.values.len() {
        if args.is_nullish(index) {
            return null();
        }
        match string(args, index) {
            Some(part) => {
                memory_limit::check_text(joined.len() + part.len())?;
                joined.push_str(part);
            }
            None => {
                return refuse(
                    16702,
                    format!(
                        "$concat only supports strings, not {}",
                        args.type_name(index)
                    ),
                );
            }
        }
    }
    owned(joined)
}

fn length<'a>(args: &Args<'a>, code: i32, measure: fn(&str) -> usize) -> Outcome<'a> {
    match string(args, 0) {
        Some(text) => owned(count(measure(text))),
        None => refuse(
            code,
            format!(
                "{} requires a string argument, found: {}",
                args.operator,
                args.type_name(0)
            ),
        ),
    }
}

fn split<'a>(args: &mut Args<'a>) -> Outcome<'a> {
    if args.any_nullish() {
        return null();
    }
    let Some(input) = string(args, 0) else {
        return refuse(
            40085,
            format!(
                "$split requires an expression that evaluates to a string as a first argument, found: {}",
                args.type_name(0)
            ),
        );
    };
    let Some(separator) = string(args, 1) else {
        return refuse(
            40086,
            format!(
                "$split requires an expression that evaluates to a string as a second argument, found: {}",
                args.type_name(1)
            ),
        );
    };
    if separator.is_empty() {
        return refuse(40087, "$split requires a non-empty separator");
    }
    owned(input.split(separator).collect::<RawArrayBuf>())
}

fn replace<'a>(args: &mut Args<'a>, run: fn(&str, &str, &str) -> String) -> Outcome<'a> {
    for (index, (name, code)) in [("input", 51746), ("find", 51745), ("replacement", 51744)]
        .into_iter()
        .enumerate()
    {
        if !args.is_nullish(index) && string(args, index).is_none() {
            return refuse(
                code,
                format!(
                    "{} requires that '{name}' be a string, found: {}",
                    args.operator,
                    messages::computed(args.or_null(index))
                ),
            );
        }
    }
    match (string(args, 0), string(args, 1), string(args, 2)) {
        (Some(input), Some(find), Some(by)) => {
            if by.len() > find.len() {
                let times = if args.operator == "$replaceOne" {
                    usize::from(input.contains(find))
                } else {
                    input.matches(find).count()
                };
                memory_limit::check_text(
                    input.len() + times.saturating_mul(by.len() - find.len()),
                )?;
            }
            owned(run(input, find, by))
        }
        _ => null(),
    }
}

fn index_of_bytes<'a>(args: &mut Args<'a>) -> Outcome<'a> {
    if args.is_nullish(0) {
        return null();
    }
    let Some(input) = string(args, 0) else {
        return refuse(
            40091,
            format!(
                "$indexOfBytes requires a string as the first argument, found: {}",
                args.type_name(0)
            ),
        );
    };
    let Some(wanted) = string(args, 1) else {
        return refuse(
            40092,
            format!(
                "$indexOfBytes requires a string as the second argument, found: {}",
                args.type_name(1)
            ),
        );
    };
    let (start, end) = bounds(args, input.len())?;
    let bytes = input.as_bytes().get(start..end).unwrap_or_default();
    owned(if wanted.is_empty() {
        if start <= end {
            count(start)
        } else {
            bson::raw::RawBson::Int32(-1)
        }
    } else {
        bytes
            .windows(wanted.len())
            .position(|window| window == wanted.as_bytes())
            .map_or(bson::raw::RawBson::Int32(-1), |index| count(index + start))
    })
}

/// The characters that `$trim` removes by default.
const BLANK: &[char] = &[
    '\0', ' ', '\t', '\n', '\u{b}', '\u{c}', '\r', '\u{a0}', '\u{1680}', '\u{2000}', '\u{2001}',
    '\u{2002}', '\u{2003}', '\u{2004}', '\u{2005}', '\u{2006}', '\u{2007}', '\u{2008}', '\u{2009}',
    '\u{200a}',
];

fn trim<'a>(args: &Args<'a>, start: bool, end: bool) -> Outcome<'a> {
    if args.is_nullish(0) {
        return null();
    }
    let operator = args.operator;
    let Some(mut input) = string(args, 0) else {
        return refuse(
            50699,
            format!(
                "{operator} requires its input to be a string, got {} (of type {}) instead.",
                messages::computed(args.or_null(0)),
                args.type_name(0)
            ),
        );
    };
    let characters: Vec<char> = if args.is_present(1) {
        if args.is_nullish(1) {
            return null();
        }
        match string(args, 1) {
            Some(characters) => characters.chars().collect(),
            None => {
                return refuse(
                    50700,
                    format!(
                        "{operator} requires 'chars' to be a string, got {} (of type {}) instead.",
                        messages::computed(args.or_null(1)),
                        args.type_name(1)
                    ),
                );
            }
        }
    } else {
        BLANK.to_vec()
    };
    if start {
        input = input.trim_start_matches(characters.as_slice());
    }
    if end {
        input = input.trim_end_matches(characters.as_slice());
    }
    owned(input)
}

fn compare_caseless<'a>(args: &mut Args<'a>) -> Outcome<'a> {
    let left = coerce(args, 0)?.to_ascii_uppercase();
    let right = coerce(args, 1)?.to_ascii_uppercase();
    owned(match left.cmp(&right) {
        Ordering::Less => -1,
        Ordering::Equal => 0,
        Ordering::Greater => 1,
    })
}

fn index_of<'a>(args: &mut Args<'a>) -> Outcome<'a> {
    if args.is_nullish(0) {
        return null();
    }
    let Some(input) = string(args, 0) else {
        return refuse(
            40093,
            format!(
                "$indexOfCP requires a string as the first argument, found: {}",
                args.type_name(0)
            ),
        );
    };
    let Some(wanted) = string(args, 1) else {
        return refuse(
            40094,
            format!(
                "$indexOfCP requires a string as the second argument, found: {}",
                args.type_name(1)
            ),
        );
    };
    let length = input.chars().count();
    let (start, end) = bounds(args, length)?;
    if length == 0 && start == 0 && wanted.is_empty() {
        return owned(count(0));
    }
    // The end limits where a match may begin, not where it ends.
    let starts = input
        .char_indices()
        .enumerate()
        .take(end)
        .skip(start)
        .find(|(_, (byte, _))| {
            let rest = input.get(*byte..).unwrap_or_default();
            rest.starts_with(&*wanted)
        });
    owned(starts.map_or(bson::raw::RawBson::Int32(-1), |(index, _)| count(index)))
}

/// The start and end of a search, from the third and fourth arguments, clamped to `length`.
pub(super) fn bounds(args: &Args<'_>, length: usize) -> Result<(usize, usize), ServerError> {
    let bound = |index: usize, name: &str| -> Result<Option<usize>, ServerError> {
        if args.values.len() <= index {
            return Ok(None);
        }
        match integral_32(args.or_null(index)) {
            None => refuse(
                40096,
                format!(
                    "{}requires an integral {name} index, found a value of type: {}, with value: {}",
                    args.operator,
                    args.type_name(index),
                    args.get(index)
                        .map_or_else(|| "MISSING".to_owned(), messages::computed)
                ),
            ),
            Some(n) => match usize::try_from(n) {
                Ok(n) => Ok(Some(n)),
                Err(_) => refuse(
                    40097,
                    format!(
                        "{} requires a nonnegative {name} index, found: {n}",
                        args.operator
                    ),
                ),
            },
        }
    };
    let start = bound(2, "starting")?.unwrap_or(0);
    let end = bound(3, "ending")?.unwrap_or(length).min(length);
    Ok((start, end))
}

/// Reads one of the two numbers of `$substrCP`.
fn range(args: &Args<'_>, index: usize, code: i32, what: &str) -> Result<i32, ServerError> {
    let value = args.or_null(index);
    let Some(number) = Number::from_raw(value) else {
        return refuse(
            code,
            format!(
                "$substrCP: {what} must be a numeric type (is BSON type {})",
                args.type_name(index)
            ),
        );
    };
    number
        .to_i64_exact()
        .and_then(|n| i32::try_from(n).ok())
        .map_or_else(
            || {
                refuse(
                    code + 1,
                    format!(
                        "$substrCP: {what} cannot be represented as a 32-bit integral value: {}",
                        messages::computed(value)
                    ),
                )
            },
            Ok,
        )
}

fn substring_points<'a>(args: &mut Args<'a>) -> Outcome<'a> {
    let input = coerce(args, 0)?;
    let start = range(args, 1, 34450, "starting index")?;
    let length = range(args, 2, 34452, "length")?;
    let Ok(length) = usize::try_from(length) else {
        return refuse(34454, "$substrCP: length must be a nonnegative integer.");
    };
    let Ok(start) = usize::try_from(start) else {
        return refuse(
            34455,
            "$substrCP: the starting index must be nonnegative integer.",
        );
    };
    owned(input.chars().skip(start).take(length).collect::<String>())
}

/// A number as a 64-bit integer: doubles are truncated, decimals are rounded.
fn long(number: Number) -> Result<i64, ServerError> {
    match number {
        Number::Decimal(number) => {
            let rounded = Number::Decimal(number.quantize(0, Rounding::HalfEven));
            Ok(rounded.to_i64_truncated().unwrap_or(i64::MIN))
        }
        number => number
            .to_i64_truncated()
            .map_or_else(|| coerced(number.to_f64()), Ok),
    }
}

fn substring_bytes<'a>(args: &mut Args<'a>) -> Outcome<'a> {
    let input = coerce(args, 0)?;
    // mongod checks the types of both numbers first, and the value of the length after that of the start.
    let number = |index: usize, code: i32, what: &str| {
        Number::from_raw(args.or_null(index)).map_or_else(
            || {
                refuse(
                    code,
                    format!(
                        "$substrBytes:  {what} must be a numeric type (is BSON type {})",
                        args.type_name(index)
                    ),
                )
            },
            Ok,
        )
    };
    let start = number(1, 16034, "starting index")?;
    let length = number(2, 16035, "length")?;
    let start = long(start)?;
    let Ok(start) = usize::try_from(start) else {
        return refuse(
            50752,
            format!("$substrBytes:  starting index must be non-negative (got: {start})"),
        );
    };
    let length = usize::try_from(long(length)?).unwrap_or(usize::MAX);
    if start >= input.len() {
        return owned("");
    }
    let end = start.saturating_add(length).min(input.len());
    if !input.is_char_boundary(start) {
        return refuse(
            28656,
            "$substrBytes:  Invalid range, starting index is a UTF-8 continuation byte.",
        );
    }
    match input.get(start..end) {
        Some(part) => owned(part),
        None => refuse(
            28657,
            "$substrBytes:  Invalid range, ending index is in the middle of a UTF-8 character.",
        ),
    }
}
