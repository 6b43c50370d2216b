//! Checks of all indexes of a collection together.

use std::collections::BTreeSet;

use quote::ToTokens;

use super::{own, spelled};
use crate::errors::Errors;
use crate::model::Model;
use crate::parse::index::{Collation, Index, Key, KeyKind};

/// MongoDB allows 64 indexes, including the one on `_id`.
const MAX_INDEXES: usize = 63;

pub(super) fn check(model: &Model, indexes: &[&Index], errors: &mut Errors) {
    if let Some(one_too_many) = indexes.get(MAX_INDEXES) {
        errors.at(
            &one_too_many.word,
            "a collection has at most 64 indexes, that of `_id` among them; leave out those that no query needs",
        );
    }
    let mut text: Option<&Index> = None;
    for (position, index) in indexes.iter().enumerate() {
        if index.is_text() {
            if text.is_some() {
                errors.at(&index.word, "a collection has at most one text index; put its fields into the first: `text(a, b)`");
                continue;
            }
            text = Some(index);
        }
        let before = indexes.iter().take(position);
        if let Some(other) = before
            .clone()
            .find(|other| same_keys(&index.keys, &other.keys) && same_documents(index, other))
        {
            errors.at(
                &index.word,
                format!(
                    "`{}` is indexed twice; keep one of the two",
                    keys(&other.keys)
                ),
            );
            continue;
        }
        if let Some(name) = name(model, index)
            && before
                .clone()
                .any(|other| self::name(model, other).as_ref() == Some(&name))
        {
            let message = format!(
                "two indexes are named \"{name}\"; name this one otherwise: `name = \"…\"`"
            );
            match &index.name {
                Some(literal) => errors.at(literal, message),
                None => errors.at(&index.word, message),
            }
            continue;
        }
        if let Some(longer) = indexes.iter().find(|longer| is_prefix(index, longer)) {
            errors.at(
                &index.word,
                format!(
                    "an index on `{}` serves every query that one on `{}` does; take the shorter one off",
                    keys(&longer.keys),
                    keys(&index.keys)
                ),
            );
        }
    }
}

fn same_keys(a: &[Key], b: &[Key]) -> bool {
    a.len() == b.len()
        && a.iter()
            .zip(b)
            .all(|(a, b)| spelled(&a.path) == spelled(&b.path) && a.kind == b.kind)
}

/// Whether two indexes of the same keys hold the same documents, in the same order.
fn same_documents(a: &Index, b: &Index) -> bool {
    let filter = |index: &Index| {
        let filter = index.partial.as_ref();
        filter.map(|filter| filter.to_token_stream().to_string())
    };
    let projection = |index: &Index| {
        index.projection.as_ref().map(|one| {
            let paths: BTreeSet<_> = one.paths.iter().map(|path| spelled(path)).collect();
            (one.includes(), paths)
        })
    };
    let collation = |index: &Index| index.collation.as_ref().map(Collation::options);
    collation(a) == collation(b)
        && a.sparse.is_some() == b.sparse.is_some()
        && filter(a) == filter(b)
        && projection(a) == projection(b)
}

/// Whether `longer` makes `short` superfluous.
fn is_prefix(short: &Index, longer: &Index) -> bool {
    let bare = short.unique.is_none()
        && short.sparse.is_none()
        && short.hidden.is_none()
        && short.partial.is_none()
        && short.expire_after.is_none()
        && short.collation.is_none();
    // An index with a 2dsphere or a text key leaves out documents without such a field.
    let whole = longer
        .keys
        .iter()
        .all(|key| ordered(key) || key.kind == KeyKind::Hashed)
        && longer.sparse.is_none()
        && longer.hidden.is_none()
        && longer.partial.is_none()
        && longer.collation.is_none();
    if !bare || !whole || short.keys.len() >= longer.keys.len() {
        return false;
    }
    let pairs = || short.keys.iter().zip(&longer.keys);
    let forward = pairs()
        .all(|(a, b)| spelled(&a.path) == spelled(&b.path) && ordered(a) && a.kind == b.kind);
    let backward = pairs().all(|(a, b)| {
        spelled(&a.path) == spelled(&b.path) && ordered(a) && ordered(b) && a.kind != b.kind
    });
    forward || backward
}

fn ordered(key: &Key) -> bool {
    matches!(key.kind, KeyKind::Ascending | KeyKind::Descending)
}

/// The keys as an attribute spells them.
fn keys(keys: &[Key]) -> String {
    keys.iter()
        .map(|key| match key.kind {
            KeyKind::Descending => format!("{} = desc", spelled(&key.path)),
            _ => spelled(&key.path),
        })
        .collect::<Vec<_>>()
        .join(", ")
}

/// The index's name: the declared one, or MongoDB's default if all stored names of the keys are known here.
fn name(model: &Model, index: &Index) -> Option<String> {
    if let Some(name) = &index.name {
        return Some(name.value());
    }
    let mut parts = Vec::new();
    for key in &index.keys {
        let stored = if key.path.is_empty() {
            "$**".to_owned()
        } else {
            own(model, &key.path)?.stored.clone()
        };
        let kind = match key.kind {
            KeyKind::Ascending => "1",
            KeyKind::Descending => "-1",
            KeyKind::Hashed => "hashed",
            KeyKind::Text(_) => "text",
            KeyKind::Sphere => "2dsphere",
            KeyKind::Wildcard if key.path.is_empty() => "1",
            KeyKind::Wildcard => return None,
        };
        parts.push(format!("{stored}_{kind}"));
    }
    Some(parts.join("_"))
}
