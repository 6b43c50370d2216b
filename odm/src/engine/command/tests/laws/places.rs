//! With an index of places or without: the same answer.

use bson::{Bson, Document, doc};
use proptest::prelude::*;

use super::{ids, run};
use crate::engine::{Context, Engine};

/// A place: near others, or where a sphere's coordinates end.
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
    fn an_index_of_places_changes_no_answer(
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
            // A shape that no sphere has is refused by the index.
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
}
