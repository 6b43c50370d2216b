//! A second run: keeps a file as it is, and adds what is new.

mod existing;
mod matching;
mod notes;

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fmt;
use std::ops::Range;

use self::existing::Existing;
use self::matching::{Matches, reachable};
use super::Pulled;
use super::item::{Body, Item};
use super::names;
use super::write::{self, Spelling};
use crate::error::{Error, Result};

/// The source of a file with what is new, and what its author has to decide: [`Pulled::merge`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Merged {
    /// The source. It equals the existing one if nothing is new.
    pub source: String,
    /// The differences between the file and the data that merging leaves as they are.
    pub notes: Vec<Note>,
}

/// A difference between a file and the data, which merging leaves as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Note {
    /// The struct, and the field in it, by their Rust names: `Book.year`.
    pub subject: String,
    /// The difference, as a sentence without a subject.
    pub message: String,
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.subject, self.message)
    }
}

impl Pulled {
    /// Adds what is new to the source of a file, and keeps all that it has: names, types, attributes, comments and their order.
    ///
    /// A struct belongs to a collection by its `#[odm(collection = "…")]`, and a field to a stored one by its stored name, so that
    /// both may get other Rust names. New fields stand at the end of their struct, new strings at the end of their enum, and new
    /// models at the end of the file. Nothing is removed or changed; [`Merged::notes`] says where the file and the data disagree. A
    /// field that was removed from the file comes back, unless [`except`](super::Pull::except) names it.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> odm::Result<()> {
    /// # let db = Db::memory();
    /// # let documents = [doc! {"_id": 1, "t": "Emma", "year": 1815}];
    /// # db.run_command(doc! {"insert": "books", "documents": documents}).await?;
    /// let file = r#"use odm::prelude::*;
    ///
    /// #[derive(Debug, Serialize, Deserialize, Document)]
    /// #[odm(collection = "books")]
    /// struct Work {
    ///     #[serde(rename = "_id")]
    ///     id: i32,
    ///     #[serde(rename = "t")]
    ///     title: String, // as it is on the cover
    ///     pages: i32,
    /// }
    /// "#;
    /// let merged = db.pull().await?.merge(file)?;
    /// assert!(merged.source.contains("title: String, // as it is on the cover\n"));
    /// assert!(merged.source.ends_with("    /// int 100 %.\n    pub year: i32,\n}\n"));
    /// assert_eq!(merged.notes[0].to_string(), "Work.pages: no document that was read has it");
    /// assert_eq!(db.pull().await?.merge(&merged.source)?.source, merged.source);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`is_usage`](Error::is_usage): the source is not Rust; the error names the line. Or two structs of it belong to one
    /// collection.
    pub fn merge(&self, source: &str) -> Result<Merged> {
        let existing = Existing::parse(source)?;
        let matches = Matches::find(&self.items, &existing)?;
        let mut taken: HashSet<String> = existing.names().map(str::to_owned).collect();
        taken.extend(existing.imported.iter().cloned());
        let fresh: Vec<usize> = new_items(&self.items, &existing, &matches);
        let mut all_names = vec![String::new(); self.items.len()];
        for (item, place) in matches.iter() {
            if let (Some(name), Some(found)) = (all_names.get_mut(item), existing.get(place)) {
                name.clone_from(&found.name);
            }
        }
        for item in &fresh {
            let Some(wanted) = self.items.get(*item) else {
                continue;
            };
            let named = write::name_items(std::slice::from_ref(wanted), &taken);
            if let (Some(name), Some(own)) = (all_names.get_mut(*item), named.into_iter().next()) {
                taken.insert(own.clone());
                *name = own;
            }
        }
        let spelling = Spelling {
            items: &self.items,
            names: &all_names,
        };
        let mut edits = Edits::default();
        let mut imports = BTreeSet::new();
        for (item, place) in matches.iter() {
            let (Some(item), Some(found)) = (self.items.get(item), existing.get(place)) else {
                continue;
            };
            let mut text = String::new();
            match &item.body {
                Body::Struct(_) => {
                    let mut idents = found.idents();
                    for field in existing.new_fields(found, item) {
                        let mut field = field.clone();
                        field.ident = names::apart(&field.ident, |name| idents.contains(name));
                        idents.insert(field.ident.clone());
                        imports.extend(write::imports_of(&field.ty));
                        text.push_str(&spelling.field(&field));
                    }
                }
                Body::Enum(_) => {
                    let mut idents = found.idents();
                    for variant in found.new_variants(item) {
                        let mut variant = variant.clone();
                        variant.ident = names::apart(&variant.ident, |name| idents.contains(name));
                        idents.insert(variant.ident.clone());
                        text.push_str(&write::variant(&variant));
                    }
                }
            }
            if !text.is_empty() {
                if let Some(at) = found.without_comma {
                    edits.add(at..at, ",");
                }
                let (range, text) = found.insertion(source, &text);
                edits.add(range, &text);
            }
        }
        if !fresh.is_empty() {
            imports.extend(write::imports(&self.items, |item| fresh.contains(&item)));
        }
        // Those of std stand before the others.
        let (std, others): (Vec<&str>, Vec<&str>) = imports
            .into_iter()
            .partition(|line| line.starts_with("use std"));
        for line in std.into_iter().chain(others) {
            if let Some((at, text)) = existing.import(line) {
                edits.add(at..at, &text);
            }
        }
        let has_returns = source.contains("\r\n");
        let mut merged = edits.apply(source, has_returns)?;
        for item in fresh {
            if !merged.is_empty() && !merged.ends_with('\n') {
                merged.push_str(&lines("\n", has_returns));
            }
            if !merged.is_empty() {
                merged.push_str(&lines("\n", has_returns));
            }
            merged.push_str(&lines(&spelling.item(item), has_returns));
        }
        let notes = notes::find(&self.items, &self.listed, &existing, &matches, &spelling);
        Ok(Merged {
            source: merged,
            notes,
        })
    }
}

/// The items that the file does not have: new models, and what new fields lead to.
fn new_items(items: &[Item], existing: &Existing, matches: &Matches) -> Vec<usize> {
    let mut roots: Vec<usize> = Vec::new();
    for (place, item) in items.iter().enumerate() {
        match matches.of(place) {
            Some(found) => {
                if let Some(found) = existing.get(found) {
                    let fields = existing.new_fields(found, item);
                    roots.extend(fields.into_iter().filter_map(|field| field.ty.item()));
                }
            }
            None if item.collection.is_some() => roots.push(place),
            None => {}
        }
    }
    reachable(items, matches, roots)
}

/// Text with the line endings of a file.
fn lines(text: &str, has_returns: bool) -> String {
    if has_returns {
        text.replace('\n', "\r\n")
    } else {
        text.to_owned()
    }
}

/// Texts to insert, each in place of a range of white space or of nothing.
#[derive(Debug, Default)]
struct Edits(BTreeMap<usize, (usize, String)>);

impl Edits {
    fn add(&mut self, range: Range<usize>, text: &str) {
        let (end, inserted) = self.0.entry(range.start).or_default();
        *end = range.end.max(*end);
        inserted.push_str(text);
    }

    /// The edited source; with carriage returns if the source has them.
    fn apply(&self, source: &str, has_returns: bool) -> Result<String> {
        let mut text = String::with_capacity(source.len());
        let mut done = 0;
        for (start, (end, inserted)) in &self.0 {
            let before = source.get(done..*start);
            text.push_str(before.ok_or_else(|| Error::usage("the source has no such place"))?);
            text.push_str(&lines(inserted, has_returns));
            done = *end;
        }
        text.push_str(source.get(done..).unwrap_or_default());
        Ok(text)
    }
}

#[cfg(test)]
mod tests;
