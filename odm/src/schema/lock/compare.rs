//! What differs between two locks, and what it means for stored documents. `book/src/lock-file.md` has the table.

mod facts;
mod fields;

use std::collections::BTreeMap;

use super::{Change, Fact, Impact, Lock, LockedModel};

/// The differences, the worst first.
pub(super) fn changes(old: &Lock, new: &Lock) -> Vec<Change> {
    let mut changes = Vec::new();
    let mut renamed = BTreeMap::new();
    let gone: Vec<_> = missing(old, new).collect();
    let came: Vec<_> = missing(new, old).collect();
    for (collection, model) in &gone {
        let is_it = |other: &LockedModel| model.name == other.name || model.fields == other.fields;
        let mut same = came.iter().filter(|(_, other)| is_it(other));
        if let (Some((to, _)), None) = (same.next(), same.next()) {
            renamed.entry(*to).or_insert(*collection);
        }
    }
    for (collection, model) in &gone {
        if !renamed.values().any(|from| from == collection) {
            let mut list = Changes::of(collection, model, model);
            let what =
                "no model has the collection any more: its documents stay, and nothing reads them";
            list.add(
                "",
                Impact::LosesData,
                what,
                Some(format!("drop_{collection}")),
            );
            changes.append(&mut list.found);
        }
    }
    for (collection, model) in &new.models {
        let from = renamed.get(collection.as_str()).copied();
        let Some(before) = old.models.get(from.unwrap_or(collection)) else {
            let mut list = Changes::of(collection, model, model);
            list.compatible("", "a new collection");
            changes.append(&mut list.found);
            continue;
        };
        let mut list = Changes::of(collection, before, model);
        if let Some(from) = from {
            let what = format!(
                "the collection `{from}` is gone, and this one looks like it: if it is the same, rename it (`renameCollection`); if not, \
                 nothing reads the documents of `{from}` any more"
            );
            list.add(
                "",
                Impact::Rewrite,
                what,
                Some(format!("rename_{from}_to_{collection}")),
            );
        }
        list.model();
        changes.append(&mut list.found);
    }
    changes.sort_by_key(|change| std::cmp::Reverse(change.impact));
    changes
}

/// The collections of `one` that `other` does not have.
fn missing<'l>(one: &'l Lock, other: &'l Lock) -> impl Iterator<Item = (&'l str, &'l LockedModel)> {
    let models = one.models.iter();
    let missing = models.filter(|(collection, _)| !other.models.contains_key(*collection));
    missing.map(|(collection, model)| (collection.as_str(), model))
}

/// The differences of one model.
struct Changes<'l> {
    collection: &'l str,
    old: &'l LockedModel,
    new: &'l LockedModel,
    found: Vec<Change>,
}

impl<'l> Changes<'l> {
    fn of(collection: &'l str, old: &'l LockedModel, new: &'l LockedModel) -> Self {
        Self {
            collection,
            old,
            new,
            found: Vec::new(),
        }
    }

    fn add(
        &mut self,
        subject: &str,
        impact: Impact,
        what: impl Into<String>,
        step: Option<String>,
    ) {
        self.found.push(Change {
            impact,
            model: self.new.name.clone(),
            collection: self.collection.to_owned(),
            subject: subject.to_owned(),
            what: what.into(),
            step: step.map(|step| identifier(&step)),
            is_versioned: self.new.version > self.old.version,
        });
    }

    fn compatible(&mut self, subject: &str, what: impl Into<String>) {
        self.add(subject, Impact::Compatible, what, None);
    }

    fn model(&mut self) {
        let (old, new) = (self.old, self.new);
        if old.name != new.name {
            self.compatible("", format!("the Rust type was named `{}`", old.name));
        }
        if old.version < new.version {
            let what = format!(
                "the version of the schema is {}, and was {}",
                new.version, old.version
            );
            self.compatible("", what);
        } else if old.version > new.version {
            let what = format!(
                "the version of the schema went back from {} to {}: documents of the higher version are in the collection",
                old.version, new.version
            );
            self.add("", Impact::Rewrite, what, None);
        }
        self.facts();
        self.fields();
    }

    /// The option of this name of the new model.
    fn option(&self, name: &str) -> Option<&'l str> {
        let option = self.new.facts.get(&(Fact::Option, name.to_owned()));
        option.map(String::as_str)
    }

    /// Whether MongoDB computes the documents.
    fn is_view(&self) -> bool {
        self.option("view").is_some()
    }

    /// Whether MongoDB refuses updates of documents that the validator does not accept, although they are stored.
    fn is_enforced(&self) -> bool {
        // Other levels and actions are listed; time series have no validator.
        self.option("validation").is_none() && self.option("time_series").is_none()
    }
}

/// The name of a Rust function: `rename_name_to_full_name` for `rename_name_to_fullName`.
fn identifier(text: &str) -> String {
    let mut name = String::new();
    let mut is_after_lowercase = false;
    for one in text.chars() {
        let is_word = one.is_alphanumeric() || one == '_';
        let begins_word = one.is_uppercase() && is_after_lowercase;
        if (begins_word || !is_word) && !name.ends_with('_') && !name.is_empty() {
            name.push('_');
        }
        if is_word {
            name.extend(one.to_lowercase());
        }
        is_after_lowercase = one.is_lowercase() || one.is_numeric();
    }
    name.trim_end_matches('_').replace("__", "_")
}
