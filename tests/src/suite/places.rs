//! Geospatial filters and indexes, on the sphere and in the plane.

use odm::bson::{self, Bson};
use odm::prelude::*;

use crate::case::cases;

cases![
    geo_within,
    geo_intersects,
    near_sorts_by_distance,
    near_needs_an_index,
    legacy_coordinate_pairs,
    invalid_geometries_are_refused,
];

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "places")]
struct Place {
    #[serde(rename = "_id")]
    id: i32,
    at: Bson,
}

fn point(lng: f64, lat: f64) -> bson::Document {
    doc! {"type": "Point", "coordinates": [lng, lat]}
}

fn area(west: f64, south: f64, east: f64, north: f64) -> bson::Document {
    let ring = [
        [west, south],
        [east, south],
        [east, north],
        [west, north],
        [west, south],
    ];
    doc! {"type": "Polygon", "coordinates": [ring.map(Vec::from).to_vec()]}
}

/// Four towns, a road between the first two, and an area around the third; perhaps under an index.
async fn stored(db: &Db, index: Option<&str>) -> odm::Result<Collection<Place>> {
    let places = db.collection::<Place>();
    if let Some(kind) = index {
        let index = doc! {"key": {"at": kind}, "name": "it"};
        db.run_command(doc! {"createIndexes": "places", "indexes": [index]})
            .await?;
    }
    let road = doc! {"type": "LineString", "coordinates": [[13.4, 52.5], [2.35, 48.86]]};
    let all = [
        point(13.4, 52.5),
        point(2.35, 48.86),
        point(-0.13, 51.5),
        point(151.2, -33.87),
        road,
        area(-1.0, 51.0, 1.0, 52.0),
    ];
    for (id, at) in (1..).zip(all) {
        let at = at.into();
        places.insert_one(&Place { id, at }).await?;
    }
    Ok(places)
}

async fn found(places: &Collection<Place>, condition: bson::Document) -> odm::Result<Vec<i32>> {
    let rows = places.find(|it| it.at.raw(condition)).all().await?;
    Ok(rows.into_iter().map(|row| row.id).collect())
}

async fn sorted(places: &Collection<Place>, condition: bson::Document) -> Vec<i32> {
    let mut ids = found(places, condition).await.unwrap();
    ids.sort_unstable();
    ids
}

async fn geo_within(db: &Db) {
    for index in [None, Some("2dsphere")] {
        db.collection::<Place>().drop().await.unwrap();
        let places = stored(db, index).await.unwrap();
        let europe = doc! {"$geometry": area(-10.0, 35.0, 30.0, 60.0)};
        let within = sorted(&places, doc! {"$geoWithin": europe}).await;
        assert_eq!(within, [1, 2, 3, 5, 6], "{index:?}");
        let disc = doc! {"$centerSphere": [[0.0, 51.5], 200.0 / 6378.1]};
        let within = sorted(&places, doc! {"$geoWithin": disc}).await;
        assert_eq!(within, [3, 6], "{index:?}");
        let flat = doc! {"$box": [[0.0, 40.0], [20.0, 60.0]]};
        let within = sorted(&places, doc! {"$geoWithin": flat}).await;
        assert_eq!(within, [1, 2], "{index:?}");
    }
}

async fn geo_intersects(db: &Db) {
    for index in [None, Some("2dsphere")] {
        db.collection::<Place>().drop().await.unwrap();
        let places = stored(db, index).await.unwrap();
        let line = doc! {"type": "LineString", "coordinates": [[5.0, 40.0], [8.0, 60.0]]};
        let meets = sorted(&places, doc! {"$geoIntersects": {"$geometry": line}}).await;
        assert_eq!(meets, [5], "{index:?}");
        let here = doc! {"$geoIntersects": {"$geometry": point(-0.13, 51.5)}};
        assert_eq!(sorted(&places, here).await, [3, 6], "{index:?}");
    }
}

async fn near_sorts_by_distance(db: &Db) {
    let places = stored(db, Some("2dsphere")).await.unwrap();
    let here = point(-0.5, 52.5);
    let near = |more: bson::Document| {
        let mut near = doc! {"$geometry": here.clone()};
        near.extend(more);
        doc! {"$near": near}
    };
    let all = found(&places, near(doc! {})).await.unwrap();
    assert_eq!(all, [6, 3, 5, 2, 1, 4]);
    let some = near(doc! {"$minDistance": 100_000, "$maxDistance": 500_000});
    assert_eq!(found(&places, some).await.unwrap(), [3, 5, 2]);
    let first = places.find(|it| it.at.raw(near(doc! {}))).limit(1);
    assert_eq!(first.all().await.unwrap().len(), 1);
    let command = doc! {"find": "places", "filter": {"at": near(doc! {})}};
    let reply = db
        .run_command(doc! {"explain": command, "verbosity": "queryPlanner"})
        .await
        .unwrap();
    let plan = reply.get_document("queryPlanner").unwrap();
    let plan = plan.get_document("winningPlan").unwrap();
    assert_eq!(
        plan.get_str("stage").unwrap(),
        "GEO_NEAR_2DSPHERE",
        "{plan}"
    );
    assert_eq!(plan.get_str("indexName").unwrap(), "it", "{plan}");
}

async fn near_needs_an_index(db: &Db) {
    let places = stored(db, None).await.unwrap();
    let near = doc! {"$near": {"$geometry": point(0.0, 0.0)}};
    let error = found(&places, near).await.unwrap_err();
    assert_eq!(error.code().map(odm::Code::number), Some(291), "{error}");
}

async fn legacy_coordinate_pairs(db: &Db) {
    let places = db.collection::<Place>();
    let index = doc! {"key": {"at": "2d"}, "name": "it"};
    db.run_command(doc! {"createIndexes": "places", "indexes": [index]})
        .await
        .unwrap();
    for id in 0..20 {
        let at = vec![f64::from(id), f64::from(id * id % 7)].into();
        places.insert_one(&Place { id, at }).await.unwrap();
    }
    let near = doc! {"$near": [3.2, 2.1], "$maxDistance": 2.5};
    assert_eq!(found(&places, near).await.unwrap(), [3, 4, 2, 1]);
    let circle = doc! {"$geoWithin": {"$center": [[10.0, 2.0], 1.0]}};
    assert_eq!(sorted(&places, circle).await, [10, 11]);
    let shape = doc! {"$geoWithin": {"$polygon": [[0, 0], [5, 0], [5, 5]]}};
    assert_eq!(sorted(&places, shape).await, [0, 3, 4, 5]);
}

async fn invalid_geometries_are_refused(db: &Db) {
    let places = stored(db, Some("2dsphere")).await.unwrap();
    for at in [Bson::from(5), point(200.0, 0.0).into(), vec![1.0].into()] {
        let error = places.insert_one(&Place { id: 9, at }).await.unwrap_err();
        assert_eq!(error.code().map(odm::Code::number), Some(16755), "{error}");
    }
    let at = Bson::Null;
    places.insert_one(&Place { id: 9, at }).await.unwrap();
}
