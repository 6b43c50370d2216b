//! Which items are those of a file.

use std::collections::BTreeMap;

use super::existing::{Existing, Place};
use crate::error::{Error, Result};
use crate::pull::item::{Body, Item};
use crate::pull::literal::code;

/// The places of items in a file.
#[derive(Debug, Default)]
pub(super) struct Matches(BTreeMap<usize, Place>);

impl Matches {
    /// Finds models by their collections, and what is inside by the fields that lead to it.
    pub(super) fn find(items: &[Item], existing: &Existing) -> Result<Self> {
        let mut matches = Self::default();
        let mut open = Vec::new();
        for (place, item) in items.iter().enumerate() {
            let Some(collection) = &item.collection else {
                continue;
            };
            let mut found = existing.iter().filter(|(_, found)| {
                found.attributes.collection.as_ref() == Some(collection) && !found.is_enum
            });
            let Some((first, one)) = found.next() else {
                continue;
            };
            if let Some((_, other)) = found.next() {
                return Err(Error::usage(format!(
                    "`{}` and `{}` both belong to the collection {}; leave one of them in the file",
                    one.name,
                    other.name,
                    code(collection)
                )));
            }
            matches.0.insert(place, first);
            open.push((place, first));
        }
        while let Some((item, place)) = open.pop() {
            let (Some(item), Some(found)) = (items.get(item), existing.get(place)) else {
                continue;
            };
            let stored = existing.stored(found);
            for field in item.fields() {
                let Some(inner) = field
                    .ty
                    .item()
                    .filter(|inner| !matches.0.contains_key(inner))
                else {
                    continue;
                };
                let own = stored.iter().find(|one| one.stored == field.stored);
                let Some(place) = own.and_then(|own| existing.behind(own)) else {
                    continue;
                };
                let is_enum = items
                    .get(inner)
                    .is_some_and(|inner| matches!(inner.body, Body::Enum(_)));
                if existing
                    .get(place)
                    .is_some_and(|one| one.is_enum == is_enum)
                {
                    matches.0.insert(inner, place);
                    open.push((inner, place));
                }
            }
        }
        Ok(matches)
    }

    pub(super) fn of(&self, item: usize) -> Option<Place> {
        self.0.get(&item).copied()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (usize, Place)> {
        self.0.iter().map(|(item, place)| (*item, *place))
    }
}

/// The items to which `roots` lead and that the file does not have, in their order.
pub(super) fn reachable(items: &[Item], matches: &Matches, roots: Vec<usize>) -> Vec<usize> {
    let mut open = roots;
    let mut found = std::collections::BTreeSet::new();
    while let Some(item) = open.pop() {
        if matches.of(item).is_some() || !found.insert(item) {
            continue;
        }
        let fields = items.get(item).map_or(&[][..], Item::fields);
        open.extend(fields.iter().filter_map(|field| field.ty.item()));
    }
    found.into_iter().collect()
}
