//! `SQLite` in memory, documents as JSONB, with an index on an expression.

use odm::prelude::*;
use rusqlite::{Connection, Params, params};

use super::{Input, Store};
use crate::film_text::FilmText;

pub(super) struct Sqlite {
    connection: Connection,
}

impl Sqlite {
    pub(super) fn new() -> Self {
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
        let mut found: Vec<FilmText> = Vec::new();
        while let Some(row) = rows.next().unwrap() {
            let text = row.get_ref(0).unwrap().as_str().unwrap();
            found.push(serde_json::from_str(text).unwrap());
        }
        found.len()
    }
}

impl Store for Sqlite {
    fn clear(&mut self) {
        *self = Self::new();
        self.connection
            .execute_batch(
                "CREATE TABLE films (id TEXT PRIMARY KEY, doc BLOB NOT NULL);
                 CREATE INDEX ranks ON films (doc ->> '$.rank');",
            )
            .unwrap();
    }

    fn insert_one(&mut self, films: &[Input]) {
        for Input { text: film, .. } in films {
            let text = serde_json::to_string(film).unwrap();
            self.execute(
                "INSERT INTO films VALUES (?1, jsonb(?2))",
                params![film.id, text],
            );
        }
    }

    fn insert_many(&mut self, films: &[Input]) {
        for films in films.chunks(1000) {
            self.execute("BEGIN", []);
            self.insert_one(films);
            self.execute("COMMIT", []);
        }
    }

    fn by_id(&mut self, ids: &[ObjectId]) -> usize {
        let sql = "SELECT json(doc) FROM films WHERE id = ?1";
        ids.iter().map(|id| self.find(sql, [id.to_hex()])).sum()
    }

    fn by_rank(&mut self, ranks: &[i32]) -> usize {
        let sql = "SELECT json(doc) FROM films WHERE doc ->> '$.rank' = ?1";
        ranks.iter().map(|rank| self.find(sql, [rank])).sum()
    }

    fn range(&mut self, ranks: &[i32]) -> usize {
        let sql =
            "SELECT json(doc) FROM films WHERE doc ->> '$.rank' >= ?1 AND doc ->> '$.rank' < ?2";
        ranks
            .iter()
            .map(|rank| self.find(sql, [*rank, *rank + 100]))
            .sum()
    }

    fn scan(&mut self, year: i32, budget: f64) -> usize {
        let sql =
            "SELECT json(doc) FROM films WHERE doc ->> '$.year' = ?1 AND doc ->> '$.budget' < ?2";
        self.find(sql, params![year, budget])
    }

    fn sort(&mut self) -> usize {
        self.find(
            "SELECT json(doc) FROM films ORDER BY doc ->> '$.budget' DESC LIMIT 10",
            [],
        )
    }

    fn any_of(&mut self, ids: &[ObjectId]) -> usize {
        let ids: Vec<String> = ids.iter().map(|id| id.to_hex()).collect();
        let ids = serde_json::to_string(&ids).unwrap();
        self.find(
            "SELECT json(doc) FROM films WHERE id IN (SELECT value FROM json_each(?1))",
            [ids],
        )
    }

    fn increment(&mut self, ids: &[ObjectId]) {
        let sql = "UPDATE films SET doc = jsonb_set(doc, '$.views', (doc ->> '$.views') + 1) WHERE id = ?1";
        for id in ids {
            assert_eq!(self.execute(sql, [id.to_hex()]), 1);
        }
    }

    fn update_many(&mut self, from: i32) {
        let sql = "UPDATE films SET doc = jsonb_set(doc, '$.views', (doc ->> '$.views') + 1)
                   WHERE doc ->> '$.rank' >= ?1 AND doc ->> '$.rank' < ?2";
        assert_eq!(self.execute(sql, [from, from + 10_000]), 10_000);
    }

    fn delete(&mut self, ids: &[ObjectId]) {
        for id in ids {
            let deleted = self.execute("DELETE FROM films WHERE id = ?1", [id.to_hex()]);
            assert_eq!(deleted, 1);
        }
    }
}
