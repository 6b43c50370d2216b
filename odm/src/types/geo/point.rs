//! Points, and positions inside other geometries.

use std::fmt;

use serde::de::{self, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::error::GeoError;
use super::stored::{POSITION, Stored, geometry};

/// A point on the earth, stored as `{type: "Point", coordinates: [longitude, latitude]}`.
///
/// ```
/// use odm::geo::{GeoError, Point};
///
/// let berlin = Point::new(13.4050, 52.5200)?;
/// assert_eq!((berlin.longitude(), berlin.latitude()), (13.4050, 52.5200));
/// assert_eq!(Point::new(52.5200, 113.4), Err(GeoError::Latitude(113.4)));
/// # Ok::<(), GeoError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    longitude: f64,
    latitude: f64,
}

impl Point {
    /// The point at these degrees, the longitude first.
    ///
    /// ```
    /// # use odm::geo::Point;
    /// let graz = Point::new(15.44, 47.07)?;
    /// assert_eq!((graz.longitude(), graz.latitude()), (15.44, 47.07));
    /// assert!(Point::new(47.07, 95.44).is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The longitude is not within -180 to 180, or the latitude not within -90 to 90.
    pub fn new(longitude: f64, latitude: f64) -> Result<Self, GeoError> {
        if !(-180.0..=180.0).contains(&longitude) {
            return Err(GeoError::Longitude(longitude));
        }
        if !(-90.0..=90.0).contains(&latitude) {
            return Err(GeoError::Latitude(latitude));
        }
        Ok(Self {
            longitude,
            latitude,
        })
    }

    /// Degrees east of Greenwich.
    ///
    /// ```
    /// # use odm::geo::Point;
    /// assert_eq!(Point::new(15.44, 47.07)?.longitude(), 15.44);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub const fn longitude(&self) -> f64 {
        self.longitude
    }

    /// Degrees north of the equator.
    ///
    /// ```
    /// # use odm::geo::Point;
    /// assert_eq!(Point::new(15.44, 47.07)?.latitude(), 47.07);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub const fn latitude(&self) -> f64 {
        self.latitude
    }

    /// `[longitude, latitude]`
    pub(super) const fn position(self) -> [f64; 2] {
        [self.longitude, self.latitude]
    }
}

/// A point as it stands inside the coordinates of a geometry: `[longitude, latitude]`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Position(pub(super) Point);

impl Serialize for Position {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.position().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Position {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(PositionVisitor)
    }
}

struct PositionVisitor;

impl<'de> Visitor<'de> for PositionVisitor {
    type Value = Position;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a longitude and a latitude")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut numbers: A) -> Result<Position, A::Error> {
        let mut position = [0.0; 2];
        let mut count = 0;
        while let Some(number) = numbers.next_element::<f64>()? {
            // A third number would be lost when the document is written again.
            if let Some(place) = position.get_mut(count) {
                *place = number;
            }
            count += 1;
        }
        if count != 2 {
            return Err(de::Error::custom(GeoError::Position { numbers: count }));
        }
        let [longitude, latitude] = position;
        let point = Point::new(longitude, latitude).map_err(de::Error::custom)?;
        Ok(Position(point))
    }
}

impl Stored for Point {
    const NAME: &'static str = "Point";
    type Coordinates = Position;

    fn coordinates(&self) -> Position {
        Position(*self)
    }

    fn of(coordinates: Position) -> Result<Self, GeoError> {
        Ok(coordinates.0)
    }
}

// 4 bytes for the length, 16 for the type, 40 for the coordinates, and a NUL.
geometry!(Point, "Point", POSITION);
