//! The error of geometries.

use std::fmt;

/// Why a geometry can't be made or read.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum GeoError {
    /// The longitude is not within -180 to 180 degrees.
    Longitude(f64),
    /// The latitude is not within -90 to 90 degrees.
    Latitude(f64),
    /// A position is not two numbers, the longitude and the latitude.
    Position {
        /// How many numbers it has.
        numbers: usize,
    },
    /// A line has fewer than two points.
    Line {
        /// How many points it has.
        points: usize,
    },
    /// The last point of a ring is not its first.
    OpenRing,
    /// A ring has fewer than four points, of which the last is the first.
    Ring {
        /// How many points it has.
        points: usize,
    },
    /// A polygon, or a geometry of several parts, has none.
    Empty(&'static str),
    /// The value is a geometry of another type.
    Type {
        /// The type of the field.
        expected: &'static str,
        /// The stored type.
        found: String,
    },
}

impl fmt::Display for GeoError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Longitude(degrees) => write!(
                f,
                "the longitude {degrees} is not within -180 to 180; a point is (longitude, latitude)"
            ),
            Self::Latitude(degrees) => write!(
                f,
                "the latitude {degrees} is not within -90 to 90; a point is (longitude, latitude)"
            ),
            Self::Position { numbers } => write!(
                f,
                "a position must be two numbers, longitude and latitude, not {numbers}"
            ),
            Self::Line { points } => {
                write!(f, "a line must have at least two points, not {points}")
            }
            Self::OpenRing => f.write_str("the last point of a ring must be its first"),
            Self::Ring { points } => write!(
                f,
                "a ring must have at least four points, of which the last is the first, not {points}"
            ),
            Self::Empty(kind) => write!(f, "a {kind} must have at least one part"),
            Self::Type { expected, found } => {
                write!(f, "expected a {expected}, found a {found}")
            }
        }
    }
}

impl std::error::Error for GeoError {}
