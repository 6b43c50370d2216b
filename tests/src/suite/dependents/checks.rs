//! `check_references`: references that dangle are found, and nothing else.

use std::collections::BTreeMap;

use odm::bson::{Bson, doc};
use odm::prelude::*;
use odm::write::ReferenceDamage;

use super::insert;
use super::models::{Employee, Order, Person, Work};

pub(super) async fn dangling_references_are_found(db: &Db) {
    insert(
        db,
        "people",
        [doc! {"_id": 1, "code": "x"}, doc! {"_id": 2_i64}],
    )
    .await;
    insert(
        db,
        "works",
        [
            doc! {"_id": 1, "author": 1, "by_code": "x", "editor": 2.0},
            doc! {"_id": 2, "author": 3, "by_code": "y", "reader": Bson::Null},
            doc! {"_id": 3},
            // Another program wrote a text.
            doc! {"_id": 4, "author": "1"},
        ],
    )
    .await;
    let report = db.collection::<Work>().check_references().await.unwrap();
    assert_eq!((report.read, report.damages), (4, 3));
    assert!(
        report
            .listed
            .iter()
            .all(|one| one.kind == ReferenceDamage::Dangling)
    );
    let mut texts: Vec<_> = report.listed.iter().map(ToString::to_string).collect();
    texts.sort();
    assert_eq!(
        texts,
        [
            "2: dangling reference: `author` leads to no `Person` with the _id 3",
            "2: dangling reference: `by_code` leads to no `Person` with the code \"y\"",
            "4: dangling reference: `author` leads to no `Person` with the _id \"1\"",
        ]
    );
    let line = |person: i32, reader: i32| doc! {"person": person, "ch": Bson::Null, "notes": [{"readers": [reader]}]};
    insert(
        db,
        "orders",
        [
            doc! {"_id": 1, "lines": [line(1, 2), line(7, 8)], "watchers": [9], "payment": "Cash"},
            doc! {"_id": 2, "lines": [], "payment": {"Card": {"holder": 6}}},
        ],
    )
    .await;
    let report = db.collection::<Order>().check_references().await.unwrap();
    assert_eq!(report.damages, 4, "{report}");
    let sound = db.collection::<Person>().check_references().await.unwrap();
    assert!(sound.is_sound());
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "shapes")]
struct Shapes {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(references(many, max = 9))]
    in_map: BTreeMap<String, Ref<Person>>,
    in_tuple: (Ref<Person>, i32),
    in_array: [Ref<Person>; 2],
}

pub(super) async fn other_shapes_are_not_mistaken(db: &Db) {
    insert(db, "people", [doc! {"_id": 1, "code": "x"}]).await;
    let shapes = db.collection::<Shapes>();
    let person = || Ref::from(1);
    let shape = Shapes {
        id: 1,
        in_map: BTreeMap::from([("a".to_owned(), person())]),
        in_tuple: (person(), 7),
        in_array: [person(), person()],
    };
    shapes.insert_one(&shape).check_references().await.unwrap();
    assert!(shapes.check_references().await.unwrap().is_sound());
    let wrong = Shapes {
        id: 2,
        in_array: [person(), Ref::from(2)],
        ..shape
    };
    let refused = shapes
        .insert_one(&wrong)
        .check_references()
        .await
        .unwrap_err();
    assert_eq!(refused.path(), Some("in_array"));
}

/// A pair of employees that refer to each other is deleted and inserted again all the time.
pub(super) async fn pairs_deleted_meanwhile_are_not_reported(db: &Db) {
    let employees = || db.collection::<Employee>();
    let pair = || {
        let employee = |id, manager| Employee {
            id,
            manager: Some(Ref::from(manager)),
        };
        [employee(1, 2), employee(2, 1)]
    };
    employees()
        .insert_many(pair())
        .check_references()
        .await
        .unwrap();
    let writer = async {
        for _ in 0..20 {
            employees()
                .delete_by_id(&1)
                .with_dependents()
                .await
                .unwrap();
            employees()
                .insert_many(pair())
                .check_references()
                .await
                .unwrap();
        }
    };
    let reader = async {
        for _ in 0..20 {
            let report = employees().check_references().await.unwrap();
            assert!(report.is_sound(), "{report}");
        }
    };
    futures::join!(writer, reader);
}
