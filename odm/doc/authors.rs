// The set-up of examples about relations: they include this file.

use odm::prelude::*;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "authors", has_many(books: Book, by = author))]
struct Author {
    #[serde(rename = "_id")]
    id: i32,
    name: String,
    born: i32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "books", index(author))]
struct Book {
    #[serde(rename = "_id")]
    id: i32,
    author: Ref<Author>,
    title: String,
    year: i32,
}

/// A database with two authors, the first with two books and the second with one.
async fn two_authors() -> odm::Result<(Collection<Author>, Collection<Book>)> {
    two_authors_in(&Db::memory()).await
}

async fn two_authors_in(db: &Db) -> odm::Result<(Collection<Author>, Collection<Book>)> {
    let (authors, books) = (db.collection::<Author>(), db.collection::<Book>());
    let author = |id, name: &str, born| Author {
        id,
        name: name.to_owned(),
        born,
    };
    let book = |id, author, title: &str, year| Book {
        id,
        author: Ref::from(author),
        title: title.to_owned(),
        year,
    };
    let two = [author(1, "Austen", 1775), author(2, "Joyce", 1882)];
    authors.insert_many(two).await?;
    let three = [
        book(1, 1, "Emma", 1815),
        book(2, 1, "Persuasion", 1817),
        book(3, 2, "Ulysses", 1922),
    ];
    books.insert_many(three).await?;
    Ok((authors, books))
}
