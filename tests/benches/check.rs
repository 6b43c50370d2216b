//! What `db.check` costs beside a scan by hand: time and memory, in memory and on a mongod.
//!
//! ```sh
//! ODM_TEST_URI='mongodb://127.0.0.1:27017/?directConnection=true' cargo bench -p odm-benches --bench check
//! ```
//!
//! 1,000,000 orders (`ODM_BENCH_ORDERS`) refer to a customer, a product, a shop, a courier and a region, and copy the name of the
//! customer. *By hand* reads all orders once, and for each thousand the documents of each relation with one query; it compares the
//! copies, and notices references to nothing. *References and copies* is a check of the same. *Everything* also runs the
//! validator, looks for undeclared fields, indexes and unfinished changes. The ways run by turns; times are medians over the rounds
//! (`ODM_BENCH_ROUNDS`, 3 by default), and the memory is that of the whole process at most.
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a benchmark reports, and stops at anything unexpected"
)]

use std::collections::{HashMap, HashSet};
use std::env;
use std::time::{Duration, Instant};

use futures::{StreamExt, TryStreamExt};
use mongodb::bson::{Document as BsonDocument, RawDocumentBuf, doc, oid::ObjectId};
use odm::check::Aspect;
use odm::prelude::*;
use odm_benches::{mongod_uri, peak, reset_peak, turns};
use tokio::runtime::Builder;

macro_rules! targets {
    ($($name:ident: $collection:literal, $relation:ident),*) => {$(
        #[derive(Debug, Clone, Serialize, Deserialize, Document)]
        #[odm(collection = $collection)]
        struct $name {
            #[serde(rename = "_id")]
            id: i64,
            name: String,
        }
    )*};
}

targets!(Product: "products", product, Shop: "shops", shop, Courier: "couriers", courier, Region: "regions", region);

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[odm(collection = "customers", has_squillions(orders: Order, by = customer))]
struct Customer {
    #[serde(rename = "_id")]
    id: i64,
    name: String,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[odm(collection = "orders")]
struct Order {
    #[serde(rename = "_id")]
    id: i64,
    #[odm(index)]
    customer: Ref<Customer>,
    #[odm(copy_of(customer.name))]
    customer_name: String,
    product: Ref<Product>,
    shop: Ref<Shop>,
    courier: Ref<Courier>,
    region: Ref<Region>,
    amount: i32,
    note: String,
}

/// The collections that orders refer to, and how many documents each has.
const TARGETS: [(&str, &str, i64); 5] = [
    ("customer", "customers", 100_000),
    ("product", "products", 10_000),
    ("shop", "shops", 1_000),
    ("courier", "couriers", 1_000),
    ("region", "regions", 100),
];

const CHUNK: usize = 1_000;

fn number(variable: &str, usual: i64) -> i64 {
    let set = env::var(variable).ok();
    set.map_or(usual, |set| set.parse().unwrap())
}

fn order(id: i64) -> BsonDocument {
    let mut order = doc! {"_id": id};
    for (field, _, count) in TARGETS {
        // Neighbours refer to others, as they do in real data.
        let target = (id * 7_919 + 13) % count;
        order.insert(field, target);
        if field == "customer" {
            order.insert("customer_name", format!("name {target}"));
        }
    }
    order.insert("amount", 1);
    order.insert("note", "a note of some length that nobody ever reads again");
    order
}

/// A collection, the number of its documents, and the document with an `_id`.
type Filled = (&'static str, i64, fn(i64) -> BsonDocument);

async fn fill(db: &Db, orders: i64) {
    let plan = db
        .sync(models![Customer, Product, Shop, Courier, Region, Order])
        .plan();
    plan.await.unwrap().apply(Allow::CREATE).await.unwrap();
    let insert = async |collection: &str, documents: Vec<BsonDocument>| {
        db.run_command(doc! {"insert": collection, "documents": documents})
            .await
            .unwrap();
    };
    let target = |id| doc! {"_id": id, "name": format!("name {id}")};
    let mut all: Vec<Filled> = vec![("orders", orders, order)];
    all.extend(TARGETS.map(|(_, collection, count)| (collection, count, target as _)));
    for (collection, count, document) in all {
        for first in (0..count).step_by(10_000) {
            let ids = first..count.min(first + 10_000);
            insert(collection, ids.map(document).collect()).await;
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Way {
    ByHand,
    References,
    Everything,
}

const WAYS: [Way; 3] = [Way::ByHand, Way::References, Way::Everything];

fn main() {
    let runtime = Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        println!("| store | by hand | references and copies | everything | references beside by hand | everything beside by hand | memory at most |");
        println!("| --- | --- | --- | --- | --- | --- | --- |");
        if let Some(uri) = mongod_uri() {
            let client = mongodb::Client::with_uri_str(&uri).await.unwrap();
            let database = client.database(&format!("odm_bench_{}", ObjectId::new()));
            measure("mongod", &Db::from_driver(database.clone()), Some(&database)).await;
            database.drop().await.unwrap();
        }
        measure("memory", &Db::memory(), None).await;
    });
}

async fn measure(store: &str, db: &Db, database: Option<&mongodb::Database>) {
    let orders = number("ODM_BENCH_ORDERS", 1_000_000);
    fill(db, orders).await;
    let mut times: [Vec<Duration>; 3] = Default::default();
    let mut memory = [const { String::new() }; 3];
    for round in 0..i32::try_from(number("ODM_BENCH_ROUNDS", 3)).unwrap() {
        let ways = WAYS.into_iter().zip(&mut times).zip(&mut memory);
        for ((way, times), memory) in turns(round, ways) {
            reset_peak();
            let started = Instant::now();
            let read = match way {
                Way::ByHand => match database {
                    Some(database) => by_hand(database).await,
                    None => by_hand_in_memory(db).await,
                },
                Way::References | Way::Everything => check(db, way).await,
            };
            times.push(started.elapsed());
            *memory = peak();
            assert_eq!(read, u64::try_from(orders).unwrap());
        }
    }
    let [by_hand, references, everything] = times.map(|mut times| {
        times.sort_unstable();
        times
            .get(times.len() / 2)
            .copied()
            .unwrap_or_default()
            .as_secs_f64()
    });
    println!(
        "| {store} | {by_hand:.1} s | {references:.1} s | {everything:.1} s | {:.2} | {:.2} | {} |",
        references / by_hand,
        everything / by_hand,
        memory.join(", "),
    );
}

async fn check(db: &Db, way: Way) -> u64 {
    let mut check = db.check(models![Order]);
    if way == Way::References {
        check = check.only([Aspect::References, Aspect::Copies]);
    }
    let report = check.await.unwrap();
    assert!(report.is_sound(), "{report}");
    report.read()
}

async fn by_hand(database: &mongodb::Database) -> u64 {
    let orders = database.collection::<RawDocumentBuf>("orders");
    let find = orders.find(doc! {}).batch_size(1_000).await.unwrap();
    let mut chunks = find.try_chunks(CHUNK);
    let mut read = 0;
    while let Some(chunk) = chunks.next().await {
        let chunk = chunk.unwrap();
        read += chunk.len() as u64;
        for (field, collection, _) in TARGETS {
            let is_copied = field == "customer";
            let ids: HashSet<i64> = chunk
                .iter()
                .map(|order| order.get_i64(field).unwrap())
                .collect();
            let ids: Vec<i64> = ids.into_iter().collect();
            let target = database.collection::<RawDocumentBuf>(collection);
            let projection = if is_copied {
                doc! {"name": 1}
            } else {
                doc! {"_id": 1}
            };
            let find = target
                .find(doc! {"_id": {"$in": ids}})
                .projection(projection);
            let mut found = find.batch_size(1_000).await.unwrap();
            let mut names = HashMap::new();
            while let Some(document) = found.next().await {
                let document = document.unwrap();
                let name = if is_copied {
                    document.get_str("name").unwrap()
                } else {
                    ""
                };
                names.insert(document.get_i64("_id").unwrap(), name.to_owned());
            }
            for order in &chunk {
                let name = names.get(&order.get_i64(field).unwrap()).unwrap();
                assert!(!is_copied || *name == order.get_str("customer_name").unwrap());
            }
        }
    }
    read
}

/// The fields that are compared.
#[derive(Debug, Deserialize, Projection)]
#[odm(of = Order)]
struct Compared {
    customer: Ref<Customer>,
    customer_name: String,
    product: Ref<Product>,
    shop: Ref<Shop>,
    courier: Ref<Courier>,
    region: Ref<Region>,
}

async fn by_hand_in_memory(db: &Db) -> u64 {
    let orders = db.collection::<Order>();
    let stream = orders.find_all().select::<Compared>().await.unwrap();
    let mut chunks = stream.try_chunks(CHUNK);
    let mut read = 0;
    while let Some(chunk) = chunks.next().await {
        let chunk = chunk.unwrap();
        read += chunk.len() as u64;
        let ids = |id: fn(&Compared) -> i64| -> HashSet<i64> { chunk.iter().map(id).collect() };
        let wanted = ids(|order| *order.customer.id());
        let customers = db.collection::<Customer>();
        let found = customers.find(|c| c.id.in_(wanted)).all().await.unwrap();
        let names: HashMap<i64, String> = found.into_iter().map(|one| (one.id, one.name)).collect();
        for order in &chunk {
            assert_eq!(names.get(order.customer.id()), Some(&order.customer_name));
        }
        macro_rules! compare {
            ($($model:ident $field:ident),*) => {$(
                let wanted = ids(|order| *order.$field.id());
                let target = db.collection::<$model>();
                let found = target.find(|one| one.id.in_(wanted)).all().await.unwrap();
                let found: HashSet<i64> = found.into_iter().map(|one| one.id).collect();
                assert!(chunk.iter().all(|order| found.contains(order.$field.id())));
            )*};
        }
        compare!(Product product, Shop shop, Courier courier, Region region);
    }
    read
}
