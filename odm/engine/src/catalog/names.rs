//! Persistent maps by name: a clone costs a pointer, and a change copies only what another clone still holds.

use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

use crate::catalog::namespace::Namespace;
use crate::index::tree::{Leaf, Place, Tree};

/// The most names of a leaf. A change copies them if a snapshot holds the leaf.
const MAX_NAMES: usize = 32;

/// A map by database and collection; no database in it is empty.
#[derive(Debug, Clone)]
pub(crate) struct Namespaces<T: Clone + fmt::Debug>(Names<Names<T>>);

/// A map by name.
#[derive(Debug, Clone)]
struct Names<T: Clone + fmt::Debug>(Tree<Rows<T>>);

/// Names and their values, in the order of the names.
#[derive(Debug, Clone)]
struct Rows<T>(Vec<(Arc<str>, T)>);

impl<T: Clone + fmt::Debug> Default for Namespaces<T> {
    fn default() -> Self {
        Self(Names::default())
    }
}

impl<T: Clone + fmt::Debug> Namespaces<T> {
    pub(crate) fn get(&self, namespace: &Namespace) -> Option<&T> {
        self.0.get(&namespace.database)?.get(&namespace.collection)
    }

    /// The value, to be changed in place.
    pub(crate) fn get_mut(&mut self, namespace: &Namespace) -> Option<&mut T> {
        self.0
            .get_mut(&namespace.database)?
            .get_mut(&namespace.collection)
    }

    /// Adds a value, and returns the one that it replaces.
    pub(crate) fn insert(&mut self, namespace: Namespace, value: T) -> Option<T> {
        if let Some(names) = self.0.get_mut(&namespace.database) {
            return names.insert(namespace.collection, value);
        }
        let mut names = Names::default();
        names.insert(namespace.collection, value);
        self.0.insert(namespace.database, names);
        None
    }

    pub(crate) fn remove(&mut self, namespace: &Namespace) -> Option<T> {
        let names = self.0.get_mut(&namespace.database)?;
        let removed = names.remove(&namespace.collection);
        if names.0.len() == 0 {
            self.0.remove(&namespace.database);
        }
        removed
    }

    /// Removes the values of a database.
    pub(crate) fn remove_database(&mut self, database: &str) {
        self.0.remove(database);
    }

    /// The values of a database, by name.
    pub(crate) fn database(&self, database: &str) -> impl Iterator<Item = &T> {
        self.0.get(database).into_iter().flat_map(Names::values)
    }

    pub(crate) fn has_database(&self, database: &str) -> bool {
        self.0.get(database).is_some()
    }

    pub(crate) fn databases(&self) -> impl Iterator<Item = &Arc<str>> {
        self.0.rows().map(|(name, _)| name)
    }

    pub(crate) fn values(&self) -> impl Iterator<Item = &T> {
        self.0.values().flat_map(Names::values)
    }
}

impl<T: Clone + fmt::Debug> Default for Names<T> {
    fn default() -> Self {
        Self(Tree::default())
    }
}

impl<T: Clone + fmt::Debug> Names<T> {
    fn get(&self, name: &str) -> Option<&T> {
        self.0.find(name).and_then(row).map(|(_, value)| value)
    }

    /// The value, to be changed in place.
    fn get_mut(&mut self, name: &str) -> Option<&mut T> {
        let (rows, at) = self.0.find_mut(name)?;
        rows.0.get_mut(at).map(|(_, value)| value)
    }

    /// Adds a value, and returns the one that it replaces.
    fn insert(&mut self, name: Arc<str>, value: T) -> Option<T> {
        let key = Arc::clone(&name);
        self.0.edit(&key, |rows| match rows.find(&name) {
            Ok(at) => {
                let (_, old) = rows.0.get_mut(at)?;
                Some(std::mem::replace(old, value))
            }
            Err(at) => {
                rows.0.insert(at, (name, value));
                None
            }
        })
    }

    fn remove(&mut self, name: &str) -> Option<T> {
        self.get(name)?;
        self.0.edit(name, |rows| {
            let at = rows.find(name).ok()?;
            Some(rows.0.remove(at).1)
        })
    }

    fn values(&self) -> impl Iterator<Item = &T> {
        self.rows().map(|(_, value)| value)
    }

    fn rows(&self) -> impl Iterator<Item = &(Arc<str>, T)> {
        self.0.places().filter_map(row)
    }
}

fn row<T: Clone + fmt::Debug>(place: Place<'_, Rows<T>>) -> Option<&(Arc<str>, T)> {
    place.leaf()?.0.get(place.at)
}

impl<T> Default for Rows<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T: Clone + fmt::Debug> Leaf for Rows<T> {
    type Key = str;
    type Edge = Arc<str>;

    fn len(&self) -> usize {
        self.0.len()
    }

    fn edge(&self) -> Option<Arc<str>> {
        self.0.first().map(|(name, _)| Arc::clone(name))
    }

    fn compare(edge: &Arc<str>, name: &str) -> Ordering {
        (**edge).cmp(name)
    }

    fn find(&self, name: &str) -> Result<usize, usize> {
        self.0.binary_search_by(|(known, _)| (**known).cmp(name))
    }

    fn is_at(&self, at: usize, name: &str) -> bool {
        self.0.get(at).is_some_and(|(known, _)| **known == *name)
    }

    fn is_too_large(&self) -> bool {
        self.0.len() > MAX_NAMES
    }

    fn is_small(&self) -> bool {
        self.0.len() < MAX_NAMES / 2
    }

    fn fits(&self, other: &Self) -> bool {
        self.0.len() + other.0.len() <= MAX_NAMES / 2
    }

    fn split(&mut self, at: usize, grows: bool) -> Self {
        let mut right = Vec::with_capacity(if grows { MAX_NAMES } else { 0 });
        right.extend(self.0.drain(at..));
        Self(right)
    }

    fn append(&mut self, other: &Self) {
        self.0.extend_from_slice(&other.0);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::Namespaces;
    use crate::catalog::namespace::Namespace;

    #[test]
    fn maps_and_their_snapshots_agree_with_btree_maps() {
        let (mut names, mut map) = (Namespaces::default(), BTreeMap::new());
        let mut snapshots = Vec::new();
        for step in 0..6000_u32 {
            let random = step.wrapping_mul(2_654_435_761) >> 8;
            let database = format!("d{}", random % 3);
            let name = Namespace::new(&database, &format!("c{}", random % 701));
            match step % 5 {
                0 | 1 => assert_eq!(names.insert(name.clone(), step), map.insert(name, step)),
                2 => {
                    let (value, other) = (names.get_mut(&name), map.get_mut(&name));
                    assert_eq!(value, other);
                    if let (Some(value), Some(other)) = (value, other) {
                        (*value, *other) = (step, step);
                    }
                }
                3 if step > 3000 => assert_eq!(names.remove(&name), map.remove(&name)),
                _ => assert_eq!(names.get(&name), map.get(&name)),
            }
            if step.is_multiple_of(500) {
                snapshots.push((names.clone(), map.clone()));
            }
        }
        assert!(map.len() > 500);
        for name in map.keys().filter(|name| &*name.database != "d1") {
            assert!(names.remove(name).is_some());
        }
        assert_eq!(names.databases().count(), 1);
        assert!(names.has_database("d1"));
        names.remove_database("d1");
        assert_eq!(names.values().count(), 0);
        for (names, map) in snapshots {
            assert!(names.values().eq(map.values()));
            let of_one = map.iter().filter(|(name, _)| &*name.database == "d2");
            assert!(names.database("d2").eq(of_one.map(|(_, value)| value)));
        }
    }
}
