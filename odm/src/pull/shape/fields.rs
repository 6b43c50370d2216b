//! The fields of documents, in the order in which the documents have them.

use std::collections::HashMap;

use super::Shape;

/// Below this number of fields, a new field takes its place behind the field before it; above, it stands at the end, because
/// places in a long list are slow to change.
const ORDERED: usize = 500;

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

    /// The field of this name and its place. A new field takes the place behind that of the field before it.
    pub(super) fn entry(&mut self, name: &str, before: Option<usize>) -> (usize, &mut Shape) {
        let place = match self.places.get(name) {
            Some(place) => *place,
            None => self.insert(name, before.map_or(0, |before| before + 1)),
        };
        let found = self.list.get_mut(place);
        let (_, shape) = found.expect("`places` has the places of fields in the list");
        (place, shape)
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
