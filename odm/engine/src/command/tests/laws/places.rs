//! Property tests: geospatial queries give the same answer with and without an index.

use bson::{Bson, Document, doc};
use proptest::prelude::*;

use super::{ids, run};
use crate::Context;
use crate::command::state::Engine;

/// A point: near others, or at the limits of the coordinates.
fn place() -> impl Strategy<Value = Vec<Bson>> {
    let near = |from: i32, to: i32| (from..=to).prop_map(|half| f64::from(half) / 2.0);
    prop_oneof![
        6 => (near(-4, 4), near(-4, 4)),
        1 => (near(350, 360), near(-20, 20)),
        1 => (near(-360, -350), near(-20, 20)),
        1 => (near(-360, 360), near(176, 180)),
        1 => (near(-360, 360), near(-180, 180)),
    ]
    .prop_map(|(longitude, latitude)| vec![Bson::from(longitude), Bson::from(latitude)])
}

fn polygon() -> impl Strategy<Value = Document> {
    (place(), 1_i32..8, 1_i32..8).prop_map(|(corner, width, height)| {
        let at = |index: usize| corner.get(index).and_then(Bson::as_f64).unwrap();
        let (left, low) = (at(0), at(1));
        let (right, high) = (left + f64::from(width) / 2.0, low + f64::from(height) / 2.0);
        let ring = [[left, low], [right, low], [right, high], [left, high], [left, low]];
        doc! { "type": "Polygon", "coordinates": [ring.map(|corner| corner.map(Bson::from).to_vec()).to_vec()] }
    })
}

fn shape() -> BoxedStrategy<Document> {
    prop_oneof![
        4 => place().prop_map(|place| doc! { "type": "Point", "coordinates": place }),
        1 => proptest::collection::vec(place(), 2..4)
            .prop_map(|places| doc! { "type": "LineString", "coordinates": places }),
        1 => proptest::collection::vec(place(), 1..4)
            .prop_map(|places| doc! { "type": "MultiPoint", "coordinates": places }),
        2 => polygon(),
        1 => holed(),
        1 => proptest::collection::vec(polygon(), 1..3).prop_map(|polygons| {
            let rings = |polygon: &Document| polygon.get("coordinates").cloned().unwrap();
            doc! { "type": "MultiPolygon", "coordinates": polygons.iter().map(rings).collect::<Vec<_>>() }
        }),
        1 => proptest::collection::vec(proptest::collection::vec(place(), 2..4), 1..3)
            .prop_map(|lines| doc! { "type": "MultiLineString", "coordinates": lines }),
        1 => (place(), polygon()).prop_map(|(place, polygon)| {
            doc! { "type": "GeometryCollection", "geometries": [{ "type": "Point", "coordinates": place }, polygon] }
        }),
    ]
    .boxed()
}

/// A polygon with a hole in its middle.
fn holed() -> impl Strategy<Value = Document> {
    (-8_i32..8, -8_i32..8, 2_i32..8).prop_map(|(left, low, size)| {
        let ring = |by: f64| {
            let (left, low, size) = (
                f64::from(left) + by,
                f64::from(low) + by,
                f64::from(size) - 2.0 * by,
            );
            let corners = [
                [left, low],
                [left + size, low],
                [left + size, low + size],
                [left, low + size],
                [left, low],
            ];
            Bson::Array(
                corners
                    .map(|corner| Bson::from(corner.map(Bson::from).to_vec()))
                    .to_vec(),
            )
        };
        doc! { "type": "Polygon", "coordinates": [ring(0.0), ring(0.5)] }
    })
}

/// A point of the plane, as a pair or as a document.
fn flat() -> impl Strategy<Value = Bson> {
    let number = || (-40_i32..=40).prop_map(|quarters| f64::from(quarters) / 4.0);
    (number(), number(), any::<bool>()).prop_map(|(x, y, named)| {
        if named {
            Bson::Document(doc! { "x": x, "y": y })
        } else {
            Bson::Array(vec![x.into(), y.into()])
        }
    })
}

/// One point, or several.
fn flats() -> impl Strategy<Value = Bson> {
    prop_oneof![
        4 => flat(),
        1 => proptest::collection::vec(flat(), 0..3).prop_map(Bson::Array),
    ]
}

fn flat_region() -> BoxedStrategy<Document> {
    let radius = || (0_i32..24).prop_map(|halves| f64::from(halves) / 2.0);
    prop_oneof![
        (flat(), flat()).prop_map(|(one, other)| doc! { "$box": [one, other] }),
        (flat(), radius()).prop_map(|(center, radius)| doc! { "$center": [center, radius] }),
        (flat(), radius())
            .prop_map(|(center, radius)| doc! { "$centerSphere": [center, radius / 60.0] }),
        proptest::collection::vec(flat(), 3..6).prop_map(|vertices| doc! { "$polygon": vertices }),
    ]
    .boxed()
}

fn region() -> BoxedStrategy<Document> {
    let radius = || (0_i32..40).prop_map(|tenths| f64::from(tenths) / 100.0);
    prop_oneof![
        3 => shape().prop_map(|shape| doc! { "$geoIntersects": { "$geometry": shape } }),
        2 => polygon().prop_map(|shape| doc! { "$geoWithin": { "$geometry": shape } }),
        2 => (place(), radius())
            .prop_map(|(place, radius)| doc! { "$geoWithin": { "$centerSphere": [place, radius] } }),
    ]
    .boxed()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(
        std::env::var("ODM_LAWS").ok().and_then(|cases| cases.parse().ok()).unwrap_or(200)
    ))]

    #[test]
    fn geo_indexes_do_not_change_answers(
        shapes in proptest::collection::vec(shape(), 1..12),
        region in region(),
        others in proptest::collection::vec(0_i32..3, 12),
        other in 0_i32..3,
        key in prop_oneof![
            Just(doc! { "p": "2dsphere" }), Just(doc! { "b": 1, "p": "2dsphere" }), Just(doc! { "p": "2dsphere", "b": -1 }),
        ],
    ) {
        let (engine, context) = (Engine::new(), Context::system());
        let run = |command: Document| run(&engine, &context, "x", &command);
        run(doc! { "createIndexes": "indexed", "indexes": [{ "key": key, "name": "i" }] });
        for (at, (shape, other)) in (0_i32..).zip(shapes.into_iter().zip(others)) {
            let document = doc! { "_id": at, "p": shape, "b": other };
            // The index refuses invalid shapes.
            if run(doc! { "insert": "indexed", "documents": [document.clone()] }).get("n") == Some(&Bson::Int32(1)) {
                run(doc! { "insert": "plain", "documents": [document] });
            }
        }
        let find = |collection: &str, filter: Document| {
            run(doc! { "find": collection, "filter": filter, "sort": { "_id": 1 } })
        };
        for filter in [doc! { "p": region.clone() }, doc! { "p": region.clone(), "b": other }] {
            let plain = find("plain", filter.clone());
            if plain.get("code").is_none() {
                prop_assert_eq!(ids(&plain), ids(&find("indexed", filter)));
            }
        }
    }

    #[test]
    fn grid_bits_do_not_change_answers(
        places in proptest::collection::vec(flats(), 1..12),
        region in flat_region(),
        center in flat(),
        most in (0_i32..40).prop_map(|halves| f64::from(halves) / 2.0),
        least in (0_i32..6).prop_map(|halves| f64::from(halves) / 2.0),
        bits in 1_i32..=32,
        reach in prop_oneof![Just(10.0), Just(11.0), Just(180.0), Just(1e4)],
        other in 0_i32..3,
    ) {
        let (engine, context) = (Engine::new(), Context::system());
        let run = |command: Document| run(&engine, &context, "x", &command);
        let index = |collection: &str, key: Document, bits: i32, reach: f64| {
            run(doc! { "createIndexes": collection, "indexes": [{ "key": key, "name": "i", "bits": bits, "min": -reach, "max": reach }] });
        };
        index("indexed", doc! { "p": "2d" }, bits, reach);
        index("beside", doc! { "p": "2d", "b": 1 }, 26, 180.0);
        for (at, place) in (0_i32..).zip(places) {
            for collection in ["plain", "indexed", "beside"] {
                let document = doc! { "_id": at, "p": place.clone(), "b": at % 3 };
                let reply = run(doc! { "insert": collection, "documents": [document] });
                prop_assert!(!reply.contains_key("writeErrors"), "{}", reply);
            }
        }
        let find = |collection: &str, filter: Document| run(doc! { "find": collection, "filter": filter });
        let within = doc! { "p": { "$geoWithin": region } };
        for filter in [within.clone(), doc! { "$and": [within, { "b": other }] }] {
            let sorted = |collection: &str| {
                let mut found = ids(&find(collection, filter.clone()));
                found.sort_unstable();
                found
            };
            let plain = sorted("plain");
            prop_assert_eq!(&plain, &sorted("indexed"));
            prop_assert_eq!(&plain, &sorted("beside"));
        }
        // The sorted distances are the same for every grid.
        for name in ["$near", "$nearSphere"] {
            let scale = if name == "$near" { 1.0 } else { 60.0 };
            let near = doc! { "p": { name: center.clone(), "$maxDistance": most / scale, "$minDistance": least / scale } };
            prop_assert_eq!(ids(&find("indexed", near.clone())), ids(&find("beside", near)));
        }
    }
}
