//! Translates geospatial conditions into intervals of index cells, and chooses the index for `$near`.
//!
//! Cells are coarser than shapes: a document inside the intervals may match, and one outside cannot.

use std::fmt;

use bson::raw::{RawBsonRef, RawDocument};
use odm_language::error::{Code, ServerError};
use odm_language::matcher::{Near, Predicate, Test};
use odm_language::value::geo::EARTH;
use odm_language::value::geo::cell::{Cell, Relation};
use odm_language::value::geo::flat::{Flat, Rect};
use odm_language::value::geo::region::Region;
use odm_language::value::geo::stored::Stored;
use odm_language::value::geo::vector::Vector;
use odm_language::value::path::Path;
use odm_language::value::print;

use crate::index::Index;
use crate::index::geo::{Grid, Plane, hash_value, places, relation, square_hashes};
use crate::index::spec::Kind;
use crate::planner::access_path::AccessPath;
use crate::planner::bounds::{ConditionSet, Draft, nearest};
use crate::planner::conditions::{self, Conditions, intersect};
use crate::planner::hint::{self, Hinted};
use crate::planner::interval::{self, Interval};
use crate::planner::plan::{IndexScan, Node, Step};
use crate::planner::requirements::Requirements;
use crate::planner::sparse_coverage::is_complete;

/// The number of cells that cover a region, approximately at most.
const MAX_CELLS: usize = 24;

/// Whether a grid has cells for a region. A spherical index does not serve planar shapes, nor a planar index spherical
/// ones.
pub(super) fn knows(grid: Grid, region: &Region) -> bool {
    match (grid, region) {
        (_, Region::Cap { .. }) => true,
        (Grid::Sphere, region) => matches!(region, Region::Shapes(_)),
        (Grid::Plane(_), region) => !matches!(region, Region::Shapes(_)),
    }
}

/// The intervals of cells that cover a region.
pub(super) fn intervals(grid: Grid, region: &Region) -> Vec<Interval> {
    let boxed = |plane: &Plane, rect: Option<Rect>| {
        rect.map_or_else(|| vec![Interval::all()], |rect| squares(plane, &rect))
    };
    match (grid, region) {
        (Grid::Sphere, Region::Shapes(shapes)) => sphere(&|center, radius| {
            shapes.iter().fold(Relation::Outside, |found, shape| {
                match (found, relation(shape, center, radius)) {
                    (Relation::Inside, _) | (_, Relation::Inside) => Relation::Inside,
                    (Relation::Partly, _) | (_, Relation::Partly) => Relation::Partly,
                    _ => Relation::Outside,
                }
            })
        }),
        (Grid::Sphere, Region::Cap { center, radius }) => {
            cap(Vector::from_degrees(center.x, center.y), *radius)
        }
        (Grid::Sphere, _) | (Grid::Plane(_), Region::Shapes(_)) => vec![Interval::all()],
        (Grid::Plane(plane), Region::Rect(rect)) => squares(&plane, rect),
        (Grid::Plane(plane), Region::Polygon(vertices)) => boxed(&plane, Rect::around(vertices)),
        (Grid::Plane(plane), Region::Circle { center, radius }) => {
            squares(&plane, &around(*center, *radius, *radius))
        }
        (Grid::Plane(plane), Region::Cap { center, radius }) => {
            squares(&plane, &cap_box(*center, *radius))
        }
    }
}

fn around(center: Flat, x: f64, y: f64) -> Rect {
    Rect::new(
        Flat {
            x: center.x - x,
            y: center.y - y,
        },
        Flat {
            x: center.x + x,
            y: center.y + y,
        },
    )
}

/// A rectangle in degrees that contains a cap.
fn cap_box(center: Flat, radius: f64) -> Rect {
    // More than the width of a leaf cell on the sphere, because a point covers a whole leaf.
    const SLACK: f64 = 1e-6;
    let height = radius.to_degrees() + SLACK;
    let ratio = radius.sin() / center.y.to_radians().cos();
    let width = if center.y.abs() + height >= 90.0 || ratio.is_nan() || ratio >= 1.0 {
        f64::INFINITY
    } else {
        ratio.asin().to_degrees() + SLACK
    };
    // A cap that crosses the antimeridian appears on both sides, so the rectangle takes the full width.
    let wraps = center.x.abs() + width > 180.0;
    around(center, if wraps { f64::INFINITY } else { width }, height)
}

fn sphere(relation: &dyn Fn(Vector, f64) -> Relation) -> Vec<Interval> {
    let cover = Cell::cover(MAX_CELLS, relation);
    let mut larger: Vec<i64> = cover
        .iter()
        .flat_map(|cell| cell.ancestors().map(Cell::id))
        .collect();
    larger.sort_unstable();
    larger.dedup();
    let within = cover.into_iter().map(|cell| {
        let (low, high) = cell.range();
        between(&RawBsonRef::Int64(low), &RawBsonRef::Int64(high))
    });
    let larger = larger
        .into_iter()
        .map(|id| Interval::point(RawBsonRef::Int64(id), None));
    interval::union(larger.chain(within.flatten()).collect())
}

fn between(low: &RawBsonRef<'_>, high: &RawBsonRef<'_>) -> Vec<Interval> {
    match (
        Interval::beyond(*low, true, true, None),
        Interval::beyond(*high, false, true, None),
    ) {
        (Some(low), Some(high)) => intersect(&[low], &[high]),
        _ => vec![Interval::all()],
    }
}

fn cap(center: Vector, radius: f64) -> Vec<Interval> {
    const SLACK: f64 = 1e-8;
    sphere(&|other, other_radius| {
        let angle = center.angle(other);
        if angle > radius + other_radius + SLACK {
            Relation::Outside
        } else if angle + other_radius + SLACK < radius {
            Relation::Inside
        } else {
            Relation::Partly
        }
    })
}

/// The intervals of the grid squares that cover a rectangle.
fn squares(plane: &Plane, rect: &Rect) -> Vec<Interval> {
    let span = plane.max - plane.min;
    let slack = span * 1e-9;
    let rect = Rect {
        min: Flat {
            x: rect.min.x - slack,
            y: rect.min.y - slack,
        },
        max: Flat {
            x: rect.max.x + slack,
            y: rect.max.y + slack,
        },
    };
    let square = |level: u32, x: u32, y: u32| {
        let size = span / f64::from(1u32 << level);
        let corner = |x: u32, y: u32, further: f64| Flat {
            x: plane.min + size * (f64::from(x) + further),
            y: plane.min + size * (f64::from(y) + further),
        };
        Rect::new(corner(x, y, 0.0), corner(x, y, 1.0))
    };
    let mut whole = Vec::new();
    let mut queue = std::collections::VecDeque::from([(0u32, 0u32, 0u32)]);
    while let Some((level, x, y)) = queue.pop_front() {
        let here = square(level, x, y);
        if !rect.meets(&here) {
            continue;
        }
        if rect.holds(&here)
            || level >= plane.bits.min(24)
            || whole.len() + queue.len() + 3 > 2 * MAX_CELLS
        {
            whole.push((level, x, y));
            continue;
        }
        for quarter in 0..4 {
            queue.push_back((level + 1, x << 1 | quarter >> 1, y << 1 | quarter & 1));
        }
    }
    let within = whole
        .into_iter()
        .flat_map(|(level, x, y)| {
            let (low, high) = square_hashes(level, x, y);
            let (low, high) = (low.to_be_bytes(), high.to_be_bytes());
            between(&hash_value(&low), &hash_value(&high))
        })
        .collect();
    interval::union(within)
}

/// A `$near` search, which returns the nearest documents first.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct NearPlan {
    pub(crate) path: Path,
    pub(crate) grid: Grid,
    pub(crate) near: Near,
    /// Whether the filter has no other condition.
    pub(crate) alone: bool,
    /// The intervals of the index's fields. Those of the geospatial field are computed for each distance.
    pub(crate) scan: IndexScan,
    at: usize,
}

impl NearPlan {
    /// A walk over everything within a distance: an angle on the sphere, a length in the plane.
    pub(crate) fn ring(&self, distance: f64) -> IndexScan {
        let center = self.near.center;
        let cells = match self.grid {
            Grid::Sphere => cap(Vector::from_degrees(center.x, center.y), distance),
            Grid::Plane(plane) if self.near.sphere => squares(&plane, &cap_box(center, distance)),
            Grid::Plane(plane) => squares(&plane, &around(center, distance, distance)),
        };
        let mut scan = self.scan.clone();
        if let Some(field) = scan.fields.get_mut(self.at) {
            *field = cells.into();
        }
        scan
    }

    /// The nearest of a document's geometries, and its distance: an angle on the sphere, a length in the plane. In a
    /// plane, only points within the maximum distance count.
    pub(crate) fn nearest<'d>(&self, document: &'d RawDocument) -> Option<(f64, RawBsonRef<'d>)> {
        let near = &self.near;
        let center = Vector::from_degrees(near.center.x, near.center.y);
        let closer =
            |one: &(f64, RawBsonRef<'d>), other: &(f64, RawBsonRef<'d>)| one.0.total_cmp(&other.0);
        match self.grid {
            Grid::Sphere => self
                .path
                .get_all(document)
                .into_iter()
                .filter_map(|value| Some((Stored::read(value)?.distance(center)?, value)))
                .min_by(closer),
            Grid::Plane(_) => places(document, &self.path)
                .ok()?
                .into_iter()
                .filter(|(place, _)| {
                    if near.sphere {
                        place.is_on_sphere()
                    } else {
                        near.center.is_within(near.most, *place)
                    }
                })
                .map(|(place, value)| {
                    let distance = if near.sphere {
                        Vector::from_degrees(place.x, place.y).angle(center)
                    } else {
                        place.distance(near.center)
                    };
                    (distance, value)
                })
                .min_by(closer),
        }
    }

    /// The distance as it is shown: in metres if the center is GeoJSON. Like mongod, this computes an angle from metres.
    pub(crate) fn shown(&self, distance: f64) -> f64 {
        match (self.near.geo_json, self.near.sphere) {
            (true, _) => distance * EARTH,
            (false, true) => distance * EARTH / EARTH,
            (false, false) => distance,
        }
    }

    /// Returns an error if the center lies outside the index's plane.
    pub(crate) fn check(&self) -> Result<(), ServerError> {
        let center = self.near.center;
        match self.grid {
            Grid::Plane(plane) if !plane.holds(center) => Err(ServerError::new(
                Code::location(16433),
                format!(
                    "{} :: caused by :: {{ 0: {}, 1: {} }}",
                    plane.outside(),
                    print::double(center.x),
                    print::double(center.y)
                ),
            )),
            _ => Ok(()),
        }
    }
}

/// The field that a `$geoNear` searches which names none: that of the only 2d index, or else of the only 2dsphere index.
pub(crate) fn only_field<'i>(
    indexes: &'i [Index],
    namespace: &dyn fmt::Display,
) -> Result<&'i str, ServerError> {
    let of_kind = |is_meant: fn(&Grid) -> bool| {
        let mut fields = indexes
            .iter()
            .filter(|index| !index.spec.hidden)
            .filter_map(move |index| {
                let mut parts = index.spec.paths.iter().zip(&index.spec.parts);
                parts.find_map(|(path, part)| part.geo.filter(is_meant).map(|_| path.as_str()))
            });
        (fields.next(), fields.next().is_some())
    };
    let missing = |message: String| Err(ServerError::new(Code::INDEX_NOT_FOUND, message));
    for (kind, (field, has_more)) in [
        ("2d", of_kind(|grid| matches!(grid, Grid::Plane(_)))),
        ("2dsphere", of_kind(|grid| matches!(grid, Grid::Sphere))),
    ] {
        match field {
            Some(_) if has_more => {
                return missing(format!(
                    "There is more than one {kind} index on {namespace}; unsure which to use for $geoNear"
                ));
            }
            Some(field) => return Ok(field),
            None => {}
        }
    }
    missing("$geoNear requires a 2d or 2dsphere index, but none were found".to_owned())
}

/// Plans a query with `$near`, which requires an index of a matching kind, as on mongod.
pub(super) fn near(
    indexes: &[Index],
    requirements: &Requirements<'_>,
) -> Result<Option<Node>, ServerError> {
    let Some(filter) = requirements.filter else {
        return Ok(None);
    };
    let Some((path, near)) = filter.near()? else {
        return Ok(None);
    };
    let hinted = hint::find(indexes, requirements)?;
    let is_meant = |index: &Index| match &hinted {
        Hinted::Index(hinted) => std::ptr::eq(*hinted, index),
        _ => true,
    };
    let conditions = conditions::of(filter, requirements.collation);
    let given = ConditionSet {
        all: &conditions.all,
        own: conditions.all.len(),
    };
    let best = indexes
        .iter()
        .filter(|index| !index.spec.hidden && is_meant(index))
        .filter_map(|index| {
            let (at, grid) = place(index, path, near, requirements, &conditions)?;
            Some((
                index,
                at,
                grid,
                nearest(index, given, requirements.collation),
            ))
        })
        // `max_by_key` returns the last maximum; reversing makes that the first.
        .rev()
        .max_by_key(|(.., draft)| bounded(draft));
    let Some((_, at, grid, draft)) = best else {
        return Err(ServerError::new(
            Code::NO_QUERY_EXECUTION_PLANS,
            "planner returned error :: caused by :: unable to find index for $geoNear query",
        ));
    };
    let children = conditions::children(filter);
    let alone = children.len() == 1;
    let plan = NearPlan {
        path: path.clone(),
        grid,
        near: near.clone(),
        alone,
        scan: draft.scan,
        at,
    };
    let mut node = Node::leaf(Step::AccessPath(AccessPath::Near(Box::new(plan))));
    if !alone {
        let is_near = |child: &Predicate| matches!(child, Predicate::Field(field) if matches!(field.test, Test::Near(_)));
        node = node.under(Step::Fetch {
            answered: children
                .iter()
                .position(|child| is_near(child))
                .into_iter()
                .collect(),
            all: false,
        });
    }
    Ok(Some(requirements.top(node, false)))
}

fn bounded(draft: &Draft) -> usize {
    let fields = draft.scan.fields.iter();
    fields
        .filter(|field| !field.iter().any(Interval::is_all))
        .count()
}

/// The position of the index field for `$near` and its grid, if the index serves the query.
fn place(
    index: &Index,
    path: &Path,
    near: &Near,
    requirements: &Requirements<'_>,
    conditions: &Conditions<'_>,
) -> Option<(usize, Grid)> {
    let spec = &*index.spec;
    let fits = |grid: &Grid| match grid {
        Grid::Sphere => near.sphere || near.geo_json,
        Grid::Plane(_) => !near.geo_json,
    };
    let mut fields = spec.paths.iter().zip(&spec.parts).enumerate();
    let found = fields.find_map(|(at, (other, part))| {
        Some((at, part.geo.filter(fits).filter(|_| other == path)?))
    })?;
    // The first field must have bounds, from this condition or another.
    let first = spec.paths.first().is_some_and(|first| {
        first == path
            || conditions
                .all
                .iter()
                .any(|condition| condition.path == first.as_str())
    });
    let serves = spec.kind == Kind::Geo
        && first
        && is_complete(spec, &conditions.all, requirements.collation);
    serves.then_some(found)
}
