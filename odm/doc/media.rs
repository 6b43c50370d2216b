// A collection of two models for the examples in the documentation, included in a hidden line.
use odm::prelude::*;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "media", index(book.title))]
#[serde(tag = "kind", rename_all = "camelCase")]
#[allow(dead_code)]
enum Medium {
    Book(Book),
    Film(Film),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(variant_of = Medium)]
#[allow(dead_code)]
struct Book {
    #[serde(rename = "_id")]
    id: Id<Medium>,
    title: String,
    #[odm(unique)]
    isbn: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(variant_of = Medium)]
#[allow(dead_code)]
struct Film {
    #[serde(rename = "_id")]
    id: Id<Medium>,
    title: String,
    #[odm(range(min = 1))]
    minutes: i32,
}

#[allow(dead_code)]
fn book(title: &str, isbn: &str) -> Book {
    Book { id: Id::new(), title: title.to_owned(), isbn: isbn.to_owned() }
}

#[allow(dead_code)]
fn film(title: &str, minutes: i32) -> Film {
    Film { id: Id::new(), title: title.to_owned(), minutes }
}

/// A book and a film, in a collection with the declared validator and indexes.
#[allow(dead_code)]
async fn two_media() -> odm::Result<Db> {
    let db = Db::memory();
    db.sync(models![Medium]).plan().await?.apply(Allow::CREATE).await?;
    db.collection::<Book>().insert_one(book("Emma", "978-0")).await?;
    db.collection::<Film>().insert_one(film("Emma", 124)).await?;
    Ok(db)
}
