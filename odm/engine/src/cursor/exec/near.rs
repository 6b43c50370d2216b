//! Finds records near a point, nearest first. It reads rings around the point, each two or four times as wide as the
//! last. Once a ring is read, all records within its radius are known.

use std::collections::HashSet;

use odm_language::error::ServerError;
use odm_language::value::geo::EARTH;

use crate::catalog::collection::Collection;
use crate::cursor::exec::stage::Counters;
use crate::cursor::exec::walk::{StepOutcome, Walk};
use crate::cursor::exec::{Bytes, Lent, Work};
use crate::index::geo::Grid;
use crate::index::{Index, RecordId};
use crate::planner::geo::NearPlan;

/// A search that continues where it stopped.
#[derive(Debug)]
pub(super) struct Search {
    plan: NearPlan,
    /// The radius searched so far; `end` is the largest one to search.
    reached: Option<f64>,
    end: f64,
    seen: HashSet<RecordId>,
    /// The found records with their distances, the nearest last.
    found: Vec<(f64, RecordId)>,
}

impl Search {
    pub(super) fn new(plan: NearPlan) -> Self {
        let near = &plan.near;
        let unit = if near.geo_json { EARTH } else { 1.0 };
        let whole = match plan.grid {
            _ if near.sphere => std::f64::consts::PI,
            // The center may lie outside of the plane.
            Grid::Plane(plane) => {
                2.0 * (plane.max - plane.min) + near.center.x.abs() + near.center.y.abs()
            }
            Grid::Sphere => std::f64::consts::PI,
        };
        Self {
            reached: None,
            end: whole.min(near.most / unit * (1.0 + 1e-9)),
            seen: HashSet::new(),
            found: Vec::new(),
            plan,
        }
    }

    pub(super) fn is_done(&self) -> bool {
        self.found.is_empty() && self.reached.is_some_and(|reached| reached >= self.end)
    }

    /// Returns one record, or reads one more ring.
    pub(super) fn step<'a>(
        &mut self,
        counters: &mut Counters,
        collection: &'a Collection,
    ) -> Result<Work<Lent<'a>>, ServerError> {
        self.plan.check()?;
        let Some(index) = collection.index(&self.plan.scan.name) else {
            return Ok(Work::End);
        };
        let reached = self.reached.unwrap_or(-1.0);
        if let Some((distance, record)) = self.found.last()
            && (*distance <= reached || reached >= self.end)
        {
            let record = *record;
            self.found.pop();
            let bytes = collection
                .stored(record)
                .filter(|_| self.plan.alone)
                .map_or(Bytes::None, Bytes::Stored);
            return Ok(Work::Row((record, bytes)));
        }
        if reached >= self.end {
            return Ok(Work::End);
        }
        self.widen(counters, collection, index);
        Ok(Work::Again)
    }

    fn widen(&mut self, counters: &mut Counters, collection: &Collection, index: &Index) {
        let first = if self.plan.near.sphere { 2e-6 } else { 1e-4 };
        let factor = if self.found.is_empty() { 4.0 } else { 2.0 };
        let distance = self
            .reached
            .map_or(first, |reached| reached * factor)
            .min(self.end);
        let mut walk = Walk::new(index, &self.plan.ring(distance));
        loop {
            match walk.step(index) {
                StepOutcome::Record(record) => {
                    counters.keys += 1;
                    self.meet(counters, collection, record);
                }
                StepOutcome::Outside => counters.keys += 1,
                StepOutcome::Last | StepOutcome::End => break,
            }
        }
        self.found
            .sort_by(|one, other| other.0.total_cmp(&one.0).then(other.1.cmp(&one.1)));
        self.reached = Some(distance);
    }

    fn meet(&mut self, counters: &mut Counters, collection: &Collection, record: RecordId) {
        if !self.seen.insert(record) {
            return;
        }
        counters.docs += 1;
        let distance = collection
            .document(record)
            .and_then(|document| self.plan.nearest(document));
        if let Some((distance, _)) = distance
            && self.is_wanted(distance)
        {
            self.found.push((distance, record));
        }
    }

    fn is_wanted(&self, distance: f64) -> bool {
        let near = &self.plan.near;
        let distance = if near.geo_json {
            distance * EARTH
        } else {
            distance
        };
        let is_plane = matches!(self.plan.grid, Grid::Plane(_)) && !near.sphere;
        near.least <= distance && (is_plane || distance <= near.most)
    }
}
