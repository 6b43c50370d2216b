//! The checks of `#[odm(budget = "…")]`.

use super::place::{At, Kind, Unbounded};
use super::size::{self, Size};
use super::text::Text;
use crate::model::parts::{Content, Levels, Part};
use crate::model::{Document, FieldMeta, FieldType, Parts};

/// The most fields that a message lists.
const LISTED: usize = 10;
/// The most fields whose weights are compared.
const WEIGHED: usize = 256;

/// The size of the largest document that the bounds allow; the largest number if there is no such size.
pub const fn worst_case<T: Document>() -> u64 {
    match content::<T>() {
        Some(content) => match size::document(content, At::ROOT) {
            Ok(Size::Bytes(bytes)) => bytes,
            _ => u64::MAX,
        },
        None => u64::MAX,
    }
}

/// Why the field with this Rust name has no bound.
pub const fn unbounded<T: Document>(name: &str) -> Option<Text> {
    let Some(content) = content::<T>() else {
        return None;
    };
    let mut rest = T::META.fields;
    while let [field, behind @ ..] = rest {
        if super::same(field.rust, name)
            && let Err(unbounded) = size::field(field, "", content, At::ROOT)
        {
            return Some(explained(T::META.name, &unbounded));
        }
        rest = behind;
    }
    None
}

const fn explained(model: &str, unbounded: &Unbounded) -> Text {
    let text = Text::EMPTY.and("`").and(model).and("` has a budget, and `");
    let text = path(&text, unbounded).and("` ");
    match unbounded.kind {
        Kind::Text => text.and("is a string without a bound: write `#[odm(length(max = N))]`"),
        Kind::NamelessText => text.and("holds a string that can't declare a bound: name it, as in `Variant { field: … }`, and write `#[odm(length(max = N))]` there"),
        Kind::List => text.and("is a list without a bound: write `#[odm(items(max = N))]`, or a size for all of it: `#[odm(bytes(max = \"64KiB\"))]`"),
        Kind::InnerList => text.and("holds a list inside another value, which can't declare a bound: put it into a struct, or write a size for all of it: `#[odm(bytes(max = \"64KiB\"))]`"),
        Kind::Map => text.and("is a map, whose keys can be of any length: write a size for all of it, `#[odm(bytes(max = \"64KiB\"))]`, or keep a list of structs that have the key and the value"),
        Kind::Any => text.and("can be of any size: write `#[odm(bytes(max = \"64KiB\"))]`"),
        Kind::Depth if unbounded.repeated.is_empty() => text.and("nests types more deeply than a budget follows: write a size for all of it, `#[odm(bytes(max = \"64KiB\"))]`"),
        Kind::Depth => {
            let text = text.and("holds values of `").and(unbounded.repeated);
            let text = text.and("` inside each other without a bound: write how many there can be, `#[odm(depth = N)]` on `");
            return text.and(unbounded.repeated).and("` [odm::depth: book/design-checks.html#depth]");
        }
    }
    .and(" [odm::no_bound: book/design-checks.html#no_bound]")
}

/// Appends the path of a value. That of a type that contains itself repeats, so its first name is enough.
const fn path(text: &Text, unbounded: &Unbounded) -> Text {
    let [first, rest @ ..] = &unbounded.names;
    let mut rest: &[&str] = rest;
    let mut text = text.and(first);
    if matches!(unbounded.kind, Kind::Depth) {
        return text;
    }
    while let [name, behind @ ..] = rest {
        if !name.is_empty() {
            text = text.and(".").and(name);
        }
        rest = behind;
    }
    if unbounded.more {
        text.and(".…")
    } else {
        text
    }
}

/// What is wrong with a budget of `max` bytes, which documents may exceed if `allowed`. A field without a bound is
/// reported by [`unbounded`].
pub const fn budget_flaw<T: Document>(max: u64, allowed: bool) -> Option<Text> {
    let bytes = worst_case::<T>();
    if bytes == u64::MAX || (bytes > max) == allowed {
        return None;
    }
    let text = Text::EMPTY.and("`").and(T::META.name);
    let text = if allowed {
        text.and("` takes at most ")
            .number(bytes)
            .and(" bytes, within its budget of ")
            .number(max)
            .and(": there is nothing to allow; remove `allow`")
    } else {
        let text = text
            .and("` can take ")
            .number(bytes)
            .and(" bytes, and its budget is ")
            .number(max)
            .and(": ");
        by_weight::<T>(&text).and("; lower a bound, move a field to a collection of its own, or write `budget(max = …, allow = \"the reason\")`")
    };
    Some(text.and(" [odm::budget: book/design-checks.html#budget]"))
}

/// Lists the fields with their sizes, the largest first.
const fn by_weight<T: Document>(text: &Text) -> Text {
    let mut text = *text;
    let fields = T::META.fields;
    let mut weights = [0; WEIGHED];
    let (mut free, _) = weights.split_at_mut(WEIGHED);
    let mut rest = fields;
    while let ([slot, left @ ..], [field, behind @ ..]) = (free, rest) {
        *slot = weight::<T>(field);
        (free, rest) = (left, behind);
    }
    let mut listed = 0;
    let mut last: Option<(u64, usize)> = None;
    while listed < LISTED {
        let Some((position, bytes)) = next(&weights, fields, last) else {
            return text;
        };
        if listed > 0 {
            text = text.and(", ");
        }
        let (_, from) = fields.split_at(position);
        if let [field, ..] = from {
            text = text.and("`").and(field.rust).and("` ").number(bytes);
        }
        last = Some((bytes, position));
        listed += 1;
    }
    if next(&weights, fields, last).is_some() {
        text = text.and(", and smaller ones");
    }
    text
}

/// The next smaller field behind `last`: its position and its weight.
const fn next(
    weights: &[u64],
    fields: &[FieldMeta],
    last: Option<(u64, usize)>,
) -> Option<(usize, u64)> {
    let mut best: Option<(usize, u64)> = None;
    let (mut rest, mut position) = (weights, 0);
    while let [weight, behind @ ..] = rest {
        if position >= fields.len() {
            break;
        }
        let is_behind = match last {
            None => true,
            Some((bytes, at)) => *weight < bytes || (*weight == bytes && position > at),
        };
        let is_best = match best {
            None => true,
            Some((_, bytes)) => *weight > bytes,
        };
        if is_behind && is_best {
            best = Some((position, *weight));
        }
        position += 1;
        rest = behind;
    }
    best
}

const fn weight<T: Document>(field: &'static FieldMeta) -> u64 {
    let Some(content) = content::<T>() else {
        return 0;
    };
    match size::field(field, "", content, At::ROOT) {
        Ok(Size::Bytes(bytes)) => bytes,
        _ => 0,
    }
}

const fn content<T: Document>() -> Option<&'static Content> {
    match <<T as FieldType>::Parts<Levels> as Parts>::PART {
        Part::Embedded { content } => Some(content),
        _ => None,
    }
}
