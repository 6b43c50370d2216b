//! The indexes of a collection as attributes of its model.

mod keys;
mod options;

use std::collections::HashSet;

use bson::{Bson, Document};

use self::keys::{Key, Kind, Mark};
use self::options::Options;
use super::item::{Attribute, Item};
use super::literal::{code, json, string};
use crate::schema::normal::integer;

/// The most indexes that a model may declare, beside that on `_id`.
const MOST: usize = 63;

/// The stored path of the only key of a unique index.
pub(super) fn unique_path(index: &Document) -> Option<String> {
    let keys = index.get_document("key").ok()?;
    let is_unique = index.get_bool("unique").unwrap_or(false);
    let key = keys.keys().next().filter(|_| keys.len() == 1)?;
    is_unique.then(|| key.clone())
}

/// An index that can be declared.
#[derive(Debug)]
struct Index {
    keys: Vec<Key>,
    options: Options,
    name: String,
}

/// Adds the indexes to a model. Those that can't be declared become comments.
pub(super) fn declare(items: &mut [Item], model: usize, indexes: &[Document], collation: &Bson) {
    let mut refused = Vec::new();
    let mut sound: Vec<(Index, &Document)> = Vec::new();
    for index in indexes {
        match read(items, model, index, collation) {
            Ok(Some(read)) => sound.push((read, index)),
            Ok(None) => {}
            Err(reason) => refused.push((index, reason)),
        }
    }
    let mut attributes = Vec::new();
    let mut words = HashSet::new();
    for (place, (index, document)) in sound.iter().enumerate() {
        let before = sound.iter().take(place).map(|(index, _)| index);
        let all = sound.iter().map(|(index, _)| index);
        if let Some(reason) = redundant(index, before, all) {
            refused.push((document, reason));
        } else if attributes.len() == MOST {
            let reason = format!("a model declares at most {MOST} indexes");
            refused.push((document, reason));
        } else {
            attributes.push(index.attribute(&mut words));
        }
    }
    if let Some(item) = items.get_mut(model) {
        item.attributes.extend(attributes);
        for (index, reason) in refused {
            let name = code(index.get_str("name").unwrap_or_default());
            let line = format!(
                "The index {name} is not declared: {reason}. {}",
                json(index)
            );
            item.comments.push(line);
        }
    }
}

fn read(
    items: &[Item],
    model: usize,
    index: &Document,
    collation: &Bson,
) -> Result<Option<Index>, String> {
    let keys = index
        .get_document("key")
        .map_err(|_| "it has no keys".to_owned())?;
    let is_of_id = keys.len() == 1 && keys.get("_id").and_then(integer).is_some();
    if is_of_id {
        return Ok(None);
    }
    let keys = keys::read(items, model, index, keys)?;
    let options = Options::read(items, model, index, collation, &keys)?;
    let name = index.get_str("name").unwrap_or_default().to_owned();
    let read = Index {
        keys,
        options,
        name,
    };
    check(&read)?;
    Ok(Some(read))
}

/// Refuses what the derive refuses.
fn check(index: &Index) -> Result<(), String> {
    let arrays = index.keys.iter().filter(|key| key.is(Mark::InList));
    let mut arrays: Vec<&str> = arrays.map(|key| key.first.as_str()).collect();
    arrays.dedup();
    let is_text = index.keys.iter().any(|key| key.kind == Kind::Text);
    if arrays.len() > 1 && !is_text {
        return Err("two of its keys are lists".to_owned());
    }
    for key in &index.keys {
        key.check()?;
    }
    if let ([key], true) = (index.keys.as_slice(), index.options.unique) {
        let allowed = index.options.partial.is_some()
            || !key.is(Mark::Optional)
            || key.is(Mark::Skipped) && index.options.sparse;
        if !allowed {
            return Err(
                "it is unique, and documents without the field need `sparse` or a partial filter"
                    .to_owned(),
            );
        }
    }
    if index.options.expires.is_some() {
        let [key] = index.keys.as_slice() else {
            return Err("a TTL index has one key".to_owned());
        };
        if !key.is(Mark::MayBeDate) {
            return Err("documents expire by a date, and its field holds other values".to_owned());
        }
    }
    Ok(())
}

/// Why an index is superfluous beside others.
fn redundant<'i>(
    index: &Index,
    mut before: impl Iterator<Item = &'i Index> + Clone,
    mut all: impl Iterator<Item = &'i Index>,
) -> Option<String> {
    if index.is_text() && before.clone().any(Index::is_text) {
        return Some("a collection has one text index".to_owned());
    }
    if before.any(|other| other.is_like(index)) {
        return Some("another index has the same keys".to_owned());
    }
    all.find(|longer| index.is_prefix_of(longer))
        .map(|longer| format!("the index {} serves its queries", code(&longer.name)))
}

impl Index {
    fn is_text(&self) -> bool {
        self.keys.iter().any(|key| key.kind == Kind::Text)
    }

    fn is_like(&self, other: &Self) -> bool {
        let keys = |index: &Self| -> Vec<(String, Kind)> {
            let keys = index.keys.iter();
            keys.map(|key| (key.path.clone(), key.kind)).collect()
        };
        keys(self) == keys(other)
            && self.options.sparse == other.options.sparse
            && self.options.partial == other.options.partial
            && self.options.collation == other.options.collation
            && self.options.projection.is_none() == other.options.projection.is_none()
    }

    fn is_prefix_of(&self, longer: &Self) -> bool {
        if self.keys.len() >= longer.keys.len()
            || !self.options.are_default()
            || !longer.options.hold_all_documents()
            || !longer
                .keys
                .iter()
                .all(|key| key.kind.is_ordered() || key.kind == Kind::Hashed)
        {
            return false;
        }
        let pairs = || self.keys.iter().zip(&longer.keys);
        let same = pairs().all(|(one, other)| {
            one.path == other.path && one.kind.is_ordered() && other.kind.is_ordered()
        });
        let forward = pairs().all(|(one, other)| one.kind == other.kind);
        let backward = pairs().all(|(one, other)| one.kind != other.kind);
        same && (forward || backward)
    }

    /// The attribute. `words` are those of the attributes before.
    ///
    /// Clippy refuses attributes that it can read and that have a word in common, as in `index(a, sparse)` and `index(b, sparse)`.
    /// It can't read `index(b = asc, sparse)`.
    fn attribute(&self, words: &mut HashSet<String>) -> Attribute {
        let is_wildcard = self.keys.iter().any(|key| key.kind == Kind::Wildcard);
        let is_simple_ttl = self.options.expires.is_some() && !self.options.unique;
        let word = if self.is_text() {
            "text"
        } else if is_wildcard {
            "wildcard"
        } else if self.options.unique {
            "unique"
        } else if is_simple_ttl {
            "ttl"
        } else {
            "index"
        };
        let mut attribute = Attribute::text(word);
        let mut parts: Vec<Attribute> = self.keys.iter().filter_map(Key::attribute).collect();
        if self.name != self.default_name() {
            parts.push(Attribute::text(format!("name = {}", string(&self.name))));
        }
        parts.extend(self.options.attributes(word));
        if parts.is_empty() {
            return attribute;
        }
        let mut is_repeated = false;
        for part in &parts {
            let text = format!("{word} {:?}", part.0);
            let text = text.split("collation(").next().unwrap_or_default();
            is_repeated |= !words.insert(text.to_owned());
        }
        let is_readable = self.keys.iter().all(|key| {
            let is_spelled_out = key.kind == Kind::Ascending && key.is(Mark::NamedLikeOption);
            !is_spelled_out && !matches!(key.kind, Kind::Descending | Kind::Hashed)
        });
        // `partial = …` is the option.
        let mut keys = self.keys.iter();
        let key = keys.position(|key| key.kind == Kind::Ascending && key.path != "partial");
        if is_repeated
            && is_readable
            && let Some(key) = key.and_then(|key| parts.get_mut(key))
        {
            key.push(" = asc");
        }
        for (place, part) in parts.into_iter().enumerate() {
            attribute.push(if place == 0 { "(" } else { ", " });
            attribute.0.extend(part.0);
        }
        attribute.push(")");
        attribute
    }

    /// The name that MongoDB gives an index without one.
    fn default_name(&self) -> String {
        let parts = self.keys.iter().map(|key| {
            let kind = match key.kind {
                Kind::Ascending | Kind::Wildcard => "1",
                Kind::Descending => "-1",
                Kind::Hashed => "hashed",
                Kind::Sphere => "2dsphere",
                Kind::Text => "text",
            };
            format!("{}_{kind}", key.path)
        });
        let parts: Vec<String> = parts.collect();
        parts.join("_")
    }
}

#[cfg(test)]
mod tests;
