//! Rows of joins as values: cloned, compared, taken apart and serialized.

use std::collections::BTreeMap;
use std::sync::Arc;

use odm::bson::{Bson, serialize_to_document};
use odm::json::Plain;
use odm::prelude::*;
use odm::relation::Resolved;
use serde_json::json;

use crate::case::cases;

cases![
    a_clone_has_the_relations,
    rows_are_taken_apart,
    references_replace_their_ids,
    what_was_not_found_is_null,
    inverse_relations_follow_the_fields,
    rows_in_rows_are_serialized,
    projections_of_a_model_are_serialized,
    flattened_documents_are_serialized,
    relations_of_subdocuments_follow_the_fields,
    a_relation_does_not_hide_a_field,
    a_key_of_another_program_is_not_hidden,
    an_absent_subdocument_has_a_null_relation,
    two_relations_of_one_name_are_refused,
    plain_json_has_no_types_of_bson,
    rows_are_stored_as_they_serialize,
];

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[serde(rename_all = "camelCase")]
#[odm(collection = "wards", has_many(long_stays: Stay, by = ward), has_one(first_desk: Desk, by = ward))]
struct Ward {
    #[serde(rename = "_id")]
    id: i32,
    full_name: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "desks")]
struct Desk {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(unique)]
    ward: Ref<Ward>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[serde(rename_all = "camelCase")]
#[odm(collection = "stays", index(ward))]
struct Stay {
    #[serde(rename = "_id")]
    id: i32,
    #[serde(rename = "wardId")]
    ward: Ref<Ward>,
    came_from: Option<Ref<Ward>>,
    #[odm(references(many, max = 5))]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    passed: Vec<Ref<Ward>>,
    nights: i32,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, Projection)]
#[odm(of = Stay)]
struct Visit {
    #[serde(rename = "wardId")]
    ward: Ref<Ward>,
    nights: i32,
}

fn stay(id: i32, ward: i32) -> Stay {
    Stay {
        id,
        ward: Ref::from(ward),
        came_from: None,
        passed: Vec::new(),
        nights: id * 10,
    }
}

/// Two wards, the first with two stays and a desk, and a stay in a ward that does not exist.
async fn wards(db: &Db) {
    let (wards, stays) = (db.collection::<Ward>(), db.collection::<Stay>());
    for (id, name) in [(1, "North"), (2, "South")] {
        let full_name = name.to_owned();
        wards.insert_one(&Ward { id, full_name }).await.unwrap();
    }
    let moved = Stay {
        came_from: Some(Ref::from(2)),
        passed: vec![Ref::from(2), Ref::from(9), Ref::from(1)],
        ..stay(2, 1)
    };
    stays
        .insert_many([stay(1, 1), moved, stay(3, 9)])
        .await
        .unwrap();
    let desk = Desk {
        id: 7,
        ward: Ref::from(1),
    };
    db.collection::<Desk>().insert_one(&desk).await.unwrap();
}

async fn a_clone_has_the_relations(db: &Db) {
    wards(db).await;
    let stays = db.collection::<Stay>();
    let join = || {
        stays
            .find_all()
            .sort(|s| s.id.asc())
            .join(|s| s.ward)
            .join(|s| s.passed)
    };
    let rows = join().all().await.unwrap();
    let copy = rows[1].clone();
    assert_eq!(copy.ward().found().unwrap().full_name, "North");
    assert_eq!(copy.passed().len(), 3);
    assert!(copy == rows[1] && copy != rows[0]);
    assert!(rows == join().all().await.unwrap());

    // The document is equal, the joined ward is not.
    let renamed = db
        .collection::<Ward>()
        .update_one(|w| w.id.eq(1), |w| w.full_name.set("East"));
    renamed.await.unwrap();
    let later = join().all().await.unwrap();
    assert!(later[1].document == rows[1].document && later[1] != rows[1]);
}

async fn rows_are_taken_apart(db: &Db) {
    wards(db).await;
    let row = db
        .collection::<Ward>()
        .get(&1)
        .join(|w| w.long_stays)
        .await
        .unwrap()
        .unwrap();
    let (ward, stays) = row.into_parts();
    let (ward, stays): (Ward, Vec<Arc<Stay>>) = (ward, stays);
    assert_eq!((ward.id, stays.len()), (1, 2));

    let stays = db.collection::<Stay>();
    let row = stays
        .get(&2)
        .join(|s| s.ward)
        .join(|s| s.came_from.join(|w| w.first_desk))
        .join(|s| s.passed)
        .await;
    let (stay, ward, came_from, passed) = row.unwrap().unwrap().into_parts();
    assert_eq!((stay.id, ward.found().unwrap().id, passed.len()), (2, 1, 3));
    let Some(Resolved::Found(south)) = came_from else {
        panic!("{came_from:?}")
    };
    // Nobody else holds it.
    let (south, desk) = Arc::into_inner(south).unwrap().into_parts();
    assert_eq!((south.id, desk), (2, None));
}

async fn references_replace_their_ids(db: &Db) {
    wards(db).await;
    let stays = db.collection::<Stay>();
    let rows = stays
        .find(|s| s.id.eq(2))
        .join(|s| s.came_from)
        .join(|s| s.ward)
        .all()
        .await
        .unwrap();
    let text = serde_json::to_string(&rows).unwrap();
    // In the order of the fields, whatever that of the joins.
    let expected = r#"[{"_id":2,"wardId":{"_id":1,"fullName":"North"},"cameFrom":{"_id":2,"fullName":"South"},"passed":[2,9,1],"nights":20}]"#;
    assert_eq!(text, expected);
}

async fn what_was_not_found_is_null(db: &Db) {
    wards(db).await;
    let stays = db.collection::<Stay>();
    let rows = stays
        .find_all()
        .sort(|s| s.id.desc())
        .join(|s| s.ward)
        .join(|s| s.came_from.filter(|w| w.full_name.eq("North")))
        .join(|s| s.passed)
        .all()
        .await
        .unwrap();
    let (north, south) = (
        json!({"_id": 1, "fullName": "North"}),
        json!({"_id": 2, "fullName": "South"}),
    );
    let expected = json!([
        // `passed` is not stored, and so behind the fields.
        {"_id": 3, "wardId": null, "cameFrom": null, "nights": 30, "passed": []},
        {"_id": 2, "wardId": north, "cameFrom": null, "passed": [south, null, north], "nights": 20},
        {"_id": 1, "wardId": north, "cameFrom": null, "nights": 10, "passed": []},
    ]);
    assert_eq!(serde_json::to_value(&rows).unwrap(), expected);
}

async fn inverse_relations_follow_the_fields(db: &Db) {
    wards(db).await;
    let rows = db
        .collection::<Ward>()
        .find_all()
        .sort(|w| w.id.asc())
        .join(|w| w.long_stays.count())
        .join(|w| w.first_desk)
        .all()
        .await
        .unwrap();
    let text = serde_json::to_string(&rows).unwrap();
    let first = r#"{"_id":1,"fullName":"North","longStays":2,"firstDesk":{"_id":7,"ward":1}}"#;
    let second = r#"{"_id":2,"fullName":"South","longStays":0,"firstDesk":null}"#;
    assert_eq!(text, format!("[{first},{second}]"));

    let row = db
        .collection::<Ward>()
        .get(&1)
        .join(|w| w.long_stays.exists())
        .await
        .unwrap();
    let expected = json!({"_id": 1, "fullName": "North", "longStays": true});
    assert_eq!(serde_json::to_value(row).unwrap(), expected);
}

async fn rows_in_rows_are_serialized(db: &Db) {
    wards(db).await;
    let row = db
        .collection::<Ward>()
        .get(&1)
        .join(|w| {
            w.long_stays
                .sort(|s| s.id.desc())
                .limit(1)
                .join(|s| s.came_from.join(|w| w.first_desk))
        })
        .await
        .unwrap();
    let expected = json!({
        "_id": 1,
        "fullName": "North",
        "longStays": [{
            "_id": 2,
            "wardId": 1,
            "cameFrom": {"_id": 2, "fullName": "South", "firstDesk": null},
            "passed": [2, 9, 1],
            "nights": 20,
        }],
    });
    assert_eq!(serde_json::to_value(row).unwrap(), expected);
}

async fn projections_of_a_model_are_serialized(db: &Db) {
    wards(db).await;
    let stays = db.collection::<Stay>();
    let rows = stays
        .find(|s| s.id.eq(1))
        .select::<Visit>()
        .join(|s| s.ward)
        .all()
        .await
        .unwrap();
    let expected = json!([{"wardId": {"_id": 1, "fullName": "North"}, "nights": 10}]);
    assert_eq!(serde_json::to_value(&rows).unwrap(), expected);
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "notes")]
struct Note {
    #[serde(rename = "_id")]
    id: i32,
    ward: Ref<Ward>,
    #[serde(flatten)]
    rest: BTreeMap<String, Bson>,
}

async fn flattened_documents_are_serialized(db: &Db) {
    wards(db).await;
    let notes = db.collection::<Note>();
    let rest = BTreeMap::from([("color".to_owned(), Bson::from("red"))]);
    notes
        .insert_one(&Note {
            id: 1,
            ward: Ref::from(2),
            rest,
        })
        .await
        .unwrap();
    let rows = notes.find_all().join(|n| n.ward).all().await.unwrap();
    let text = serde_json::to_string(&rows).unwrap();
    assert_eq!(
        text,
        r#"[{"_id":1,"ward":{"_id":2,"fullName":"South"},"color":"red"}]"#
    );
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
struct Line {
    ward: Ref<Ward>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "bills")]
struct Bill {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(embed(few, max = 9))]
    lines: Vec<Line>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "reminders")]
struct Reminder {
    #[serde(rename = "_id")]
    id: i32,
    line: Line,
    ward: String,
}

async fn relations_of_subdocuments_follow_the_fields(db: &Db) {
    wards(db).await;
    let bills = db.collection::<Bill>();
    let lines = vec![Line { ward: Ref::from(2) }, Line { ward: Ref::from(9) }];
    bills.insert_one(&Bill { id: 1, lines }).await.unwrap();
    let rows = bills
        .find_all()
        .join(|b| b.lines.each(|line| line.ward))
        .all()
        .await
        .unwrap();
    let expected = json!([{
        "_id": 1,
        "lines": [{"ward": 2}, {"ward": 9}],
        "ward": [{"_id": 2, "fullName": "South"}, null],
    }]);
    assert_eq!(serde_json::to_value(&rows).unwrap(), expected);
}

async fn a_relation_does_not_hide_a_field(db: &Db) {
    let reminders = db.collection::<Reminder>();
    let line = Line { ward: Ref::from(1) };
    let reminder = Reminder {
        id: 1,
        line,
        ward: "text".to_owned(),
    };
    reminders.insert_one(&reminder).await.unwrap();
    let rows = reminders
        .find_all()
        .join(|r| r.line.ward.clone())
        .all()
        .await
        .unwrap();
    let error = serde_json::to_value(&rows).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the document has a field `ward`, which the relation of this name would hide: serialize them one by one, from \
         `row.into_parts()`"
    );
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "floors", has_many(rooms: Room, by = floor))]
struct Floor {
    #[serde(rename = "_id")]
    id: i32,
    #[serde(flatten)]
    rest: BTreeMap<String, Bson>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "rooms")]
struct Room {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(index)]
    floor: Ref<Floor>,
}

async fn a_key_of_another_program_is_not_hidden(db: &Db) {
    let stored = doc! { "insert": "floors", "documents": [{ "_id": 1, "rooms": 12 }] };
    db.run_command(stored).await.unwrap();
    let floors = db.collection::<Floor>();
    let row = floors
        .get(&1)
        .join(|f| f.rooms.count())
        .await
        .unwrap()
        .unwrap();
    assert_eq!(*row.rooms(), 0);
    let error = serde_json::to_string(&row).unwrap_err().to_string();
    assert!(error.contains("has a field `rooms`"), "{error}");
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "tickets")]
struct Ticket {
    #[serde(rename = "_id")]
    id: i32,
    line: Option<Line>,
}

async fn an_absent_subdocument_has_a_null_relation(db: &Db) {
    let stored = doc! { "insert": "tickets", "documents": [{ "_id": 1 }] };
    db.run_command(stored).await.unwrap();
    let tickets = db.collection::<Ticket>();
    let row = tickets.get(&1).join(|t| t.line.ward.clone()).await.unwrap();
    let expected = json!({ "_id": 1, "line": null, "ward": null });
    assert_eq!(serde_json::to_value(row).unwrap(), expected);
}

async fn two_relations_of_one_name_are_refused(db: &Db) {
    wards(db).await;
    let wards = db.collection::<Ward>();
    let row = wards
        .get(&1)
        .join(|w| w.long_stays)
        .join(|w| w.long_stays.count())
        .await
        .unwrap();
    let error = serde_json::to_value(row).unwrap_err();
    assert_eq!(
        error.to_string(),
        "two relations of this row have the name `longStays`: serialize them one by one, from `row.into_parts()`"
    );
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "owners")]
struct Owner {
    #[serde(rename = "_id")]
    id: Id<Owner>,
    since: DateTime,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "things")]
struct Thing {
    #[serde(rename = "_id")]
    id: Id<Thing>,
    owner: Ref<Owner>,
}

async fn plain_json_has_no_types_of_bson(db: &Db) {
    let owner = Owner {
        id: Id::new(),
        since: DateTime::from_millis(0),
    };
    let thing = Thing {
        id: Id::new(),
        owner: Ref::to(&owner),
    };
    db.collection::<Owner>().insert_one(&owner).await.unwrap();
    db.collection::<Thing>().insert_one(&thing).await.unwrap();
    let rows = db
        .collection::<Thing>()
        .find_all()
        .join(|t| t.owner)
        .all()
        .await
        .unwrap();
    let expected = json!([{
        "_id": thing.id.to_string(),
        "owner": {"_id": owner.id.to_string(), "since": "1970-01-01T00:00:00Z"},
    }]);
    assert_eq!(serde_json::to_value(Plain(&rows)).unwrap(), expected);
}

async fn rows_are_stored_as_they_serialize(db: &Db) {
    wards(db).await;
    let rows = db
        .collection::<Stay>()
        .find(|s| s.id.eq(1))
        .join(|s| s.ward)
        .all()
        .await
        .unwrap();
    let stored = serialize_to_document(&rows[0]).unwrap();
    let expected = doc! {
        "_id": 1, "wardId": { "_id": 1, "fullName": "North" }, "cameFrom": null, "nights": 10,
    };
    assert_eq!(stored, expected);
}
