//! Pipelines that read or write other collections.

use odm::bson::{Document as BsonDocument, doc};
use odm::prelude::*;

use crate::case::cases;

cases![
    merge_writes_into_a_collection,
    merge_errors_name_the_existing_document,
    graph_lookup_follows_references,
];

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "staff")]
struct Person {
    #[serde(rename = "_id")]
    id: i32,
    boss: Option<i32>,
    salary: i32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "budgets")]
struct Budget {
    #[serde(rename = "_id")]
    boss: i32,
    total: i32,
}

async fn staff(db: &Db) -> Collection<Person> {
    let staff = db.collection::<Person>();
    let person = |id, boss, salary| Person { id, boss, salary };
    let people = [
        person(1, None, 90),
        person(2, Some(1), 50),
        person(3, Some(1), 60),
        person(4, Some(2), 30),
    ];
    staff.insert_many(&people).await.unwrap();
    staff
}

fn totals() -> [BsonDocument; 2] {
    [
        doc! { "$match": { "boss": { "$ne": null } } },
        doc! { "$group": { "_id": "$boss", "total": { "$sum": "$salary" } } },
    ]
}

async fn merge_writes_into_a_collection(db: &Db) {
    let staff = staff(db).await;
    let budgets = db.collection::<Budget>();
    budgets
        .insert_one(&Budget { boss: 1, total: 5 })
        .await
        .unwrap();
    let added = doc! { "$set": { "total": { "$add": ["$total", "$$new.total"] } } };
    let merge = doc! { "$merge": { "into": "budgets", "whenMatched": [added] } };
    let [matching, grouping] = totals();
    let none = staff
        .aggregate([matching, grouping, merge])
        .all()
        .await
        .unwrap();
    assert!(none.is_empty());
    let all = budgets.find_all().sort(|b| b.boss.asc()).all().await;
    let budget = |boss, total| Budget { boss, total };
    assert_eq!(all.unwrap(), [budget(1, 115), budget(2, 30)]);
}

async fn merge_errors_name_the_existing_document(db: &Db) {
    let staff = staff(db).await;
    db.collection::<Budget>()
        .insert_one(&Budget { boss: 1, total: 5 })
        .await
        .unwrap();
    let merge = doc! { "$merge": { "into": "budgets", "whenMatched": "fail" } };
    let [matching, grouping] = totals();
    let error = staff
        .aggregate([matching, grouping, merge])
        .all()
        .await
        .unwrap_err();
    assert!(error.is_duplicate_key(), "{error}");
}

async fn graph_lookup_follows_references(db: &Db) {
    let staff = staff(db).await;
    let above = doc! { "$graphLookup": {
        "from": "staff", "startWith": "$boss", "connectFromField": "boss", "connectToField": "_id",
        "as": "above", "depthField": "steps",
    } };
    let shown = doc! { "$project": { "above": { "$sortArray": { "input": "$above", "sortBy": { "steps": 1 } } } } };
    let found = staff
        .aggregate([doc! { "$match": { "_id": 4 } }, above, shown])
        .all()
        .await
        .unwrap();
    let above: Vec<_> = found
        .iter()
        .flat_map(|person| person.get_array("above").unwrap())
        .map(|one| one.as_document().unwrap().get_i32("_id").unwrap())
        .collect();
    assert_eq!(above, [2, 1]);
}
