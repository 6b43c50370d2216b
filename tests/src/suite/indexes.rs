//! Indexes: refused writes, and the queries that use them.

use std::time::{Duration, Instant};

use odm::bson;
use odm::bson::Bson;
use odm::collection::Collation;
use odm::prelude::*;
use odm::query::raw;

use crate::backend::let_time_pass;
use crate::case::cases;

cases![
    unique_indexes_refuse_duplicates,
    a_unique_index_counts_a_missing_field_as_null,
    sparse_unique_indexes_skip_missing_fields,
    partial_unique_indexes_apply_to_their_filter,
    unique_array_indexes_compare_elements,
    partial_array_indexes_are_not_used_for_elements,
    updates_keep_indexes,
    queries_name_the_index_that_served_them,
    decimals_bound_ranges_of_an_index,
    a_range_and_a_sort_share_an_index,
    a_hint_is_followed_or_refused,
    a_hidden_index_serves_nothing,
    a_collated_index_serves_its_collation,
    results_are_the_same_with_and_without_an_index,
    a_unique_index_over_duplicates_is_refused,
    documents_expire_by_a_date,
];

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "cars")]
struct Car {
    #[serde(rename = "_id")]
    id: i32,
    make: String,
    year: i32,
    #[serde(skip_serializing_if = "Option::is_none")]
    plate: Option<String>,
    tags: Vec<String>,
}

fn car(id: i32, make: &str, year: i32, plate: Option<&str>) -> Car {
    Car {
        id,
        make: make.to_owned(),
        year,
        plate: plate.map(str::to_owned),
        tags: Vec::new(),
    }
}

/// Creates one index, with further options.
async fn index(db: &Db, key: bson::Document, options: bson::Document) -> odm::Result<()> {
    let mut spec = doc! {"key": key, "name": "it"};
    spec.extend(options);
    db.run_command(doc! {"createIndexes": "cars", "indexes": [spec]})
        .await
        .map(drop)
}

async fn fleet(db: &Db) -> Collection<Car> {
    let cars = db.collection::<Car>();
    let makes = ["Fiat", "Ford", "Opel", "fiat"];
    let fleet: Vec<Car> = (0..60)
        .zip(makes.into_iter().cycle())
        .map(|(n, make)| Car {
            tags: vec![format!("t{}", n % 7), format!("t{}", n % 5)],
            ..car(n, make, 1990 + n % 20, None)
        })
        .collect();
    cars.insert_many(&fleet).await.unwrap();
    cars
}

async fn unique_indexes_refuse_duplicates(db: &Db) {
    index(db, doc! {"plate": 1}, doc! {"unique": true})
        .await
        .unwrap();
    let cars = db.collection::<Car>();
    cars.insert_one(car(1, "Fiat", 1999, Some("G 1")))
        .await
        .unwrap();
    let refused = cars
        .insert_one(car(2, "Ford", 2000, Some("G 1")))
        .await
        .unwrap_err();
    assert!(refused.is_duplicate_key(), "{refused}");
    let message = refused.to_string();
    assert!(
        message.contains("index: it dup key: { plate: \"G 1\" }"),
        "{message}"
    );
    cars.insert_one(car(2, "Ford", 2000, Some("G 2")))
        .await
        .unwrap();
    let refused = cars
        .update_one(|c| c.id.eq(2), |c| c.plate.set("G 1"))
        .await
        .unwrap_err();
    assert!(refused.is_duplicate_key(), "{refused}");
    assert_eq!(
        cars.get(&2).await.unwrap().unwrap().plate.as_deref(),
        Some("G 2")
    );
}

async fn a_unique_index_counts_a_missing_field_as_null(db: &Db) {
    index(db, doc! {"plate": 1}, doc! {"unique": true})
        .await
        .unwrap();
    let cars = db.collection::<Car>();
    cars.insert_one(car(1, "Fiat", 1999, None)).await.unwrap();
    let refused = cars
        .insert_one(car(2, "Ford", 2000, None))
        .await
        .unwrap_err();
    assert!(refused.is_duplicate_key(), "{refused}");
}

async fn sparse_unique_indexes_skip_missing_fields(db: &Db) {
    index(db, doc! {"plate": 1}, doc! {"unique": true, "sparse": true})
        .await
        .unwrap();
    let cars = db.collection::<Car>();
    cars.insert_one(car(1, "Fiat", 1999, None)).await.unwrap();
    cars.insert_one(car(2, "Ford", 2000, None)).await.unwrap();
    // Queries also find documents outside the index.
    let all = cars.find_all().sort(|c| c.plate.asc()).all().await.unwrap();
    assert_eq!(all.len(), 2);
    let found = cars.count_documents(|c| c.plate.eq(None)).await.unwrap();
    assert_eq!(found, 2);
}

async fn partial_unique_indexes_apply_to_their_filter(db: &Db) {
    let partial = doc! {"unique": true, "partialFilterExpression": {"year": {"$gt": 2000}}};
    index(db, doc! {"make": 1}, partial).await.unwrap();
    let cars = db.collection::<Car>();
    for id in [1, 2] {
        cars.insert_one(car(id, "Fiat", 1999, None)).await.unwrap();
    }
    cars.insert_one(car(3, "Fiat", 2001, None)).await.unwrap();
    let refused = cars
        .insert_one(car(4, "Fiat", 2002, None))
        .await
        .unwrap_err();
    assert!(refused.is_duplicate_key(), "{refused}");
    // An update can move a document into the index.
    let refused = cars
        .update_one(|c| c.id.eq(1), |c| c.year.set(2003))
        .await
        .unwrap_err();
    assert!(refused.is_duplicate_key(), "{refused}");
    assert_eq!(
        cars.count_documents(|c| c.make.eq("Fiat")).await.unwrap(),
        3
    );
}

async fn unique_array_indexes_compare_elements(db: &Db) {
    index(db, doc! {"tags": 1}, doc! {"unique": true})
        .await
        .unwrap();
    let cars = db.collection::<Car>();
    let with = |id, tags: &[&str]| Car {
        tags: tags.iter().map(|&tag| tag.to_owned()).collect(),
        ..car(id, "Fiat", 1999, None)
    };
    // A value that occurs twice in one document is no conflict.
    cars.insert_one(with(1, &["a", "b", "a"])).await.unwrap();
    let refused = cars.insert_one(with(2, &["c", "b"])).await.unwrap_err();
    assert!(refused.is_duplicate_key(), "{refused}");
    cars.insert_one(with(2, &["c"])).await.unwrap();
}

async fn updates_keep_indexes(db: &Db) {
    let cars = fleet(db).await;
    index(db, doc! {"year": 1}, doc! {}).await.unwrap();
    cars.update_many(|c| c.year.eq(1990), |c| c.year.set(2050))
        .await
        .unwrap();
    cars.delete_many(|c| c.year.eq(1991)).await.unwrap();
    let count = async |year| {
        cars.count_documents(|c| c.year.eq(year))
            .hint("it")
            .await
            .unwrap()
    };
    assert_eq!(count(1990).await, 0);
    assert_eq!(count(1991).await, 0);
    assert_eq!(count(1992).await, 3);
    assert_eq!(count(2050).await, 3);
}

async fn queries_name_the_index_that_served_them(db: &Db) {
    let cars = fleet(db).await;
    let explained = cars.find(|c| c.year.eq(1995)).explain().await.unwrap();
    assert!(explained.indexes.is_empty(), "{explained}");
    assert_eq!(explained.documents_examined, 60);
    index(db, doc! {"year": 1}, doc! {}).await.unwrap();
    let explained = cars.find(|c| c.year.eq(1995)).explain().await.unwrap();
    assert_eq!(explained.indexes, ["it"], "{explained}");
    assert_eq!(
        (explained.keys_examined, explained.documents_examined),
        (3, 3)
    );
    let explained = cars.find(|c| c.make.eq("Opel")).explain().await.unwrap();
    assert!(explained.indexes.is_empty(), "{explained}");
}

/// A price as each number type stores it.
#[derive(Debug, Serialize, Deserialize, Document)]
#[odm(collection = "prices", index(price, name = "it"))]
struct Price {
    #[serde(rename = "_id")]
    id: i32,
    price: Bson,
}

async fn decimals_bound_ranges_of_an_index(db: &Db) {
    let decimal = |text: &str| Bson::Decimal128(text.parse().unwrap());
    let prices = db.collection::<Price>();
    let stored = [
        decimal("-1.5"),
        Bson::Int32(-1),
        Bson::Double(0.1),
        decimal("0.1"),
        Bson::Int64(2),
        decimal("2.00"),
        decimal("Infinity"),
        decimal("NaN"),
        Bson::String("2".to_owned()),
        Bson::Null,
    ];
    let stored = (0..).zip(stored).map(|(id, price)| Price { id, price });
    prices
        .insert_many(stored.collect::<Vec<_>>())
        .await
        .unwrap();
    let found = async |filter: bson::Document| {
        let find = || {
            let filter = filter.clone();
            prices.find(move |_| Filter::raw(filter))
        };
        let found = find().all().await.unwrap();
        let mut ids: Vec<i32> = found.iter().map(|price| price.id).collect();
        ids.sort_unstable();
        let examined = find().explain().await.unwrap().keys_examined;
        (ids, examined)
    };
    let filters = [
        // 0.1 as a double is a little more than the decimal.
        (doc! {"$gt": decimal("0.1")}, vec![2, 4, 5, 6]),
        (doc! {"$gte": decimal("0.1")}, vec![2, 3, 4, 5, 6]),
        (doc! {"$lt": decimal("-1")}, vec![0]),
        (doc! {"$lte": decimal("2")}, vec![0, 1, 2, 3, 4, 5]),
        (doc! {"$gte": decimal("NaN")}, vec![7]),
        (doc! {"$gt": decimal("NaN")}, vec![]),
        (doc! {"$gt": -1, "$lt": decimal("2")}, vec![2, 3]),
    ];
    for (condition, expected) in &filters {
        let (ids, _) = found(doc! {"price": condition}).await;
        assert_eq!(ids, *expected, "{condition}");
    }
    let plan = db.sync(models![Price]).plan().await.unwrap();
    plan.apply(Allow::CREATE).await.unwrap();
    for (condition, expected) in &filters {
        let (ids, examined) = found(doc! {"price": condition}).await;
        assert_eq!(ids, *expected, "by the index: {condition}");
        assert!(
            (1..=7).contains(&examined) || expected.is_empty(),
            "{condition}: {examined} keys"
        );
    }
}

async fn a_range_and_a_sort_share_an_index(db: &Db) {
    let cars = fleet(db).await;
    index(db, doc! {"make": 1, "year": -1}, doc! {})
        .await
        .unwrap();
    let newest = || {
        cars.find(|c| c.make.eq("Ford") & c.year.gte(2000))
            .sort(|c| c.year.desc())
            .limit(4)
    };
    let explained = newest().explain().await.unwrap();
    assert_eq!(explained.indexes, ["it"], "{explained}");
    assert!(
        !explained.stages.iter().any(|stage| stage == "SORT"),
        "{explained}"
    );
    let years: Vec<i32> = newest()
        .all()
        .await
        .unwrap()
        .iter()
        .map(|c| c.year)
        .collect();
    assert_eq!(years, [2007, 2007, 2007, 2003]);
}

async fn a_hint_is_followed_or_refused(db: &Db) {
    let cars = fleet(db).await;
    index(db, doc! {"year": 1}, doc! {}).await.unwrap();
    let hinted = cars.find(|c| c.make.eq("Ford")).hint("it");
    assert_eq!(hinted.explain().await.unwrap().indexes, ["it"]);
    let natural = cars.find(|c| c.year.eq(1995)).hint(doc! {"$natural": 1});
    assert!(natural.explain().await.unwrap().indexes.is_empty());
    let refused = cars
        .find(|c| c.year.eq(1995))
        .hint("none")
        .all()
        .await
        .unwrap_err();
    assert_eq!(refused.code(), Some(odm::Code::BAD_VALUE), "{refused}");
}

async fn a_hidden_index_serves_nothing(db: &Db) {
    let cars = fleet(db).await;
    index(db, doc! {"year": 1}, doc! {"hidden": true})
        .await
        .unwrap();
    let explained = cars.find(|c| c.year.eq(1995)).explain().await.unwrap();
    assert!(explained.indexes.is_empty(), "{explained}");
}

async fn a_collated_index_serves_its_collation(db: &Db) {
    let cars = fleet(db).await;
    index(
        db,
        doc! {"make": 1},
        doc! {"collation": {"locale": "en", "strength": 2}},
    )
    .await
    .unwrap();
    let fiats = || cars.find(|c| c.make.eq("FIAT"));
    assert!(fiats().explain().await.unwrap().indexes.is_empty());
    assert_eq!(fiats().all().await.unwrap().len(), 0);
    let collated = || fiats().collation(Collation::new("en").strength(2));
    assert_eq!(collated().explain().await.unwrap().indexes, ["it"]);
    assert_eq!(collated().all().await.unwrap().len(), 30);
}

async fn results_are_the_same_with_and_without_an_index(db: &Db) {
    let cars = fleet(db).await;
    let filters = || -> Vec<bson::Document> {
        vec![
            doc! {"year": {"$gt": 1995, "$lte": 2001}},
            doc! {"year": {"$in": [1991, 1999, 3000]}},
            doc! {"year": {"$ne": 1995}},
            doc! {"year": {"$not": {"$gt": 1995}}},
            doc! {"year": {"$mod": [5, 0]}},
            doc! {"tags": "t3"},
            doc! {"tags": {"$gt": "t2", "$lt": "t4"}},
            doc! {"tags": {"$all": ["t1", "t2"]}},
            doc! {"tags": {"$elemMatch": {"$gt": "t2", "$lt": "t4"}}},
            doc! {"make": {"$regex": "^F"}},
            doc! {"$or": [{"year": 1995}, {"tags": "t6"}]},
            doc! {"plate": null},
            doc! {"plate": {"$exists": false}, "year": {"$lt": 1993}},
        ]
    };
    let ids = async |filter: bson::Document| -> Vec<i32> {
        let found = cars.find(|_| raw(filter)).all().await.unwrap();
        let mut ids: Vec<i32> = found.iter().map(|c| c.id).collect();
        ids.sort_unstable();
        ids
    };
    let mut scanned = Vec::new();
    for filter in filters() {
        scanned.push(ids(filter).await);
    }
    for key in [
        doc! {"year": 1},
        doc! {"tags": -1},
        doc! {"make": 1, "year": 1},
        doc! {"plate": 1},
        doc! {"$**": 1},
    ] {
        index(db, key.clone(), doc! {}).await.unwrap();
        for (filter, expected) in filters().into_iter().zip(&scanned) {
            assert_eq!(&ids(filter.clone()).await, expected, "{filter} by {key}");
        }
        db.run_command(doc! {"dropIndexes": "cars", "index": "it"})
            .await
            .unwrap();
    }
}

async fn a_unique_index_over_duplicates_is_refused(db: &Db) {
    let _cars = fleet(db).await;
    let refused = index(db, doc! {"make": 1}, doc! {"unique": true})
        .await
        .unwrap_err();
    assert!(refused.is_duplicate_key(), "{refused}");
    let left = db
        .run_command(doc! {"listIndexes": "cars"})
        .all()
        .await
        .unwrap();
    assert_eq!(left.len(), 1);
}

async fn partial_array_indexes_are_not_used_for_elements(db: &Db) {
    let partial = doc! {"tags": {"$eq": ["red", "blue"]}};
    index(
        db,
        doc! {"tags": 1},
        doc! {"partialFilterExpression": partial},
    )
    .await
    .unwrap();
    let cars = db.collection::<Car>();
    let tagged = |id, tags: &[&str]| Car {
        tags: tags.iter().map(ToString::to_string).collect(),
        ..car(id, "Fiat", 2000, None)
    };
    cars.insert_many(&[tagged(1, &["red", "blue"]), tagged(2, &["red"])])
        .await
        .unwrap();
    let red = cars.find(|c| c.tags.has("red")).sort(|c| c.id.asc());
    let ids: Vec<i32> = red.all().await.unwrap().iter().map(|c| c.id).collect();
    assert_eq!(ids, [1, 2]);
}

#[derive(Debug, Serialize, Deserialize, Document)]
#[odm(collection = "loans", ttl(due, after = "1h", partial = |l| l.open.eq(false)))]
struct Loan {
    #[serde(rename = "_id")]
    id: i32,
    open: bool,
    #[odm(bson_type = "date")]
    #[serde(with = "as_is")]
    due: Bson,
}

/// A value of any type in the field declared as a date.
mod as_is {
    use odm::bson::Bson;
    use odm::prelude::*;
    use serde::{Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(value: &Bson, to: S) -> Result<S::Ok, S::Error> {
        value.serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Bson, D::Error> {
        Bson::deserialize(from)
    }
}

async fn documents_expire_by_a_date(db: &Db) {
    let plan = db.sync(models![Loan]).plan().await.unwrap();
    assert!(plan.apply(Allow::CREATE).await.unwrap().is_complete());
    let now = DateTime::now().timestamp_millis();
    let minutes_ago =
        |minutes: i64| Bson::DateTime(DateTime::from_millis(now - minutes * 60 * 1000));
    let rows = [
        (1, false, minutes_ago(61)),
        (2, false, minutes_ago(30)),
        (3, true, minutes_ago(61)),
        (4, false, minutes_ago(61).to_string().into()),
        (
            5,
            false,
            Bson::Array(vec![minutes_ago(-99), minutes_ago(61)]),
        ),
        (
            6,
            false,
            Bson::Array(vec![minutes_ago(-99), Bson::Int32(7)]),
        ),
        (7, false, Bson::Null),
        (8, false, DateTime::from_millis(-1).into()),
    ];
    // These indexes hold a hash, words and an array in an array, and no date.
    let expiring =
        |key: Bson, name: &str| doc! { "key": key, "name": name, "expireAfterSeconds": 1 };
    let indexes = vec![
        expiring(doc! { "at": "hashed" }.into(), "hashed"),
        expiring(doc! { "at": "text" }.into(), "text"),
        expiring(doc! { "in.0": -1 }.into(), "within"),
    ];
    for command in [
        doc! { "createIndexes": "kept", "indexes": indexes },
        doc! { "insert": "kept", "documents": [
            { "_id": 1, "at": minutes_ago(61), "in": [[minutes_ago(61)]] },
            { "_id": 2, "in": [minutes_ago(61)] },
            { "_id": 3, "in": minutes_ago(61) },
            { "_id": 4, "in": [[minutes_ago(61)], minutes_ago(61)] },
        ] },
    ] {
        db.run_command(command).await.unwrap();
    }
    let loans = db.collection::<Loan>();
    let all = rows.map(|(id, open, due)| Loan { id, open, due });
    loans
        .insert_many(&all)
        .bypass_document_validation(true)
        .await
        .unwrap();
    // mongod checks once a minute, unless it was started with another `ttlMonitorSleepSecs`.
    let patience = Instant::now() + Duration::from_secs(100);
    let left = loop {
        let left = loans.find_all().sort(|l| l.id.asc()).all().await.unwrap();
        let left: Vec<_> = left.into_iter().map(|loan| loan.id).collect();
        if left.len() <= 5 || Instant::now() > patience {
            break left;
        }
        let_time_pass().await;
    };
    assert_eq!(left, [2, 3, 4, 6, 7]);
    let kept = db.run_command(doc! { "distinct": "kept", "key": "_id" });
    let kept = kept.await.unwrap();
    assert_eq!(kept.get("values"), Some(&bson::bson!([1, 3, 4])));
}
