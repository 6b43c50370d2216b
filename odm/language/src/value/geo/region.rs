//! The region of a query, which a stored value lies within or meets.

use crate::value::geo::flat::{Flat, Rect, polygon_contains};
use crate::value::geo::shape::Shape;
use crate::value::geo::stored::Stored;
use crate::value::geo::vector::Vector;

#[derive(Debug, Clone, PartialEq)]
pub enum Region {
    /// GeoJSON.
    Shapes(Vec<Shape>),
    /// `$centerSphere`: a center and a radius in radians.
    Cap { center: Flat, radius: f64 },
    /// `$box`.
    Rect(Rect),
    /// `$polygon`.
    Polygon(Vec<Flat>),
    /// `$center`.
    Circle { center: Flat, radius: f64 },
}

impl Region {
    /// Whether a stored value lies within.
    pub fn contains(&self, stored: &Stored) -> bool {
        match self {
            Self::Shapes(shapes) => {
                stored.is_on_sphere()
                    && stored
                        .shapes()
                        .iter()
                        .all(|inner| shapes.iter().any(|shape| inner.is_within(shape)))
            }
            Self::Cap { center, radius } => {
                let center = Vector::from_degrees(center.x, center.y);
                stored.is_on_sphere()
                    && stored
                        .shapes()
                        .iter()
                        .all(|inner| inner.is_within_cap(center, *radius))
            }
            Self::Rect(rect) => stored.flat().is_some_and(|point| rect.contains(point)),
            Self::Polygon(vertices) => stored
                .flat()
                .is_some_and(|point| polygon_contains(vertices, point)),
            Self::Circle { center, radius } => stored
                .flat()
                .is_some_and(|point| center.is_within(*radius, point)),
        }
    }

    /// Whether a stored value has a point in common with the region. Always `false` for regions other than GeoJSON;
    /// mongod does the same for a cap.
    pub fn meets(&self, stored: &Stored) -> bool {
        match self {
            Self::Shapes(shapes) => stored
                .shapes()
                .iter()
                .any(|inner| shapes.iter().any(|shape| inner.meets(shape))),
            _ => false,
        }
    }
}
