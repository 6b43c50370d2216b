//! The in-memory engine, through the typed collection.

use odm::bson::Bson;
use odm::prelude::*;
use tokio::runtime::{Builder, Runtime};

use crate::item::{Item, Size};
use crate::measure::Subject;
use crate::process::resident;

pub(crate) struct Engine {
    runtime: Runtime,
    db: Db,
    items: Collection<Item>,
}

impl Engine {
    pub(crate) fn new() -> Self {
        let runtime = Builder::new_current_thread().enable_time().build().unwrap();
        let db = Db::memory();
        // The index without the validator: the others have none.
        let index = doc! {
            "createIndexes": "items",
            "indexes": [{"key": {"rank": 1}, "name": "rank_1"}],
        };
        runtime.block_on(async { db.run_command(index).await.unwrap() });
        Self {
            runtime,
            items: db.collection(),
            db,
        }
    }
}

impl Subject for Engine {
    fn clear(&mut self) {
        *self = Self::new();
    }

    fn insert_one(&mut self, items: &[Item]) {
        self.runtime.block_on(async {
            for item in items {
                self.items.insert_one(item).await.unwrap();
            }
        });
    }

    fn insert_many(&mut self, items: &[Item]) {
        self.runtime.block_on(async {
            for items in items.chunks(1000) {
                self.items.insert_many(items).await.unwrap();
            }
        });
    }

    fn by_id(&mut self, ids: &[i64]) -> usize {
        self.runtime.block_on(async {
            let mut found = 0;
            for id in ids {
                found += usize::from(self.items.get(id).await.unwrap().is_some());
            }
            found
        })
    }

    fn by_rank(&mut self, ranks: &[i32]) -> usize {
        self.runtime.block_on(async {
            let mut found = 0;
            for rank in ranks {
                found += self
                    .items
                    .find(|i| i.rank.eq(*rank))
                    .all()
                    .await
                    .unwrap()
                    .len();
            }
            found
        })
    }

    fn range(&mut self, ranks: &[i32]) -> usize {
        self.runtime.block_on(async {
            let mut found = 0;
            for rank in ranks {
                let range = self
                    .items
                    .find(|i| i.rank.gte(*rank) & i.rank.lt(*rank + 100));
                found += range.all().await.unwrap().len();
            }
            found
        })
    }

    fn scan(&mut self, region: i32, amount: f64) -> usize {
        self.runtime.block_on(async {
            let found = self
                .items
                .find(|i| i.region.eq(region) & i.amount.lt(amount));
            found.all().await.unwrap().len()
        })
    }

    fn sort(&mut self) -> usize {
        self.runtime.block_on(async {
            let found = self.items.find_all().sort(|i| i.amount.desc()).limit(10);
            found.all().await.unwrap().len()
        })
    }

    fn increment(&mut self, ids: &[i64]) {
        self.runtime.block_on(async {
            for id in ids {
                let done = self.items.update_one(|i| i.id.eq(*id), |i| i.stock.inc(1));
                assert_eq!(done.await.unwrap().modified, 1);
            }
        });
    }

    fn update_many(&mut self, from: i32) {
        self.runtime.block_on(async {
            let done = self.items.update_many(
                |i| i.rank.gte(from) & i.rank.lt(from + 10_000),
                |i| i.stock.inc(1),
            );
            assert_eq!(done.await.unwrap().modified, 10_000);
        });
    }

    fn any_of(&mut self, ids: &[i64]) -> usize {
        self.runtime.block_on(async {
            let found = self.items.find(|i| i.id.in_(ids.iter().copied()));
            found.all().await.unwrap().len()
        })
    }

    fn delete(&mut self, ids: &[i64]) {
        self.runtime.block_on(async {
            for id in ids {
                let done = self.items.delete_one(|i| i.id.eq(*id)).await.unwrap();
                assert_eq!(done.deleted, 1);
            }
        });
    }
}

/// Prints the memory of `count` small documents: as loaded, after an update of each that keeps its size, and after one
/// that makes each of them grow.
pub(crate) fn memory(count: i64) {
    let mut engine = Engine::new();
    let items = |from: i64, to: i64| -> Vec<Item> {
        (from..to)
            .map(|id| Item::new(id, count, Size::Small))
            .collect()
    };
    // What is allocated once and for all is no matter of the documents.
    engine.insert_many(&items(0, 1000));
    engine
        .runtime
        .block_on(async { engine.items.delete_all().await.unwrap() });
    let before = resident(std::process::id());
    let mut from = 0;
    while from < count {
        engine.insert_many(&items(from, from + 1000));
        from += 1000;
    }
    engine.print_memory(count, "loaded", before);
    // In no order, one document at a time.
    let ids = |step: i64| (0..count).map(move |n| n * step % count);
    engine.increment(&ids(104_729).collect::<Vec<_>>());
    engine.print_memory(count, "updated", before);
    engine.runtime.block_on(async {
        for id in ids(7_919) {
            let name = format!("item {id:>010} with a longer name");
            let done = engine
                .items
                .update_one(|i| i.id.eq(id), |i| i.name.set(name));
            assert_eq!(done.await.unwrap().modified, 1);
        }
    });
    engine.print_memory(count, "grown", before);
}

impl Engine {
    fn print_memory(&self, count: i64, state: &str, before: u64) {
        let memory = resident(std::process::id()) - before;
        let stats = self.runtime.block_on(async {
            let command = doc! { "collStats": "items" };
            self.db.run_command(command).await.unwrap()
        });
        let field = |name: &str| match stats.get(name) {
            Some(Bson::Int32(value)) => i64::from(*value),
            Some(Bson::Int64(value)) => *value,
            _ => 0,
        };
        let (documents, keys) = (field("size"), field("totalIndexSize"));
        println!(
            "| {count} | {state} | {documents} | {keys} | {memory} | {:.2} |",
            memory as f64 / (documents + keys) as f64
        );
    }
}
