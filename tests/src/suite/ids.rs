//! Ids other than `ObjectId`: UUIDs, natural and composite ones, numbers of counters.

use std::collections::BTreeSet;

use odm::bson::{self, Bson, doc};
use odm::counter::Counter;
use odm::prelude::*;
use odm::types::UuidId;

use crate::case::cases;

cases![
    uuids_are_stored_in_the_order_of_their_time,
    uuids_of_other_programs,
    natural_ids,
    whole_numbers_are_one_id_in_every_type,
    composite_ids_are_equal_in_one_order,
    ranges_of_composite_ids,
    numbers_of_a_counter,
    blocks_of_numbers,
    counters_of_other_programs,
    concurrent_numbers_differ,
    concurrent_first_numbers_differ,
    inserts_without_gaps,
    concurrent_inserts_without_gaps,
    a_failed_insert_leaves_no_gap,
    numbers_in_a_transaction_of_the_caller,
    dropped_inserts_leave_no_gap,
    without_a_transaction_there_may_be_gaps,
    counters_are_compared_with_documents,
    counters_follow_imports,
    handles_rename_the_counters,
];

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "orders")]
struct Order {
    #[serde(rename = "_id")]
    id: UuidId<Order>,
    total: i32,
    before: Option<Ref<Order>>,
}

async fn uuids_are_stored_in_the_order_of_their_time(db: &Db) {
    let orders = db.collection::<Order>();
    let mut made: Vec<Order> = (0..50)
        .map(|total| Order {
            id: UuidId::new(),
            total,
            before: None,
        })
        .collect();
    made[7].before = Some(Ref::from(made[3].id));
    let mut ids: Vec<_> = made.iter().map(|order| order.id).collect();
    assert!(ids.is_sorted());
    ids.dedup();
    assert_eq!(ids.len(), 50);
    orders.insert_many(made.iter().rev()).await.unwrap();
    let sorted = orders.find_all().sort(|o| o.id.asc()).all().await.unwrap();
    assert_eq!(sorted, made);
    // They are binary data of subtype 4.
    let raw = db
        .run_command(doc! {"find": "orders", "limit": 1})
        .all()
        .await
        .unwrap();
    let Some(Bson::Binary(binary)) = raw[0].get("_id") else {
        panic!("{raw:?}")
    };
    assert_eq!(binary.subtype, bson::spec::BinarySubtype::Uuid);
    // A range of times is a range of ids.
    let time = made[0].id.timestamp().unwrap();
    let later = DateTime::from_millis(time.timestamp_millis() + 86_400_000);
    let between =
        orders.find(|o| o.id.gte(UuidId::first_at(time)) & o.id.lt(UuidId::first_at(later)));
    assert_eq!(between.all().await.unwrap().len(), 50);
    assert_eq!(
        orders
            .count_documents(|o| o.id.gte(UuidId::first_at(later)))
            .await
            .unwrap(),
        0
    );
    let row = orders
        .find_one(|o| o.total.eq(7))
        .join(|o| o.before)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(
        row.before()
            .as_ref()
            .and_then(|order| order.found())
            .map(|order| order.total),
        Some(3)
    );
    let error = orders.insert_one(&made[0]).await.unwrap_err();
    assert!(error.is_duplicate_key());
    assert!(db.check(models![Order]).await.unwrap().is_sound());
}

async fn uuids_of_other_programs(db: &Db) {
    let orders = db.collection::<Order>();
    // Another version is read; binary data of a subtype of old drivers is not.
    let random = bson::Uuid::new();
    let old = bson::Binary {
        subtype: bson::spec::BinarySubtype::UuidOld,
        bytes: random.bytes().to_vec(),
    };
    for id in [Bson::from(random), Bson::Binary(old)] {
        let insert =
            doc! {"insert": "orders", "documents": [{"_id": id, "total": 1, "before": null}]};
        db.run_command(insert).await.unwrap();
    }
    let found = orders
        .get(&UuidId::from_uuid(random))
        .await
        .unwrap()
        .unwrap();
    assert_eq!(found.id.timestamp(), None);
    let error = orders.find_all().all().await.unwrap_err();
    assert!(error.is_decode(), "{error}");
    assert_eq!(error.path(), Some("_id"));
    assert_eq!(UuidId::parse(found.id.to_string()), Ok(found.id));
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "countries")]
struct Country {
    #[serde(rename = "_id")]
    code: String,
    name: String,
}

async fn natural_ids(db: &Db) {
    let countries = db.collection::<Country>();
    let country = |code: &str| Country {
        code: code.to_owned(),
        name: code.to_lowercase(),
    };
    countries
        .insert_many([country("AT"), country("CH")])
        .await
        .unwrap();
    assert_eq!(countries.get("AT").await.unwrap(), Some(country("AT")));
    assert_eq!(countries.get("at").await.unwrap(), None);
    // A text that looks like an operator is a text.
    for code in ["$gt", "", "a.b"] {
        countries.insert_one(country(code)).await.unwrap();
        assert_eq!(countries.delete_by_id(code).await.unwrap().deleted, 1);
    }
    assert!(
        countries
            .insert_one(country("CH"))
            .await
            .unwrap_err()
            .is_duplicate_key()
    );
    // The id can't be changed; replacing a document keeps it.
    let error = countries
        .update_by_id("AT", |c| c.code.set("OE"))
        .await
        .unwrap_err();
    assert_eq!(error.code().map(odm::Code::number), Some(66), "{error}");
    assert_eq!(
        countries
            .replace_by_id("CH", &country("CH"))
            .await
            .unwrap()
            .matched,
        1
    );
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "seats")]
struct Seat {
    #[serde(rename = "_id")]
    number: i64,
}

async fn whole_numbers_are_one_id_in_every_type(db: &Db) {
    let seats = db.collection::<Seat>();
    let insert = doc! {"insert": "seats", "documents": [{"_id": 7}]};
    db.run_command(insert).await.unwrap();
    // The stored `_id` is an int, and the model's a long.
    assert_eq!(seats.get(&7).await.unwrap(), Some(Seat { number: 7 }));
    assert!(
        seats
            .insert_one(Seat { number: 7 })
            .await
            .unwrap_err()
            .is_duplicate_key()
    );
    assert_eq!(
        seats
            .find(|s| s.number.in_([6, 7]))
            .all()
            .await
            .unwrap()
            .len(),
        1
    );
}

/// The parts of a composite id, in an order that is not that of their names.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
struct Place {
    warehouse: String,
    #[serde(rename = "s")]
    shelf: i32,
    bin: i32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "stock", index(place.warehouse, place.shelf))]
struct Stock {
    #[serde(rename = "_id")]
    place: Place,
    count: i32,
}

fn place(warehouse: &str, shelf: i32, bin: i32) -> Place {
    Place {
        warehouse: warehouse.to_owned(),
        shelf,
        bin,
    }
}

async fn stocked(db: &Db) -> Collection<Stock> {
    let plan = db.sync(models![Stock]).plan().await.unwrap();
    plan.apply(Allow::CREATE).await.unwrap();
    let stock = db.collection::<Stock>();
    let places = [("W", 1, 1), ("W", 1, 2), ("W", 2, 1), ("E", 1, 1)];
    let all = places.map(|(warehouse, shelf, bin)| Stock {
        place: place(warehouse, shelf, bin),
        count: 1,
    });
    stock.insert_many(&all).await.unwrap();
    stock
}

async fn composite_ids_are_equal_in_one_order(db: &Db) {
    let stock = stocked(db).await;
    let declared = doc! {"warehouse": "W", "s": 1, "bin": 2};
    let filter = stock
        .find(|s| s.place.eq(place("W", 1, 2)))
        .command()
        .unwrap();
    // Documents compare their fields in order here, as MongoDB does.
    let sent = filter
        .get_document("filter")
        .unwrap()
        .get_document("_id")
        .unwrap();
    assert_eq!(sent.get_document("$eq").unwrap_or(sent), &declared);
    assert!(stock.get(&place("W", 1, 2)).await.unwrap().is_some());
    assert_eq!(
        stock
            .update_by_id(&place("W", 1, 2), |s| s.count.inc(1))
            .await
            .unwrap()
            .matched,
        1
    );
    let any = [place("W", 1, 1), place("W", 9, 9), place("E", 1, 1)];
    assert_eq!(
        stock.find(|s| s.place.in_(any)).all().await.unwrap().len(),
        2
    );
    // Another program stores the same parts in another order: another id.
    let other = doc! {"_id": {"bin": 2, "s": 1, "warehouse": "W"}, "count": 5};
    db.run_command(doc! {"insert": "stock", "documents": [other]})
        .await
        .unwrap();
    assert_eq!(
        stock.get(&place("W", 1, 2)).await.unwrap().unwrap().count,
        2
    );
    let parts = stock.find(|s| s.place.warehouse.eq("W") & s.place.shelf.eq(1) & s.place.bin.eq(2));
    assert_eq!(parts.all().await.unwrap().len(), 2);
    // A number of another type in a part is the same id.
    let long = doc! {"_id": {"warehouse": "W", "s": 1_i64, "bin": 2.0}, "count": 9};
    let insert = doc! {"insert": "stock", "documents": [long], "bypassDocumentValidation": true};
    let reply = db.run_command(insert).await.unwrap();
    let errors = reply.get_array("writeErrors").unwrap();
    assert_eq!(
        errors[0].as_document().unwrap().get_i32("code").unwrap(),
        11000
    );
}

async fn ranges_of_composite_ids(db: &Db) {
    let stock = stocked(db).await;
    let shelf =
        stock.find(|s| s.place.warehouse.eq("W") & s.place.shelf.gte(1) & s.place.shelf.lt(2));
    assert_eq!(shelf.all().await.unwrap().len(), 2);
    // Whole ids compare part by part.
    let from = stock
        .find(|s| s.place.gte(place("W", 1, 2)))
        .sort(|s| s.place.asc());
    let found: Vec<_> = from
        .all()
        .await
        .unwrap()
        .into_iter()
        .map(|one| one.place)
        .collect();
    assert_eq!(found, [place("W", 1, 2), place("W", 2, 1)]);
}

async fn numbers_of_a_counter(db: &Db) {
    let counter = db.counter("a");
    assert_eq!(counter.last().await.unwrap(), 0);
    for expected in 1..=3 {
        assert_eq!(counter.next().await.unwrap(), expected);
    }
    assert_eq!(counter.last().await.unwrap(), 3);
    // Names are texts, and counters do not meet.
    for name in ["b", "", "$inc", "a.b", "é"] {
        assert_eq!(db.counter(name).next().await.unwrap(), 1, "{name}");
    }
    assert_eq!(counter.raise_to(10).await.unwrap(), 10);
    assert_eq!(counter.raise_to(5).await.unwrap(), 10);
    assert_eq!(counter.next().await.unwrap(), 11);
    assert_eq!(db.counter("new").raise_to(7).await.unwrap(), 7);
    // The largest number is not passed.
    let full = db.counter("full");
    full.raise_to(i64::MAX).await.unwrap();
    let error = full.next().await.unwrap_err();
    assert!(error.to_string().contains("counter `full`"), "{error}");
    assert_eq!(full.last().await.unwrap(), i64::MAX);
}

async fn blocks_of_numbers(db: &Db) {
    let counter = db.counter("a");
    assert_eq!(counter.next_block(10).await.unwrap(), 1..=10);
    assert_eq!(counter.next_block(1).await.unwrap(), 11..=11);
    assert_eq!(counter.next().await.unwrap(), 12);
    assert_eq!(
        counter.next_block(3).await.unwrap().collect::<Vec<_>>(),
        [13, 14, 15]
    );
    let error = counter.next_block(0).await.unwrap_err();
    assert!(error.is_usage(), "{error}");
    assert_eq!(counter.last().await.unwrap(), 15);
}

async fn counters_of_other_programs(db: &Db) {
    let documents = vec![
        doc! {"_id": "int", "last": 4},
        doc! {"_id": "double", "last": 4.0},
        doc! {"_id": "missing"},
        doc! {"_id": "text", "last": "4"},
        doc! {"_id": "null", "last": null},
        doc! {"_id": "half", "last": 4.5},
    ];
    db.run_command(doc! {"insert": "odm_counters", "documents": documents})
        .await
        .unwrap();
    assert_eq!(db.counter("int").next().await.unwrap(), 5);
    assert_eq!(db.counter("double").next_block(2).await.unwrap(), 5..=6);
    assert_eq!(db.counter("missing").next().await.unwrap(), 1);
    for name in ["text", "null", "half"] {
        let error = db.counter(name).next().await.unwrap_err();
        assert!(
            error.to_string().contains(&format!("counter `{name}`")),
            "{error}"
        );
    }
    let error = db.counter("text").last().await.unwrap_err();
    assert!(error.to_string().contains("store it as a long"), "{error}");
}

async fn many(counter: &Counter, count: usize) -> Vec<i64> {
    let take = (0..count).map(|_| counter.next().into_future());
    let taken = futures::future::try_join_all(take).await.unwrap();
    let mut taken: Vec<_> = taken.into_iter().collect();
    taken.sort_unstable();
    taken
}

async fn concurrent_numbers_differ(db: &Db) {
    let counter = db.counter("a");
    counter.next().await.unwrap();
    let blocks = (0..10).map(|_| counter.next_block(7).into_future());
    let (numbers, blocks) =
        futures::join!(many(&counter, 40), futures::future::try_join_all(blocks));
    let mut all: BTreeSet<i64> = numbers.into_iter().collect();
    all.extend(blocks.unwrap().into_iter().flatten());
    assert_eq!(all.len(), 110);
    assert_eq!(counter.last().await.unwrap(), 111);
}

/// None of them finds the counter.
async fn concurrent_first_numbers_differ(db: &Db) {
    assert_eq!(
        many(&db.counter("a"), 12).await,
        (1..=12).collect::<Vec<_>>()
    );
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "invoices", unique(number))]
struct Invoice {
    #[serde(rename = "_id")]
    id: Id<Invoice>,
    #[serde(rename = "no")]
    number: i64,
    #[odm(range(min = 1))]
    total: i32,
}

fn invoice(number: i64) -> Invoice {
    Invoice {
        id: Id::new(),
        number,
        total: 1,
    }
}

async fn numbers(db: &Db) -> Vec<i64> {
    let invoices = db.collection::<Invoice>();
    let sorted = invoices
        .find_all()
        .sort(|i| i.number.asc())
        .all()
        .await
        .unwrap();
    sorted.into_iter().map(|invoice| invoice.number).collect()
}

async fn office(db: &Db) -> (Counter, Collection<Invoice>) {
    let plan = db.sync(models![Invoice]).plan().await.unwrap();
    plan.apply(Allow::CREATE).await.unwrap();
    (db.counter("invoices"), db.collection())
}

async fn inserts_without_gaps(db: &Db) {
    let (counter, invoices) = office(db).await;
    let first = counter.insert(&invoices, invoice).await.unwrap();
    assert_eq!(first.number, 1);
    let stored = invoices.get(&first.inserted_id).await.unwrap().unwrap();
    assert_eq!(stored.number, 1);
    assert_eq!(counter.insert(&invoices, invoice).await.unwrap().number, 2);
    assert_eq!(numbers(db).await, [1, 2]);
}

async fn concurrent_inserts_without_gaps(db: &Db) {
    let (counter, invoices) = office(db).await;
    // Half of them are refused, by the validator.
    let inserts = (0..20).map(|index| {
        let insert = counter.insert(&invoices, move |number| Invoice {
            total: index % 2,
            ..invoice(number)
        });
        insert.into_future()
    });
    let results = futures::future::join_all(inserts).await;
    assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 10);
    assert_eq!(numbers(db).await, (1..=10).collect::<Vec<_>>());
    assert_eq!(counter.last().await.unwrap(), 10);
}

async fn a_failed_insert_leaves_no_gap(db: &Db) {
    let (counter, invoices) = office(db).await;
    counter.insert(&invoices, invoice).await.unwrap();
    let invalid = |number| Invoice {
        total: 0,
        ..invoice(number)
    };
    let error = counter.insert(&invoices, invalid).await.unwrap_err();
    assert!(error.is_validation_failure(), "{error}");
    assert_eq!(error.model(), Some("Invoice"));
    // Another program has used the next number.
    let other = doc! {"_id": ObjectId::new(), "no": 2_i64, "total": 1};
    db.run_command(doc! {"insert": "invoices", "documents": [other]})
        .await
        .unwrap();
    let error = counter.insert(&invoices, invoice).await.unwrap_err();
    assert!(error.is_duplicate_key(), "{error}");
    assert_eq!(counter.last().await.unwrap(), 1);
    counter.catch_up(&invoices, |i| i.number).await.unwrap();
    assert_eq!(counter.insert(&invoices, invoice).await.unwrap().number, 3);
    assert_eq!(numbers(db).await, [1, 2, 3]);
}

async fn numbers_in_a_transaction_of_the_caller(db: &Db) {
    let (counter, invoices) = office(db).await;
    counter.insert(&invoices, invoice).await.unwrap();
    let mut session = db.start_session().await.unwrap();
    for commit in [false, true] {
        session.start_transaction().await.unwrap();
        let inserted = counter
            .insert(&invoices, invoice)
            .session(&mut session)
            .await
            .unwrap();
        assert_eq!(inserted.number, 2);
        assert_eq!(
            counter.next_block(2).session(&mut session).await.unwrap(),
            3..=4
        );
        if commit {
            session.commit_transaction().await.unwrap();
        } else {
            session.abort_transaction().await.unwrap();
        }
    }
    assert_eq!(numbers(db).await, [1, 2]);
    assert_eq!(counter.next().await.unwrap(), 5);
    // A session without a transaction gets one for the insert.
    let inserted = counter
        .insert(&invoices, invoice)
        .session(&mut session)
        .await;
    match inserted {
        Ok(inserted) => assert_eq!(inserted.number, 6),
        Err(error) => assert!(error.is_usage(), "{error}"),
    }
}

async fn dropped_inserts_leave_no_gap(db: &Db) {
    let (counter, invoices) = office(db).await;
    counter.insert(&invoices, invoice).await.unwrap();
    for polls in 0..12 {
        let mut insert = counter.insert(&invoices, invoice).into_future();
        for _ in 0..polls {
            let once = std::future::poll_fn(|cx| std::task::Poll::Ready(insert.as_mut().poll(cx)));
            if once.await.is_ready() {
                break;
            }
            tokio::time::sleep(std::time::Duration::from_millis(1)).await;
        }
    }
    let last = counter.insert(&invoices, invoice).await.unwrap().number;
    assert_eq!(numbers(db).await, (1..=last).collect::<Vec<_>>());
}

async fn without_a_transaction_there_may_be_gaps(db: &Db) {
    let (counter, invoices) = office(db).await;
    let error = counter
        .insert(&invoices, invoice)
        .non_atomic()
        .await
        .unwrap_err();
    assert!(error.is_usage(), "{error}");
    assert_eq!(counter.last().await.unwrap(), 0);
    let number = counter.next().await.unwrap();
    invoices
        .insert_one(Invoice {
            total: 0,
            ..invoice(number)
        })
        .await
        .unwrap_err();
    let number = counter.next().await.unwrap();
    invoices.insert_one(invoice(number)).await.unwrap();
    assert_eq!(numbers(db).await, [2]);
}

async fn counters_are_compared_with_documents(db: &Db) {
    let (counter, invoices) = office(db).await;
    let report = counter.check(&invoices, |i| i.number).await.unwrap();
    assert_eq!(
        (report.last, report.largest, report.is_behind()),
        (0, None, false)
    );
    counter.insert(&invoices, invoice).await.unwrap();
    assert!(
        !counter
            .check(&invoices, |i| i.number)
            .await
            .unwrap()
            .is_behind()
    );
    // Numbers of other types, and values that are no numbers.
    for (value, largest) in [
        (Bson::Int32(4), 4),
        (Bson::Double(7.5), 8),
        (Bson::String("9".to_owned()), 8),
        (Bson::Null, 8),
        (Bson::Double(f64::NAN), 8),
        (Bson::Decimal128("12".parse().unwrap()), 12),
    ] {
        let document = doc! {"_id": ObjectId::new(), "no": value, "total": 1};
        let insert =
            doc! {"insert": "invoices", "documents": [document], "bypassDocumentValidation": true};
        db.run_command(insert).await.unwrap();
        let report = counter.check(&invoices, |i| i.number).await.unwrap();
        assert_eq!(report.largest, Some(largest));
        assert!(report.is_behind());
        assert!(
            report.to_string().contains("counter `invoices` is behind"),
            "{report}"
        );
    }
}

async fn counters_follow_imports(db: &Db) {
    let (counter, invoices) = office(db).await;
    invoices
        .insert_many([invoice(30), invoice(40)])
        .await
        .unwrap();
    let before = counter.catch_up(&invoices, |i| i.number).await.unwrap();
    assert_eq!((before.last, before.largest), (0, Some(40)));
    assert_eq!(counter.insert(&invoices, invoice).await.unwrap().number, 41);
    // A counter that is ahead stays.
    counter.raise_to(100).await.unwrap();
    counter.catch_up(&invoices, |i| i.number).await.unwrap();
    assert_eq!(counter.next().await.unwrap(), 101);
}

async fn handles_rename_the_counters(db: &Db) {
    let tenant = |name: &'static str| db.with_collection_names(move |one| format!("{name}_{one}"));
    assert_eq!(tenant("a").counter("n").next().await.unwrap(), 1);
    assert_eq!(tenant("b").counter("n").next().await.unwrap(), 1);
    assert_eq!(tenant("a").counter("n").next().await.unwrap(), 2);
    assert_eq!(db.counter("n").last().await.unwrap(), 0);
}
