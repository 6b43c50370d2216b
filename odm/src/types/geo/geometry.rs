//! Any geometry.

use serde::{Deserialize, Serialize};

use super::filters::Geospatial;
use super::point::Point;
use super::shapes::{LineString, MultiLineString, MultiPoint, MultiPolygon, Polygon};
use super::stored::Stored;
use crate::model::{BsonType, FieldType, Path, TypeMeta};
use crate::query::Field;

/// Any GeoJSON geometry: the type of a field that holds several kinds.
///
/// ```
/// use odm::geo::{GeoError, Geometry, Point, Polygon};
///
/// let places = [
///     Geometry::from(Point::new(13.4, 52.5)?),
///     Geometry::from(Polygon::between(-10.0, 35.0, 30.0, 60.0)?),
/// ];
/// assert!(matches!(&places[0], Geometry::Point(point) if point.latitude() == 52.5));
/// # Ok::<(), GeoError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Tagged", into = "Tagged")]
#[non_exhaustive]
pub enum Geometry {
    /// A point.
    Point(Point),
    /// A line.
    LineString(LineString),
    /// An area.
    Polygon(Polygon),
    /// Several points.
    MultiPoint(MultiPoint),
    /// Several lines.
    MultiLineString(MultiLineString),
    /// Several areas.
    MultiPolygon(MultiPolygon),
    /// Several geometries, stored as `{type: "GeometryCollection", geometries: […]}`.
    Collection(Vec<Geometry>),
}

/// The stored form.
#[derive(Serialize, Deserialize)]
#[serde(tag = "type")]
enum Tagged {
    Point {
        coordinates: <Point as Stored>::Coordinates,
    },
    LineString {
        coordinates: <LineString as Stored>::Coordinates,
    },
    Polygon {
        coordinates: <Polygon as Stored>::Coordinates,
    },
    MultiPoint {
        coordinates: <MultiPoint as Stored>::Coordinates,
    },
    MultiLineString {
        coordinates: <MultiLineString as Stored>::Coordinates,
    },
    MultiPolygon {
        coordinates: <MultiPolygon as Stored>::Coordinates,
    },
    GeometryCollection {
        geometries: Vec<Geometry>,
    },
}

macro_rules! kinds {
    ($($kind:ident),*) => {
        $(impl From<$kind> for Geometry {
            fn from(geometry: $kind) -> Self {
                Self::$kind(geometry)
            }
        })*

        impl From<Geometry> for Tagged {
            fn from(geometry: Geometry) -> Self {
                match geometry {
                    $(Geometry::$kind(geometry) => Self::$kind {
                        coordinates: geometry.coordinates(),
                    },)*
                    Geometry::Collection(geometries) => Self::GeometryCollection { geometries },
                }
            }
        }

        impl TryFrom<Tagged> for Geometry {
            type Error = super::error::GeoError;

            fn try_from(stored: Tagged) -> Result<Self, Self::Error> {
                match stored {
                    $(Tagged::$kind { coordinates } => $kind::of(coordinates).map(Self::$kind),)*
                    Tagged::GeometryCollection { geometries } => Ok(Self::Collection(geometries)),
                }
            }
        }
    };
}

kinds!(
    Point,
    LineString,
    Polygon,
    MultiPoint,
    MultiLineString,
    MultiPolygon
);

#[diagnostic::do_not_recommend]
impl FieldType for Geometry {
    const TYPE: TypeMeta = TypeMeta::scalar(&[BsonType::Object]);
    type Handle<M, As> = Field<M, As>;

    fn handle<M, As>(path: Path) -> Field<M, As> {
        Field::at_path(path)
    }
}

#[diagnostic::do_not_recommend]
impl Geospatial for Geometry {}
