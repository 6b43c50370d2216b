use bson::{Bson, Document as BsonDocument, doc};
use serde::{Deserialize, Serialize};

use super::{AnyDbRef, DbRef};
use crate as odm;
use crate::Document;
use crate::query::encode;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(crate = odm, collection = "publishers")]
struct Publisher {
    #[serde(rename = "_id")]
    id: i32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(crate = odm, collection = "people")]
struct Person {
    #[serde(rename = "_id")]
    id: bson::oid::ObjectId,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged, expecting = "a DBRef to publishers or people")]
enum Subject {
    Publisher(DbRef<Publisher>),
    Person(DbRef<Person>),
}

#[derive(Debug, Serialize, Deserialize)]
struct Holder<T> {
    to: T,
}

fn read<T: for<'de> Deserialize<'de>>(stored: BsonDocument) -> Result<T, String> {
    let bytes = bson::serialize_to_vec(&doc! {"to": stored}).unwrap();
    let holder: Result<Holder<T>, _> = bson::deserialize_from_slice(&bytes);
    holder.map(|it| it.to).map_err(|error| error.to_string())
}

/// The documents with these fields in every order.
fn orders(fields: &[(&str, Bson)]) -> Vec<BsonDocument> {
    let named = |(name, value): (&str, Bson)| (name.to_owned(), value);
    let orders = orders_of(fields).into_iter();
    orders
        .map(|order| order.into_iter().map(named).collect())
        .collect()
}

fn orders_of<'a>(fields: &[(&'a str, Bson)]) -> Vec<Vec<(&'a str, Bson)>> {
    let Some((first, rest)) = fields.split_first() else {
        return vec![Vec::new()];
    };
    let mut orders = Vec::new();
    for order in orders_of(rest) {
        for at in 0..=order.len() {
            let mut order = order.clone();
            order.insert(at, first.clone());
            orders.push(order);
        }
    }
    orders
}

#[test]
fn references_are_read_in_any_order_and_written_in_one() {
    let fields = [
        ("$ref", Bson::from("publishers")),
        ("$id", Bson::from(7)),
        ("$db", Bson::from("users")),
        ("note", Bson::from("x")),
    ];
    let written = doc! {"$ref": "publishers", "$id": 7, "$db": "users", "note": "x"};
    let orders = orders(&fields);
    assert_eq!(orders.len(), 24);
    for stored in orders {
        let typed: DbRef<Publisher> = read(stored.clone()).unwrap();
        assert_eq!(
            (typed.id(), typed.database()),
            (&7, Some("users")),
            "{stored}"
        );
        assert_eq!(*typed.extra(), doc! {"note": "x"});
        let any: AnyDbRef = read(stored.clone()).unwrap();
        assert_eq!(any, typed.to_any().unwrap());
        assert_eq!(any.typed::<Publisher>().unwrap(), typed);
        let subject: Subject = read(stored).unwrap();
        assert_eq!(subject, Subject::Publisher(typed.clone()));
        for again in [encode(&typed), encode(&any), encode(&subject)] {
            // Equality of documents does not depend on the order; their bytes do.
            let again = again.unwrap();
            let bytes = bson::serialize_to_vec(again.as_document().unwrap()).unwrap();
            assert_eq!(bytes, bson::serialize_to_vec(&written).unwrap());
        }
    }
}

#[test]
fn what_is_no_reference_is_refused_with_a_reason() {
    let cases = [
        (doc! {"$id": "x", "$ref": "others"}, "invalid type"),
        (
            doc! {"$ref": "others", "$id": "x"},
            "the DBRef refers to the collection `others`, but the field is for references to `publishers`",
        ),
        (doc! {"$ref": "publishers"}, "the DBRef has no field `$id`"),
        (doc! {"$id": 7}, "the DBRef has no field `$ref`"),
        (doc! {"$ref": "publishers", "$id": 7, "$db": 1}, "string"),
        (doc! {"$ref": 1, "$id": 7}, "string"),
    ];
    for (stored, message) in cases {
        let error = read::<DbRef<Publisher>>(stored.clone()).unwrap_err();
        assert!(error.contains(message), "{stored}: {error}");
    }
    let error = read::<Subject>(doc! {"$ref": "films", "$id": 7}).unwrap_err();
    assert!(error.contains("a DBRef to publishers or people"), "{error}");
    let error = AnyDbRef::new("others", 7).typed::<Publisher>().unwrap_err();
    assert!(error.to_string().contains("`others`"), "{error}");
    let error = AnyDbRef::new("publishers", "x")
        .typed::<Publisher>()
        .unwrap_err();
    assert!(error.to_string().contains("`$id`"), "{error}");
}

#[test]
fn a_variant_is_found_by_the_collection() {
    let id = bson::oid::ObjectId::new();
    let subject: Subject = read(doc! {"$id": id, "$ref": "people"}).unwrap();
    assert_eq!(subject, Subject::Person(DbRef::from(id)));
    assert_eq!(
        encode(&subject).unwrap(),
        doc! {"$ref": "people", "$id": id}.into()
    );
}

#[test]
fn the_canonical_form_has_two_fields() {
    let canonical = DbRef::<Publisher>::from(7);
    assert!(canonical.is_canonical());
    assert!(!canonical.clone().in_database("users").is_canonical());
    let more: DbRef<Publisher> = read(doc! {"$ref": "publishers", "$id": 7, "x": 1}).unwrap();
    assert!(!more.is_canonical());
    assert_eq!(format!("{canonical:?}"), "DbRef(\"publishers\", 7)");
}
