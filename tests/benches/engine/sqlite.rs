//! `SQLite` in memory, documents as JSONB, with an index on an expression.

use rusqlite::{Connection, Params, params};

use crate::item::Item;
use crate::measure::Subject;

pub(crate) struct Sqlite {
    connection: Connection,
}

impl Sqlite {
    pub(crate) fn new() -> Self {
        let connection = Connection::open_in_memory().unwrap();
        connection.set_prepared_statement_cache_capacity(32);
        Self { connection }
    }

    fn execute(&self, sql: &str, params: impl Params) -> usize {
        let mut statement = self.connection.prepare_cached(sql).unwrap();
        statement.execute(params).unwrap()
    }

    fn find(&self, sql: &str, params: impl Params) -> usize {
        let mut statement = self.connection.prepare_cached(sql).unwrap();
        let mut rows = statement.query(params).unwrap();
        let mut found: Vec<Item> = Vec::new();
        while let Some(row) = rows.next().unwrap() {
            let text = row.get_ref(0).unwrap().as_str().unwrap();
            found.push(serde_json::from_str(text).unwrap());
        }
        found.len()
    }
}

impl Subject for Sqlite {
    fn clear(&mut self) {
        *self = Self::new();
        self.connection
            .execute_batch(
                "CREATE TABLE items (id INTEGER PRIMARY KEY, doc BLOB NOT NULL);
                 CREATE INDEX ranks ON items (doc ->> '$.rank');",
            )
            .unwrap();
    }

    fn insert_one(&mut self, items: &[Item]) {
        for item in items {
            let text = serde_json::to_string(item).unwrap();
            self.execute(
                "INSERT INTO items VALUES (?1, jsonb(?2))",
                params![item.id, text],
            );
        }
    }

    fn insert_many(&mut self, items: &[Item]) {
        for items in items.chunks(1000) {
            self.execute("BEGIN", []);
            self.insert_one(items);
            self.execute("COMMIT", []);
        }
    }

    fn by_id(&mut self, ids: &[i64]) -> usize {
        let sql = "SELECT json(doc) FROM items WHERE id = ?1";
        ids.iter().map(|id| self.find(sql, [id])).sum()
    }

    fn by_rank(&mut self, ranks: &[i32]) -> usize {
        let sql = "SELECT json(doc) FROM items WHERE doc ->> '$.rank' = ?1";
        ranks.iter().map(|rank| self.find(sql, [rank])).sum()
    }

    fn range(&mut self, ranks: &[i32]) -> usize {
        let sql =
            "SELECT json(doc) FROM items WHERE doc ->> '$.rank' >= ?1 AND doc ->> '$.rank' < ?2";
        ranks
            .iter()
            .map(|rank| self.find(sql, [*rank, *rank + 100]))
            .sum()
    }

    fn scan(&mut self, region: i32, amount: f64) -> usize {
        let sql =
            "SELECT json(doc) FROM items WHERE doc ->> '$.region' = ?1 AND doc ->> '$.amount' < ?2";
        self.find(sql, params![region, amount])
    }

    fn sort(&mut self) -> usize {
        self.find(
            "SELECT json(doc) FROM items ORDER BY doc ->> '$.amount' DESC LIMIT 10",
            [],
        )
    }

    fn increment(&mut self, ids: &[i64]) {
        let sql = "UPDATE items SET doc = jsonb_set(doc, '$.stock', (doc ->> '$.stock') + 1) WHERE id = ?1";
        for id in ids {
            assert_eq!(self.execute(sql, [id]), 1);
        }
    }

    fn update_many(&mut self, from: i32) {
        let sql = "UPDATE items SET doc = jsonb_set(doc, '$.stock', (doc ->> '$.stock') + 1)
                   WHERE doc ->> '$.rank' >= ?1 AND doc ->> '$.rank' < ?2";
        assert_eq!(self.execute(sql, [from, from + 10_000]), 10_000);
    }

    fn any_of(&mut self, ids: &[i64]) -> usize {
        let ids = serde_json::to_string(ids).unwrap();
        self.find(
            "SELECT json(doc) FROM items WHERE id IN (SELECT value FROM json_each(?1))",
            [ids],
        )
    }

    fn delete(&mut self, ids: &[i64]) {
        for id in ids {
            assert_eq!(self.execute("DELETE FROM items WHERE id = ?1", [id]), 1);
        }
    }
}
