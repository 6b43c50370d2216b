//! A bare `BTreeMap` of BSON bytes, with a second one as the index: what a program would write by hand.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

use bson::RawDocument;

use crate::item::Item;
use crate::measure::Subject;

#[derive(Debug, Default)]
pub(crate) struct Tree {
    items: BTreeMap<i64, Vec<u8>>,
    ranks: BTreeSet<(i32, i64)>,
}

impl Tree {
    fn find(&self, id: i64) -> Option<Item> {
        let bytes = self.items.get(&id)?;
        Some(bson::deserialize_from_slice(bytes).unwrap())
    }

    fn change(&mut self, id: i64) {
        let bytes = self.items.get_mut(&id).unwrap();
        let mut item: Item = bson::deserialize_from_slice(bytes).unwrap();
        item.stock += 1;
        *bytes = item.bson();
    }
}

/// An amount, the least one first out of a heap.
#[derive(Debug, PartialEq)]
struct Least(f64, i64);

impl Eq for Least {}

impl PartialOrd for Least {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Least {
    fn cmp(&self, other: &Self) -> Ordering {
        other.0.total_cmp(&self.0)
    }
}

impl Subject for Tree {
    fn clear(&mut self) {
        *self = Self::default();
    }

    fn insert_one(&mut self, items: &[Item]) {
        for item in items {
            self.items.insert(item.id, item.bson());
            self.ranks.insert((item.rank, item.id));
        }
    }

    fn insert_many(&mut self, items: &[Item]) {
        self.insert_one(items);
    }

    fn by_id(&mut self, ids: &[i64]) -> usize {
        ids.iter().filter(|id| self.find(**id).is_some()).count()
    }

    fn by_rank(&mut self, ranks: &[i32]) -> usize {
        ranks
            .iter()
            .map(|rank| {
                self.ranks
                    .range((*rank, i64::MIN)..=(*rank, i64::MAX))
                    .filter_map(|(_, id)| self.find(*id))
                    .count()
            })
            .sum()
    }

    fn range(&mut self, ranks: &[i32]) -> usize {
        ranks
            .iter()
            .map(|rank| {
                let found: Vec<Item> = self
                    .ranks
                    .range((*rank, i64::MIN)..(*rank + 100, i64::MIN))
                    .filter_map(|(_, id)| self.find(*id))
                    .collect();
                found.len()
            })
            .sum()
    }

    fn scan(&mut self, region: i32, amount: f64) -> usize {
        let found: Vec<Item> = self
            .items
            .values()
            .filter(|bytes| {
                let document = RawDocument::from_bytes(bytes.as_slice()).unwrap();
                document.get_i32("region").unwrap() == region
                    && document.get_f64("amount").unwrap() < amount
            })
            .map(|bytes| bson::deserialize_from_slice(bytes).unwrap())
            .collect();
        found.len()
    }

    fn sort(&mut self) -> usize {
        let mut heap = BinaryHeap::new();
        for (id, bytes) in &self.items {
            let document = RawDocument::from_bytes(bytes.as_slice()).unwrap();
            let least = Least(document.get_f64("amount").unwrap(), *id);
            if heap.len() < 10 {
                heap.push(least);
            } else if heap.peek().is_some_and(|last| least < *last) {
                heap.pop();
                heap.push(least);
            }
        }
        let found: Vec<Item> = heap
            .into_sorted_vec()
            .iter()
            .filter_map(|Least(_, id)| self.find(*id))
            .collect();
        found.len()
    }

    fn increment(&mut self, ids: &[i64]) {
        for id in ids {
            self.change(*id);
        }
    }

    fn update_many(&mut self, from: i32) {
        let ids: Vec<i64> = self
            .ranks
            .range((from, i64::MIN)..(from + 10_000, i64::MIN))
            .map(|(_, id)| *id)
            .collect();
        assert_eq!(ids.len(), 10_000);
        self.increment(&ids);
    }

    fn any_of(&mut self, ids: &[i64]) -> usize {
        let found: Vec<Item> = ids.iter().filter_map(|id| self.find(*id)).collect();
        found.len()
    }

    fn delete(&mut self, ids: &[i64]) {
        for id in ids {
            let bytes = self.items.remove(id).unwrap();
            let document = RawDocument::from_bytes(bytes.as_slice()).unwrap();
            self.ranks.remove(&(document.get_i32("rank").unwrap(), *id));
        }
    }
}
