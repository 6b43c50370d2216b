//! The fields that a projection keeps.

use bson::{Bson, Document};

/// Whether a projection of a `find` keeps the field at `path`.
pub(super) fn sends(projection: &Document, path: &str) -> bool {
    path == "_id" && !projection.contains_key("_id") || keeps(projection, path)
}

/// Whether a projection keeps the field at `path`, without the special case of `_id`.
fn keeps(projection: &Document, path: &str) -> bool {
    let below = |key: &str| match path.strip_prefix(key)? {
        "" => Some(""),
        rest => rest.strip_prefix('.'),
    };
    let mut named = projection.iter();
    match named.find_map(|(key, value)| Some((below(key)?, value))) {
        Some((rest, Bson::Document(inside))) if !rest.is_empty() && is_nested(inside) => {
            keeps(inside, rest)
        }
        Some((_, value)) => !excludes(value),
        None => !projection.iter().any(|(_, value)| includes(value)),
    }
}

/// Whether the document lists nested fields instead of being an expression.
fn is_nested(value: &Document) -> bool {
    value.keys().all(|name| !name.starts_with('$'))
}

fn excludes(value: &Bson) -> bool {
    match value {
        Bson::Boolean(value) => !value,
        Bson::Int32(0) | Bson::Int64(0) => true,
        Bson::Double(value) => *value == 0.0,
        _ => false,
    }
}

/// Whether the value makes the projection send only the fields it names. `$slice` and `$meta` do not.
fn includes(value: &Bson) -> bool {
    match value {
        Bson::Document(inside) if is_nested(inside) => inside.values().any(includes),
        Bson::Document(inside) => {
            let operator = inside.keys().next();
            !operator.is_some_and(|name| name == "$slice" || name == "$meta")
        }
        _ => !excludes(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bson::doc;

    #[test]
    fn a_projection_keeps_or_drops_a_field() {
        for (projection, kept) in [
            (doc! {}, true),
            (doc! { "a": 1, "_id": 0 }, false),
            (doc! { "s.q": 1 }, true),
            (doc! { "s": true }, true),
            (doc! { "sq": 1 }, false),
            (doc! { "_id": 1 }, false),
            (doc! { "_id": 0 }, true),
            (doc! { "s": 0 }, false),
            (doc! { "s.q": 0.0 }, false),
            (doc! { "a": false }, true),
            (doc! { "a": { "$slice": 1 } }, true),
            (doc! { "a": { "$meta": "textScore" }, "b": 1 }, false),
            (doc! { "a": "$b" }, false),
            (doc! { "s": { "q": 1 } }, true),
            (doc! { "s": { "x": 1 } }, false),
            (doc! { "s": { "q": 0 } }, false),
            (doc! { "s": { "x": 0 } }, true),
            (doc! { "a": { "x": 0 } }, true),
            (doc! { "a": { "x": 1 } }, false),
        ] {
            assert_eq!(sends(&projection, "s.q"), kept, "{projection}");
        }
        assert!(sends(&doc! { "a": 1 }, "_id") && !sends(&doc! { "_id": 0 }, "_id"));
    }
}
