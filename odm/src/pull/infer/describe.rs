//! Comments about sampled values.

use crate::pull::literal::{code, comment};
use crate::pull::number::{count, percent};
use crate::pull::shape::{Kind, Shape};

/// The shares of the types of a field, in the documents that could have it.
pub(super) fn field(shape: &Shape, absent: u64) -> String {
    let whole = shape.count() + absent;
    let mut parts = shares(shape, whole);
    if absent > 0 {
        parts.push((absent, format!("absent {}", percent(absent, whole))));
    }
    let mut text = joined(parts);
    if let Some(inside) = inside(shape) {
        text.push_str("; ");
        text.push_str(&inside);
    }
    text.push('.');
    text
}

fn shares(shape: &Shape, whole: u64) -> Vec<(u64, String)> {
    let kinds = shape.kinds.iter();
    kinds
        .map(|(kind, count)| {
            (
                *count,
                format!("{} {}", kind.name(), percent(*count, whole)),
            )
        })
        .collect()
}

/// The largest share first.
fn joined(mut parts: Vec<(u64, String)>) -> String {
    parts.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
    let parts: Vec<String> = parts.into_iter().map(|(_, text)| text).collect();
    parts.join(", ")
}

/// Describes the contents of arrays, maps and DBRefs.
fn inside(shape: &Shape) -> Option<String> {
    if shape.of(Kind::DbRef) > 0 && shape.of(Kind::Array) == 0 {
        let references = shape.references.iter();
        let names: Vec<String> = references.map(|(name, _)| code(name)).collect();
        return Some(format!("to {}", names.join(", ")));
    }
    let (inner, what) = match (&shape.elements, &shape.entries) {
        (Some(elements), None) if shape.most == 1 => (elements, "element"),
        (None, Some(entries)) if shape.most == 1 => (entries, "entry"),
        (Some(elements), None) => (elements, "elements"),
        (None, Some(entries)) => (entries, "entries"),
        _ => return None,
    };
    let most = count(u64::try_from(shape.most).unwrap_or(u64::MAX));
    if inner.count() == 0 {
        return Some(format!("no {what}"));
    }
    let types = joined(shares(inner, inner.count()));
    Some(format!("at most {most} {what}: {types}"))
}

/// A path with its collection.
pub(super) fn whole(collection: &str, path: &[String]) -> String {
    comment(&format!("{collection}.{}", path.join(".")))
}
