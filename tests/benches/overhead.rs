//! What odm costs over the bare driver: client CPU time against a real server, side by side in one run.
//!
//! ```sh
//! ODM_TEST_URI='mongodb://127.0.0.1:27017/?directConnection=true' cargo bench -p odm-benches --bench overhead
//! ```
//!
//! Each operation runs in short rounds, driver and odm by turns, so that both see the same server, the
//! same caches and the same noise. Time is CPU time of this process, all threads: what the server and
//! the network take is in neither. A ratio is the median over the pairs of rounds, printed with half
//! the width of its 95 % interval. The goal is 1.05 for articles and 1.02 for films. `ODM_BENCH_ROUNDS`
//! sets the number of pairs (601 by default); a word behind `--` selects operations by name.
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a benchmark reports, and stops at anything unexpected"
)]

#[path = "models/film.rs"]
mod film;

use std::time::Duration;

use futures::TryStreamExt;
use mongodb::bson::{doc, oid::ObjectId};
use odm::prelude::*;
use odm_benches::mongod_uri;
use tokio::runtime::Builder;

use film::{Film, Films};

/// About 1 KB of the kinds of values that people store.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "articles")]
struct Article {
    #[serde(rename = "_id")]
    id: i32,
    title: String,
    slug: String,
    body: String,
    published: DateTime,
    words: i32,
    score: f64,
    draft: bool,
    tags: Vec<String>,
    author: Author,
    reviewer: Option<Author>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
struct Author {
    name: String,
    email: String,
}

fn article(id: i32) -> Article {
    let author = |name: &str| Author {
        name: name.to_owned(),
        email: format!("{}@example.com", name.to_lowercase()),
    };
    Article {
        id,
        title: format!("On the ordering of values, part {id}"),
        slug: format!("on-the-ordering-of-values-{id}"),
        body: "Numbers are compared by value, whatever their type. ".repeat(12),
        published: DateTime::from_millis(1_700_000_000_000 + i64::from(id)),
        words: 96,
        score: 4.5,
        draft: false,
        tags: ["bson", "order", "numbers"].map(str::to_owned).to_vec(),
        author: author("Ada"),
        reviewer: (id % 2 == 0).then(|| author("Grace")),
    }
}

/// The CPU time that the threads of this process have had.
fn cpu_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::try_from(time).expect("CPU time is not negative")
}

/// The CPU time of `count` calls.
async fn round(first: i32, count: i32, call: &impl AsyncFn(i32)) -> Duration {
    let began = cpu_time();
    for id in first..first + count {
        call(id).await;
    }
    cpu_time().saturating_sub(began)
}

/// Runs `bare` and `odm` by turns, prints what a call of each costs, and returns the ratio.
async fn compare(name: &str, count: i32, bare: impl AsyncFn(i32), odm: impl AsyncFn(i32)) -> f64 {
    // `cargo bench` gives its own flags beside the names that were asked for.
    let mut asked = std::env::args()
        .skip(1)
        .filter(|argument| !argument.starts_with("--"));
    let first = asked.next();
    if first.is_some_and(|first| !name.contains(&first)) && !asked.any(|part| name.contains(&part))
    {
        return 0.0;
    }
    let pairs = std::env::var("ODM_BENCH_ROUNDS")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(601);
    let mut ratios = Vec::new();
    let mut totals = [Duration::ZERO; 2];
    // The first pair warms up and is not counted; every other one begins with the other side.
    for pair in 0..=pairs {
        let first = 1_000_000 + pair * 2 * count;
        let (a, b) = if pair % 2 == 0 {
            let a = round(first, count, &bare).await;
            (a, round(first + count, count, &odm).await)
        } else {
            let b = round(first, count, &odm).await;
            (round(first + count, count, &bare).await, b)
        };
        if pair > 0 {
            ratios.push(b.as_secs_f64() / a.as_secs_f64());
            totals = [totals[0] + a, totals[1] + b];
        }
    }
    ratios.sort_by(f64::total_cmp);
    let ratio = ratios[ratios.len() / 2];
    let [bare, odm] = totals.map(|time| time.as_secs_f64() * 1e6 / f64::from(pairs * count));
    let quartile = |at: usize| ratios[ratios.len() * at / 4];
    // Half the notch of a box plot: two medians whose notches do not overlap differ at about the 95 % level.
    let error = 1.57 * (quartile(3) - quartile(1)) / f64::from(pairs).sqrt();
    println!("{name:<24}{bare:>10.1}{odm:>10.1}{ratio:>10.3} ± {error:.3}");
    ratio
}

fn main() {
    let Some(uri) = mongod_uri() else {
        println!("skipped: name a server in ODM_TEST_URI");
        return;
    };
    println!(
        "{:<24}{:>10}{:>10}{:>10}",
        "CPU µs a call", "driver", "odm", "ratio"
    );
    println!("articles of 11 fields, `i32` ids, a runtime of one thread");
    let current = Builder::new_current_thread().enable_all().build();
    let mut worst = current.unwrap().block_on(articles(&uri));
    println!("films of 22 fields, `ObjectId`s, a runtime of several threads");
    let several = Builder::new_multi_thread().enable_all().build();
    worst = worst.max(several.unwrap().block_on(films(&uri)));
    println!("worst ratio {worst:.3}; the goal is 1.05 for articles, 1.02 for films");
}

/// A database of its own, with one client for both sides: the same connections, sessions and view of the cluster.
async fn database(uri: &str) -> (Db, mongodb::Database) {
    let client = mongodb::Client::with_uri_str(uri)
        .await
        .expect("the server answers");
    let db = Db::from_driver(client.database(&format!("odm_{}", ObjectId::new())));
    let bare = client.database(db.name());
    (db, bare)
}

async fn films(uri: &str) -> f64 {
    let (db, bare) = database(uri).await;
    let plan = db.sync(models![Film]).plan().await.unwrap();
    plan.apply(Allow::CREATE).await.unwrap();
    let bare = bare.collection::<Film>("films");
    let odm = db.collection::<Film>();

    let source = Films::new();
    let stored: Vec<Film> = (0..1000).map(|n| source.film(n, 1000)).collect();
    bare.insert_many(&stored)
        .await
        .expect("the films are stored");
    let film = |n: i32| &stored[usize::try_from(n.rem_euclid(1000)).unwrap()];
    // What no film has as its id.
    let absent = |n: i32| film::object_id(i64::from(n) + 1_000_000);

    let mut worst: f64 = 0.0;
    worst = worst.max(
        compare(
            "get",
            50,
            async |n| {
                let found = bare.find_one(doc! {"_id": film(n).id}).await.unwrap();
                assert!(found.is_some());
            },
            async |n| assert!(odm.get(&film(n).id).await.unwrap().is_some()),
        )
        .await,
    );
    worst = worst.max(
        compare(
            "find by equality",
            30,
            async |n| {
                let mut found = bare.find(doc! {"rank": film(n).rank}).await.unwrap();
                let mut count = 0;
                while found.try_next().await.unwrap().is_some() {
                    count += 1;
                }
                assert_eq!(count, 1);
            },
            async |n| {
                let mut found = odm.find(|f| f.rank.eq(film(n).rank)).await.unwrap();
                let mut count = 0;
                while found.try_next().await.unwrap().is_some() {
                    count += 1;
                }
                assert_eq!(count, 1);
            },
        )
        .await,
    );
    worst = worst.max(
        compare(
            "update one",
            30,
            async |n| {
                let done = bare
                    .update_one(doc! {"_id": film(n).id}, doc! {"$inc": {"views": 1}})
                    .await
                    .unwrap();
                assert_eq!(done.matched_count, 1);
            },
            async |n| {
                let done = odm
                    .update_one(|f| f.id.eq(film(n).id), |f| f.views.inc(1))
                    .await
                    .unwrap();
                assert_eq!(done.matched, 1);
            },
        )
        .await,
    );
    worst = worst.max(
        compare(
            "insert one",
            30,
            async |n| {
                let mut film = film(n).clone();
                film.id = ObjectId::new();
                film.rank = -1;
                bare.insert_one(film).await.unwrap();
            },
            async |n| {
                let mut film = film(n).clone();
                film.id = ObjectId::new();
                film.rank = -1;
                odm.insert_one(film).await.unwrap();
            },
        )
        .await,
    );
    worst = worst.max(
        compare(
            "delete one",
            30,
            async |n| {
                let done = bare.delete_one(doc! {"_id": absent(n)}).await.unwrap();
                assert_eq!(done.deleted_count, 0);
            },
            async |n| {
                let done = odm.delete_one(|f| f.id.eq(absent(n))).await.unwrap();
                assert_eq!(done.deleted, 0);
            },
        )
        .await,
    );
    db.drop().await.expect("the database is dropped");
    worst
}

async fn articles(uri: &str) -> f64 {
    let (db, bare) = database(uri).await;
    let bare = bare.collection::<Article>("articles");
    let odm = db.collection::<Article>();

    let stored: Vec<Article> = (0..1000).map(article).collect();
    bare.insert_many(&stored)
        .await
        .expect("the articles are stored");
    let key = |id: i32| id.rem_euclid(1000);

    let mut worst: f64 = 0.0;
    worst = worst.max(
        compare(
            "find by id",
            50,
            async |id| {
                let found = bare.find_one(doc! {"_id": key(id)}).await.unwrap();
                assert!(found.is_some());
            },
            async |id| assert!(odm.get(&key(id)).await.unwrap().is_some()),
        )
        .await,
    );
    worst = worst.max(
        compare(
            "cursor of 1,000",
            2,
            async |_| {
                let mut found = bare.find(doc! {"_id": {"$lt": 1000}}).await.unwrap();
                let mut count = 0;
                while found.try_next().await.unwrap().is_some() {
                    count += 1;
                }
                assert_eq!(count, 1000);
            },
            async |_| {
                let mut found = odm.find(|a| a.id.lt(1000)).await.unwrap();
                let mut count = 0;
                while found.try_next().await.unwrap().is_some() {
                    count += 1;
                }
                assert_eq!(count, 1000);
            },
        )
        .await,
    );
    worst = worst.max(
        compare(
            "update_one",
            30,
            async |id| {
                let done = bare
                    .update_one(
                        doc! {"_id": key(id)},
                        doc! {"$inc": {"words": 1}, "$set": {"draft": true}},
                    )
                    .await
                    .unwrap();
                assert_eq!(done.matched_count, 1);
            },
            async |id| {
                let done = odm
                    .update_one(|a| a.id.eq(key(id)), |a| a.words.inc(1) & a.draft.set(true))
                    .await
                    .unwrap();
                assert_eq!(done.matched, 1);
            },
        )
        .await,
    );
    worst = worst.max(
        compare(
            "insert_one",
            30,
            async |id| {
                bare.insert_one(article(id)).await.unwrap();
            },
            async |id| {
                odm.insert_one(article(id)).await.unwrap();
            },
        )
        .await,
    );
    db.drop().await.expect("the database is dropped");
    worst
}
