//! What joins cost beside the same reads written by hand with the driver, side by side in one run on a real server.
//!
//! ```sh
//! ODM_TEST_URI='mongodb://127.0.0.1:27017/?directConnection=true' cargo bench -p odm-benches --bench joins
//! ```
//!
//! All ways of a case run by turns and return the same documents. Wall time and the CPU time of this process, all threads,
//! are medians over the rounds; `ODM_BENCH_ROUNDS` sets their number (21 by default). The ratio is that of odm to the
//! way in its row, the median over the rounds. A word behind `--` selects cases by name.
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a benchmark reports, and stops at anything unexpected"
)]

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt, TryStreamExt};
use mongodb::bson::oid::ObjectId;
use mongodb::bson::{Document as BsonDocument, doc};
use odm::prelude::*;
use odm_benches::mongod_uri;
use tokio::runtime::Builder;

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[odm(collection = "products")]
struct Product {
    #[serde(rename = "_id")]
    id: i32,
    name: String,
    #[odm(references(many, max = 100))]
    parts: Vec<Ref<Part>>,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[odm(collection = "parts")]
struct Part {
    #[serde(rename = "_id")]
    id: Id<Part>,
    partno: String,
    name: String,
    qty: i32,
    cost: f64,
    price: f64,
    supplier: Ref<Supplier>,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[odm(collection = "suppliers")]
struct Supplier {
    #[serde(rename = "_id")]
    id: i32,
    name: String,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[odm(collection = "hosts", has_squillions(messages: LogMessage, by = host))]
struct Host {
    #[serde(rename = "_id")]
    id: i32,
    name: String,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[odm(collection = "logmsg", index(host, time = desc))]
struct LogMessage {
    #[serde(rename = "_id")]
    id: i32,
    host: Ref<Host>,
    time: i32,
    level: i32,
    message: String,
}

/// What `$lookup` makes of a product.
#[derive(Deserialize)]
struct WithParts {
    #[serde(rename = "_id")]
    _id: i32,
    parts: Vec<Part>,
}

/// What `$lookup` makes of a host.
#[derive(Deserialize)]
struct WithMessages {
    #[serde(rename = "_id")]
    _id: i32,
    messages: Vec<LogMessage>,
}

const PARTS: i32 = 10_000;
const MESSAGES: i32 = 1_000_000;
const HOSTS: i32 = 100;

/// The same collections for odm and for the driver.
struct Bench {
    db: Db,
    driver: mongodb::Database,
}

impl Bench {
    fn products(&self) -> mongodb::Collection<Product> {
        self.driver.collection("products")
    }

    fn parts(&self) -> mongodb::Collection<Part> {
        self.driver.collection("parts")
    }

    fn suppliers(&self) -> mongodb::Collection<Supplier> {
        self.driver.collection("suppliers")
    }

    fn messages(&self) -> mongodb::Collection<LogMessage> {
        self.driver.collection("logmsg")
    }

    fn hosts(&self) -> mongodb::Collection<Host> {
        self.driver.collection("hosts")
    }

    async fn fill(&self) {
        self.driver.drop().await.unwrap();
        let models = models![Product, Part, Supplier, Host, LogMessage];
        let plan = self.db.sync(models).plan().await.unwrap();
        plan.apply(Allow::CREATE).await.unwrap();
        let ids: Vec<Id<Part>> = (0..PARTS).map(|_| Id::new()).collect();
        let suppliers = (0..100).map(|id| Supplier {
            id,
            name: format!("supplier {id}"),
        });
        self.suppliers().insert_many(suppliers).await.unwrap();
        let parts = ids.iter().zip(0..).map(|(id, number)| Part {
            id: *id,
            partno: format!("{number}-aff-456"),
            name: "#4 grommet".to_owned(),
            qty: 94,
            cost: 0.94,
            price: 3.99,
            supplier: Ref::from(number % 100),
        });
        self.parts().insert_many(parts).await.unwrap();
        let products = (0..1_000_usize).map(|id| Product {
            id: i32::try_from(id).unwrap(),
            name: format!("product {id}"),
            parts: (0..100)
                .map(|part| Ref::from(ids[(id * 37 + part * 101) % ids.len()]))
                .collect(),
        });
        self.products().insert_many(products).await.unwrap();
        let hosts = (0..HOSTS).map(|id| Host {
            id,
            name: format!("host {id}"),
        });
        self.hosts().insert_many(hosts).await.unwrap();
        for first in (0..MESSAGES).step_by(50_000) {
            let messages = (first..first + 50_000).map(|id| LogMessage {
                id,
                host: Ref::from(id % HOSTS),
                time: id,
                level: id % 5,
                message: format!("cpu is on fire, for the {id}th time"),
            });
            self.messages().insert_many(messages).await.unwrap();
        }
    }
}

/// One way to read what a case asks for; it returns how many documents it has read.
type Way<'b> = (&'static str, Box<dyn Fn() -> BoxFuture<'b, usize> + 'b>);

fn way<'b, F: Future<Output = usize> + Send + 'b>(
    name: &'static str,
    run: impl Fn() -> F + 'b,
) -> Way<'b> {
    (name, Box::new(move || run().boxed()))
}

fn cpu_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::try_from(time).expect("CPU time is not negative")
}

fn rounds() -> usize {
    let set = std::env::var("ODM_BENCH_ROUNDS").ok();
    set.and_then(|n| n.parse().ok()).unwrap_or(21)
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Runs the ways by turns. The first is odm's.
async fn compare(case: &str, rounds: usize, ways: &[Way<'_>]) {
    let mut asked = std::env::args()
        .skip(1)
        .filter(|argument| !argument.starts_with("--"));
    let first = asked.next();
    if first.is_some_and(|first| !case.contains(&first)) && !asked.any(|part| case.contains(&part))
    {
        return;
    }
    let mut times = vec![Vec::new(); ways.len()];
    for round in 0..=rounds {
        let mut read = HashSet::new();
        for place in 0..ways.len() {
            let place = (place + round) % ways.len();
            let (wall, cpu) = (Instant::now(), cpu_time());
            read.insert((ways[place].1)().await);
            let spent = (wall.elapsed(), cpu_time().saturating_sub(cpu));
            // The first round warms up.
            if round > 0 {
                times[place].push((spent.0.as_secs_f64(), spent.1.as_secs_f64()));
            }
        }
        assert_eq!(read.len(), 1, "{case}: the ways read {read:?} documents");
    }
    for (place, (name, _)) in ways.iter().enumerate() {
        let of = |pick: fn(&(f64, f64)) -> f64| -> [f64; 2] {
            let mut ratios: Vec<f64> = times[0]
                .iter()
                .zip(&times[place])
                .map(|(odm, other)| pick(odm) / pick(other))
                .collect();
            let mut values: Vec<f64> = times[place].iter().map(pick).collect();
            [median(&mut values) * 1e3, median(&mut ratios)]
        };
        let ([wall, wall_ratio], [cpu, cpu_ratio]) = (of(|time| time.0), of(|time| time.1));
        println!("{case:<22}{name:<26}{wall:>9.1}{cpu:>9.1}{wall_ratio:>9.2}{cpu_ratio:>9.2}");
    }
}

async fn references(bench: &Bench) {
    let products = bench.db.collection::<Product>();
    compare(
        "references",
        rounds(),
        &[
            way("odm", || async {
                let rows = products.find_all().join(|p| p.parts).all().await.unwrap();
                let found = rows.iter().map(|row| {
                    let parts = row.parts().iter();
                    parts.filter(|part| part.found().is_some()).count()
                });
                found.sum()
            }),
            way("one batched $in", || async {
                let rows = batched(bench).await;
                rows.iter().map(|(_, parts)| parts.len()).sum()
            }),
            way("$lookup", || async {
                let look_up = doc! {"$lookup": {
                    "from": "parts", "localField": "parts", "foreignField": "_id", "as": "parts",
                }};
                let products = bench.products();
                let rows = products.aggregate([look_up]).with_type::<WithParts>();
                let rows: Vec<WithParts> = rows.await.unwrap().try_collect().await.unwrap();
                rows.iter().map(|row| row.parts.len()).sum()
            }),
        ],
    )
    .await;
}

/// All products with their parts: two finds, and each part decoded once.
async fn batched(bench: &Bench) -> Vec<(Product, Vec<Arc<Part>>)> {
    let products = bench.products().find(doc! {}).await.unwrap();
    let products: Vec<Product> = products.try_collect().await.unwrap();
    let ids: HashSet<ObjectId> = products
        .iter()
        .flat_map(|product| &product.parts)
        .map(|part| ObjectId::from(*part.id()))
        .collect();
    let ids: Vec<ObjectId> = ids.into_iter().collect();
    let found = bench.parts().find(doc! {"_id": {"$in": ids}}).await;
    let mut found = found.unwrap();
    let mut parts: HashMap<ObjectId, Arc<Part>> = HashMap::new();
    while let Some(part) = found.try_next().await.unwrap() {
        parts.insert(part.id.into(), Arc::new(part));
    }
    let rows = products.into_iter();
    rows.map(|product| {
        let ids = product.parts.iter().map(|part| ObjectId::from(*part.id()));
        let of = ids
            .filter_map(|id| parts.get(&id).map(Arc::clone))
            .collect();
        (product, of)
    })
    .collect()
}

async fn two_levels(bench: &Bench) {
    let products = bench.db.collection::<Product>();
    compare(
        "two levels",
        rounds(),
        &[
            way("odm", || async {
                let rows = products
                    .find_all()
                    .join(|p| p.parts.join(|part| part.supplier))
                    .all()
                    .await
                    .unwrap();
                let found = rows.iter().map(|row| {
                    let parts = row.parts().iter().filter_map(|part| part.found());
                    parts
                        .filter(|part| part.supplier().found().is_some())
                        .count()
                });
                found.sum()
            }),
            way("two batched $in", || async {
                let rows = batched(bench).await;
                let ids: HashSet<i32> = rows
                    .iter()
                    .flat_map(|(_, parts)| parts)
                    .map(|part| *part.supplier.id())
                    .collect();
                let ids: Vec<i32> = ids.into_iter().collect();
                let found = bench.suppliers().find(doc! {"_id": {"$in": ids}}).await;
                let found: Vec<Supplier> = found.unwrap().try_collect().await.unwrap();
                let suppliers: HashMap<i32, Arc<Supplier>> = found
                    .into_iter()
                    .map(|one| (one.id, Arc::new(one)))
                    .collect();
                let all = rows.iter().flat_map(|(_, parts)| parts);
                all.filter(|part| suppliers.contains_key(part.supplier.id()))
                    .count()
            }),
        ],
    )
    .await;
}

async fn newest(bench: &Bench, hosts: Vec<i32>) -> Vec<LogMessage> {
    let finds = hosts.into_iter().map(|host| async move {
        let messages = bench.messages();
        let find = messages
            .find(doc! {"host": host})
            .sort(doc! {"time": -1})
            .limit(100);
        let found: Vec<LogMessage> = find.await.unwrap().try_collect().await.unwrap();
        found
    });
    let found: Vec<Vec<LogMessage>> = futures::stream::iter(finds).buffered(8).collect().await;
    found.into_iter().flatten().collect()
}

async fn inverse(bench: &Bench) {
    let hosts = bench.db.collection::<Host>();
    let all_hosts = || async {
        let hosts: Vec<Host> = bench
            .hosts()
            .find(doc! {})
            .await
            .unwrap()
            .try_collect()
            .await
            .unwrap();
        hosts
    };
    let aggregated = |pipeline: Vec<BsonDocument>| async move {
        let messages = bench.messages();
        let found = messages.aggregate(pipeline).with_type::<LogMessage>();
        let found: Vec<LogMessage> = found.await.unwrap().try_collect().await.unwrap();
        found.len()
    };
    compare(
        "inverse",
        rounds(),
        &[
            way("odm", || async {
                let rows = hosts
                    .find_all()
                    .join(|h| h.messages.sort(|m| m.time.desc()).limit(100))
                    .all()
                    .await
                    .unwrap();
                rows.iter().map(|row| row.messages().len()).sum()
            }),
            way("$lookup with a pipeline", || async {
                let look_up = doc! {"$lookup": {
                    "from": "logmsg",
                    "localField": "_id",
                    "foreignField": "host",
                    "pipeline": [{"$sort": {"time": -1}}, {"$limit": 100}],
                    "as": "messages",
                }};
                let hosts = bench.hosts();
                let rows = hosts.aggregate([look_up]).with_type::<WithMessages>();
                let rows: Vec<WithMessages> = rows.await.unwrap().try_collect().await.unwrap();
                rows.iter().map(|row| row.messages.len()).sum()
            }),
            way("a find for each host", || async {
                let hosts = all_hosts().await;
                let ids = hosts.iter().map(|host| host.id).collect();
                newest(bench, ids).await.len()
            }),
        ],
    )
    .await;
    compare(
        "inverse, all ranked",
        rounds().min(3),
        &[
            way("odm", || async {
                let rows = hosts
                    .find_all()
                    .join(|h| h.messages.sort(|m| m.time.desc()).limit(100))
                    .all()
                    .await
                    .unwrap();
                rows.iter().map(|row| row.messages().len()).sum()
            }),
            way("$setWindowFields", || {
                aggregated(vec![
                    doc! {"$setWindowFields": {
                        "partitionBy": "$host",
                        "sortBy": {"time": -1},
                        "output": {"rank": {"$documentNumber": {}}},
                    }},
                    doc! {"$match": {"rank": {"$lte": 100}}},
                ])
            }),
        ],
    )
    .await;
}

/// The largest resident set since the last reset, in MB.
fn peak() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM"));
    let kib = line.and_then(|line| line.split_whitespace().nth(1)?.parse::<f64>().ok());
    kib.unwrap_or_default() / 1024.0
}

async fn stream(bench: &Bench) {
    let messages = bench.db.collection::<LogMessage>();
    let odm = || async {
        let mut rows = messages
            .find(|m| m.id.lt(100_000))
            .join(|m| m.host)
            .stream();
        let mut found = 0;
        while let Some(row) = rows.next().await {
            found += usize::from(row.unwrap().host().found().is_some());
        }
        found
    };
    let by_hand = || async {
        let messages = bench.messages();
        let find = messages.find(doc! {"_id": {"$lt": 100_000}});
        let mut chunks = find.await.unwrap().try_chunks(1_000);
        let mut found = 0;
        while let Some(chunk) = chunks.next().await {
            let chunk = chunk.unwrap();
            let ids: HashSet<i32> = chunk.iter().map(|message| *message.host.id()).collect();
            let ids: Vec<i32> = ids.into_iter().collect();
            let hosts = bench
                .hosts()
                .find(doc! {"_id": {"$in": ids}})
                .await
                .unwrap();
            let hosts: Vec<Host> = hosts.try_collect().await.unwrap();
            let hosts: HashMap<i32, Arc<Host>> = hosts
                .into_iter()
                .map(|host| (host.id, Arc::new(host)))
                .collect();
            let of = chunk
                .iter()
                .map(|message| hosts.get(message.host.id()).map(Arc::clone));
            found += of.flatten().count();
        }
        found
    };
    let mut peaks = Vec::new();
    for run in [way("odm", odm), way("chunks of 1,000 by hand", by_hand)] {
        // Linux resets the peak to the current size.
        let reset = std::fs::write("/proc/self/clear_refs", "5");
        (run.1)().await;
        peaks.push((run.0, reset.is_ok().then(peak)));
    }
    compare(
        "stream of 100,000",
        rounds(),
        &[way("odm", odm), way("chunks of 1,000 by hand", by_hand)],
    )
    .await;
    for (name, peak) in peaks {
        if let Some(peak) = peak {
            println!("{:<22}{name:<26}{peak:>9.1} MB at most", "stream, memory");
        }
    }
}

fn main() {
    let Some(uri) = mongod_uri() else {
        println!("skipped: name a server in ODM_TEST_URI");
        return;
    };
    println!(
        "{:<48}{:>9}{:>9}{:>18}",
        "", "wall ms", "CPU ms", "odm: wall, CPU"
    );
    let runtime = Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let driver = mongodb::Client::with_uri_str(&uri).await.unwrap();
        // One client for both sides: the same connections and the same view of the cluster.
        let driver = driver.database(&format!("odm_{}", ObjectId::new()));
        let bench = Bench {
            db: Db::from_driver(driver.clone()),
            driver,
        };
        bench.fill().await;
        references(&bench).await;
        two_levels(&bench).await;
        inverse(&bench).await;
        stream(&bench).await;
        bench.driver.drop().await.unwrap();
    });
}
