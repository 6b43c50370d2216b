//! The engine, through the mapper.

use odm::prelude::*;
use tokio::runtime::{Builder, Runtime};

use super::{Input, Store};
use crate::film::Film;

pub(super) struct Engine {
    runtime: Runtime,
    films: Collection<Film>,
    /// Whether sync has made the collection, and its validator with it.
    validated: bool,
}

impl Engine {
    pub(super) fn new(validated: bool) -> Self {
        let runtime = Builder::new_current_thread().enable_time().build().unwrap();
        let db = Db::memory();
        runtime.block_on(async {
            if validated {
                let plan = db.sync(models![Film]).plan().await.unwrap();
                plan.apply(Allow::CREATE).await.unwrap();
            } else {
                let index = doc! {
                    "createIndexes": "films",
                    "indexes": [{"key": {"rank": 1}, "name": "rank_1"}],
                };
                db.run_command(index).await.unwrap();
            }
        });
        Self {
            runtime,
            films: db.collection(),
            validated,
        }
    }
}

impl Store for Engine {
    fn clear(&mut self) {
        *self = Self::new(self.validated);
    }

    fn insert_one(&mut self, films: &[Input]) {
        self.runtime.block_on(async {
            for Input { film, .. } in films {
                self.films.insert_one(film).await.unwrap();
            }
        });
    }

    fn insert_many(&mut self, films: &[Input]) {
        self.runtime.block_on(async {
            for films in films.chunks(1000) {
                let films = films.iter().map(|input| &input.film);
                self.films.insert_many(films).await.unwrap();
            }
        });
    }

    fn by_id(&mut self, ids: &[ObjectId]) -> usize {
        self.runtime.block_on(async {
            let mut found = 0;
            for id in ids {
                found += usize::from(self.films.get(id).await.unwrap().is_some());
            }
            found
        })
    }

    fn by_rank(&mut self, ranks: &[i32]) -> usize {
        self.runtime.block_on(async {
            let mut found = 0;
            for rank in ranks {
                let films = self.films.find(|f| f.rank.eq(*rank));
                found += films.all().await.unwrap().len();
            }
            found
        })
    }

    fn range(&mut self, ranks: &[i32]) -> usize {
        self.runtime.block_on(async {
            let mut found = 0;
            for rank in ranks {
                let range = self
                    .films
                    .find(|f| f.rank.gte(*rank) & f.rank.lt(*rank + 100));
                found += range.all().await.unwrap().len();
            }
            found
        })
    }

    fn scan(&mut self, year: i32, budget: f64) -> usize {
        self.runtime.block_on(async {
            let found = self.films.find(|f| f.year.eq(year) & f.budget.lt(budget));
            found.all().await.unwrap().len()
        })
    }

    fn sort(&mut self) -> usize {
        self.runtime.block_on(async {
            let found = self.films.find_all().sort(|f| f.budget.desc()).limit(10);
            found.all().await.unwrap().len()
        })
    }

    fn any_of(&mut self, ids: &[ObjectId]) -> usize {
        self.runtime.block_on(async {
            let found = self.films.find(|f| f.id.in_(ids.iter().copied()));
            found.all().await.unwrap().len()
        })
    }

    fn increment(&mut self, ids: &[ObjectId]) {
        self.runtime.block_on(async {
            for id in ids {
                let done = self.films.update_one(|f| f.id.eq(*id), |f| f.views.inc(1));
                assert_eq!(done.await.unwrap().modified, 1);
            }
        });
    }

    fn update_many(&mut self, from: i32) {
        self.runtime.block_on(async {
            let done = self.films.update_many(
                |f| f.rank.gte(from) & f.rank.lt(from + 10_000),
                |f| f.views.inc(1),
            );
            assert_eq!(done.await.unwrap().modified, 10_000);
        });
    }

    fn delete(&mut self, ids: &[ObjectId]) {
        self.runtime.block_on(async {
            for id in ids {
                let done = self.films.delete_one(|f| f.id.eq(*id)).await.unwrap();
                assert_eq!(done.deleted, 1);
            }
        });
    }
}
