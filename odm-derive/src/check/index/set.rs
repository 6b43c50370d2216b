//! Checks of all indexes of a collection together.

use std::collections::BTreeSet;

use quote::ToTokens;

use crate::errors::Errors;
use crate::facts::index::{Index, Key, Path};
use crate::parse::collation::Collation;
use crate::parse::index::KeyKind;

/// MongoDB allows 64 indexes, including the one on `_id`.
const MAX_INDEXES: usize = 63;

pub(super) fn check(indexes: &[&Index<'_>], errors: &mut Errors) {
    if let Some(one_too_many) = indexes.get(MAX_INDEXES) {
        errors.at(
            &one_too_many.declared.word,
            "a collection can have at most 64 indexes, including that of `_id`; remove those that no query needs",
        );
    }
    let mut text: Option<&Index<'_>> = None;
    for (position, index) in indexes.iter().enumerate() {
        if index.is_text() {
            if text.is_some() {
                errors.at(&index.declared.word, "a collection has at most one text index; put its fields into the first: `text(a, b)`");
                continue;
            }
            text = Some(index);
        }
        let before = indexes.iter().take(position);
        if let Some(other) = before
            .clone()
            .find(|other| same_keys(&index.keys, &other.keys) && same_documents(index, other))
        {
            let keys = keys(&other.keys);
            let message = if other.declared.is_of_keywords() {
                format!("`keywords` declares the index of `{keys}`; remove this one")
            } else {
                format!("`{keys}` is indexed twice; keep one of the two")
            };
            errors.at(&index.declared.word, message);
            continue;
        }
        if let Some(name) = name(index)
            && before
                .clone()
                .any(|other| self::name(other).as_ref() == Some(&name))
        {
            let message = format!(
                "two indexes are named \"{name}\"; give this one another name: `name = \"…\"`"
            );
            match &index.declared.name {
                Some(literal) => errors.at(literal, message),
                None => errors.at(&index.declared.word, message),
            }
            continue;
        }
        if let Some(longer) = indexes.iter().find(|longer| is_prefix(index, longer)) {
            errors.at(
                &index.declared.word,
                format!(
                    "an index on `{}` serves every query that one on `{}` does; remove the shorter one",
                    keys(&longer.keys),
                    keys(&index.keys)
                ),
            );
        }
    }
}

fn same_keys(a: &[Key<'_>], b: &[Key<'_>]) -> bool {
    let same =
        |(a, b): (&Key<'_>, &Key<'_>)| a.path.spelled() == b.path.spelled() && a.kind == b.kind;
    a.len() == b.len() && a.iter().zip(b).all(same)
}

/// Whether two indexes of the same keys hold the same documents, in the same order.
fn same_documents(a: &Index<'_>, b: &Index<'_>) -> bool {
    let filter = |index: &Index<'_>| {
        let filter = index.declared.partial.as_ref();
        filter.map(|filter| filter.to_token_stream().to_string())
    };
    let projection = |index: &Index<'_>| {
        index.declared.projection.as_ref().map(|one| {
            let paths: BTreeSet<_> = index.projected.iter().map(Path::spelled).collect();
            (one.includes(), paths)
        })
    };
    let collation = |index: &Index<'_>| index.declared.collation.as_ref().map(Collation::options);
    collation(a) == collation(b)
        && a.declared.sparse.is_some() == b.declared.sparse.is_some()
        && filter(a) == filter(b)
        && projection(a) == projection(b)
}

/// Whether `longer` makes `short` superfluous.
fn is_prefix(short: &Index<'_>, longer: &Index<'_>) -> bool {
    let index = short.declared;
    let without_options = !index.is_of_keywords()
        && index.unique.is_none()
        && index.sparse.is_none()
        && index.hidden.is_none()
        && index.partial.is_none()
        && index.expire_after.is_none()
        && index.collation.is_none();
    // An index with a 2dsphere or a text key leaves out documents without such a field.
    let index = longer.declared;
    let has_every_document = longer
        .keys
        .iter()
        .all(|key| key.is_ordered() || key.kind == KeyKind::Hashed)
        && index.sparse.is_none()
        && index.hidden.is_none()
        && index.partial.is_none()
        && index.collation.is_none();
    if !without_options || !has_every_document || short.keys.len() >= longer.keys.len() {
        return false;
    }
    let pairs = || short.keys.iter().zip(&longer.keys);
    let ordered = pairs()
        .all(|(a, b)| a.path.spelled() == b.path.spelled() && a.is_ordered() && b.is_ordered());
    let forward = pairs().all(|(a, b)| a.kind == b.kind);
    let backward = pairs().all(|(a, b)| a.kind != b.kind);
    ordered && (forward || backward)
}

/// The keys as an attribute spells them.
fn keys(keys: &[Key<'_>]) -> String {
    keys.iter()
        .map(|key| match key.kind {
            KeyKind::Descending => format!("{} = desc", key.path.spelled()),
            _ => key.path.spelled(),
        })
        .collect::<Vec<_>>()
        .join(", ")
}

/// The index's name: the declared one, or MongoDB's default if all stored names of the keys are known here.
fn name(index: &Index<'_>) -> Option<String> {
    if let Some(name) = &index.declared.name {
        return Some(name.value());
    }
    let mut parts = Vec::new();
    for key in &index.keys {
        let is_whole_document = key.path.idents.is_empty();
        let stored = if is_whole_document {
            "$**"
        } else {
            &key.path.own_field()?.stored
        };
        let kind = match key.kind {
            KeyKind::Ascending => "1",
            KeyKind::Descending => "-1",
            KeyKind::Hashed => "hashed",
            KeyKind::Text(_) => "text",
            KeyKind::Sphere => "2dsphere",
            KeyKind::Wildcard if is_whole_document => "1",
            KeyKind::Wildcard => return None,
        };
        parts.push(format!("{stored}_{kind}"));
    }
    Some(parts.join("_"))
}
