//! Which sort orders a walk over an index provides.

use std::sync::Arc;

use odm_language::value::key::Direction;
use odm_language::value::path::Path;

use crate::index::Index;
use crate::index::spec::Kind;
use crate::planner::interval::Interval;
use crate::planner::plan::IndexScan;
use crate::planner::requirements::Sort;

/// The most walks that lists of values may be split into, for merging in order.
const MAX_WALKS: usize = 200;

/// Whether a walk provides the sort order: `Some(true)` if it must go backwards.
pub(super) fn direction(index: &Index, scan: &IndexScan, sort: Sort<'_>) -> Option<bool> {
    // The keys of a text index contain terms, so it provides no order.
    if index.spec.kind == Kind::Text {
        return None;
    }
    let walk = Walk::new(index, scan);
    walk.direction(sort)
}

/// Splits a walk into several that provide the order when merged: one for each combination of values of the leading
/// fields.
pub(super) fn exploded(index: &Index, scan: &IndexScan, sort: Sort<'_>) -> Option<Vec<IndexScan>> {
    if !matches!(index.spec.kind, Kind::Ordered | Kind::Hashed) {
        return None;
    }
    let lists = scan
        .fields
        .iter()
        .take_while(|field| !field.is_empty() && field.iter().all(Interval::is_point))
        .count();
    let mut walks = vec![scan.clone()];
    for at in 0..lists {
        let values = scan.fields.get(at)?;
        if walks.len().checked_mul(values.len())? > MAX_WALKS {
            return None;
        }
        walks = walks
            .iter()
            .flat_map(|walk| {
                values.iter().map(move |value| {
                    let mut walk = walk.clone();
                    if let Some(field) = walk.fields.get_mut(at) {
                        *field = Arc::new([value.clone()]);
                    }
                    walk
                })
            })
            .collect();
    }
    if walks.len() < 2 {
        return None;
    }
    let prefix: Vec<&Path> = index.spec.paths.iter().take(lists).collect();
    // Each walk has one value of the field, but the walks together have several, so the field may not be part of the
    // sort.
    if sort.0.iter().any(|path| prefix.contains(&path)) {
        return None;
    }
    let backwards = direction(index, walks.first()?, sort)?;
    for walk in &mut walks {
        walk.backwards = backwards;
    }
    Some(walks)
}

struct Walk<'a> {
    index: &'a Index,
    /// The paths of the fields, each with its direction (`None` if it is hashed) and its bounds.
    fields: Vec<(&'a str, Option<Direction>, &'a [Interval])>,
}

impl<'a> Walk<'a> {
    fn new(index: &'a Index, scan: &'a IndexScan) -> Self {
        let fields = match &scan.path {
            Some(path) => scan
                .fields
                .iter()
                .zip(["", path])
                .map(|(bounds, path)| (path, Some(Direction::Ascending), &**bounds))
                .collect(),
            None => index
                .spec
                .paths
                .iter()
                .zip(&index.spec.parts)
                .zip(&scan.fields)
                .map(|((path, part), bounds)| {
                    let direction = (!part.hashed).then_some(part.direction);
                    (path.as_str(), direction, &**bounds)
                })
                .collect(),
        };
        Self { index, fields }
    }

    fn direction(&self, (paths, directions): Sort<'_>) -> Option<bool> {
        let single = |at: usize| {
            self.fields.get(at).is_some_and(|(.., bounds)| {
                bounds.len() == 1 && bounds.iter().all(Interval::is_point)
            })
        };
        let mut at = 0;
        let mut backwards = None;
        for (path, direction) in paths.iter().zip(directions) {
            let path = path.as_str();
            let fixed = !self.index.arrays.has(path)
                && (0..self.fields.len()).any(|other| {
                    single(other) && self.fields.get(other).is_some_and(|field| field.0 == path)
                });
            if fixed {
                continue;
            }
            while single(at) && self.fields.get(at).is_some_and(|field| field.0 != path) {
                at += 1;
            }
            let (name, own, bounds) = self.fields.get(at)?;
            if *name != path || !self.sorts(path, bounds) {
                return None;
            }
            let reverse = (*own)? != *direction;
            if *backwards.get_or_insert(reverse) != reverse {
                return None;
            }
            at += 1;
        }
        Some(backwards.unwrap_or(false))
    }

    /// The least of its values sorts a document, so the bounds must include that value.
    fn sorts(&self, path: &str, bounds: &[Interval]) -> bool {
        let arrays = &self.index.arrays;
        if !arrays.has(path) {
            return true;
        }
        let is_all = |bounds: &[Interval]| matches!(bounds, [only] if only.is_all());
        is_all(bounds)
            && self.fields.iter().all(|(other, _, bounds)| {
                is_all(bounds)
                    || arrays
                        .on(path)
                        .all(|place| *other != place && !other.starts_with(&format!("{place}.")))
            })
    }
}
