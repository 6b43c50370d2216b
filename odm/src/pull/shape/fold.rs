//! Documents that are not structs of their own: maps, whose keys are data, and documents within documents of their type.

use std::collections::BTreeSet;
use std::mem;

use super::{Fields, Kind, Shape};

/// From this number of different keys on, a document that has few of them is a map.
const MANY_KEYS: usize = 40;

impl Shape {
    /// Finds maps and recursive types below a whole document.
    pub(in crate::pull) fn fold(&mut self) {
        for (_, field) in self.fields.iter_mut() {
            field.fold_maps();
        }
        self.fold_recursion();
    }

    fn fold_maps(&mut self) {
        if is_map(self) {
            let mut entries = Self::default();
            for (_, shape) in mem::take(&mut self.fields).into_list() {
                entries.merge(shape);
            }
            self.entries = Some(Box::new(entries));
        }
        for inner in self.inner_mut() {
            inner.fold_maps();
        }
    }

    fn inner_mut(&mut self) -> impl Iterator<Item = &mut Self> {
        let own = self.entries.as_deref_mut().into_iter();
        let own = own.chain(self.elements.as_deref_mut());
        own.chain(self.fields.iter_mut().map(|(_, shape)| shape))
    }

    /// Merges documents into the documents of the same type around them.
    fn fold_recursion(&mut self) {
        for (name, shape) in self.fields.iter_mut() {
            let name = name.to_owned();
            if let Some(documents) = shape.documents_mut() {
                while let Some(inner) = take_similar(documents, &name) {
                    documents.merge(inner);
                }
            }
            shape.fold_inside();
        }
    }

    fn fold_inside(&mut self) {
        self.fold_recursion();
        if let Some(entries) = self.entries.as_deref_mut() {
            entries.fold_inside();
        }
        if let Some(elements) = self.elements.as_deref_mut() {
            elements.fold_inside();
        }
    }

    /// The shape of the documents that a field holds, itself or in arrays.
    fn documents_mut(&mut self) -> Option<&mut Self> {
        if !self.fields.is_empty() {
            return Some(self);
        }
        self.elements.as_deref_mut()?.documents_mut()
    }
}

/// Takes the documents of a similar type below, to which the same key leads, and marks their place.
fn take_similar(around: &mut Shape, key: &str) -> Option<Shape> {
    let names: BTreeSet<String> = around
        .fields
        .iter()
        .map(|(name, _)| name.to_owned())
        .collect();
    take_below(around, key, &names)
}

fn take_below(shape: &mut Shape, key: &str, names: &BTreeSet<String>) -> Option<Shape> {
    for (name, field) in shape.fields.iter_mut() {
        let is_key = name == key;
        if is_key
            && let Some(documents) = field.documents_mut()
            && (documents.is_recursive || is_similar(&documents.fields, names))
        {
            let taken = Shape {
                documents: mem::take(&mut documents.documents),
                fields: mem::take(&mut documents.fields),
                ..Shape::default()
            };
            documents.is_recursive = true;
            return Some(taken);
        }
        if let Some(taken) = take_in_value(field, key, names) {
            return Some(taken);
        }
    }
    None
}

fn take_in_value(shape: &mut Shape, key: &str, names: &BTreeSet<String>) -> Option<Shape> {
    if let Some(taken) = take_below(shape, key, names) {
        return Some(taken);
    }
    let inner = shape.entries.as_deref_mut().into_iter();
    let mut inner = inner.chain(shape.elements.as_deref_mut());
    inner.find_map(|inner| take_in_value(inner, key, names))
}

/// Whether at least half of the fields of the smaller type are those of the other.
fn is_similar(fields: &Fields, names: &BTreeSet<String>) -> bool {
    let shared = fields.iter().filter(|(name, _)| names.contains(*name));
    let shared = shared.count();
    shared > 0 && shared * 2 >= fields.len().min(names.len())
}

/// Whether the keys of the documents are data: each looks like a number, an id, a date or an address; or there are many, of which
/// each document has few.
fn is_map(shape: &Shape) -> bool {
    let fields = &shape.fields;
    if fields.is_empty() {
        return false;
    }
    if fields.iter().all(|(name, _)| is_data(name)) {
        return true;
    }
    let documents = shape.of(Kind::Document);
    let present: u64 = fields.iter().map(|(_, field)| field.count()).sum();
    let keys = u64::try_from(fields.len()).unwrap_or(u64::MAX);
    fields.len() >= MANY_KEYS && present.saturating_mul(5) <= keys.saturating_mul(documents) && {
        let types: BTreeSet<Kind> = fields.iter().flat_map(|(_, field)| field.types()).collect();
        types.len() <= 1
    }
}

/// Whether a key looks like a value and not like the name of a field.
fn is_data(key: &str) -> bool {
    let all = |is: fn(&u8) -> bool| !key.is_empty() && key.bytes().all(|byte| is(&byte));
    let has_digit = key.bytes().any(|byte| byte.is_ascii_digit());
    let is_number = all(u8::is_ascii_digit);
    let is_id = key.len() == 24 && has_digit && all(u8::is_ascii_hexdigit);
    let hyphens = key.bytes().filter(|byte| *byte == b'-').count();
    let is_uuid =
        key.len() == 36 && hyphens == 4 && all(|byte| byte.is_ascii_hexdigit() || *byte == b'-');
    let is_date = (7..=30).contains(&key.len())
        && key.bytes().take(4).all(|byte| byte.is_ascii_digit())
        && key.as_bytes().get(4) == Some(&b'-')
        && key.as_bytes().get(5).is_some_and(u8::is_ascii_digit);
    let is_address = key
        .split_once('@')
        .is_some_and(|(user, host)| !user.is_empty() && host.contains('.'));
    is_number || is_id || is_uuid || is_date || is_address
}
