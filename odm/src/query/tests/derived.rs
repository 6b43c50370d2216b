//! The same on models that the derives made: names, encoders and handles meet here.
#![expect(
    unused_lifetimes,
    reason = "what the derives forward for newtypes has higher-ranked bounds"
)]

use std::collections::BTreeMap;

use bson::{Bson, DateTime, Document as Bytes, doc};
use proptest::prelude::*;
use serde::{Deserialize, Serialize};

use crate::query::{Field, Filter, fields};
use crate::types::Id;
use crate::types::Ref;
use crate::update::Update;
use crate::{Document, Embedded};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "publishers")]
struct Publisher {
    #[serde(rename = "_id")]
    id: Id<Publisher>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
struct Place {
    shelf: String,
    #[serde(rename = "n")]
    number: u32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
#[serde(transparent)]
struct Pages(i32);

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
struct Words(Vec<String>);

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "books")]
#[serde(rename_all = "camelCase")]
struct Book {
    #[serde(rename = "_id")]
    id: i32,
    full_title: String,
    pages: Pages,
    words: Words,
    #[odm(embed(few, max = 10))]
    places: Vec<Place>,
    home: Option<Place>,
    #[odm(embed)]
    part_of: Option<Box<Book>>,
    publisher: Option<Ref<Publisher>>,
    stock: BTreeMap<String, i64>,
    #[serde(with = "hex")]
    marks: Vec<u32>,
    sold: Option<DateTime>,
    #[serde(flatten)]
    size: Size,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
#[serde(rename_all = "UPPERCASE")]
struct Size {
    width: f64,
    height: f64,
}

/// Each number as text.
mod hex {
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(marks: &[u32], to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(marks.iter().map(|mark| format!("{mark:x}")))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<u32>, D::Error> {
        let texts = Vec::<String>::deserialize(from)?;
        let marks = texts.iter().map(|text| u32::from_str_radix(text, 16));
        marks
            .collect::<Result<_, _>>()
            .map_err(serde::de::Error::custom)
    }
}

#[track_caller]
#[expect(clippy::needless_pass_by_value, reason = "tables own what they expect")]
fn same(filter: Filter<Book>, expected: Bytes) {
    assert_eq!(filter.to_document().unwrap(), expected);
}

#[track_caller]
#[expect(clippy::needless_pass_by_value, reason = "tables own what they expect")]
fn changes(update: Update<Book>, expected: Bytes) {
    assert_eq!(update.to_document().unwrap(), expected);
}

#[test]
fn fields_behind_pointers() {
    #[derive(Serialize, Deserialize, Embedded)]
    struct Comment {
        text: String,
        place: Box<Place>,
        score: Box<i32>,
        last: Option<Box<Comment>>,
        #[odm(embed(few, max = 3))]
        replies: Vec<Comment>,
    }
    fn is_shared<T: Send + Sync>(_: &T) {}
    fn whole<M, T>(field: &Field<M, T>) -> String {
        field.path().to_string()
    }
    let c = fields::<Comment>();
    is_shared(&c);
    let shown = |filter: Filter<Comment>| filter.to_document().unwrap();
    assert_eq!(shown(c.place.shelf.eq("A")), doc! {"place.shelf": "A"});
    assert_eq!(shown(c.score.gt(1)), doc! {"score": {"$gt": 1}});
    assert_eq!(
        shown(c.last.last.score.lt(1)),
        doc! {"last.last.score": {"$lt": 1}}
    );
    let inner = c.replies.any().replies.any().place.number.eq(3);
    assert_eq!(shown(inner), doc! {"replies.replies.place.n": 3_i64});
    let each = c
        .replies
        .elem_match(|reply| reply.text.eq("a") & reply.score.lt(0));
    assert_eq!(
        shown(each),
        doc! {"replies": {"$elemMatch": {"text": "a", "score": {"$lt": 0}}}}
    );
    assert_eq!(whole(&c.place), "place");
    assert_eq!(whole(&c.place.clone()), "place");
}

#[test]
fn stored_names_and_encoders() {
    let b = fields::<Book>();
    let publisher = Publisher { id: Id::new() };
    let oid = publisher.id.object_id();
    let place = Place {
        shelf: "A".to_owned(),
        number: 3,
    };
    same(b.id.eq(7), doc! {"_id": 7});
    same(
        b.full_title.contains("a"),
        doc! {"fullTitle": {"$regex": "a"}},
    );
    same(b.pages.mod_(2, 0), doc! {"pages": {"$mod": [2, 0]}});
    same(b.pages.gt(Pages(3)), doc! {"pages": {"$gt": 3}});
    same(b.words.any().eq("a"), doc! {"words": "a"});
    same(b.words.has("a"), doc! {"words": "a"});
    same(b.places.any().number.eq(3), doc! {"places.n": 3_i64});
    same(
        b.places.has(&place),
        doc! {"places": {"shelf": "A", "n": 3_i64}},
    );
    same(
        b.places.elem_match(|p| p.shelf.eq("A") & p.number.lt(9)),
        doc! {"places": {"$elemMatch": {"shelf": "A", "n": {"$lt": 9_i64}}}},
    );
    same(
        b.home.shelf.starts_with("A"),
        doc! {"home.shelf": {"$regex": "^A"}},
    );
    same(b.home.eq(&place), doc! {"home": {"shelf": "A", "n": 3_i64}});
    same(b.home.eq(None), doc! {"home": null});
    same(
        b.part_of.part_of.full_title.eq("x"),
        doc! {"partOf.partOf.fullTitle": "x"},
    );
    same(
        b.part_of
            .fields()
            .part_of
            .clone()
            .fields()
            .full_title
            .eq("x"),
        doc! {"partOf.partOf.fullTitle": "x"},
    );
    same(b.part_of.eq(None), doc! {"partOf": null});
    changes(
        b.part_of.pages.inc(Pages(1)),
        doc! {"$inc": {"partOf.pages": 1}},
    );
    same(b.publisher.eq(&publisher), doc! {"publisher": oid});
    same(b.publisher.eq(Ref::to(&publisher)), doc! {"publisher": oid});
    same(b.publisher.eq(publisher.id), doc! {"publisher": oid});
    same(
        b.stock.key("Graz").gte(3),
        doc! {"stock.Graz": {"$gte": 3_i64}},
    );
    same(b.marks.has(255), doc! {"marks": "ff"});
    same(b.marks.any().eq(255), doc! {"marks": "ff"});
    same(b.marks.eq([255]), doc! {"marks": ["ff"]});
    same(b.size.width.gt(1.5), doc! {"WIDTH": {"$gt": 1.5}});
    changes(b.pages.inc(Pages(1)), doc! {"$inc": {"pages": 1}});
    changes(b.words.push("a"), doc! {"$push": {"words": "a"}});
    changes(b.home.unset(), doc! {"$unset": {"home": ""}});
    changes(b.home.number.dec(1), doc! {"$inc": {"home.n": -1_i64}});
    changes(b.sold.current_date(), doc! {"$currentDate": {"sold": true}});
    changes(b.marks.push(16), doc! {"$push": {"marks": "10"}});
    changes(
        b.places.filtered("p").number.inc(1) & b.places.array_filter("p", |p| p.shelf.eq("A")),
        doc! {"$inc": {"places.$[p].n": 1_i64}},
    );
    changes(
        b.places.positional().set(&place),
        doc! {"$set": {"places.$": {"shelf": "A", "n": 3_i64}}},
    );
    changes(
        b.places.push_with([&place], |p| {
            p.sort(|e| e.number.desc().then(e.shelf.asc())).slice(3)
        }),
        doc! {"$push": {"places": {
            "$each": [{"shelf": "A", "n": 3_i64}],
            "$sort": {"n": -1, "shelf": 1},
            "$slice": 3,
        }}},
    );
    changes(
        b.places.pull_where(|p| p.number.gt(3) | p.shelf.eq("A")),
        doc! {"$pull": {"places": {"$or": [{"n": {"$gt": 3_i64}}, {"shelf": "A"}]}}},
    );
    changes(
        b.publisher.set(publisher.id),
        doc! {"$set": {"publisher": oid}},
    );
}

fn places() -> impl Strategy<Value = Place> {
    (any::<String>(), any::<u32>()).prop_map(|(shelf, number)| Place { shelf, number })
}

prop_compose! {
    fn books()(
        id: i32, full_title: String, pages: i32, words: Vec<String>,
        places in prop::collection::vec(places(), 0..3), home in prop::option::of(places()),
        publisher: Option<[u8; 12]>, stock in prop::collection::btree_map("[a-z]{1,5}", any::<i64>(), 0..3),
        marks: Vec<u32>, (sold, width, height) in any::<(Option<i64>, f64, f64)>(),
    ) -> Book {
        Book {
            id, full_title, pages: Pages(pages), words: Words(words), places, home, part_of: None,
            publisher: publisher.map(|bytes| Ref::from(Id::from(bson::oid::ObjectId::from_bytes(bytes)))),
            stock, marks, sold: sold.map(DateTime::from_millis), size: Size { width, height },
        }
    }
}

proptest! {
    #[test]
    fn filter_and_update_values_are_the_stored_bytes(book in books()) {
        let stored = bson::serialize_to_raw_document_buf(&book).unwrap();
        let b = fields::<Book>();
        let Book { id, full_title, pages, words, places, home, part_of, publisher, stock, marks, sold, size } = book;
        let filter = b.id.eq(id) & b.full_title.eq(&full_title) & b.pages.eq(&pages) & b.words.eq(&words)
            & b.places.eq(&places) & b.home.eq(&home) & b.part_of.eq(&part_of) & b.publisher.eq(publisher)
            & b.stock.eq(&stock) & b.marks.eq(&marks) & b.sold.eq(sold) & b.size.width.eq(size.width)
            & b.size.height.eq(size.height);
        let sent = bson::serialize_to_raw_document_buf(&filter.to_document().unwrap()).unwrap();
        prop_assert_eq!(sent.as_bytes(), stored.as_bytes());
        let update = b.id.set(id) & b.full_title.set(full_title) & b.pages.set(pages) & b.words.set(words)
            & b.places.set(places) & b.home.set(home) & b.part_of.set(part_of) & b.publisher.set(publisher)
            & b.stock.set(stock) & b.marks.set(marks) & b.sold.set(sold) & b.size.width.set(size.width)
            & b.size.height.set(size.height);
        let update = update.to_document().unwrap();
        let set = update.get("$set").and_then(Bson::as_document).unwrap();
        let sent = bson::serialize_to_raw_document_buf(set).unwrap();
        prop_assert_eq!(sent.as_bytes(), stored.as_bytes());
    }
}
