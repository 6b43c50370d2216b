//! Stored documents with keys of Extended JSON: `{"$date": …}` is a document to MongoDB, and stays one.

use std::collections::BTreeMap;

use odm::bson::{Bson, Document as BsonDocument, RawBson, doc};
use odm::json::Plain;
use odm::prelude::*;
use odm::query::raw;
use serde_json::{Value, json};

use crate::case::cases;

cases![
    json_values_keep_their_keys,
    distinct_json_values_are_what_was_stored,
    untyped_values_are_refused_instead_of_cut,
];

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "events")]
struct Event {
    #[serde(rename = "_id")]
    id: i32,
    #[serde(with = "odm::serde_json_1")]
    value: Value,
    #[serde(default, with = "odm::serde_json_1")]
    maybe: Option<Value>,
    #[serde(with = "odm::serde_json_1")]
    list: Vec<Value>,
    #[serde(with = "odm::serde_json_1")]
    map: BTreeMap<String, Value>,
    at: DateTime,
}

/// JSON that Extended JSON would read as another value, or refuse.
fn values() -> Vec<Value> {
    vec![
        json!({"$numberLong": "5"}),
        json!({"$oid": "507f1f77bcf86cd799439011"}),
        json!({"$oid": "507f1f77bcf86cd799439011", "a": 1}),
        json!({"b": 1, "$date": {"$numberLong": "5"}}),
        json!({"$date": "no date"}),
        json!({"a": [{"$numberDecimal": "1"}, {"$undefined": true}]}),
        json!({"$binary": {"base64": "", "subType": "00"}}),
        json!({"$minKey": 1}),
    ]
}

fn event(id: i32, value: &Value) -> Event {
    Event {
        id,
        value: value.clone(),
        maybe: Some(value.clone()),
        list: vec![json!(1.5), value.clone()],
        map: BTreeMap::from([("k".to_owned(), value.clone())]),
        at: DateTime::from_millis(1),
    }
}

async fn json_values_keep_their_keys(db: &Db) {
    let events = db.collection::<Event>();
    for (id, value) in (1..).zip(values()) {
        let event = event(id, &value);
        let text = serde_json::to_string(&Plain(&event)).unwrap();
        let whole: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(whole["value"], value);
        assert_eq!(whole["at"], "1970-01-01T00:00:00.001Z");
        let Plain(read): Plain<Event> = serde_json::from_str(&text).unwrap();
        assert_eq!(read, event, "{text}");

        events.insert_one(&read).await.unwrap();
        let stored = events
            .find(|e| e.id.eq(id))
            .with_type::<BTreeMap<String, RawBson>>()
            .all()
            .await
            .unwrap();
        assert!(
            matches!(stored[0]["value"], RawBson::Document(_)),
            "{value}"
        );
        let found = events.find_one(|e| e.value.eq(&value)).await.unwrap();
        assert_eq!(found.as_ref(), Some(&event));
        events.replace_one(|e| e.id.eq(id), &event).await.unwrap();
        let found = events.find_one(|e| e.id.eq(id)).await.unwrap();
        assert_eq!(found, Some(event));
    }
}

async fn distinct_json_values_are_what_was_stored(db: &Db) {
    let events = db.collection::<Event>();
    // MongoDB's driver reads documents with the keys of Extended JSON as other values.
    let values = [
        json!({"a": {"b": null}}),
        json!("x"),
        json!(2.5),
        json!(true),
    ];
    for (id, value) in (1..).zip(&values) {
        events.insert_one(&event(id, value)).await.unwrap();
    }
    let distinct = events.distinct(|e| e.value, |e| e.id.gt(0)).await.unwrap();
    assert_eq!(distinct.len(), values.len());
    for value in &values {
        assert!(distinct.contains(value), "{value} in {distinct:?}");
    }
}

#[derive(Debug, Serialize, Deserialize, Document)]
#[odm(collection = "notes")]
struct Note {
    #[serde(rename = "_id")]
    id: i32,
    #[serde(skip_serializing_if = "Option::is_none")]
    untyped: Option<Bson>,
    #[serde(default)]
    list: Vec<Bson>,
    #[serde(default)]
    document: BsonDocument,
}

async fn untyped_values_are_refused_instead_of_cut(db: &Db) {
    let notes = db.collection::<Note>();
    let marked = doc! {"b": 1, "$date": DateTime::from_millis(5)};
    for (id, stored) in (1..).zip([
        doc! {"untyped": &marked},
        doc! {"list": [&marked]},
        doc! {"document": {"inside": &marked}},
    ]) {
        let mut whole = doc! {"_id": id};
        whole.extend(stored);
        db.run_command(doc! {"insert": "notes", "documents": [whole]})
            .await
            .unwrap();
        let error = notes.find_one(|n| n.id.eq(id)).await.unwrap_err();
        assert!(error.to_string().contains("RawBson"), "{error}");
    }
    assert_eq!(notes.count_documents(|_| raw(doc! {})).await.unwrap(), 3);
}
