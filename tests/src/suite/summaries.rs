//! Summaries of documents of other models: `count_of`, `sum_of`, `mean_of`, `min_of`, `max_of`; `check_summaries` and
//! `refresh_summaries`.

mod declarations;
mod models;
mod random;
mod writes;

use odm::bson::oid::ObjectId;
use odm::bson::{Bson, DateTime, Document as BsonDocument, doc};
use odm::money::{Money, Usd};
use odm::prelude::*;

use self::declarations::wrong_declarations_are_refused;
use self::models::{Product, Review, Sale, decimal, product, review, sale};
use self::random::{has_declared_form, random_documents_have_the_summaries_of_a_plain_model};
use self::writes::{
    a_plan_names_the_summaries, a_summary_that_is_written_is_computed_again,
    equal_summaries_are_not_written, nothing_is_stale_after_writes_beside_each_other,
    summaries_follow_every_write, summaries_in_the_background_are_resumed,
    writes_in_a_transaction_of_the_caller_write_summaries,
    writes_of_the_other_side_write_summaries, writes_say_what_becomes_of_summaries,
    writes_without_a_transaction_write_summaries,
};
use super::dependents::{insert, stored};
use super::relations::watched;
use crate::case::cases;

cases![
    every_kind_of_every_number_is_refreshed,
    a_product_without_documents_has_none,
    the_declared_form_is_stored,
    values_of_other_types_do_not_count,
    large_sums_take_another_type_or_fail,
    a_value_that_does_not_fit_writes_nothing,
    keys_of_every_type_of_number_are_one,
    strings_are_compared_exactly,
    rounding_is_no_damage,
    only_what_differs_is_written,
    one_aggregation_computes_a_relation,
    types_of_other_crates_are_summarized,
    chosen_names_are_followed,
    a_transaction_beside_a_check_is_not_reported,
    sync_creates_what_propagation_needs,
    wrong_declarations_are_refused,
    random_documents_have_the_summaries_of_a_plain_model,
    writes_say_what_becomes_of_summaries,
    summaries_follow_every_write,
    equal_summaries_are_not_written,
    a_summary_that_is_written_is_computed_again,
    summaries_in_the_background_are_resumed,
    writes_in_a_transaction_of_the_caller_write_summaries,
    writes_without_a_transaction_write_summaries,
    a_plan_names_the_summaries,
    writes_of_the_other_side_write_summaries,
    nothing_is_stale_after_writes_beside_each_other,
];

/// Two products; three reviews and two sales of the first.
async fn shop(db: &Db) -> Collection<Product> {
    db.collection()
        .insert_many([product(1), product(2)])
        .await
        .unwrap();
    let reviews = [1, 2, 3].map(|id| review(id, 1));
    db.collection::<Review>()
        .insert_many(reviews)
        .leave_stale()
        .await
        .unwrap();
    let sales = [sale(1, 10), sale(2, 10), sale(3, 30)];
    db.collection::<Sale>()
        .insert_many(sales)
        .leave_stale()
        .await
        .unwrap();
    db.collection()
}

fn summarized() -> Product {
    Product {
        version: 3,
        review_count: 3,
        count_int: 3,
        sum_int: 6,
        sum_long: 30_000_000_000,
        sum_double: 1.5,
        sum_decimal: decimal("7.5"),
        long_as_double: 30_000_000_000.0,
        long_as_decimal: decimal("30000000000"),
        mean_int: Some(2.0),
        mean_decimal: Some(decimal("2.5")),
        int_as_decimal: Some(decimal("2")),
        min_int: Some(1),
        max_long: Some(15_000_000_000),
        min_double: Some(0.25),
        max_decimal: Some(decimal("3.5")),
        first: Some(DateTime::from_millis(1_000)),
        last_text: Some("t3".to_owned()),
        best: Some(2),
        sale_count: 2,
        sold: 3,
        ..product(1)
    }
}

async fn every_kind_of_every_number_is_refreshed(db: &Db) {
    let products = shop(db).await;
    let report = products.check_summaries().await.unwrap();
    assert_eq!((report.read, report.damages), (2, 20), "{report}");
    let first = report.listed[0].to_string();
    assert_eq!(
        first,
        "1: stale summary: `n` is 0, and the count of `reviews` is 3"
    );
    let mean = "1: stale summary: `mean_int` is null, and the mean of `reviews.int` is 2";
    let listed: Vec<_> = report.listed.iter().map(ToString::to_string).collect();
    assert!(listed.iter().any(|one| one == mean), "{report}");

    let result = products.refresh_summaries().await.unwrap();
    // Once for each relation.
    assert_eq!((result.read, result.updated), (2, 2));
    assert_eq!(products.get(&1).await.unwrap().unwrap(), summarized());
    assert_eq!(products.get(&2).await.unwrap().unwrap(), product(2));
    assert!(products.check_summaries().await.unwrap().is_sound());
}

async fn a_product_without_documents_has_none(db: &Db) {
    insert(
        db,
        "products",
        [doc! {"_id": 1, "code": 10_i64, "version": 1_i64, "best": 3, "min_int": 1}],
    )
    .await;
    let products = db.collection::<Product>();
    products.refresh_summaries().await.unwrap();
    let found = products.get(&1).await.unwrap().unwrap();
    let version = found.version;
    assert_eq!(
        found,
        Product {
            version,
            ..product(1)
        }
    );
    let raw = &stored(db, "products").await[0];
    assert!(has_declared_form(raw), "{raw}");
    assert!(!raw.contains_key("best") && raw.get("min_int") == Some(&Bson::Null));
}

async fn the_declared_form_is_stored(db: &Db) {
    shop(db).await.refresh_summaries().await.unwrap();
    for raw in stored(db, "products").await {
        assert!(has_declared_form(&raw), "{raw}");
    }
    // Equal numbers of other types are left as they are.
    let other = doc! {"$set": {"sum_int": 6.0, "sum_long": decimal("30000000000")}};
    let update = doc! {"q": {"_id": 1}, "u": other};
    db.run_command(doc! {"update": "products", "updates": [update]})
        .await
        .unwrap();
    let products = db.collection::<Product>();
    assert!(products.check_summaries().await.unwrap().is_sound());
    assert_eq!(products.refresh_summaries().await.unwrap().updated, 0);
}

async fn values_of_other_types_do_not_count(db: &Db) {
    let products = shop(db).await;
    let odd = [
        Bson::Null,
        "zzz".into(),
        Bson::Boolean(true),
        Bson::Array(vec![100.into()]),
        doc! {"x": 1}.into(),
        ObjectId::new().into(),
    ];
    let foreign = odd.into_iter().enumerate().map(|(position, odd)| {
        let id = 10 + i32::try_from(position).unwrap();
        let text = if odd.as_str().is_some() {
            5.into()
        } else {
            odd.clone()
        };
        doc! {
            "_id": id, "product": 1, "int": odd.clone(), "long": odd.clone(), "double": odd.clone(),
            "decimal": odd.clone(), "date": odd.clone(), "text": text, "rating": {"s": odd},
        }
    });
    let foreign: Vec<_> = foreign.collect();
    insert(db, "reviews", foreign).await;
    insert(
        db,
        "reviews",
        [doc! {"_id": 20, "product": 1}, doc! {"_id": 21}],
    )
    .await;
    products.refresh_summaries().await.unwrap();
    let expected = Product {
        review_count: 10,
        count_int: 10,
        ..summarized()
    };
    assert_eq!(products.get(&1).await.unwrap().unwrap(), expected);
}

async fn large_sums_take_another_type_or_fail(db: &Db) {
    let products = shop(db).await;
    let largest = |id: i32| doc! {"_id": id, "product": 2, "long": i64::MAX};
    insert(db, "reviews", [largest(10)]).await;
    products.refresh_summaries().await.unwrap();
    let found = products.get(&2).await.unwrap().unwrap();
    assert_eq!((found.sum_long, found.max_long), (i64::MAX, Some(i64::MAX)));
    assert_eq!(found.long_as_decimal, decimal("9223372036854775807"));

    // MongoDB adds integers beyond 64 bits as doubles.
    insert(db, "reviews", [largest(11)]).await;
    let error = products.refresh_summaries().await.unwrap_err();
    assert!(error.is_unfit_summary(), "{error}");
    let text = error.to_string();
    assert!(
        text.starts_with("Product.sum_long: the sum of `reviews.long` is"),
        "{text}"
    );
    assert!(
        text.contains("for the _id 2, and the field can't store that as long"),
        "{text}"
    );
    // What the documents add up to in the end decides.
    insert(
        db,
        "reviews",
        [doc! {"_id": 12, "product": 2, "long": -i64::MAX}],
    )
    .await;
    products.refresh_summaries().await.unwrap();
    let found = products.get(&2).await.unwrap().unwrap();
    assert_eq!(found.sum_long, i64::MAX);
    assert_eq!(found.long_as_decimal, decimal("9223372036854775807"));
}

async fn a_value_that_does_not_fit_writes_nothing(db: &Db) {
    let products = shop(db).await;
    let values: [(&str, Bson); 4] = [
        ("int", 0.5.into()),
        ("int", 3_000_000_000_i64.into()),
        ("long", f64::NAN.into()),
        ("double", decimal("1E+500").into()),
    ];
    for (position, (field, value)) in values.into_iter().enumerate() {
        let id = 10 + i32::try_from(position).unwrap();
        insert(
            db,
            "reviews",
            [doc! {"_id": id, "product": 2, field: value.clone()}],
        )
        .await;
        let before = stored(db, "products").await;
        let error = products.refresh_summaries().await.unwrap_err();
        assert!(error.is_unfit_summary(), "{field} {value}: {error}");
        assert_eq!(stored(db, "products").await, before);
        // A check says so, too, and goes on.
        let report = products.check_summaries().await.unwrap();
        assert!(report.damages > 20, "{report}");
        let delete = doc! {"q": {"_id": id}, "limit": 1};
        db.run_command(doc! {"delete": "reviews", "deletes": [delete]})
            .await
            .unwrap();
    }
    products.refresh_summaries().await.unwrap();
    assert_eq!(products.get(&1).await.unwrap().unwrap(), summarized());
}

async fn keys_of_every_type_of_number_are_one(db: &Db) {
    let products = [
        doc! {"_id": 1_i64, "code": 10, "version": 1_i64},
        doc! {"_id": decimal("2.0"), "code": 20.0, "version": 1_i64},
    ];
    insert(db, "products", products).await;
    let keys = |number: i32| -> [Bson; 4] {
        let text = format!("{number}.00");
        [
            number.into(),
            i64::from(number).into(),
            f64::from(number).into(),
            decimal(&text).into(),
        ]
    };
    let reviews = keys(1).into_iter().chain(keys(2)).enumerate();
    let reviews =
        reviews.map(|(id, key)| doc! {"_id": i32::try_from(id).unwrap(), "product": key, "int": 1});
    insert(db, "reviews", reviews.collect::<Vec<_>>()).await;
    let sales = keys(10).into_iter().chain(keys(20)).enumerate();
    let sales = sales.map(
        |(id, key)| doc! {"_id": i32::try_from(id).unwrap(), "place": {"code": key}, "amount": 2},
    );
    insert(db, "sales", sales.collect::<Vec<_>>()).await;
    let products = db.collection::<Product>();
    assert_eq!(products.refresh_summaries().await.unwrap().updated, 4);
    for raw in stored(db, "products").await {
        let numbers = ["n", "sum_int", "sale_count", "sold"].map(|name| raw[name].to_string());
        assert_eq!(numbers, ["4", "4", "4", "8"], "{raw}");
    }
    assert!(products.check_summaries().await.unwrap().is_sound());
}

async fn strings_are_compared_exactly(db: &Db) {
    #[derive(Debug, Serialize, Deserialize, Document)]
    #[odm(
        collection = "authors",
        collation(locale = "en", strength = 2),
        has_many(books: Book, by = author)
    )]
    struct Author {
        #[serde(rename = "_id")]
        id: String,
        #[odm(count_of(books))]
        count: i32,
        #[odm(max_of(books.title))]
        last: Option<String>,
    }
    #[derive(Debug, Serialize, Deserialize, Document)]
    #[odm(collection = "books", collation(locale = "en", strength = 2))]
    struct Book {
        #[serde(rename = "_id")]
        id: i32,
        #[odm(index)]
        author: Ref<Author>,
        title: String,
    }
    let plan = db.sync(models![Author, Book]).plan().await.unwrap();
    plan.apply(Allow::CREATE).await.unwrap();
    let author = |id: &str| Author {
        id: id.to_owned(),
        count: 0,
        last: None,
    };
    db.collection()
        .insert_many([author("a"), author("b")])
        .await
        .unwrap();
    let book = |id, author: &str, title: &str| Book {
        id,
        author: Ref::from(author.to_owned()),
        title: title.to_owned(),
    };
    let books = [
        book(1, "a", "Z"),
        book(2, "a", "y"),
        book(3, "A", "zz"),
        book(4, "B", "x"),
    ];
    db.collection::<Book>()
        .insert_many(books)
        .leave_stale()
        .await
        .unwrap();
    let authors = db.collection::<Author>();
    assert_eq!(authors.refresh_summaries().await.unwrap().updated, 1);
    let found = authors.get("a").await.unwrap().unwrap();
    assert_eq!((found.count, found.last.as_deref()), (2, Some("y")));
    // A value that differs in case only differs.
    let change = doc! {"q": {"_id": "a"}, "u": {"$set": {"last": "Y"}}};
    db.run_command(doc! {"update": "authors", "updates": [change]})
        .await
        .unwrap();
    assert_eq!(authors.check_summaries().await.unwrap().damages, 1);
    assert_eq!(authors.refresh_summaries().await.unwrap().updated, 1);
    assert!(authors.check_summaries().await.unwrap().is_sound());
}

async fn rounding_is_no_damage(db: &Db) {
    let products = shop(db).await;
    products.refresh_summaries().await.unwrap();
    let set = async |change: BsonDocument| {
        let update = doc! {"q": {"_id": 1}, "u": {"$set": change}};
        db.run_command(doc! {"update": "products", "updates": [update]})
            .await
            .unwrap();
        products.check_summaries().await.unwrap().damages
    };
    let rounded = doc! {"sum_double": 1.5 * (1.0 + 1e-13), "mean_int": 2.0 - 1e-13};
    assert_eq!(set(rounded).await, 0);
    // A refresh writes what a reader would see.
    assert_eq!(products.refresh_summaries().await.unwrap().updated, 1);
    assert_eq!(set(doc! {"sum_double": 1.500_000_1}).await, 1);
    assert_eq!(
        set(doc! {"sum_decimal": decimal("7.50000000000000000001")}).await,
        2
    );
    assert_eq!(set(doc! {"min_double": 0.25 + 1e-14}).await, 3);
    assert_eq!(set(doc! {"sum_long": 30_000_000_001_i64}).await, 4);
}

async fn only_what_differs_is_written(db: &Db) {
    let products = shop(db).await;
    products.refresh_summaries().await.unwrap();
    let before = stored(db, "products").await;
    assert_eq!(products.refresh_summaries().await.unwrap().updated, 0);
    assert_eq!(stored(db, "products").await, before);
    // A list with the value in it is not the value.
    let change = doc! {"q": {"_id": 1}, "u": {"$set": {"sold": [3_i64], "min_int": {"x": 1}}}};
    db.run_command(doc! {"update": "products", "updates": [change]})
        .await
        .unwrap();
    assert_eq!(products.check_summaries().await.unwrap().damages, 2);
    assert_eq!(products.refresh_summaries().await.unwrap().updated, 2);
    let again = products.get(&1).await.unwrap().unwrap();
    assert_eq!(
        again,
        Product {
            version: 5,
            ..summarized()
        }
    );
}

async fn one_aggregation_computes_a_relation(db: &Db) {
    shop(db).await;
    let many = (3..50).map(product);
    db.collection()
        .insert_many(many)
        .leave_stale()
        .await
        .unwrap();
    let (watched, log) = watched(db);
    let products = watched.collection::<Product>();
    let mut read = 0;
    products
        .check_summaries()
        .on_progress(|count| read = count)
        .await
        .unwrap();
    assert_eq!(read, 49);
    let sent: Vec<BsonDocument> = std::mem::take(&mut *log.lock().unwrap());
    let names: Vec<_> = sent
        .iter()
        .filter_map(|one| one.keys().next().cloned())
        .collect();
    // All products are read, those that differ are read again, and once more after what writers settle: each time with one
    // aggregation for each relation.
    assert_eq!(names, ["find", "aggregate", "aggregate"].repeat(3));
    products.refresh_summaries().await.unwrap();
    let updates = log.lock().unwrap();
    let updates: Vec<_> = updates
        .iter()
        .filter(|one| one.get_str("update").is_ok_and(|name| name == "products"))
        .collect();
    assert_eq!(updates.len(), 2, "{updates:?}");
}

async fn types_of_other_crates_are_summarized(db: &Db) {
    #[derive(Debug, Serialize, Deserialize, Document)]
    #[odm(collection = "devices", has_one(reading: Reading, by = device))]
    struct Device {
        #[serde(rename = "_id")]
        id: i32,
        #[serde(default, with = "odm::jiff_0_2")]
        #[odm(max_of(reading.time))]
        last: Option<jiff::Timestamp>,
        #[odm(max_of(reading.room))]
        room: Option<Room>,
        #[odm(sum_of(reading.cost))]
        cost: Money<Usd>,
        #[odm(min_of(reading.cost))]
        least: Option<Money<Usd>>,
    }
    #[derive(Debug, Serialize, Deserialize, Document)]
    #[odm(collection = "readings")]
    struct Reading {
        #[serde(rename = "_id")]
        id: i32,
        #[odm(unique)]
        device: Ref<Device>,
        #[serde(with = "odm::jiff_0_2")]
        time: jiff::Timestamp,
        room: Room,
        cost: Money<Usd>,
    }
    #[derive(Debug, PartialEq, Serialize, Deserialize, Embedded)]
    enum Room {
        Attic,
        Cellar,
    }
    let device = |id| Device {
        id,
        last: None,
        room: None,
        cost: Money::from_minor(0),
        least: None,
    };
    let devices = db.collection::<Device>();
    devices.insert_many([device(1), device(2)]).await.unwrap();
    let time = jiff::Timestamp::from_second(5).unwrap();
    let reading = Reading {
        id: 1,
        device: Ref::from(1),
        time,
        room: Room::Cellar,
        cost: Money::from_minor(250),
    };
    let readings = db.collection::<Reading>();
    readings.insert_one(&reading).leave_stale().await.unwrap();
    assert_eq!(devices.refresh_summaries().await.unwrap().updated, 1);
    let found = devices.get(&1).await.unwrap().unwrap();
    let cost = Money::from_minor(250);
    assert_eq!((found.last, found.room), (Some(time), Some(Room::Cellar)));
    assert_eq!((found.cost, found.least), (cost, Some(cost)));
}

async fn chosen_names_are_followed(db: &Db) {
    let named = db
        .with_collection::<Product>("goods")
        .with_collection::<Review>("opinions");
    named.collection().insert_one(product(1)).await.unwrap();
    named
        .collection()
        .insert_one(review(1, 1))
        .leave_stale()
        .await
        .unwrap();
    let products = named.collection::<Product>();
    assert_eq!(products.refresh_summaries().await.unwrap().updated, 1);
    assert_eq!(stored(db, "goods").await[0].get_i64("n").unwrap(), 1);
    assert_eq!(
        db.collection::<Product>()
            .check_summaries()
            .await
            .unwrap()
            .read,
        0
    );
}

/// Transactions insert reviews and count them, while the products are checked.
async fn a_transaction_beside_a_check_is_not_reported(db: &Db) {
    const WRITES: i32 = 40;
    let products = shop(db).await;
    insert(db, "reviews", [doc! {"_id": 100, "product": 2}]).await;
    products.refresh_summaries().await.unwrap();
    let is_done = std::cell::Cell::new(false);
    let writer = async {
        let mut session = db.start_session().await.unwrap();
        for id in 101..=100 + WRITES {
            session.start_transaction().await.unwrap();
            let new = doc! {"_id": id, "product": 2};
            let insert = doc! {"insert": "reviews", "documents": [new]};
            db.run_command(insert).session(&mut session).await.unwrap();
            tokio::task::yield_now().await;
            let counts = doc! {"n": 1_i64, "count_int": 1};
            let update = doc! {"q": {"_id": 2}, "u": {"$inc": counts}};
            let update = doc! {"update": "products", "updates": [update]};
            db.run_command(update).session(&mut session).await.unwrap();
            session.commit_transaction().await.unwrap();
            tokio::task::yield_now().await;
        }
        is_done.set(true);
    };
    let checker = async {
        let mut checks = 0;
        while !is_done.get() {
            let report = products.check_summaries().await.unwrap();
            assert!(report.is_sound(), "{report}");
            checks += 1;
            tokio::task::yield_now().await;
        }
        checks
    };
    let ((), checks) = futures::future::join(writer, checker).await;
    assert!(checks > 0);
    let found = products.get(&2).await.unwrap().unwrap();
    assert_eq!(found.review_count, i64::from(WRITES) + 1);
}

async fn sync_creates_what_propagation_needs(db: &Db) {
    for models in [&models![Review][..], &models![Product][..]] {
        let plan = db.sync(models.iter().copied()).plan().await.unwrap();
        assert!(plan.to_string().contains("odm_reference_fences"), "{plan}");
        assert!(plan.to_string().contains("odm_propagations"), "{plan}");
    }
}
