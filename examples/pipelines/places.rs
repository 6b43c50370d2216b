//! The page of `$geoNear`: parks near a point.

use odm::geo::Point;
use odm::output;
use odm::pipeline::{Pipeline, pipeline};
use odm::prelude::*;

use super::sync;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "places", index(location = "2dsphere"))]
pub(crate) struct Place {
    #[serde(rename = "_id")]
    id: i32,
    name: String,
    location: Option<Point>,
    category: String,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, Embedded)]
pub(crate) struct Near {
    name: String,
    category: String,
    dist: Distance,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, Embedded)]
struct Distance {
    calculated: f64,
    location: Option<Point>,
}

pub(crate) fn parks_near(point: Point) -> Pipeline<Place, Near> {
    pipeline::<Place>()
        .geo_near(|p| p.location, point, ..=2.0)
        .match_(|(p, _)| p.category.eq("Parks"))
        .project(|(p, calculated)| {
            output!(Near {
                name: p.name,
                category: p.category,
                dist: output!(Distance {
                    calculated: calculated,
                    location: p.location,
                }),
            })
        })
}

pub(crate) async fn store(db: &Db) -> odm::Result<()> {
    sync(db, models![Place]).await?;
    let place = |id, name: &str, longitude, latitude, category: &str| Place {
        id,
        name: name.to_owned(),
        location: Point::new(longitude, latitude).ok(),
        category: category.to_owned(),
    };
    let places = [
        place(1, "Central Park", -73.97, 40.77, "Parks"),
        place(2, "Sara D. Roosevelt Park", -73.9928, 40.7193, "Parks"),
        place(3, "Polo Grounds", -73.9375, 40.8303, "Stadiums"),
    ];
    db.collection::<Place>().insert_many(places).await?;
    Ok(())
}
