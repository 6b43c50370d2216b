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
    /// The geometry of a value; none where it has none that a query could match.
    pub fn read(value: RawBsonRef<'_>) -> Option<Self> {
        match parse::geometry(value).ok()? {
            Geometry { strict: true, .. } => None,
            geometry => Some(Self::from(geometry)),
        }
    }

    /// The geometry of a value that a 2dsphere index is to hold; none of an empty one, where that may be. The error is
    /// the server's message.
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

    /// What it is on the sphere: nothing for legacy coordinates that are no longitude and latitude.
    pub fn shapes(&self) -> &[Shape] {
        &self.shapes
    }

    pub fn is_on_sphere(&self) -> bool {
        !self.shapes.is_empty()
    }

    /// What it is in the plane: only a point has a place there.
    pub fn flat(&self) -> Option<Flat> {
        self.flat
    }

    /// The angle to a point of the sphere.
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
