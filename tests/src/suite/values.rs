//! Values from outside are never read as operators, and a field's own serializer is used.

use odm::bson::Bson;
use odm::bson::Regex;
use odm::prelude::*;

use crate::case::cases;

cases![
    filter_values_are_not_operators,
    update_values_are_not_operators,
    search_text_is_escaped,
    elements_meet_negations,
    custom_serializers_encode_filter_values,
    fields_of_any_type_take_literals,
];

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "things")]
struct Thing {
    #[serde(rename = "_id")]
    id: i32,
    any: Bson,
    list: Vec<Bson>,
    text: String,
    numbers: Vec<i32>,
    #[serde(with = "hex")]
    marks: Vec<u32>,
}

/// Each number as hexadecimal text.
mod hex {
    use odm::prelude::*;
    use serde::{Deserializer, Serializer, de::Error};

    pub(super) fn serialize<S: Serializer>(marks: &[u32], to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(marks.iter().map(|mark| format!("{mark:04x}")))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<u32>, D::Error> {
        let texts = Vec::<String>::deserialize(from)?;
        let marks = texts.iter().map(|text| u32::from_str_radix(text, 16));
        marks.collect::<Result<_, _>>().map_err(Error::custom)
    }
}

fn regex() -> Bson {
    Bson::RegularExpression(Regex {
        pattern: odm::bson::cstr!("^x").into(),
        options: odm::bson::cstr!("").into(),
    })
}

fn operator() -> Bson {
    Bson::Document(doc! {"$gt": ""})
}

fn thing(id: i32, any: Bson) -> Thing {
    Thing {
        id,
        any: any.clone(),
        list: vec![any, Bson::Int32(id)],
        text: String::new(),
        numbers: vec![],
        marks: vec![],
    }
}

async fn stored(db: &Db, things: &[Thing]) -> Collection<Thing> {
    let collection = db.collection::<Thing>();
    collection.insert_many(things).await.unwrap();
    collection
}

/// Asserts which things a filter finds, by id.
macro_rules! finds {
    ($things:ident, $filter:expr, $expected:expr) => {{
        let found = $things.find($filter).sort(|t| t.id.asc()).all();
        let found: Vec<i32> = found.await.unwrap().iter().map(|thing| thing.id).collect();
        let expected: &[i32] = &$expected;
        assert_eq!(found, expected, "{}", stringify!($filter));
    }};
}

fn strange() -> [Thing; 4] {
    [
        thing(1, Bson::String("xyz".to_owned())),
        thing(2, regex()),
        thing(3, operator()),
        thing(4, Bson::Document(doc! {"a": 1, "$each": [1]})),
    ]
}

async fn filter_values_are_not_operators(db: &Db) {
    let things = stored(db, &strange()).await;
    finds!(things, |t| t.any.eq(regex()), [2]);
    finds!(things, |t| t.any.eq(operator()), [3]);
    finds!(things, |t| t.any.ne(operator()), [1, 2, 4]);
    finds!(things, |t| t.any.ne(regex()), [1, 3, 4]);
    finds!(things, |t| t.any.in_([regex(), operator()]), [2, 3]);
    finds!(things, |t| t.any.in_([Bson::from("xyz"), regex()]), [1, 2]);
    finds!(things, |t| t.any.nin([Bson::from("xyz"), regex()]), [3, 4]);
    finds!(things, |t| t.list.has(regex()), [2]);
    finds!(things, |t| t.list.all([operator(), Bson::Int32(3)]), [3]);
    finds!(things, |t| t.list.all([regex(), operator()]), []);
    finds!(things, |t| t.list.elem_match(|e| e.eq(operator())), [3]);
}

async fn update_values_are_not_operators(db: &Db) {
    let things = stored(db, &strange()).await;
    let each = Bson::Document(doc! {"$each": [7, 8]});
    let part = Bson::Document(doc! {"a": 1});
    things
        .update_one(
            |t| t.id.eq(1),
            |t| t.any.set(operator()) & t.list.push(each.clone()),
        )
        .await
        .unwrap();
    things
        .update_one(|t| t.id.eq(2), |t| t.list.add_to_set(each.clone()))
        .await
        .unwrap();
    let first = things.get(&1).await.unwrap().unwrap();
    assert_eq!(first.any, operator());
    assert_eq!(first.list.last(), Some(&each));
    let second = things.get(&2).await.unwrap().unwrap();
    assert_eq!(second.list, [regex(), Bson::Int32(2), each]);
    // A document with further fields is not equal, and a pattern is compared as a value.
    things
        .update_one(|t| t.id.eq(4), |t| t.list.pull(part))
        .await
        .unwrap();
    let fourth = things.get(&4).await.unwrap().unwrap();
    assert_eq!(fourth.list.len(), 2);
    things
        .update_one(|t| t.id.eq(1), |t| t.list.pull(regex()))
        .await
        .unwrap();
    let first = things.get(&1).await.unwrap().unwrap();
    assert_eq!(first.list.len(), 3);
    things
        .update_one(|t| t.id.eq(2), |t| t.list.pull(regex()))
        .await
        .unwrap();
    let second = things.get(&2).await.unwrap().unwrap();
    assert_eq!(second.list.len(), 2);
}

async fn search_text_is_escaped(db: &Db) {
    let texts = ["a.b\n", "axb", r"a\b", "a.b|c", "^a$", "(a[b]{2}*+?)"];
    let things: Vec<Thing> = texts
        .iter()
        .zip(1..)
        .map(|(text, id)| Thing {
            text: (*text).to_owned(),
            ..thing(id, Bson::Null)
        })
        .collect();
    let collection = stored(db, &things).await;
    for thing in &things {
        let id = thing.id;
        let text = thing.text.as_str();
        let exactly = collection.find(|t| t.text.starts_with(text) & t.text.ends_with(text));
        let found = exactly.all().await.unwrap();
        assert_eq!(found.iter().map(|t| t.id).collect::<Vec<_>>(), [id]);
    }
    finds!(collection, |t| t.text.contains("."), [1, 4]);
    // The end is the end of the text, not before a final line feed.
    finds!(collection, |t| t.text.ends_with("b"), [2, 3]);
}

async fn elements_meet_negations(db: &Db) {
    let numbers = |id, numbers: &[i32]| Thing {
        numbers: numbers.to_vec(),
        ..thing(id, Bson::Null)
    };
    let things = [numbers(1, &[1, 5, 9]), numbers(2, &[9]), numbers(3, &[])];
    let things = stored(db, &things).await;
    finds!(things, |t| t.numbers.elem_match(|n| !n.gt(4)), [1]);
    finds!(
        things,
        |t| t.numbers.elem_match(|n| !(n.gt(4) & n.lt(10))),
        [1]
    );
    finds!(things, |t| t.numbers.elem_match(|_| Filter::all()), [1, 2]);
    finds!(things, |t| !t.numbers.elem_match(|n| n.lt(9)), [2, 3]);
    things
        .update_one(|t| t.id.eq(1), |t| t.numbers.pull_where(|n| !n.gt(4)))
        .await
        .unwrap();
    assert_eq!(things.get(&1).await.unwrap().unwrap().numbers, [5, 9]);
    things
        .update_one(
            |t| t.id.eq(1),
            |t| {
                t.numbers.filtered("n").inc(1)
                    & t.numbers.array_filter("n", |n| !n.eq(9) | n.gt(100))
            },
        )
        .await
        .unwrap();
    assert_eq!(things.get(&1).await.unwrap().unwrap().numbers, [6, 9]);
    things
        .update_one(|t| t.id.eq(1), |t| t.numbers.pull_where(|_| Filter::all()))
        .await
        .unwrap();
    assert!(things.get(&1).await.unwrap().unwrap().numbers.is_empty());
}

async fn custom_serializers_encode_filter_values(db: &Db) {
    let marked = |id, marks: &[u32]| Thing {
        marks: marks.to_vec(),
        ..thing(id, Bson::Null)
    };
    let things = stored(db, &[marked(1, &[1, 255]), marked(2, &[16])]).await;
    finds!(things, |t| t.marks.has(255), [1]);
    finds!(things, |t| t.marks.eq([16]), [2]);
    finds!(things, |t| t.marks.any().gt(16), [1]);
    finds!(things, |t| t.marks.elem_match(|m| m.gt(1) & m.lt(17)), [2]);
    things
        .update_one(|t| t.id.eq(2), |t| t.marks.push_each([4096, 2]))
        .await
        .unwrap();
    things
        .update_one(|t| t.id.eq(2), |t| t.marks.at(0).set(3))
        .await
        .unwrap();
    let second = things.get(&2).await.unwrap().unwrap();
    assert_eq!(second.marks, [3, 4096, 2]);
    things
        .update_one(|t| t.id.eq(2), |t| t.marks.pull_where(|m| m.lt(4096)))
        .await
        .unwrap();
    assert_eq!(things.get(&2).await.unwrap().unwrap().marks, [4096]);
}

async fn fields_of_any_type_take_literals(db: &Db) {
    let things = db.collection::<Thing>();
    let values = [
        Bson::from("x"),
        Bson::from(1),
        Bson::from(2_i64),
        Bson::from(0.5),
        Bson::from(true),
    ];
    for (id, value) in (1..).zip(values) {
        things.insert_one(&thing(id, value)).await.unwrap();
    }
    let found = |filter: Filter<Thing>| {
        let found = things.find(|_| filter).sort(|t| t.id.asc());
        async { found.field(|t| t.id).all().await.unwrap() }
    };
    let fields = odm::query::fields::<Thing>();
    assert_eq!(found(fields.any.eq("x")).await, [1]);
    assert_eq!(found(fields.any.gte(1)).await, [2, 3]);
    assert_eq!(found(fields.any.between(1_i64, 1.5)).await, [2]);
    assert_eq!(found(fields.any.eq(true)).await, [5]);
    let set = things.update_one(|t| t.id.eq(1), |t| t.any.set(doc! {"a": 1}));
    set.await.unwrap();
    assert_eq!(found(fields.any.eq(doc! {"a": 1})).await, [1]);
}
