//! Refuses indexes that MongoDB would refuse, or that would cause trouble later. The derives can't make these
//! checks: only the metadata sees through aliases and generic parameters.

use bson::Document;

use super::Declared;
use super::path::KeyPath;
use crate::error::Result;
use crate::model::{BsonType, IndexMeta, KeyKind, ModelMeta, Shape, TypeMeta};
use crate::schema::normal::NormalIndex;
use crate::schema::validator::declaration;

/// MongoDB's limits.
pub(crate) const MAX_INDEXES: usize = 64;
const MAX_KEYS: usize = 32;
const LARGEST_WEIGHT: u32 = 99_999;

/// Checks one index.
pub(super) fn alone(
    meta: &ModelMeta,
    index: &IndexMeta,
    keys: &[(KeyPath, KeyKind)],
) -> Result<()> {
    match refusal(meta, index, keys) {
        Some(message) => Err(declaration(message)),
        None => Ok(()),
    }
}

fn refusal(meta: &ModelMeta, index: &IndexMeta, keys: &[(KeyPath, KeyKind)]) -> Option<String> {
    if keys.is_empty() || keys.len() > MAX_KEYS {
        return Some(format!(
            "an index has 1 to {MAX_KEYS} keys, and this one has {}",
            keys.len()
        ));
    }
    for (position, (key, _)) in keys.iter().enumerate() {
        if keys
            .iter()
            .take(position)
            .any(|(other, _)| other.path == key.path)
        {
            return Some(format!("`{}` is a key twice; remove one", key.path));
        }
    }
    arrays(keys)
        .or_else(|| kinds(index, keys))
        .or_else(|| options(meta, index, keys))
        .or_else(|| ttl(meta, index, keys))
}

/// Refuses keys in different arrays: MongoDB can index only one array of a document in one index.
fn arrays(keys: &[(KeyPath, KeyKind)]) -> Option<String> {
    for (position, (key, _)) in keys.iter().enumerate() {
        for (other, _) in keys.iter().take(position) {
            let within =
                |a: &KeyPath, b: &KeyPath| a.arrays.iter().all(|path| b.arrays.contains(path));
            if !within(key, other) && !within(other, key) {
                return Some(format!(
                    "`{}` and `{}` go through different arrays, and the server can index only one \
                     array of a document in one index; make two indexes",
                    other.path, key.path,
                ));
            }
        }
    }
    None
}

fn kinds(index: &IndexMeta, keys: &[(KeyPath, KeyKind)]) -> Option<String> {
    let count =
        |matches: fn(&KeyKind) -> bool| keys.iter().filter(|(_, kind)| matches(kind)).count();
    let text = count(|kind| matches!(kind, KeyKind::Text { .. }));
    let hashed = count(|kind| *kind == KeyKind::Hashed);
    let sphere = count(|kind| *kind == KeyKind::Sphere);
    let wildcard = count(|kind| *kind == KeyKind::Wildcard);
    if [text, hashed, sphere]
        .iter()
        .filter(|count| **count > 0)
        .count()
        > 1
    {
        return Some(
            "text, hashed and 2dsphere keys can't be in one index; make one index of each"
                .to_owned(),
        );
    }
    if wildcard > 0 && keys.len() > 1 {
        return Some(
            "a wildcard can't be part of a compound index; make it an index of its own".to_owned(),
        );
    }
    if hashed > 1 {
        return Some("only one key of an index can be hashed".to_owned());
    }
    if hashed > 0 {
        if index.unique {
            return Some("a hashed index can't be unique; make it ascending".to_owned());
        }
        let array = keys.iter().find(|(key, _)| !key.arrays.is_empty());
        if let Some((key, _)) = array {
            return Some(format!(
                "`{}` goes through an array, and a hashed index can't hold arrays",
                key.path
            ));
        }
    }
    if text > 0 {
        let is_text = |(_, kind): &&(KeyPath, KeyKind)| matches!(kind, KeyKind::Text { .. });
        let adjacent = keys
            .iter()
            .skip_while(|key| !is_text(key))
            .take_while(is_text)
            .count();
        if adjacent != text {
            return Some("the text keys of an index must stand together".to_owned());
        }
        if index
            .collation
            .is_some_and(|collation| collation.locale != "simple")
        {
            return Some(
                "a text index has no collation; its language is `default_language`".to_owned(),
            );
        }
    }
    keys.iter().find_map(|(key, kind)| {
        if let KeyKind::Text { weight } = *kind {
            if !(1..=LARGEST_WEIGHT).contains(&weight) {
                return Some(format!(
                    "the weight of `{}` must be 1 to {LARGEST_WEIGHT}",
                    key.path
                ));
            }
            if key
                .ty
                .is_some_and(|ty| !holds(&ty, &|ty| ty == BsonType::String, true))
            {
                return Some(format!(
                    "`{}` holds no strings, so that a text index finds nothing in it",
                    key.path
                ));
            }
        }
        None
    })
}

fn options(meta: &ModelMeta, index: &IndexMeta, keys: &[(KeyPath, KeyKind)]) -> Option<String> {
    let wildcard = keys.iter().any(|(_, kind)| *kind == KeyKind::Wildcard);
    if wildcard && (index.unique || index.sparse) {
        return Some(
            "a wildcard index can't be unique, and is sparse by nature; remove the option"
                .to_owned(),
        );
    }
    if index.sparse && index.partial.is_some() {
        return Some(
            "an index is sparse or partial, not both: put the `exists` into the filter".to_owned(),
        );
    }
    if index.sparse && (index.variant.is_some() || meta.variant_of.is_some()) {
        return Some(
            "an index on a field of a variant is partial, and can't be sparse, too: write `partial = |m| m.field.exists(true)`"
                .to_owned(),
        );
    }
    let whole = keys
        .iter()
        .any(|(key, kind)| *kind == KeyKind::Wildcard && key.path.is_empty());
    if !index.wildcard_projection.is_empty() && !whole {
        return Some("only a wildcard over the whole document takes a projection".to_owned());
    }
    let text = keys
        .iter()
        .any(|(_, kind)| matches!(kind, KeyKind::Text { .. }));
    if !text && (index.default_language.is_some() || index.language_override.is_some()) {
        return Some("only a text index has a language".to_owned());
    }
    if let [(key, KeyKind::Ascending | KeyKind::Descending)] = keys
        && key.path == "_id"
    {
        return Some("every collection has an index of its `_id`; remove this one".to_owned());
    }
    None
}

fn ttl(meta: &ModelMeta, index: &IndexMeta, keys: &[(KeyPath, KeyKind)]) -> Option<String> {
    let seconds = index.expire_after_seconds?;
    if i32::try_from(seconds).is_err() {
        return Some(format!(
            "documents can't expire after more than {} seconds",
            i32::MAX
        ));
    }
    if meta.whole().capped.is_some() {
        return Some(
            "documents of a capped collection can't expire; remove one of the two".to_owned(),
        );
    }
    let [(key, KeyKind::Ascending | KeyKind::Descending)] = keys else {
        return Some("a TTL index has one key, ascending or descending".to_owned());
    };
    let dates = |ty: BsonType| ty == BsonType::Date;
    (!key.ty.is_some_and(|ty| holds(&ty, &dates, false))).then(|| {
        format!(
            "`{}` is not stored as a date, so that nothing would ever expire",
            key.path
        )
    })
}

/// Whether values of `ty`, or the elements of its arrays, can have a type that `wanted` accepts. With
/// `inside`, every subdocument counts.
fn holds(ty: &TypeMeta, wanted: &dyn Fn(BsonType) -> bool, inside: bool) -> bool {
    match ty.shape {
        Shape::Any => true,
        Shape::Scalar(types) => types.iter().any(|ty| wanted(*ty)),
        Shape::OneOf(_) => wanted(BsonType::String),
        Shape::Array { element: ty, .. } | Shape::Reference { id: ty, .. } => {
            holds(ty, wanted, inside)
        }
        Shape::Tuple(types) => types.iter().any(|ty| holds(ty, wanted, inside)),
        Shape::Map(_) | Shape::Embedded(_) => inside,
    }
}

/// Checks the indexes of a collection against each other.
pub(super) fn together(meta: &ModelMeta, declared: &[Declared]) -> Result<()> {
    if declared.len() >= MAX_INDEXES {
        return Err(declaration(format!(
            "{} indexes are declared, and a collection can have at most {MAX_INDEXES}, including \
             that of `_id`: remove some",
            declared.len(),
        )));
    }
    let default = meta.collation.as_ref().map(super::collation::document);
    let mut seen: Vec<(&Document, NormalIndex)> = Vec::new();
    for Declared { spec, .. } in declared {
        let index = NormalIndex::read(spec, default.as_ref());
        for (other_spec, other) in &seen {
            if spec.get("name") == other_spec.get("name") {
                return Err(declaration(format!(
                    "two indexes are called {}; give one of them another `name`",
                    index.name,
                )));
            }
            if index.is_text() && other.is_text() {
                return Err(declaration(format!(
                    "a collection has at most one text index, and `{}` and `{}` are two; make one \
                     of all their keys",
                    other.name, index.name,
                )));
            }
            if index.is_equivalent(other) {
                return Err(declaration(format!(
                    "the indexes `{}` and `{}` are the same; remove one",
                    other.name, index.name,
                )));
            }
        }
        seen.push((spec, index));
    }
    Ok(())
}
