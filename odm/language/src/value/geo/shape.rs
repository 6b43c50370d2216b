//! The shapes of GeoJSON on the sphere: points, lines and polygons. Collections are lists of them.

use crate::value::geo::cell::Cell;
use crate::value::geo::polygon::{Polygon, segments};
use crate::value::geo::vector::{Crossing, Vector, crossing, distance};

#[derive(Debug, Clone, PartialEq)]
pub enum Shape {
    Point(Vector),
    /// At least two vertices; neighbours are never equal.
    Line(Vec<Vector>),
    Polygon(Polygon),
}

/// More than the diagonal of a leaf cell: an edge further away from a point cannot touch the point's cell.
const LEAF: f64 = 3e-9;

/// Whether the edge touches the leaf cell of a point. Such a point counts as lying on the edge.
fn touches(point: Vector, a: Vector, b: Vector) -> bool {
    distance(point, a, b) < LEAF && Cell::of(point).touches(a, b)
}

impl Shape {
    /// Whether the shapes have a point in common.
    pub fn meets(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Point(one), Self::Point(other)) => Cell::of(*one) == Cell::of(*other),
            (Self::Point(point), Self::Line(line)) | (Self::Line(line), Self::Point(point)) => {
                segments(line).any(|(a, b)| touches(*point, a, b))
            }
            (Self::Point(point), Self::Polygon(polygon))
            | (Self::Polygon(polygon), Self::Point(point)) => holds(polygon, *point),
            (Self::Line(one), Self::Line(other)) => segments(one).any(|(a, b)| {
                segments(other).any(|(c, d)| crossing(a, b, c, d) != Crossing::Apart)
            }),
            (Self::Line(line), Self::Polygon(polygon))
            | (Self::Polygon(polygon), Self::Line(line)) => polygon.meets_line(line),
            (Self::Polygon(one), Self::Polygon(other)) => one.meets_polygon(other),
        }
    }

    /// Whether this shape lies within the other, which only a polygon can hold.
    pub fn is_within(&self, other: &Self) -> bool {
        let Self::Polygon(polygon) = other else {
            return false;
        };
        match self {
            Self::Point(point) => holds(polygon, *point),
            Self::Line(line) => polygon.contains_line(line),
            Self::Polygon(inner) => polygon.contains_polygon(inner),
        }
    }

    /// Whether this shape lies within a cap.
    pub fn is_within_cap(&self, center: Vector, radius: f64) -> bool {
        if radius >= std::f64::consts::PI {
            return true;
        }
        let chord = 2.0 * (radius / 2.0).sin();
        // The complement of the cap is a cap around the opposite point of the sphere.
        let (end, rest) = (center.scaled(-1.0), std::f64::consts::PI - radius);
        let edge_fits = |(a, b): (Vector, Vector)| distance(end, a, b) >= rest - 1e-15;
        match self {
            // A point also counts as within if the cap reaches its leaf cell.
            Self::Point(point) => {
                let chord2 = center.chord2(*point);
                let most = chord * chord;
                let has_extent = most > 0.0;
                has_extent && chord2 <= most
                    || chord2.sqrt() <= chord + LEAF
                        && Cell::of(*point).is_reached(center, radius, has_extent)
            }
            Self::Line(line) => segments(line).all(edge_fits),
            Self::Polygon(polygon) => !polygon.contains(end) && polygon.edges().all(edge_fits),
        }
    }

    /// The angle from a point to the nearest point of the shape.
    pub fn distance(&self, point: Vector) -> f64 {
        match self {
            Self::Point(other) => point.angle(*other),
            Self::Line(line) => segments(line)
                .map(|(a, b)| distance(point, a, b))
                .fold(f64::INFINITY, f64::min),
            Self::Polygon(polygon) if polygon.contains(point) => 0.0,
            Self::Polygon(polygon) => polygon.to_edge(point),
        }
    }
}

fn holds(polygon: &Polygon, point: Vector) -> bool {
    polygon.contains(point)
        || (polygon.may_touch(point, LEAF) && polygon.edges().any(|(a, b)| touches(point, a, b)))
}
