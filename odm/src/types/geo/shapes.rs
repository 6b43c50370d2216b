//! Lines, areas and geometries of several parts.

use super::error::GeoError;
use super::point::{Point, Position};
use super::stored::{POSITION, Stored, at_least, geometry};
use crate::model::TypeMeta;

const POINTS: TypeMeta = at_least::<1>(&POSITION);
const LINE: TypeMeta = at_least::<2>(&POSITION);
const LINES: TypeMeta = at_least::<1>(&LINE);
// That the last point is the first one can't be said.
const RING: TypeMeta = at_least::<4>(&POSITION);
const AREA: TypeMeta = at_least::<1>(&RING);
const AREAS: TypeMeta = at_least::<1>(&AREA);

fn positions(points: &[Point]) -> Vec<Position> {
    points.iter().copied().map(Position).collect()
}

fn points(positions: Vec<Position>) -> Vec<Point> {
    positions.into_iter().map(|position| position.0).collect()
}

/// A line through at least two points.
///
/// ```
/// use odm::geo::{GeoError, LineString, Point};
///
/// let road = LineString::new([Point::new(13.4, 52.5)?, Point::new(2.35, 48.86)?])?;
/// assert_eq!(road.points().len(), 2);
/// assert_eq!(LineString::new([]), Err(GeoError::Line { points: 0 }));
/// # Ok::<(), GeoError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct LineString(Vec<Point>);

impl LineString {
    /// The line through these points.
    ///
    /// ```
    /// # use odm::geo::{LineString, Point};
    /// let (graz, vienna) = (Point::new(15.4, 47.1)?, Point::new(16.4, 48.2)?);
    /// assert_eq!(LineString::new([graz, vienna])?.points(), [graz, vienna]);
    /// assert!(LineString::new([graz]).is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// There are fewer than two points.
    pub fn new(points: impl IntoIterator<Item = Point>) -> Result<Self, GeoError> {
        let points: Vec<_> = points.into_iter().collect();
        match points.len() {
            0 | 1 => Err(GeoError::Line {
                points: points.len(),
            }),
            _ => Ok(Self(points)),
        }
    }

    /// The points, in order.
    ///
    /// ```
    /// # use odm::geo::{LineString, Point};
    /// let road = LineString::new([Point::new(15.4, 47.1)?, Point::new(16.4, 48.2)?])?;
    /// assert_eq!(road.points()[1].latitude(), 48.2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn points(&self) -> &[Point] {
        &self.0
    }
}

impl Stored for LineString {
    const NAME: &'static str = "LineString";
    type Coordinates = Vec<Position>;

    fn coordinates(&self) -> Vec<Position> {
        positions(&self.0)
    }

    fn of(coordinates: Vec<Position>) -> Result<Self, GeoError> {
        Self::new(points(coordinates))
    }
}

geometry!(LineString, "LineString", LINE);

/// An area inside a ring of points, perhaps with holes.
///
/// MongoDB takes the smaller of the two areas that the ring divides the earth into, so no polygon is larger than a
/// hemisphere.
///
/// ```
/// use odm::geo::{GeoError, Point, Polygon};
///
/// let corners = [Point::new(13.0, 52.0)?, Point::new(14.0, 52.0)?, Point::new(14.0, 53.0)?];
/// let area = Polygon::new(corners)?;
/// assert_eq!(area.exterior().len(), 4, "the ring is closed");
/// # Ok::<(), GeoError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Polygon(Vec<Vec<Point>>);

impl Polygon {
    /// The area inside the ring through these points. The ring is closed if it is not.
    ///
    /// ```
    /// # use odm::geo::{Point, Polygon};
    /// let corners = [Point::new(13.0, 52.0)?, Point::new(14.0, 52.0)?, Point::new(14.0, 53.0)?];
    /// let area = Polygon::new(corners)?;
    /// assert_eq!(area.exterior().len(), 4, "the ring is closed");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// There are fewer than three points, not counting a last one that equals the first.
    pub fn new(exterior: impl IntoIterator<Item = Point>) -> Result<Self, GeoError> {
        Ok(Self(vec![closed(exterior)?]))
    }

    /// The area whose corners are at these degrees: west, south, east, north.
    ///
    /// Its sides are the shortest lines between the corners, which are not the circles of latitude.
    ///
    /// ```
    /// use odm::geo::{GeoError, Polygon};
    ///
    /// let europe = Polygon::between(-10.0, 35.0, 30.0, 60.0)?;
    /// assert_eq!(europe.exterior().len(), 5);
    /// # Ok::<(), GeoError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// A number is out of range.
    pub fn between(west: f64, south: f64, east: f64, north: f64) -> Result<Self, GeoError> {
        Self::new([
            Point::new(west, south)?,
            Point::new(east, south)?,
            Point::new(east, north)?,
            Point::new(west, north)?,
        ])
    }

    /// Adds a hole.
    ///
    /// ```
    /// # use odm::geo::Polygon;
    /// let block = Polygon::between(0.0, 0.0, 4.0, 4.0)?;
    /// let yard = Polygon::between(1.0, 1.0, 2.0, 2.0)?;
    /// let built = block.with_hole(yard.exterior().iter().copied())?;
    /// assert_eq!(built.holes().len(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new).
    pub fn with_hole(mut self, ring: impl IntoIterator<Item = Point>) -> Result<Self, GeoError> {
        self.0.push(closed(ring)?);
        Ok(self)
    }

    /// The outer ring; its last point is its first.
    ///
    /// ```
    /// # use odm::geo::Polygon;
    /// let block = Polygon::between(0.0, 0.0, 4.0, 4.0)?;
    /// assert_eq!(block.exterior()[0], *block.exterior().last().ok_or("no ring")?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn exterior(&self) -> &[Point] {
        self.0.first().map_or(&[], Vec::as_slice)
    }

    /// The holes; the last point of each is its first.
    ///
    /// ```
    /// # use odm::geo::Polygon;
    /// assert_eq!(Polygon::between(0.0, 0.0, 4.0, 4.0)?.holes().len(), 0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn holes(&self) -> impl ExactSizeIterator<Item = &[Point]> {
        self.0.iter().skip(1).map(Vec::as_slice)
    }
}

/// A ring of at least three different points, whose last is its first.
fn closed(ring: impl IntoIterator<Item = Point>) -> Result<Vec<Point>, GeoError> {
    let mut ring: Vec<_> = ring.into_iter().collect();
    if let (Some(first), Some(last)) = (ring.first().copied(), ring.last())
        && first != *last
    {
        ring.push(first);
    }
    checked(ring)
}

fn checked(ring: Vec<Point>) -> Result<Vec<Point>, GeoError> {
    if ring.first() != ring.last() {
        return Err(GeoError::OpenRing);
    }
    match ring.len() {
        0..4 => Err(GeoError::Ring { points: ring.len() }),
        _ => Ok(ring),
    }
}

impl Stored for Polygon {
    const NAME: &'static str = "Polygon";
    type Coordinates = Vec<Vec<Position>>;

    fn coordinates(&self) -> Vec<Vec<Position>> {
        self.0.iter().map(|ring| positions(ring)).collect()
    }

    fn of(coordinates: Vec<Vec<Position>>) -> Result<Self, GeoError> {
        if coordinates.is_empty() {
            return Err(GeoError::Empty(Self::NAME));
        }
        let rings = coordinates.into_iter().map(|ring| checked(points(ring)));
        rings.collect::<Result<_, _>>().map(Self)
    }
}

geometry!(Polygon, "Polygon", AREA);

/// A geometry of several parts, of which there is at least one.
macro_rules! parts {
    ($(#[$doc:meta])* $type:ident($part:ident), $name:literal, $meta:expr, $parts:literal) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq)]
        pub struct $type(Vec<$part>);

        impl $type {
            /// The geometry of these parts.
            ///
            /// ```
            /// # use odm::geo::{GeoError, LineString, MultiLineString, MultiPoint, MultiPolygon};
            /// # use odm::geo::{Point, Polygon};
            /// # let (graz, linz) = (Point::new(15.4, 47.1)?, Point::new(14.3, 48.3)?);
            /// # let (vienna, steyr) = (Point::new(16.4, 48.2)?, Point::new(14.4, 48.0)?);
            #[doc = concat!("let parts = ", $parts, ";")]
            #[doc = concat!("assert_eq!(", stringify!($type), "::new(parts)?.parts().len(), 2);")]
            #[doc = concat!("assert!(", stringify!($type), "::new([]).is_err());")]
            /// # Ok::<(), GeoError>(())
            /// ```
            ///
            /// # Errors
            ///
            /// There are none.
            pub fn new(parts: impl IntoIterator<Item = $part>) -> Result<Self, GeoError> {
                let parts: Vec<_> = parts.into_iter().collect();
                if parts.is_empty() {
                    return Err(GeoError::Empty($name));
                }
                Ok(Self(parts))
            }

            /// The parts, in order.
            ///
            /// ```
            /// # use odm::geo::{GeoError, LineString, MultiLineString, MultiPoint, MultiPolygon};
            /// # use odm::geo::{Point, Polygon};
            /// # let (graz, linz) = (Point::new(15.4, 47.1)?, Point::new(14.3, 48.3)?);
            /// # let (vienna, steyr) = (Point::new(16.4, 48.2)?, Point::new(14.4, 48.0)?);
            #[doc = concat!("let parts = ", $parts, ";")]
            #[doc = concat!("let several = ", stringify!($type), "::new(parts.clone())?;")]
            /// assert_eq!(several.parts(), parts);
            /// # Ok::<(), GeoError>(())
            /// ```
            pub fn parts(&self) -> &[$part] {
                &self.0
            }
        }

        impl Stored for $type {
            const NAME: &'static str = $name;
            type Coordinates = Vec<<$part as Stored>::Coordinates>;

            fn coordinates(&self) -> Self::Coordinates {
                self.0.iter().map(Stored::coordinates).collect()
            }

            fn of(coordinates: Self::Coordinates) -> Result<Self, GeoError> {
                let parts = coordinates.into_iter().map($part::of);
                Self::new(parts.collect::<Result<Vec<_>, _>>()?)
            }
        }

        geometry!($type, $name, $meta);
    };
}

parts!(
    /// Several points.
    MultiPoint(Point), "MultiPoint", POINTS, "[graz, vienna]"
);
parts!(
    /// Several lines.
    MultiLineString(LineString), "MultiLineString", LINES,
    "[LineString::new([graz, vienna])?, LineString::new([linz, steyr])?]"
);
parts!(
    /// Several areas.
    MultiPolygon(Polygon), "MultiPolygon", AREAS,
    "[Polygon::between(0.0, 0.0, 1.0, 1.0)?, Polygon::between(2.0, 2.0, 3.0, 3.0)?]"
);
