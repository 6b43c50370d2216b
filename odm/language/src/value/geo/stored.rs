//! A value in a document, as geometry.

use bson::RawBsonRef;

use crate::value::geo::flat::Flat;
use crate::value::geo::parse::{self, Geometry};
use crate::value::geo::shape::Shape;
use crate::value::geo::vector::Vector;
use crate::value::{print, raw};

/// The geometry of a stored value.
#[derive(Debug, Clone, PartialEq)]
pub struct Stored {
    shapes: Vec<Shape>,
    flat: Option<Flat>,
}

impl Stored {
    /// The geometry of a value; `None` for values that no query matches: invalid geometry and strict polygons.
    pub fn read(value: RawBsonRef<'_>) -> Option<Self> {
        match parse::geometry(value).ok()? {
            Geometry { strict: true, .. } => None,
            geometry => Some(Self::from(geometry)),
        }
    }

    /// The geometry of a value for a 2dsphere index. If `may_be_empty` is set, null and empty arrays and documents give
    /// `None`; if `old` is set, collections are an error. The error is mongod's message.
    pub fn indexed(
        name: &str,
        value: RawBsonRef<'_>,
        may_be_empty: bool,
        old: bool,
    ) -> Result<Option<Self>, String> {
        match value {
            RawBsonRef::Null | RawBsonRef::Undefined if may_be_empty => return Ok(None),
            RawBsonRef::Array(array) if may_be_empty && raw::values(array).next().is_none() => {
                return Ok(None);
            }
            RawBsonRef::Document(document)
                if may_be_empty && raw::elements(document).next().is_none() =>
            {
                return Ok(None);
            }
            RawBsonRef::Array(_) | RawBsonRef::Document(_) => {}
            other => {
                return Err(format!(
                    "geo element must be an array or object: {}",
                    print::field(name, other)
                ));
            }
        }
        let geometry = parse::geometry(value)?;
        if geometry.strict {
            return Err("can't index geometry with strict winding order".to_owned());
        }
        if old && !geometry.single {
            return Err("given geometry can't be indexed in the old index format".to_owned());
        }
        let stored = Self::from(geometry);
        if !stored.is_on_sphere() {
            return Err(format!(
                "can't project geometry into spherical CRS: {}",
                print::value(value)
            ));
        }
        Ok(Some(stored))
    }

    /// The shapes on the sphere; empty for legacy coordinates that are not a longitude and a latitude.
    pub fn shapes(&self) -> &[Shape] {
        &self.shapes
    }

    pub fn is_on_sphere(&self) -> bool {
        !self.shapes.is_empty()
    }

    /// The point in the plane; `None` for geometries other than a single point.
    pub fn flat(&self) -> Option<Flat> {
        self.flat
    }

    /// The angle from a point of the sphere to the nearest shape; `None` without shapes.
    pub fn distance(&self, point: Vector) -> Option<f64> {
        self.shapes
            .iter()
            .map(|shape| shape.distance(point))
            .min_by(f64::total_cmp)
    }
}

impl From<Geometry> for Stored {
    fn from(geometry: Geometry) -> Self {
        let mut shapes = geometry.shapes;
        if let Some(point) = geometry.point
            && shapes.is_empty()
            && point.is_on_sphere()
        {
            shapes.push(Shape::Point(Vector::from_degrees(point.x, point.y)));
        }
        Self {
            shapes,
            flat: geometry.point,
        }
    }
}
