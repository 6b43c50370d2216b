//! Every attribute, in a combination that makes sense.
#![allow(dead_code)]

use std::collections::HashMap;

use odm::bson::Bson;
use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[odm(
    collection = "books",
    crate = odm,
    index(title, year = desc, name = "byTitle", collation(locale = "en", strength = 2)),
    index(contact.name, sparse),
    index(checkout.by, checkout.date),
    index(place = "2dsphere"),
    index(hashed),
    index(hashed, place = "2dsphere"),
    unique(isbn, partial = |b| b.isbn.exists(true)),
    ttl(contact.until, after = "30d"),
    text(title(weight = 10), body, default_language = "english"),
    wildcard(extra),
    index(hashed = hashed, hidden),
    rule("available is not negative", |b| b.available.gte(0)),
    rule("known", known),
    change_stream_images,
    validation(level = "moderate", action = "warn"),
    collation(locale = "fr", case_level, numeric_ordering = false)
)]
struct Book {
    #[serde(rename = "_id")]
    id: Id<Book>,
    #[odm(length(min = 1, max = 200), pattern = "^[A-Z]")]
    title: String,
    body: Option<String>,
    #[odm(range(min = 1450, exclusive_max = 2_100))]
    year: i32,
    #[odm(range(min = -1.5))]
    weight: Option<f64>,
    available: i32,
    isbn: Option<String>,
    #[odm(unique(sparse), one_of("a", "b"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    grade: Option<String>,
    contact: Contact,
    #[odm(embed(few, max = 100), items(min = 0))]
    checkout: Vec<Checkout>,
    #[odm(index, references(many, max = 5000))]
    others: Vec<Ref<Book>>,
    #[odm(items(max = 5), unique_items, length(min = 1))]
    tags: Vec<String>,
    place: HashMap<String, Bson>,
    extra: HashMap<String, Bson>,
    hashed: i64,
    #[odm(version)]
    version: i64,
    #[serde(with = "stamp")]
    #[odm(bson_type = "date", index(desc, expire_after = "1d"))]
    seen: i64,
    #[serde(skip)]
    scratch: String,
}

fn known(book: BookFields<Book>) -> Filter<Book> {
    book.title.ne("unknown")
}

#[derive(Serialize, Deserialize, Embedded)]
#[odm(deny_undeclared)]
pub struct Contact {
    name: String,
    until: Option<DateTime>,
}

#[derive(Serialize, Deserialize, Embedded)]
struct Checkout {
    by: String,
    date: DateTime,
}

#[derive(Deserialize, Projection)]
#[odm(of = Book)]
#[allow(dead_code)]
struct Part {
    title: Option<String>,
    year: i32,
    contact: Contact,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "logs", capped(size = 4_096, max = 100), deny_undeclared)]
struct Log {
    _id: i32,
    r#type: String,
}

mod stamp {
    use odm::prelude::DateTime;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub fn serialize<S: Serializer>(millis: &i64, serializer: S) -> Result<S::Ok, S::Error> {
        DateTime::from_millis(*millis).serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<i64, D::Error> {
        DateTime::deserialize(deserializer).map(DateTime::timestamp_millis)
    }
}

#[test]
fn runs() {
    use odm::model::{Document, Rule};
    let model = Book::model();
    assert_eq!(model.version, Some("version"));
    assert_eq!(model.indexes.len(), 14);
    let fields = (model.embedded)().fields;
    let checkout = fields
        .iter()
        .find(|field| field.rust == "checkout")
        .unwrap();
    assert!(matches!(
        checkout.rules,
        [Rule::Items {
            min: Some(0),
            max: Some(100)
        }]
    ));
    assert_eq!(
        (model.rules[1].filter)().unwrap(),
        doc! {"title": {"$ne": "unknown"}}
    );
    assert_eq!((Log::model().embedded)().fields[1].name, "type");
}
