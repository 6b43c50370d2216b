//! Numbers and dates at the ends of what they hold.

use std::cmp::Ordering;

use odm::bson::{Bson, Document, doc};

use crate::cases::Order;
use crate::compare::normal;
use crate::json::json;

use super::Exception;
use super::seen::{Seen, code, message};

pub(super) const KNOWN: &[Exception] = &[
    ("Dates next to the end of 64 bits", overflown_dates),
    ("Time zones", local_mean_time),
    ("Sums of numbers near the ends of 64 bits", large_sums),
    ("Nested $multiply and $add", rounded),
    ("Nested $multiply and $add", written),
    ("Nested $multiply and $add", amplified),
    ("Windows", moving_averages),
    ("Windows", far_ranges),
];

fn overflown_dates(seen: &Seen<'_>) -> bool {
    ["dateAdd overflowed", "date overflow in $add"]
        .iter()
        .any(|text| message(seen.memory).contains(text))
}

fn local_mean_time(seen: &Seen<'_>) -> bool {
    let named = |key: &str, value: &Bson| {
        key == "timezone" && json(&doc! { "": value.clone() }).contains('/')
    };
    seen.both_answer()
        && seen.has(&["$dateDiff"])
        && seen.mentions(&named)
        && differ_in_numbers(seen, &|one, other| (one - other).abs() <= 1.0)
}

fn large_sums(seen: &Seen<'_>) -> bool {
    let mut commands = seen
        .before
        .iter()
        .map(|step| &step.command)
        .chain([&seen.command]);
    seen.both_answer()
        && commands.any(|command| is_large(&json(command)))
        && seen.has(&["$avg", "$add", "$subtract", "$sum", "$multiply"])
        && differ_in_numbers(seen, &|_, _| true)
}

/// By no more than how numbers are rounded, and when they overflow.
fn rounded(seen: &Seen<'_>) -> bool {
    let close = |one: f64, other: f64| {
        !one.is_finite()
            || !other.is_finite()
            || (one - other).abs() <= 1e-12 * one.abs().max(other.abs())
            || (one - other).abs() <= f64::MIN_POSITIVE
    };
    let nested = seen.both_refuse()
        && code(seen.server) == 14
        && message(seen.server).contains("Failed to optimize")
        && seen.has(&["$multiply", "$add"]);
    let computes = ["$multiply", "$add", "$group", "$sum"];
    nested || seen.both_answer() && seen.has(&computes) && differ_in_numbers(seen, &close)
}

/// A decimal in an earlier partition makes the averages of the later ones decimals.
fn moving_averages(seen: &Seen<'_>) -> bool {
    let equal = |one: f64, other: f64| {
        one.total_cmp(&other).is_eq() || one.partial_cmp(&other) == Some(Ordering::Equal)
    };
    seen.both_answer() && seen.has(&["$expMovingAvg"]) && differ_in_numbers(seen, &equal)
}

/// The same where a function makes much of the last digits.
fn amplified(seen: &Seen<'_>) -> bool {
    seen.both_answer()
        && seen.has(&["$multiply", "$add"])
        && seen.has(&["$sin", "$cos", "$tan", "$mod"])
        && differ_in_numbers(seen, &|_, _| true)
}

/// The same where the number was made a string.
fn written(seen: &Seen<'_>) -> bool {
    let without_digits = |reply: &Document| {
        json(&normal(reply, Order::Exact)).replace(|c: char| "0123456789.E+-".contains(c), "")
    };
    seen.both_answer()
        && seen.has(&["$multiply", "$add"])
        && seen.has(&["$toString", "$convert"])
        && without_digits(seen.memory) == without_digits(seen.server)
}

/// A range around a number that it does not move.
fn far_ranges(seen: &Seen<'_>) -> bool {
    let mut before = seen.before.iter().map(|step| json(&step.command));
    seen.both_answer()
        && seen.has(&["$setWindowFields"])
        && seen.has(&["range"])
        && before.any(|text| is_large(&text))
}

/// Whether a number is written that has more digits than a double.
fn is_large(text: &str) -> bool {
    [
        "922337203685477",
        "9.22337203685477",
        "1e20",
        "1e308",
        "E+6144",
    ]
    .iter()
    .any(|digits| text.contains(digits))
}

/// Whether two replies differ in numbers alone, and those by so little.
fn differ_in_numbers(seen: &Seen<'_>, close: &dyn Fn(f64, f64) -> bool) -> bool {
    [Order::Exact, Order::Any].into_iter().any(|order| {
        let [here, there] = [seen.memory, seen.server].map(|reply| numbers(reply, order));
        let mut pairs = here.1.iter().zip(&there.1);
        here.0 == there.0 && pairs.all(|(one, other)| close(*one, *other))
    })
}

/// A reply without its numbers, and these.
fn numbers(reply: &Document, order: Order) -> (String, Vec<f64>) {
    let text = json(&normal(reply, order));
    let (mut out, mut found) = (String::new(), Vec::new());
    let mut rest = text.as_str();
    while let Some((before, after)) = rest.split_once("{\"$number") {
        out.push_str(before);
        out.push('n');
        let (number, after) = after.split_once('}').unwrap_or((after, ""));
        let digits = number.split('"').nth(2).unwrap_or("");
        found.push(digits.parse().unwrap_or(f64::NAN));
        rest = after;
    }
    (out + rest, found)
}
