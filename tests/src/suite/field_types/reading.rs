//! What the validator of a type accepts, the type reads, and what the type writes, the validator accepts.
//!
//! The values are near the ends of ranges and of every BSON type. `ODM_TYPE_VALUES` is the number of random ones for each
//! type; if it is set, they differ from run to run.

use std::collections::BTreeMap;

use odm::bson::{Bson, Document as BsonDocument, doc};
use odm::json::Plain;
use odm::prelude::*;
use odm::schema::Validate;
use odm::time::{Iso, LocalTime, Offset};

use super::shape::Shape;
use super::values::ends;
use super::{Choice, Level, Row};
use crate::case::cases;
use crate::random::{self, Random};

cases![
    keys_of_maps,
    offsets_in_fields,
    tuples_and_variants,
    a_decrement_below_zero_is_refused,
    plans_show_the_range
];

const VARIABLE: &str = "ODM_TYPE_VALUES";

/// Stores every value in every place, and reads what was accepted.
pub(super) async fn check<T: Row>(db: &Db) {
    let pool = 0..T::pool().len();
    let written: Vec<T> = (0..)
        .zip(pool)
        .map(|(id, at)| T::of(id, &Shape::full_of(at)))
        .collect();
    db.sync(models![T])
        .plan()
        .await
        .unwrap()
        .apply(Allow::CREATE)
        .await
        .unwrap();
    let rows = db.collection::<T>();
    // What the type writes is accepted and read.
    rows.insert_many(&written).await.unwrap();
    assert_eq!(rows.find_all().all().await.unwrap().len(), written.len());
    let own: Vec<BsonDocument> = written
        .iter()
        .map(|row| {
            odm::query::encode(row)
                .unwrap()
                .as_document()
                .unwrap()
                .clone()
        })
        .collect();
    for (row, own) in written.iter().zip(&own) {
        // JSON has no NaN and no infinity.
        if matches!(own.get("value"), Some(Bson::Double(value)) if !value.is_finite()) {
            continue;
        }
        let text = serde_json::to_string(&Plain(row)).unwrap();
        let again = serde_json::from_str::<Plain<T>>(&text);
        let Plain(again) = again.unwrap_or_else(|error| panic!("{error}: {text}"));
        let again = odm::query::encode(&again).unwrap();
        assert_eq!(again.as_document(), Some(own), "{text}");
    }
    rows.delete_all().await.unwrap();

    let mut random = Random::unless_set(VARIABLE, 7);
    let seed = random.seed();
    let mut values = ends();
    let like: Vec<Bson> = own
        .iter()
        .map(|row| row.get("value").unwrap().clone())
        .collect();
    if matches!(like[..], [Bson::Binary(_), ..]) {
        // `$jsonSchema` has no rule for the subtype of binary data.
        values.retain(|value| !matches!(value, Bson::Binary(_)));
    }
    values.extend(like.iter().cloned());
    values.extend((0..random::count(VARIABLE, 12)).map(|_| random.value(&like)));
    let base = own.first().unwrap();
    let mut documents = Vec::new();
    for value in values {
        let list: Vec<Bson> = base
            .get_array("list")
            .unwrap()
            .iter()
            .cloned()
            .chain([value.clone()])
            .collect();
        for (name, value) in [
            ("value", value.clone()),
            ("maybe", value.clone()),
            ("list", list.into()),
            ("map", doc! {"key": value.clone()}.into()),
            ("parts", vec![doc! {"value": value}].into()),
        ] {
            let mut document = base.clone();
            document.insert(name, value);
            document.insert("_id", i32::try_from(documents.len()).unwrap());
            documents.push(document);
        }
    }
    for name in ["value", "maybe", "list", "map", "parts"] {
        let mut document = base.clone();
        document.remove(name);
        document.insert("_id", i32::try_from(documents.len()).unwrap());
        documents.push(document);
    }
    let name = T::model().collection;
    for some in documents.chunks(500) {
        let reply = db
            .run_command(doc! {"insert": name, "documents": some.to_vec(), "ordered": false})
            .await
            .unwrap();
        assert!(reply.get("n").is_some());
    }
    let read = rows.find_all().all().await;
    if let Err(error) = read {
        for document in documents {
            let id = document.get_i32("_id").unwrap();
            let row = rows.get(&id).await;
            assert!(
                row.is_ok(),
                "{name} (seed {seed}): {document} is accepted, and not read: {error}"
            );
        }
        panic!("{error}");
    }
    let read = read.unwrap();
    assert!(read.len() >= 4, "every value of {name} is refused");
    for row in read {
        let checked = row.validate();
        assert!(
            checked.is_ok(),
            "{name}: {checked:?}, and the store accepts it"
        );
    }
}

/// Writes each value under `field` of a valid document with raw commands; returns the ids of those that were accepted.
async fn accepted<T: Document<Id = i32>>(
    db: &Db,
    valid: &T,
    field: &str,
    values: Vec<Bson>,
) -> Vec<i32> {
    db.sync(models![T])
        .plan()
        .await
        .unwrap()
        .apply(Allow::CREATE)
        .await
        .unwrap();
    let base = odm::query::encode(valid)
        .unwrap()
        .as_document()
        .unwrap()
        .clone();
    let documents = (0_i32..).zip(values).map(|(id, value)| {
        let mut document = base.clone();
        document.insert("_id", id);
        document.insert(field, value);
        document
    });
    let documents: Vec<_> = documents.collect();
    db.run_command(
        doc! {"insert": T::model().collection, "documents": documents, "ordered": false},
    )
    .await
    .unwrap();
    let rows = db.collection::<T>();
    let found = rows.find_all().all().await.unwrap();
    let mut ids: Vec<i32> = found.iter().map(|row| *row.id()).collect();
    ids.sort_unstable();
    ids
}

async fn keys_of_maps(db: &Db) {
    #[derive(Serialize, Deserialize, Document)]
    #[odm(collection = "chosen")]
    struct Row {
        #[serde(rename = "_id")]
        id: i32,
        by_choice: BTreeMap<Choice, u8>,
        of_lists: BTreeMap<Choice, Vec<u8>>,
    }
    let row = Row {
        id: 0,
        by_choice: [(Choice::Two, 7)].into(),
        of_lists: [(Choice::One, vec![255])].into(),
    };
    let maps = [
        doc! {},
        doc! {"One": 1, "Two": 255},
        doc! {"Three": 1},
        doc! {"One": 256},
        doc! {"one": 1},
    ];
    let ids = accepted(
        db,
        &row,
        "by_choice",
        maps.into_iter().map(Bson::from).collect(),
    )
    .await;
    assert_eq!(ids, [0, 1]);
}

async fn offsets_in_fields(db: &Db) {
    #[derive(Serialize, Deserialize, Document)]
    #[odm(collection = "visits")]
    struct Visit {
        #[serde(rename = "_id")]
        id: i32,
        at: LocalTime<Iso>,
    }
    let at = LocalTime::new(
        DateTime::from_millis(0),
        Offset::from_minutes_east(60).unwrap(),
    );
    let offsets = [
        Bson::Double(60.5),
        Bson::Double(60.0),
        60.into(),
        Bson::Int64(-1_080),
        1_081.into(),
        Bson::Double(f64::NAN),
    ];
    let times =
        offsets.map(|offset| doc! {"date": DateTime::from_millis(0), "offset": offset}.into());
    assert_eq!(
        accepted(db, &Visit { id: 0, at }, "at", times.into()).await,
        [1, 2, 3]
    );
}

async fn tuples_and_variants(db: &Db) {
    #[derive(Serialize, Deserialize, Document)]
    #[odm(collection = "nested")]
    struct Row {
        #[serde(rename = "_id")]
        id: i32,
        value: (u8, Option<Level>, Vec<u16>),
    }
    let values = [
        vec![1.into(), Bson::Null, Bson::Array(vec![])],
        vec![1.into(), 127.into(), vec![65_535].into()],
        vec![256.into(), Bson::Null, Bson::Array(vec![])],
        vec![1.into(), 128.into(), Bson::Array(vec![])],
        vec![1.into(), Bson::Null, vec![-1].into()],
        vec![1.into(), Bson::Null],
        vec!["1".into(), Bson::Null, Bson::Array(vec![])],
    ];
    let row = Row {
        id: 0,
        value: (0, None, vec![]),
    };
    assert_eq!(
        accepted(db, &row, "value", values.map(Bson::Array).into()).await,
        [0, 1]
    );
}

#[derive(Debug, Serialize, Deserialize, Document)]
#[odm(collection = "goods")]
struct Good {
    #[serde(rename = "_id")]
    id: i32,
    stock: u32,
    #[odm(range(min = 1, max = 9_000_000_000))]
    sold: u32,
}

async fn a_decrement_below_zero_is_refused(db: &Db) {
    db.sync(models![Good])
        .plan()
        .await
        .unwrap()
        .apply(Allow::CREATE)
        .await
        .unwrap();
    let goods = db.collection::<Good>();
    goods
        .insert_one(Good {
            id: 1,
            stock: 0,
            sold: 1,
        })
        .await
        .unwrap();
    let error = goods
        .update_one(|g| g.id.eq(1), |g| g.stock.dec(1))
        .await
        .unwrap_err();
    let failure = error.validation_failure().unwrap();
    let violation = &failure.violations()[0];
    assert_eq!(
        (violation.rule.as_str(), violation.path.as_str()),
        ("minimum", "stock")
    );
    let error = goods
        .find_one_and_update(|g| g.id.eq(1), |g| g.stock.dec(1))
        .await
        .unwrap_err();
    assert!(error.is_validation_failure());
    assert_eq!(goods.get(&1).await.unwrap().unwrap().stock, 0);
    let error = goods
        .update_one(|g| g.id.eq(1), |g| g.sold.inc(u32::MAX))
        .await
        .unwrap_err();
    assert!(
        error.is_validation_failure(),
        "the narrower of two ends holds: {error}"
    );
}

async fn plans_show_the_range(db: &Db) {
    let old = doc! {"$jsonSchema": {
        "title": "Good",
        "bsonType": "object",
        "required": ["_id", "stock", "sold"],
        "properties": {
            "_id": {"bsonType": "int"},
            "stock": {"bsonType": "long"},
            "sold": {"bsonType": "long", "minimum": 1, "maximum": 4_294_967_295_i64},
        },
    }};
    db.run_command(doc! {"create": "goods", "validator": old})
        .await
        .unwrap();
    let plan = db.sync(models![Good]).plan().await.unwrap().to_string();
    for line in [
        "`stock`: no minimum, declared 0",
        "`stock`: no maximum, declared",
    ] {
        assert!(plan.contains(line), "{plan}");
    }
    assert!(!plan.contains("`sold`"), "{plan}");
}
