//! Geometries as field types, and their typed filters.

use odm::bson::Document as BsonDocument;
use odm::geo::{
    Circle, GeoError, Geometry, LineString, MultiLineString, MultiPoint, MultiPolygon, Point,
    Polygon,
};
use odm::prelude::*;
use odm::query::raw;

use crate::case::cases;

cases![
    geometries_are_stored_as_geojson,
    geometries_filter_with_and_without_an_index,
    near_sorts_by_distance_and_bounds_it,
    pipelines_measure_distances,
    places_in_lists_and_options_are_found,
    stored_geometries_of_another_form_are_refused,
    the_validator_knows_the_form,
    impossible_distances_are_refused,
    plain_json_is_geojson,
];

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "shapes")]
struct Shapes {
    #[serde(rename = "_id")]
    id: i32,
    point: Point,
    line: LineString,
    area: Polygon,
    points: MultiPoint,
    lines: MultiLineString,
    areas: MultiPolygon,
    any: Geometry,
    #[serde(default)]
    maybe: Option<Point>,
}

fn at(longitude: f64, latitude: f64) -> Point {
    Point::new(longitude, latitude).unwrap()
}

fn shapes(id: i32, any: Geometry) -> Shapes {
    let line = LineString::new([at(0.0, 0.0), at(10.0, 0.0)]).unwrap();
    let hole = [at(4.0, 4.0), at(6.0, 4.0), at(6.0, 6.0)];
    let area = Polygon::between(0.0, 0.0, 10.0, 10.0).unwrap();
    let area = area.with_hole(hole).unwrap();
    Shapes {
        id,
        point: at(13.4, 52.5),
        points: MultiPoint::new([at(1.0, 2.0), at(3.0, 4.0)]).unwrap(),
        lines: MultiLineString::new([line.clone(), line.clone()]).unwrap(),
        areas: MultiPolygon::new([area.clone()]).unwrap(),
        line,
        area,
        any,
        maybe: None,
    }
}

/// One geometry of each kind.
fn kinds() -> Vec<Geometry> {
    let Shapes {
        point,
        line,
        area,
        points,
        lines,
        areas,
        ..
    } = shapes(0, at(0.0, 0.0).into());
    let mut all: Vec<Geometry> = vec![
        point.into(),
        line.into(),
        area.into(),
        points.into(),
        lines.into(),
        areas.into(),
    ];
    all.push(Geometry::Collection(all.clone()));
    all
}

async fn geometries_are_stored_as_geojson(db: &Db) {
    let plan = db.sync(models![Shapes]).plan().await.unwrap();
    plan.apply(Allow::CREATE).await.unwrap();
    let collection = db.collection::<Shapes>();
    for (id, any) in (1..).zip(kinds()) {
        let written = shapes(id, any);
        collection.insert_one(&written).await.unwrap();
        let read = collection.get(&id).await.unwrap().unwrap();
        assert_eq!(read, written);
        let mut loaded = collection.load(&id).await.unwrap().unwrap();
        loaded.maybe = Some(at(0.0, 0.0));
        collection.save(&mut loaded).await.unwrap();
    }
    let stored = collection.find(|s| s.id.eq(7)).with_type::<BsonDocument>();
    let stored = stored.first().await.unwrap().unwrap();
    let ring = [
        [0.0, 0.0],
        [10.0, 0.0],
        [10.0, 10.0],
        [0.0, 10.0],
        [0.0, 0.0],
    ];
    let hole = [[4.0, 4.0], [6.0, 4.0], [6.0, 6.0], [4.0, 4.0]];
    let (ring, hole) = (ring.map(Vec::from).to_vec(), hole.map(Vec::from).to_vec());
    let line = vec![vec![0.0, 0.0], vec![10.0, 0.0]];
    let point = doc! {"type": "Point", "coordinates": [13.4, 52.5]};
    let polygon = doc! {"type": "Polygon", "coordinates": [ring.clone(), hole.clone()]};
    let lines = doc! {"type": "MultiLineString", "coordinates": [line.clone(), line.clone()]};
    let line = doc! {"type": "LineString", "coordinates": line};
    let points = doc! {"type": "MultiPoint", "coordinates": [[1.0, 2.0], [3.0, 4.0]]};
    let polygons = doc! {"type": "MultiPolygon", "coordinates": [[ring, hole]]};
    let all = [&point, &line, &polygon, &points, &lines, &polygons].map(Clone::clone);
    assert_eq!(
        stored,
        doc! {
            "_id": 7, "point": point, "line": line, "area": polygon, "points": points, "lines": lines, "areas": polygons,
            "any": {"type": "GeometryCollection", "geometries": all.to_vec()},
            "maybe": {"type": "Point", "coordinates": [0.0, 0.0]},
        }
    );
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "places", index(at = "2dsphere"))]
struct Place {
    #[serde(rename = "_id")]
    id: i32,
    at: Geometry,
}

async fn places(db: &Db) -> Collection<Place> {
    let places = db.collection::<Place>();
    let road = LineString::new([at(13.4, 52.5), at(2.35, 48.86)]).unwrap();
    let all: [Geometry; 6] = [
        at(13.4, 52.5).into(),
        at(2.35, 48.86).into(),
        at(-0.13, 51.5).into(),
        at(151.2, -33.87).into(),
        road.into(),
        Polygon::between(-1.0, 51.0, 1.0, 52.0).unwrap().into(),
    ];
    for (id, at) in (1..).zip(all) {
        places.insert_one(&Place { id, at }).await.unwrap();
    }
    places
}

async fn ids(places: &Collection<Place>, filter: Filter<Place>) -> Vec<i32> {
    let found = places.find(|_| filter).sort(|p| p.id.asc()).all().await;
    found.unwrap().iter().map(|place| place.id).collect()
}

async fn geometries_filter_with_and_without_an_index(db: &Db) {
    let europe = Polygon::between(-10.0, 35.0, 30.0, 60.0).unwrap();
    let australia = Polygon::between(110.0, -45.0, 155.0, -10.0).unwrap();
    let line = LineString::new([at(5.0, 40.0), at(8.0, 60.0)]).unwrap();
    for is_indexed in [false, true] {
        db.collection::<Place>().drop().await.unwrap();
        if is_indexed {
            let plan = db.sync(models![Place]).plan().await.unwrap();
            plan.apply(Allow::CREATE).await.unwrap();
        }
        let places = places(db).await;
        let field = || odm::query::fields::<Place>().at;
        let inside = field().geo_within(europe.clone());
        assert_eq!(ids(&places, inside).await, [1, 2, 3, 5, 6]);
        let both = MultiPolygon::new([europe.clone(), australia.clone()]).unwrap();
        let inside = field().geo_within(both);
        assert_eq!(ids(&places, inside).await, [1, 2, 3, 4, 5, 6]);
        let disc = Circle::new(at(0.0, 51.5), 200_000.0);
        assert_eq!(ids(&places, field().geo_within(disc)).await, [3, 6]);
        let found = places.find(|p| p.at.geo_within(disc)).count().await;
        assert_eq!(found.unwrap(), 2);
        let crossing = field().geo_intersects(line.clone());
        assert_eq!(ids(&places, crossing).await, [5]);
        let here = field().geo_intersects(at(-0.13, 51.5));
        assert_eq!(ids(&places, here).await, [3, 6]);
        let elsewhere = !field().geo_within(europe.clone());
        assert_eq!(ids(&places, elsewhere).await, [4]);
    }
}

async fn near_sorts_by_distance_and_bounds_it(db: &Db) {
    let plan = db.sync(models![Place]).plan().await.unwrap();
    plan.apply(Allow::CREATE).await.unwrap();
    let places = places(db).await;
    let here = at(-0.5, 52.5);
    let found = async |filter: Filter<Place>| {
        let found = places.find(|_| filter).all().await.unwrap();
        found.iter().map(|place| place.id).collect::<Vec<_>>()
    };
    let field = || odm::query::fields::<Place>().at;
    assert_eq!(found(field().near(here, ..)).await, [6, 3, 5, 2, 1, 4]);
    let ring = field().near(here, 100_000.0..=500_000.0);
    assert_eq!(found(ring).await, [3, 5, 2]);
    assert_eq!(found(field().near(here, ..=120_000.0)).await, [6, 3]);
    assert_eq!(found(field().near(here, 1_000_000.0..)).await, [4]);
    let filter = field().near(here, ..) & odm::query::fields::<Place>().id.gt(3);
    assert_eq!(found(filter).await, [6, 5, 4]);
    let nearest = places.find(|p| p.at.near(here, ..)).first().await;
    assert_eq!(nearest.unwrap().map(|place| place.id), Some(6));
    // A count has no order, and takes an area.
    let error = places.find(|p| p.at.near(here, ..)).count().await;
    assert!(error.unwrap_err().code().is_some());
    places.drop().await.unwrap();
    let places = db.collection::<Place>();
    let place = Place {
        id: 1,
        at: at(0.0, 0.0).into(),
    };
    places.insert_one(place).await.unwrap();
    let error = places.find(|p| p.at.near(here, ..)).all().await;
    let code = error.unwrap_err().code().map(odm::Code::number);
    assert_eq!(code, Some(291));
}

async fn pipelines_measure_distances(db: &Db) {
    #[derive(Debug, Deserialize)]
    struct Measured {
        #[serde(rename = "_id")]
        id: i32,
        far: Far,
    }

    #[derive(Debug, Deserialize)]
    struct Far {
        metres: f64,
    }

    let plan = db.sync(models![Place]).plan().await.unwrap();
    plan.apply(Allow::CREATE).await.unwrap();
    let places = places(db).await;
    let here = at(-0.5, 52.5);
    let field = || odm::query::fields::<Place>().at;
    let measured = async |stage: BsonDocument, rest: &[BsonDocument]| {
        let pipeline = std::iter::once(stage).chain(rest.iter().cloned());
        let found = places.aggregate(pipeline).with_type::<Measured>();
        found.all().await.unwrap()
    };
    let ids = |found: &[Measured]| found.iter().map(|it| it.id).collect::<Vec<_>>();
    let stage = field().geo_near(here, .., "far.metres").unwrap();
    let all = measured(stage.clone(), &[]).await;
    assert_eq!(ids(&all), [6, 3, 5, 2, 1, 4]);
    assert!(all.is_sorted_by(|one, other| one.far.metres <= other.far.metres));
    let town = all.iter().find(|found| found.id == 3).unwrap();
    assert!(
        (110_000.0..=120_000.0).contains(&town.far.metres),
        "{town:?}"
    );
    let near = measured(stage.clone(), &[doc! {"$limit": 2}]).await;
    assert_eq!(ids(&near), [6, 3]);
    let stage = field().geo_near(here, 100_000.0..=500_000.0, "far.metres");
    assert_eq!(ids(&measured(stage.unwrap(), &[]).await), [3, 5, 2]);
    let mut stage = field().geo_near(here, .., "far.metres").unwrap();
    let only = odm::query::fields::<Place>().id.gt(3);
    let inner = stage.get_document_mut("$geoNear").unwrap();
    inner.insert("query", only.to_document().unwrap());
    assert_eq!(ids(&measured(stage, &[]).await), [6, 5, 4]);
    // The metadata of later stages, and of a find.
    let stage = field().geo_near(here, .., "far.metres").unwrap();
    let metres = doc! {"$project": {"far.metres": {"$meta": "geoNearDistance"}}};
    let again = measured(stage, &[metres]).await;
    assert_eq!(again.len(), all.len());
    for (one, other) in again.iter().zip(&all) {
        assert!(
            (one.far.metres - other.far.metres).abs() < 1e-6,
            "{one:?} {other:?}"
        );
    }
    let refused = field().geo_near(here, ..=-1.0, "metres").unwrap_err();
    assert!(refused.to_string().contains("not negative"), "{refused}");
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "walks", index(stops.at = "2dsphere"))]
struct Walk {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(embed(few, max = 10))]
    stops: Vec<Stop>,
    home: Option<Point>,
}

/// An index takes no list of points.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
struct Stop {
    at: Point,
}

fn stop(longitude: f64, latitude: f64) -> Stop {
    Stop {
        at: at(longitude, latitude),
    }
}

async fn places_in_lists_and_options_are_found(db: &Db) {
    let plan = db.sync(models![Walk]).plan().await.unwrap();
    plan.apply(Allow::CREATE).await.unwrap();
    let walks = db.collection::<Walk>();
    let rows = [
        (1, vec![stop(0.0, 0.0), stop(10.0, 0.0)], Some(at(0.0, 0.0))),
        (2, vec![stop(5.0, 5.0)], None),
        (3, vec![], Some(at(50.0, 50.0))),
    ];
    for (id, stops, home) in rows {
        walks.insert_one(&Walk { id, stops, home }).await.unwrap();
    }
    let disc = Circle::new(at(10.0, 0.1), 50_000.0);
    let found = walks
        .find(|w| w.stops.any().at.geo_within(disc))
        .all()
        .await;
    assert_eq!(found.unwrap().len(), 1);
    let near = walks.find(|w| w.stops.any().at.near(at(10.0, 0.0), ..));
    let near = near.all().await.unwrap();
    assert_eq!(near.iter().map(|w| w.id).collect::<Vec<_>>(), [1, 2]);
    let area = Polygon::between(-1.0, -1.0, 1.0, 1.0).unwrap();
    let found = walks.find(|w| w.home.geo_within(area)).all().await.unwrap();
    assert_eq!(found.iter().map(|w| w.id).collect::<Vec<_>>(), [1]);
    walks
        .update_one(|w| w.id.eq(2), |w| w.stops.push(stop(6.0, 6.0)))
        .await
        .unwrap();
    walks
        .update_one(|w| w.id.eq(2), |w| w.home.set(Some(at(7.0, 7.0))))
        .await
        .unwrap();
    let walk = walks.get(&2).await.unwrap().unwrap();
    assert_eq!(walk.stops, [stop(5.0, 5.0), stop(6.0, 6.0)]);
    assert_eq!(
        walks
            .find(|w| w.home.eq(at(7.0, 7.0)))
            .count()
            .await
            .unwrap(),
        1
    );
}

async fn stored_geometries_of_another_form_are_refused(db: &Db) {
    let stops = db.collection::<Walk>();
    let table = [
        (
            doc! {"type": "LineString", "coordinates": [[0, 0], [1, 1]]},
            "expected a Point, found a LineString",
        ),
        (
            doc! {"type": "Point", "coordinates": [0.0, 0.0, 7.0]},
            "not 3",
        ),
        (doc! {"type": "Point", "coordinates": [0.0]}, "not 1"),
        (
            doc! {"type": "Point", "coordinates": [52.5, 113.4]},
            "latitude 113.4",
        ),
        (
            doc! {"type": "Point", "coordinates": [f64::NAN, 0.0]},
            "longitude NaN",
        ),
        (doc! {"type": "Point"}, "missing field `coordinates`"),
        (doc! {"coordinates": [1.0, 2.0]}, "missing field `type`"),
    ];
    for (stored, word) in table {
        stops.delete_all().await.unwrap();
        db.run_command(
            doc! {"insert": "walks", "documents": [{"_id": 1, "stops": [], "home": stored}]},
        )
        .await
        .unwrap();
        let error = stops.get(&1).await.unwrap_err();
        assert!(error.is_decode(), "{error}");
        assert!(error.to_string().contains(word), "{error}");
        assert!(
            error.path().is_some_and(|path| path.starts_with("home")),
            "{error}"
        );
    }
    let table = [
        doc! {"type": "Point", "coordinates": [1, 2]},
        doc! {"coordinates": [1_i64, 2.0], "type": "Point"},
        doc! {"type": "Point", "crs": {"type": "name"}, "coordinates": [1.0, 2.0], "bbox": [1]},
    ];
    for stored in table {
        stops.delete_all().await.unwrap();
        db.run_command(
            doc! {"insert": "walks", "documents": [{"_id": 1, "stops": [], "home": stored}]},
        )
        .await
        .unwrap();
        let walk = stops.get(&1).await.unwrap().unwrap();
        assert_eq!(walk.home, Some(at(1.0, 2.0)));
    }
    assert_eq!(
        Polygon::new([at(0.0, 0.0), at(1.0, 0.0)]),
        Err(GeoError::Ring { points: 3 })
    );
}

async fn the_validator_knows_the_form(db: &Db) {
    let plan = db.sync(models![Shapes]).plan().await.unwrap();
    plan.apply(Allow::CREATE).await.unwrap();
    let collection = db.collection::<Shapes>();
    collection
        .insert_one(shapes(1, at(0.0, 0.0).into()))
        .await
        .unwrap();
    let wrong = [
        ("point", doc! {"type": "Polygon", "coordinates": [0.0, 0.0]}),
        ("point", doc! {"type": "Point", "coordinates": [0.0]}),
        ("point", doc! {"type": "Point", "coordinates": ["0", "0"]}),
        ("point", doc! {"type": "Point"}),
        (
            "line",
            doc! {"type": "LineString", "coordinates": [0.0, 0.0]},
        ),
        (
            "area",
            doc! {"type": "Polygon", "coordinates": [[0.0, 0.0]]},
        ),
    ];
    for (field, value) in wrong {
        let update = doc! {"$set": {field: value.clone()}};
        let update = collection.update_one(|s| s.id.eq(1), |_| raw::<Update<_>>(update));
        let error = update.await.unwrap_err();
        assert!(error.is_validation_failure(), "{field}: {value}: {error}");
    }
}

async fn impossible_distances_are_refused(db: &Db) {
    let places = db.collection::<Place>();
    let here = at(0.0, 0.0);
    for metres in [-1.0, f64::NAN, f64::INFINITY] {
        let error = places.find(|p| p.at.near(here, ..=metres)).all().await;
        let error = error.unwrap_err();
        assert!(error.to_string().contains("not negative"), "{error}");
        assert_eq!((error.model(), error.path()), (Some("Place"), Some("at")));
        let disc = Circle::new(here, metres);
        let error = places.find(|p| p.at.geo_within(disc)).all().await;
        assert!(error.unwrap_err().to_string().contains("not negative"));
    }
}

async fn plain_json_is_geojson(_: &Db) {
    for any in kinds() {
        let written = shapes(1, any);
        let json = serde_json::to_string(&odm::json::Plain(&written)).unwrap();
        assert!(
            json.contains(r#""point":{"type":"Point","coordinates":[13.4,52.5]}"#),
            "{json}"
        );
        let odm::json::Plain(read) =
            serde_json::from_str::<odm::json::Plain<Shapes>>(&json).unwrap();
        assert_eq!(read, written);
    }
}
