use odm::prelude::*;

#[derive(Debug, Serialize, Deserialize, Document)]
#[odm(
    collection = "publishers",
    has_many(authors: Author, by = publisher, on_delete = restrict)
)]
struct Publisher {
    #[serde(rename = "_id")]
    id: i32,
}

#[derive(Debug, Serialize, Deserialize, Document)]
#[odm(collection = "authors", has_many(books: Book, by = author, on_delete = cascade))]
struct Author {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(index)]
    publisher: Ref<Publisher>,
}

#[derive(Debug, Serialize, Deserialize, Document)]
#[odm(collection = "books")]
struct Book {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(index)]
    author: Ref<Author>,
}

/// A publisher, two of its authors, and three books of the first.
#[allow(dead_code)]
async fn a_shelf() -> odm::Result<Db> {
    let db = Db::memory();
    db.sync(models![Publisher, Author, Book]).plan().await?.apply(Allow::CREATE).await?;
    db.collection::<Publisher>().insert_one(&Publisher { id: 1 }).await?;
    let author = |id| Author { id, publisher: Ref::from(1) };
    db.collection::<Author>().insert_many([author(1), author(2)]).await?;
    let book = |id| Book { id, author: Ref::from(1) };
    db.collection::<Book>().insert_many([book(1), book(2), book(3)]).await?;
    Ok(db)
}
