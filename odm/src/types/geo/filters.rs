//! The filters of places.

use std::ops::{RangeFrom, RangeFull, RangeInclusive, RangeToInclusive};

use bson::{Bson, Document, doc};

use super::geometry::Geometry;
use super::point::Point;
use super::shapes::{MultiPolygon, Polygon};
use crate::error::{Error, Result};
use crate::query::compare::operator;
use crate::query::encode;
use crate::query::{Encode, Field, Filter};

/// The radius of the earth in metres that MongoDB computes with.
const EARTH_RADIUS: f64 = 6_378_100.0;

/// A type stored as a GeoJSON geometry: it has `near`, `geo_within` and `geo_intersects`.
#[diagnostic::on_unimplemented(
    message = "a field declared as `{Self}` is not a place",
    label = "`near`, `geo_within` and `geo_intersects` are for the types of `odm::geo`",
    note = "in a list of places, reach the elements first: `.any().near(…)`; for coordinates in another form, use `.raw(…)`"
)]
pub trait Geospatial {}

#[diagnostic::do_not_recommend]
impl<T: Geospatial> Geospatial for Option<T> {}
#[diagnostic::do_not_recommend]
impl<T: Geospatial> Geospatial for Box<T> {}
#[diagnostic::do_not_recommend]
impl Geospatial for Bson {}
#[diagnostic::do_not_recommend]
impl Geospatial for Document {}

/// The area around a point, up to a distance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Circle {
    center: Point,
    metres: f64,
}

impl Circle {
    /// The area within so many metres of `center`, on a sphere with the radius 6,378.1 km.
    ///
    /// ```
    /// # use odm::geo::{Circle, Point};
    /// # use odm::prelude::*;
    /// # #[derive(Serialize, Deserialize, Document)]
    /// # #[odm(collection = "cafes")]
    /// # struct Cafe { #[serde(rename = "_id")] id: i32, at: Point }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let cafes = Db::memory().collection::<Cafe>();
    /// # cafes.insert_one(&Cafe { id: 1, at: Point::new(13.4050, 52.5200)? }).await?;
    /// let here = Point::new(13.3761, 52.5186)?;
    /// let within = |metres| cafes.find(move |c| c.at.geo_within(Circle::new(here, metres)));
    /// assert_eq!(within(5_000.0).count().await?, 1);
    /// assert_eq!(within(500.0).count().await?, 0);
    /// # Ok(())
    /// # }
    /// ```
    pub const fn new(center: Point, metres: f64) -> Self {
        Self { center, metres }
    }
}

/// An area that [`geo_within`](Field::geo_within) takes: a [`Polygon`], a [`MultiPolygon`], a [`Circle`].
#[derive(Debug, Clone, PartialEq)]
pub struct Area(Kind);

#[derive(Debug, Clone, PartialEq)]
enum Kind {
    Geometry(Geometry),
    Circle(Circle),
}

impl From<Polygon> for Area {
    fn from(polygon: Polygon) -> Self {
        Self(Kind::Geometry(polygon.into()))
    }
}

impl From<MultiPolygon> for Area {
    fn from(polygons: MultiPolygon) -> Self {
        Self(Kind::Geometry(polygons.into()))
    }
}

impl From<Circle> for Area {
    fn from(circle: Circle) -> Self {
        Self(Kind::Circle(circle))
    }
}

impl Area {
    fn condition(self) -> Result<Bson> {
        Ok(match self.0 {
            Kind::Geometry(geometry) => in_document(&geometry)?,
            Kind::Circle(Circle { center, metres }) => {
                let center = center.position().map(Bson::Double).to_vec();
                let radians = distance(metres)? / EARTH_RADIUS;
                doc! {"$centerSphere": [center, radians]}.into()
            }
        })
    }
}

/// Distances in metres that [`near`](Field::near) takes: `..`, `..=5_000.0`, `100.0..`, `100.0..=5_000.0`.
pub trait Distances {
    /// The smallest and the largest distance.
    fn bounds(self) -> (Option<f64>, Option<f64>);
}

impl Distances for RangeFull {
    fn bounds(self) -> (Option<f64>, Option<f64>) {
        (None, None)
    }
}

impl Distances for RangeToInclusive<f64> {
    fn bounds(self) -> (Option<f64>, Option<f64>) {
        (None, Some(self.end))
    }
}

impl Distances for RangeFrom<f64> {
    fn bounds(self) -> (Option<f64>, Option<f64>) {
        (Some(self.start), None)
    }
}

impl Distances for RangeInclusive<f64> {
    fn bounds(self) -> (Option<f64>, Option<f64>) {
        (Some(*self.start()), Some(*self.end()))
    }
}

fn distance(metres: f64) -> Result<f64> {
    if metres >= 0.0 && metres.is_finite() {
        return Ok(metres);
    }
    Err(Error::usage(format!(
        "a distance must be a number of metres that is not negative, not {metres}"
    )))
}

/// `{$geometry: …}`
fn in_document(geometry: &Geometry) -> Result<Bson> {
    Ok(doc! {"$geometry": encode(geometry)?}.into())
}

impl<M, T, E> Field<M, T, E> {
    /// Matches places at these distances in metres from a point, the nearest first: `{field: {$near: {$geometry, $maxDistance}}}`.
    ///
    /// It needs an index `"2dsphere"` on the field, else the query fails (code 291, `NoQueryExecutionPlans`). It stands at
    /// the top level of a query or in its `&`s, not under `|` or `!`. A sort of the query replaces the order by distance.
    /// Counts, change streams and the `$match` of pipelines do not take it: filter with [`geo_within`](Self::geo_within)
    /// and a [`Circle`] there.
    ///
    /// ```
    /// use odm::geo::Point;
    /// use odm::prelude::*;
    /// use odm::query::fields;
    ///
    /// #[derive(Serialize, Deserialize, Embedded)]
    /// struct Cafe {
    ///     at: Point,
    /// }
    ///
    /// let here = Point::new(13.4, 52.5).unwrap();
    /// assert_eq!(
    ///     fields::<Cafe>().at.near(here, ..=500.0).to_document()?,
    ///     doc! {"at": {"$near": {
    ///         "$geometry": {"type": "Point", "coordinates": [13.4, 52.5]},
    ///         "$maxDistance": 500.0,
    ///     }}},
    /// );
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn near(&self, point: Point, distances: impl Distances) -> Filter<M>
    where
        E: Encode<T, Stored: Geospatial>,
    {
        let condition = || {
            let mut near = doc! {"$geometry": encode(&point)?};
            let (min, max) = distances.bounds();
            for (name, bound) in [("$minDistance", min), ("$maxDistance", max)] {
                if let Some(metres) = bound {
                    near.insert(name, distance(metres)?);
                }
            }
            Ok(near.into())
        };
        Filter::from_node(operator(self.path(), "$near", condition()))
    }

    /// Makes the stage of a pipeline that returns places with their distance in metres from a point, the nearest first:
    /// `{$geoNear: {near, key: field, distanceField, spherical: true}}`. It stores the distance in the field `into`.
    ///
    /// The stage must be the first of its pipeline, and needs an index `"2dsphere"` on the field. To measure only some
    /// documents, add a `query` to it, as here; a `$match` behind it would read the others as well.
    ///
    /// ```
    /// use odm::geo::Point;
    /// use odm::prelude::*;
    /// use odm::query::fields;
    ///
    /// #[derive(Serialize, Deserialize, Embedded)]
    /// struct Cafe {
    ///     at: Point,
    ///     open: bool,
    /// }
    ///
    /// let here = Point::new(13.4, 52.5).unwrap();
    /// let cafe = fields::<Cafe>();
    /// let mut stage = cafe.at.geo_near(here, ..=500.0, "metres")?;
    /// stage.get_document_mut("$geoNear").unwrap().insert("query", cafe.open.eq(true).to_document()?);
    /// assert_eq!(
    ///     stage,
    ///     doc! {"$geoNear": {
    ///         "near": {"type": "Point", "coordinates": [13.4, 52.5]},
    ///         "key": "at",
    ///         "distanceField": "metres",
    ///         "spherical": true,
    ///         "maxDistance": 500.0,
    ///         "query": {"open": true},
    ///     }},
    /// );
    /// # Ok::<(), odm::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// A distance is negative or not finite.
    pub fn geo_near(&self, point: Point, distances: impl Distances, into: &str) -> Result<Document>
    where
        E: Encode<T, Stored: Geospatial>,
    {
        let mut stage = doc! {
            "near": encode(&point)?,
            "key": self.path().to_string(),
            "distanceField": into,
            "spherical": true,
        };
        let (min, max) = distances.bounds();
        for (name, bound) in [("minDistance", min), ("maxDistance", max)] {
            if let Some(metres) = bound {
                stage.insert(name, distance(metres)?);
            }
        }
        Ok(doc! {"$geoNear": stage})
    }

    /// Matches places that are wholly inside an area: `{field: {$geoWithin: {$geometry: …}}}`, or with a [`Circle`]
    /// `{field: {$geoWithin: {$centerSphere: […]}}}`.
    ///
    /// An index `"2dsphere"` on the field speeds it up; it works without.
    ///
    /// ```
    /// use odm::geo::{Point, Polygon};
    /// use odm::prelude::*;
    /// use odm::query::fields;
    ///
    /// #[derive(Serialize, Deserialize, Embedded)]
    /// struct Cafe {
    ///     at: Point,
    /// }
    ///
    /// let area = Polygon::between(13.0, 52.0, 14.0, 53.0).unwrap();
    /// assert_eq!(
    ///     fields::<Cafe>().at.geo_within(area).to_document()?,
    ///     doc! {"at": {"$geoWithin": {"$geometry": {
    ///         "type": "Polygon",
    ///         "coordinates": [[[13.0, 52.0], [14.0, 52.0], [14.0, 53.0], [13.0, 53.0], [13.0, 52.0]]],
    ///     }}}},
    /// );
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn geo_within(&self, area: impl Into<Area>) -> Filter<M>
    where
        E: Encode<T, Stored: Geospatial>,
    {
        let condition = area.into().condition();
        Filter::from_node(operator(self.path(), "$geoWithin", condition))
    }

    /// Matches places that have a point in common with a geometry: `{field: {$geoIntersects: {$geometry: …}}}`.
    ///
    /// An index `"2dsphere"` on the field speeds it up; it works without.
    ///
    /// ```
    /// use odm::geo::{Point, Polygon};
    /// use odm::prelude::*;
    /// use odm::query::fields;
    ///
    /// #[derive(Serialize, Deserialize, Embedded)]
    /// struct District {
    ///     area: Polygon,
    /// }
    ///
    /// let here = Point::new(13.4, 52.5).unwrap();
    /// assert_eq!(
    ///     fields::<District>().area.geo_intersects(here).to_document()?,
    ///     doc! {"area": {"$geoIntersects": {"$geometry": {"type": "Point", "coordinates": [13.4, 52.5]}}}},
    /// );
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn geo_intersects(&self, geometry: impl Into<Geometry>) -> Filter<M>
    where
        E: Encode<T, Stored: Geospatial>,
    {
        let condition = in_document(&geometry.into());
        Filter::from_node(operator(self.path(), "$geoIntersects", condition))
    }
}
