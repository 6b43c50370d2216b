// The set-up of examples about collections: they include this file.

use odm::prelude::*;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "books")]
struct Book {
    #[serde(rename = "_id")]
    id: i32,
    title: String,
    year: i32,
    tags: Vec<String>,
}

fn book(id: i32, title: &str, year: i32) -> Book {
    Book {
        id,
        title: title.to_owned(),
        year,
        tags: Vec::new(),
    }
}

/// A database with three books.
async fn three_books() -> odm::Result<(Db, Collection<Book>)> {
    let db = Db::memory();
    let books = db.collection::<Book>();
    let three = [
        book(1, "Emma", 1815),
        book(2, "Walden", 1854),
        book(3, "Ulysses", 1922),
    ];
    books.insert_many(three).await?;
    Ok((db, books))
}
