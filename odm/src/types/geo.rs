//! Places on the earth: GeoJSON geometries as field types, and the filters of an index `"2dsphere"`.
//!
//! A [`Point`] is stored as `{type: "Point", coordinates: [longitude, latitude]}`, as [RFC 7946] and MongoDB have it: the
//! longitude first. The other geometries are [`LineString`], [`Polygon`], [`MultiPoint`], [`MultiLineString`],
//! [`MultiPolygon`], and [`Geometry`] for any of them. A value that MongoDB's index would refuse can't be made: degrees out
//! of range, a ring that does not close.
//!
//! ```
//! use odm::geo::{Circle, Point};
//! use odm::prelude::*;
//!
//! #[derive(Debug, Serialize, Deserialize, Document)]
//! #[odm(collection = "cafes", index(at = "2dsphere"))]
//! struct Cafe {
//!     #[serde(rename = "_id")]
//!     id: i32,
//!     at: Point,
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let db = Db::memory();
//! db.sync(models![Cafe]).plan().await?.apply(Allow::CREATE).await?;
//! let cafes = db.collection::<Cafe>();
//! cafes.insert_one(&Cafe { id: 1, at: Point::new(13.4050, 52.5200)? }).await?;
//! cafes.insert_one(&Cafe { id: 2, at: Point::new(13.3777, 52.5163)? }).await?;
//! cafes.insert_one(&Cafe { id: 3, at: Point::new(2.3522, 48.8566)? }).await?;
//!
//! let here = Point::new(13.3761, 52.5186)?;
//! let nearest = cafes.find(|c| c.at.near(here, ..=5_000.0)).all().await?;
//! assert_eq!(nearest.iter().map(|c| c.id).collect::<Vec<_>>(), [2, 1]);
//!
//! let in_town = cafes.find(|c| c.at.geo_within(Circle::new(here, 5_000.0))).count().await?;
//! assert_eq!(in_town, 2);
//! # Ok(())
//! # }
//! ```
//!
//! An index `"2dsphere"` takes no list of points (code 16755): store a [`MultiPoint`], or a list of structs with a point
//! (`index(stops.at = "2dsphere")`).
//!
//! For results with their distances, [`geo_near`](crate::query::Field::geo_near) makes the stage of a pipeline. Two numbers
//! instead of GeoJSON (`[x, y]`, the index `2d`) and flat shapes (`$box`, `$center`) have no typed form: use
//! [`raw`](crate::query::Field::raw) and [`aggregate`](crate::collection::Collection::aggregate).
//!
//! [RFC 7946]: https://www.rfc-editor.org/rfc/rfc7946

mod error;
mod filters;
mod geometry;
mod point;
mod shapes;
mod stored;

pub use self::error::GeoError;
pub use self::filters::{Area, Circle, Distances, Geospatial};
pub use self::geometry::Geometry;
pub use self::point::Point;
pub use self::shapes::{LineString, MultiLineString, MultiPoint, MultiPolygon, Polygon};
