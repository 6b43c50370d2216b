//! The administrator's command of a few models, as a process that `tests/tests/admin.rs` drives.

use std::process::ExitCode;

use odm::prelude::*;

#[derive(Debug, Serialize, Deserialize, Document)]
#[odm(
    collection = "authors",
    has_many(books: Book, by = author),
    budget = "1KiB",
    shard_key(id = hashed)
)]
struct Author {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(length(max = 100))]
    name: String,
    #[odm(count_of(books))]
    book_count: i64,
}

#[derive(Debug, Serialize, Deserialize, Document)]
#[odm(collection = "books")]
struct Book {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(index)]
    author: Ref<Author>,
    #[odm(copy_of(author.name))]
    author_name: String,
}

/// A model that may exceed its budget.
#[derive(Debug, Serialize, Deserialize, Document)]
#[odm(collection = "leaflets", budget = "100B")]
struct Leaflet {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(length(max = 500))]
    text: String,
}

#[tokio::main]
async fn main() -> ExitCode {
    // A plan refuses a model that may exceed its budget.
    let asks_for_all = std::env::args().any(|argument| argument == "budget");
    if asks_for_all {
        odm::admin::run(models![Author, Book, Leaflet]).await
    } else {
        odm::admin::run(models![Author, Book]).await
    }
}
