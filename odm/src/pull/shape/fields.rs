//! The fields of documents, in the order in which the documents have them.

use std::collections::HashMap;

use super::Shape;

/// Below this number of fields, a new field takes its place before the field after it; above, it stands at the end, because
/// places in a long list are slow to change.
const ORDERED: usize = 500;

/// The number of fields behind a new one among which a known one is looked for.
const LOOKED_AHEAD: usize = 32;

/// Fields by name and in order.
#[derive(Debug, Default, Clone)]
pub(in crate::pull) struct Fields {
    list: Vec<(String, Shape)>,
    places: HashMap<String, usize>,
}

impl Fields {
    pub(in crate::pull) fn len(&self) -> usize {
        self.list.len()
    }

    pub(in crate::pull) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    pub(in crate::pull) fn get(&self, name: &str) -> Option<&Shape> {
        let place = *self.places.get(name)?;
        self.list.get(place).map(|(_, shape)| shape)
    }

    pub(in crate::pull) fn iter(&self) -> impl Iterator<Item = (&str, &Shape)> + Clone {
        self.list.iter().map(|(name, shape)| (name.as_str(), shape))
    }

    pub(in crate::pull) fn iter_mut(&mut self) -> impl Iterator<Item = (&str, &mut Shape)> {
        self.list
            .iter_mut()
            .map(|(name, shape)| (name.as_str(), shape))
    }

    pub(in crate::pull) fn into_list(self) -> Vec<(String, Shape)> {
        self.list
    }

    /// The field of this name. A new one takes the place before the first of those that follow it in the document, or the last.
    pub(super) fn entry<'f>(
        &mut self,
        name: &str,
        following: impl Iterator<Item = &'f str>,
    ) -> &mut Shape {
        let known = self.places.get(name).copied();
        let place = known.unwrap_or_else(|| {
            let mut following = following.take(LOOKED_AHEAD);
            let next = following.find_map(|name| self.places.get(name).copied());
            self.insert(name, next.unwrap_or(self.list.len()))
        });
        let found = self.list.get_mut(place);
        let (_, shape) = found.expect("`places` has the places of fields in the list");
        shape
    }

    fn insert(&mut self, name: &str, place: usize) -> usize {
        let count = self.list.len();
        let place = if count < ORDERED {
            place.min(count)
        } else {
            count
        };
        self.list.insert(place, (name.to_owned(), Shape::default()));
        if place < count {
            for other in self.places.values_mut() {
                if *other >= place {
                    *other += 1;
                }
            }
        }
        self.places.insert(name.to_owned(), place);
        place
    }
}
