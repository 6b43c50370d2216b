//! Models of existing collections, pulled by odm.
//!
//! `fs.chunks` has no model: it has the chunks of the files in `fs.files`, which `Db::gridfs` reads.
//!
//! `lent` has no model: it is a view: write a model with `view(on = …, pipeline = …)`.
//!
//! `system.views` has no model: the server keeps it for itself.

use std::collections::BTreeMap;

use odm::bson;
use odm::dbref::DbRef;
use odm::gridfs::ByteCount;
use odm::prelude::*;

/// A document of `authors`: 3 of 3 were read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "authors")]
pub struct Author {
    /// objectId 100 %.
    #[serde(rename = "_id")]
    pub id: Id<Author>,
    /// string 100 %.
    pub name: String,
}

/// A document of `books`: 24 of 24 were read.
// The index `title_1` is not declared: the index `title_1_seen_-1` serves its queries. {"v":2,"key":{"title":1},"name":"title_1"}
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "books")]
#[odm(validation(level = "moderate"))]
#[odm(rule("validator 1", |_| odm::query::raw(doc! { "$expr": { "$lt": ["$pages", 9_000] } })))]
#[odm(index(title, seen = desc))]
#[odm(ttl(seen, after = "18250d"))]
#[odm(index(prints.place.city, name = "city", sparse))]
#[odm(index(author = hashed))]
#[odm(unique(pages, partial = |_| odm::query::raw(doc! { "pages": { "$gt": 5 } })))]
#[odm(text(title(weight = 5)))]
pub struct Book {
    /// int 100 %.
    #[serde(rename = "_id")]
    pub id: i32,
    /// string 100 %.
    #[odm(length(min = 1))]
    pub title: String,
    /// string 100 %.
    pub r#type: Type,
    /// int 75 %, null 25 %.
    // A part of the validator is not declared: {"multipleOf":1}
    #[odm(range(min = 1))]
    pub pages: Option<i32>,
    /// string 100 %.
    pub state: State,
    /// objectId 100 %.
    /// 100 % of 3 ids resolve in `authors`.
    pub author: Ref<Author>,
    /// array 100 %; at most 2 elements: objectId 100 %.
    /// 100 % of 2 ids resolve in `authors`.
    #[odm(references(many, max = 10))]
    pub others: Vec<Ref<Author>>,
    /// date 100 %.
    pub seen: DateTime,
    /// UUID 100 %.
    pub key: bson::Uuid,
    /// array 100 %; at most 1 element: object 100 %.
    #[odm(embed(few, max = 10))]
    pub prints: Vec<Print>,
    /// object 100 %; at most 1 entry: int 100 %.
    #[serde(rename = "byYear")]
    pub by_year: BTreeMap<String, i32>,
    /// DBRef 100 %; to `books`.
    /// 100 % of 12 ids resolve in `books`.
    pub follows: DbRef<Book>,
    /// array 100 %; at most 2 elements: string 50 %, int 50 %.
    pub any: Vec<bson::Bson>,
}

/// A document of `fs.files`: 1 of 1 were read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "fs.files")]
#[odm(gridfs)]
pub struct FsFile {
    /// objectId 100 %.
    #[serde(rename = "_id")]
    pub id: Id<FsFile>,
    /// long 100 %.
    pub length: ByteCount,
    /// int 100 %.
    #[serde(rename = "chunkSize")]
    pub chunk_size: ByteCount,
    /// date 100 %.
    #[serde(rename = "uploadDate")]
    pub upload_date: DateTime,
    /// string 100 %.
    pub filename: String,
}

/// A document of `log`: 1 of 1 were read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "log")]
#[odm(capped(size = 4_096, max = 10))]
pub struct Log {
    /// int 100 %.
    #[serde(rename = "_id")]
    pub id: i32,
    /// string 100 %.
    pub line: String,
}

/// A string in `books.type`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, Embedded)]
pub enum Type {
    /// 50 % of the strings.
    #[serde(rename = "a")]
    A,
    /// 50 % of the strings.
    #[serde(rename = "b")]
    B,
}

/// A string in `books.state`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, Embedded)]
pub enum State {
    /// 50 % of the strings.
    #[serde(rename = "lent")]
    Lent,
    /// 50 % of the strings.
    #[serde(rename = "on shelf")]
    OnShelf,
    /// In no document that was read; the validator allows it.
    #[serde(rename = "gone")]
    Gone,
}

/// A document in `books.prints`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct Print {
    /// int 100 %.
    pub year: i32,
    /// object 100 %.
    pub place: Place,
}

/// A document in `books.prints.place`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct Place {
    /// string 100 %.
    pub city: String,
}
