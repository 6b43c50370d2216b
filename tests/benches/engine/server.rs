//! A real server over loopback, through the official driver.

use std::env;
use std::time::Duration;

use futures::TryStreamExt;
use mongodb::bson::doc;
use mongodb::options::{Acknowledgment, CollectionOptions, WriteConcern};
use mongodb::{Client, Collection, IndexModel};
use tokio::runtime::{Builder, Runtime};

use crate::item::Item;
use crate::measure::Subject;
use crate::process::processor_of;

pub(crate) struct Server {
    runtime: Runtime,
    client: Client,
    items: Collection<Item>,
    pid: Option<u32>,
}

impl Server {
    /// The server of `ODM_TEST_URI`, whose process is `ODM_BENCH_MONGOD_PID`.
    pub(crate) fn from_env() -> Option<Self> {
        let uri = env::var("ODM_TEST_URI").ok()?;
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        let client = runtime.block_on(async { Client::with_uri_str(&uri).await.unwrap() });
        // As fast as it goes: nothing waits for a journal.
        let concern = WriteConcern::builder().w(Acknowledgment::Nodes(1)).build();
        let options = CollectionOptions::builder().write_concern(concern).build();
        let name = format!("odm_bench_{}", std::process::id());
        let items = client
            .database(&name)
            .collection_with_options("items", options);
        Some(Self {
            runtime,
            client,
            items,
            pid: env::var("ODM_BENCH_MONGOD_PID")
                .ok()
                .and_then(|pid| pid.parse().ok()),
        })
    }

    fn find(&self, filters: impl Iterator<Item = bson::Document>) -> usize {
        self.runtime.block_on(async {
            let mut count = 0;
            for filter in filters {
                let found = self.items.find(filter).await.unwrap();
                count += found.try_collect::<Vec<Item>>().await.unwrap().len();
            }
            count
        })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let database = self.client.database(&self.items.namespace().db);
        let _ = self.runtime.block_on(async { database.drop().await });
    }
}

impl Subject for Server {
    fn calls(&self) -> i64 {
        2_000
    }

    fn clear(&mut self) {
        self.runtime.block_on(async {
            self.items.drop().await.unwrap();
            let index = IndexModel::builder().keys(doc! {"rank": 1}).build();
            self.items.create_index(index).await.unwrap();
        });
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
                let item = self.items.find_one(doc! {"_id": *id}).await.unwrap();
                found += usize::from(item.is_some());
            }
            found
        })
    }

    fn by_rank(&mut self, ranks: &[i32]) -> usize {
        self.find(ranks.iter().map(|rank| doc! {"rank": *rank}))
    }

    fn range(&mut self, ranks: &[i32]) -> usize {
        self.find(
            ranks
                .iter()
                .map(|rank| doc! {"rank": {"$gte": *rank, "$lt": *rank + 100}}),
        )
    }

    fn scan(&mut self, region: i32, amount: f64) -> usize {
        self.find([doc! {"region": region, "amount": {"$lt": amount}}].into_iter())
    }

    fn sort(&mut self) -> usize {
        self.runtime.block_on(async {
            let found = self.items.find(doc! {}).sort(doc! {"amount": -1}).limit(10);
            found
                .await
                .unwrap()
                .try_collect::<Vec<Item>>()
                .await
                .unwrap()
                .len()
        })
    }

    fn increment(&mut self, ids: &[i64]) {
        self.runtime.block_on(async {
            for id in ids {
                let done = self
                    .items
                    .update_one(doc! {"_id": *id}, doc! {"$inc": {"stock": 1}});
                assert_eq!(done.await.unwrap().modified_count, 1);
            }
        });
    }

    fn update_many(&mut self, from: i32) {
        self.runtime.block_on(async {
            let filter = doc! {"rank": {"$gte": from, "$lt": from + 10_000}};
            let done = self.items.update_many(filter, doc! {"$inc": {"stock": 1}});
            assert_eq!(done.await.unwrap().modified_count, 10_000);
        });
    }

    fn any_of(&mut self, ids: &[i64]) -> usize {
        self.find([doc! {"_id": {"$in": ids}}].into_iter())
    }

    fn delete(&mut self, ids: &[i64]) {
        self.runtime.block_on(async {
            for id in ids {
                let done = self.items.delete_one(doc! {"_id": *id}).await.unwrap();
                assert_eq!(done.deleted_count, 1);
            }
        });
    }

    fn processor(&self) -> Duration {
        self.pid.map_or(Duration::ZERO, processor_of)
    }
}
