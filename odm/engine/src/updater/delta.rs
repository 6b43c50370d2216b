//! The changes that an update made, in the form that mongod logs for change streams.
//!
//! mongod logs as little as its operators report: a path that was set, an element that was appended, or a whole array
//! if an operator rebuilt it. For a pipeline it logs the difference, unless that is longer than the document.

use bson::raw::{RawArray, RawArrayBuf, RawBsonRef, RawDocument, RawDocumentBuf, cstr};
use odm_language::value::raw;

use crate::updater::node::{append, identical};

/// The change of a value that exists before and after.
#[derive(Debug)]
pub(super) enum Delta<'a> {
    /// The value was replaced.
    Whole(RawBsonRef<'a>),
    Fields(Fields<'a>),
    Elements(Elements<'a>),
}

/// The changes of a document's fields.
#[derive(Debug, Default)]
pub(super) struct Fields<'a> {
    removed: Vec<String>,
    updated: Vec<(String, RawBsonRef<'a>)>,
    inserted: Vec<(String, RawBsonRef<'a>)>,
    inner: Vec<(String, Delta<'a>)>,
    size: usize,
}

/// The changes of an array's elements.
#[derive(Debug, Default)]
pub(super) struct Elements<'a> {
    changed: Vec<(usize, Delta<'a>)>,
    /// The length that the array was truncated to.
    cut: Option<usize>,
    size: usize,
}

/// The size that mongod's log entry adds to the difference of two documents.
pub(super) const SPARE: usize = 15;

/// The size of an empty document, and of a field without its name and value.
const EMPTY: usize = 5;
const FIELD: usize = 2;

impl<'a> Fields<'a> {
    pub(super) fn remove(&mut self, name: String) {
        self.add_size(self.removed.is_empty(), FIELD + name.len() + 1);
        self.removed.push(name);
    }

    pub(super) fn insert(&mut self, name: String, value: RawBsonRef<'a>) {
        let size = FIELD + name.len() + value_size(value);
        self.add_size(self.inserted.is_empty(), size);
        self.inserted.push((name, value));
    }

    pub(super) fn change(&mut self, name: String, change: Delta<'a>) {
        match change {
            Delta::Whole(value) => {
                let size = FIELD + name.len() + value_size(value);
                self.add_size(self.updated.is_empty(), size);
                self.updated.push((name, value));
            }
            change => {
                self.size += FIELD + 1 + name.len() + change.size();
                self.inner.push((name, change));
            }
        }
    }

    /// Adds the size of an entry, and with the first entry that of its section.
    fn add_size(&mut self, is_first: bool, size: usize) {
        if is_first {
            self.size += FIELD + 1 + EMPTY;
        }
        self.size += size;
    }
}

impl<'a> Elements<'a> {
    pub(super) fn change(&mut self, index: usize, change: Delta<'a>) {
        let value = match &change {
            Delta::Whole(value) => value_size(*value),
            change => change.size(),
        };
        self.size += FIELD + 1 + index.to_string().len() + value;
        self.changed.push((index, change));
    }
}

impl Delta<'_> {
    /// The size of the change in mongod's log.
    fn size(&self) -> usize {
        match self {
            Self::Whole(value) => value_size(*value),
            Self::Fields(fields) => EMPTY + fields.size,
            // Includes the marker of arrays and the new length.
            Self::Elements(elements) => {
                EMPTY + 4 + elements.size + elements.cut.map_or(0, |_| FIELD + 1 + 4)
            }
        }
    }
}

/// The size of a value, without type and name.
fn value_size(value: RawBsonRef<'_>) -> usize {
    match value {
        RawBsonRef::Document(document) => document.as_bytes().len(),
        RawBsonRef::Array(array) => array.as_bytes().len(),
        value => {
            let mut alone = RawDocumentBuf::new();
            alone.append(cstr!(""), value);
            alone.as_bytes().len() - EMPTY - FIELD
        }
    }
}

/// The difference of two documents; `None` if it is not shorter than the second. `spare` is the size that mongod's log
/// entry adds.
pub(super) fn between<'a>(
    before: &'a RawDocument,
    after: &'a RawDocument,
    spare: usize,
) -> Option<Fields<'a>> {
    let limit = after.as_bytes().len();
    let mut fields = Fields {
        size: spare,
        ..Fields::default()
    };
    let (mut old, mut new) = (
        raw::elements(before).peekable(),
        raw::elements(after).peekable(),
    );
    let mut removed = Vec::new();
    while let (Some((old_name, old_value)), Some((new_name, new_value))) =
        (old.peek().copied(), new.peek().copied())
    {
        if limit < EMPTY + fields.size {
            return None;
        }
        old.next();
        if old_name != new_name {
            removed.push(old_name);
            continue;
        }
        new.next();
        if !identical(old_value, new_value) {
            fields.change(new_name.to_owned(), of(old_value, new_value));
        }
    }
    for (name, value) in new {
        removed.retain(|removed| *removed != name);
        fields.insert(name.to_owned(), value);
    }
    removed.extend(old.map(|(name, _)| name));
    removed.sort_unstable();
    for name in removed {
        fields.remove(name.to_owned());
    }
    (limit > EMPTY + fields.size).then_some(fields)
}

fn of<'a>(before: RawBsonRef<'a>, after: RawBsonRef<'a>) -> Delta<'a> {
    let change = match (before, after) {
        (RawBsonRef::Document(before), RawBsonRef::Document(after)) => {
            between(before, after, 0).map(Delta::Fields)
        }
        (RawBsonRef::Array(before), RawBsonRef::Array(after)) => {
            between_arrays(before, after).map(Delta::Elements)
        }
        _ => None,
    };
    change.unwrap_or(Delta::Whole(after))
}

fn between_arrays<'a>(before: &'a RawArray, after: &'a RawArray) -> Option<Elements<'a>> {
    let limit = after.as_bytes().len();
    let mut elements = Elements::default();
    let mut old = raw::values(before);
    let mut length = 0;
    for (index, value) in raw::values(after).enumerate() {
        length = index + 1;
        match old.next() {
            Some(was) if identical(was, value) => {}
            Some(was) => elements.change(index, of(was, value)),
            None => elements.change(index, Delta::Whole(value)),
        }
    }
    if old.next().is_some() {
        elements.cut = Some(length);
    }
    let change = Delta::Elements(elements);
    let fits = limit > change.size();
    match change {
        Delta::Elements(elements) if fits => Some(elements),
        _ => None,
    }
}

/// Formats the changes as `{updatedFields, removedFields, truncatedArrays}`.
pub(super) fn description(fields: &Fields<'_>) -> RawDocumentBuf {
    let mut split = UpdateDescription {
        updated: RawDocumentBuf::new(),
        removed: RawArrayBuf::new(),
        cut: RawArrayBuf::new(),
    };
    split.fields("", fields);
    let mut description = RawDocumentBuf::new();
    description.append(cstr!("updatedFields"), split.updated);
    description.append(cstr!("removedFields"), split.removed);
    description.append(cstr!("truncatedArrays"), split.cut);
    description
}

struct UpdateDescription {
    updated: RawDocumentBuf,
    removed: RawArrayBuf,
    cut: RawArrayBuf,
}

impl UpdateDescription {
    fn fields(&mut self, path: &str, fields: &Fields<'_>) {
        for name in &fields.removed {
            self.removed.push(below(path, name));
        }
        for (name, value) in fields.updated.iter().chain(&fields.inserted) {
            append(&mut self.updated, &below(path, name), *value);
        }
        for (name, change) in &fields.inner {
            self.change(&below(path, name), change);
        }
    }

    fn change(&mut self, path: &str, change: &Delta<'_>) {
        match change {
            Delta::Whole(value) => append(&mut self.updated, path, *value),
            Delta::Fields(fields) => self.fields(path, fields),
            Delta::Elements(elements) => {
                if let Some(length) = elements.cut {
                    let mut cut = RawDocumentBuf::new();
                    cut.append(cstr!("field"), path);
                    cut.append(cstr!("newSize"), i32::try_from(length).unwrap_or(i32::MAX));
                    self.cut.push(cut);
                }
                for (index, change) in &elements.changed {
                    self.change(&below(path, &index.to_string()), change);
                }
            }
        }
    }
}

fn below(path: &str, name: &str) -> String {
    if path.is_empty() {
        name.to_owned()
    } else {
        format!("{path}.{name}")
    }
}
