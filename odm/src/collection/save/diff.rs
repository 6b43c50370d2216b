//! Computes the update that turns one document into another.

use bson::raw::{RawBsonRef, RawDocument};
use bson::{Bson, Document};

use crate::error::{Error, Result};

/// The fields to set and to unset, by stored path.
#[derive(Debug, Default)]
pub(super) struct Changes {
    set: Document,
    unset: Document,
    /// The paths of subdocuments that are not stored yet, which are set whole.
    unstored: Vec<String>,
}

impl Changes {
    /// No changes yet; the subdocuments at these paths will be set whole.
    pub(super) fn of_unstored(unstored: Vec<String>) -> Self {
        Self {
            unstored,
            ..Self::default()
        }
    }

    /// The paths of subdocuments that are still not stored after the update.
    pub(super) fn still_unstored(&self) -> Vec<String> {
        let is_set = |path: &String| {
            self.set.keys().any(|set| {
                let rest = path.strip_prefix(set.as_str());
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
            })
        };
        let unstored = self.unstored.iter().filter(|path| !is_set(path));
        unstored.cloned().collect()
    }

    /// Compares whole documents. The `_id` must be equal; the fields that the library maintains are ignored.
    pub(super) fn compare(
        &mut self,
        old: &RawDocument,
        new: &RawDocument,
        maintained: &[&str],
    ) -> Result<()> {
        if !same(find(old, "_id"), find(new, "_id")) {
            return Err(Error::usage(
                "the `_id` of a stored document can't be changed: insert the document under its \
                 new `_id`, then delete the old one",
            )
            .with_path("_id"));
        }
        for (key, _) in elements(old).chain(elements(new)) {
            if !addressable(key)
                && !maintained.contains(&key)
                && !same(find(old, key), find(new, key))
            {
                return Err(Error::usage(format!(
                    "the field `{key}` can't be saved by itself, because no path can name it: \
                     use `replace_one`"
                )));
            }
        }
        self.fields("", old, new, &|key| {
            key == "_id" || maintained.contains(&key)
        })
    }

    /// The update document; `None` if there is nothing to send.
    pub(super) fn into_update(self) -> Option<Document> {
        let mut update = Document::new();
        if !self.set.is_empty() {
            update.insert("$set", self.set);
        }
        if !self.unset.is_empty() {
            update.insert("$unset", self.unset);
        }
        (!update.is_empty()).then_some(update)
    }

    fn fields(
        &mut self,
        parent: &str,
        old: &RawDocument,
        new: &RawDocument,
        skip: &dyn Fn(&str) -> bool,
    ) -> Result<()> {
        for (key, new) in elements(new).filter(|(key, _)| !skip(key)) {
            let path = join(parent, key);
            match (find(old, key), new) {
                (Some(RawBsonRef::Document(old)), RawBsonRef::Document(new))
                    if !self.unstored.contains(&path)
                        && elements(old)
                            .chain(elements(new))
                            .all(|(key, _)| addressable(key)) =>
                {
                    // Setting an emptied subdocument to `{}` is shorter than unsetting each of its fields.
                    self.fields(&path, old, new, &|_| false)?;
                }
                (old, new) if same(old, Some(new)) => {}
                (_, new) => {
                    let value = Bson::try_from(new).map_err(Error::encode)?;
                    self.set.insert(path, value);
                }
            }
        }
        for (key, _) in elements(old).filter(|(key, _)| !skip(key)) {
            if find(new, key).is_none() {
                self.unset.insert(join(parent, key), true);
            }
        }
        Ok(())
    }
}

/// The paths of subdocuments that the model writes but that are not stored, such as defaults.
pub(super) fn unstored(stored: &RawDocument, written: &RawDocument) -> Vec<String> {
    fn collect(parent: &str, stored: &RawDocument, written: &RawDocument, to: &mut Vec<String>) {
        for (key, value) in elements(written) {
            let RawBsonRef::Document(written) = value else {
                continue;
            };
            let path = join(parent, key);
            match find(stored, key) {
                Some(RawBsonRef::Document(stored)) => collect(&path, stored, written, to),
                _ => to.push(path),
            }
        }
    }
    let mut paths = Vec::new();
    collect("", stored, written, &mut paths);
    paths
}

fn elements(document: &RawDocument) -> impl Iterator<Item = (&str, RawBsonRef<'_>)> {
    let elements = document.iter().filter_map(Result::ok);
    elements.map(|(key, value)| (key.as_str(), value))
}

fn find<'a>(document: &'a RawDocument, key: &str) -> Option<RawBsonRef<'a>> {
    document.get(key).ok().flatten()
}

/// Whether both values have the same bytes, so that a NaN equals itself.
fn same(old: Option<RawBsonRef<'_>>, new: Option<RawBsonRef<'_>>) -> bool {
    match (old, new) {
        (Some(RawBsonRef::Double(old)), Some(RawBsonRef::Double(new))) => {
            old.to_bits() == new.to_bits()
        }
        (old, new) => old == new,
    }
}

/// Whether a dotted path can name the field.
fn addressable(key: &str) -> bool {
    !key.is_empty() && !key.starts_with('$') && !key.contains('.')
}

fn join(parent: &str, key: &str) -> String {
    if parent.is_empty() {
        key.to_owned()
    } else {
        format!("{parent}.{key}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bson::{RawDocumentBuf, doc};

    fn update(old: &Document, new: &Document) -> Option<Document> {
        let raw = |document: &Document| RawDocumentBuf::try_from(document).unwrap();
        let mut changes = Changes::default();
        changes.compare(&raw(old), &raw(new), &["v"]).unwrap();
        changes.into_update()
    }

    #[test]
    fn a_diff_sets_single_fields() {
        let old =
            doc! { "_id": 1, "v": 1, "a": 1, "b": { "c": 1, "d": [1], "e": { "f": f64::NAN } } };
        assert_eq!(update(&old, &old.clone()), None);
        let mut new = old.clone();
        new.insert("v", 2);
        assert_eq!(update(&old, &new), None);
        new.insert("b", doc! { "c": 1, "d": [1, 2], "e": { "g": 1 } });
        assert_eq!(
            update(&old, &new),
            Some(doc! { "$set": { "b.d": [1, 2], "b.e.g": 1 }, "$unset": { "b.e.f": true } })
        );
        new.remove("a");
        new.insert("b", Bson::Null);
        assert_eq!(
            update(&old, &new),
            Some(doc! { "$set": { "b": null }, "$unset": { "a": true } })
        );
        // The stored type is part of a value.
        assert_eq!(
            update(&doc! { "_id": 1, "a": 1 }, &doc! { "_id": 1, "a": 1_i64 }),
            Some(doc! { "$set": { "a": 1_i64 } })
        );
    }

    #[test]
    fn maps_with_unaddressable_keys_are_set_whole() {
        let old = doc! { "_id": 1, "m": { "a.b": 1, "c": 1 } };
        let new = doc! { "_id": 1, "m": { "a.b": 2, "c": 1 } };
        assert_eq!(
            update(&old, &new),
            Some(doc! { "$set": { "m": { "a.b": 2, "c": 1 } } })
        );
    }

    #[test]
    fn a_changed_id_is_refused() {
        let raw = |document: &Document| RawDocumentBuf::try_from(document).unwrap();
        let (old, new) = (raw(&doc! { "_id": 1 }), raw(&doc! { "_id": 2 }));
        let error = Changes::default().compare(&old, &new, &[]).unwrap_err();
        assert!(error.is_usage() && error.path() == Some("_id"), "{error}");
    }
}
