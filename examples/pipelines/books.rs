//! The pages of `$group` and `$out`: books and their authors.

use odm::output;
use odm::pipeline::{Pipeline, Written, pipeline};
use odm::prelude::*;

use super::sync;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "books")]
pub(crate) struct Book {
    #[serde(rename = "_id")]
    id: i32,
    title: String,
    author: String,
    copies: i32,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, Embedded)]
#[odm(result)]
struct Shelf {
    #[serde(rename = "_id")]
    author: String,
    books: Vec<Book>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, Embedded)]
#[serde(rename_all = "camelCase")]
#[odm(result)]
pub(crate) struct ShelfWithCopies {
    #[serde(rename = "_id")]
    author: String,
    pub(crate) books: Vec<Book>,
    total_copies: i64,
}

pub(crate) fn books_by_author() -> Pipeline<Book, ShelfWithCopies> {
    pipeline::<Book>()
        .group_by(
            |b| b.author,
            |b, author| {
                output!(Shelf {
                    author: author.key(),
                    books: author.push(b.expr()),
                })
            },
        )
        .add_field(|s| s.books.expr().map(|book| book.copies).sum())
        .project(|(s, total_copies)| {
            output!(ShelfWithCopies {
                author: s.author,
                books: s.books,
                total_copies: total_copies,
            })
        })
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "authors")]
pub(crate) struct Author {
    #[serde(rename = "_id")]
    name: String,
    pub(crate) books: Vec<String>,
}

pub(crate) fn write_authors() -> Written<Book> {
    pipeline::<Book>()
        .group_by(
            |b| b.author,
            |b, author| {
                output!(Author {
                    name: author.key(),
                    books: author.push(b.title),
                })
            },
        )
        .out()
}

pub(crate) async fn store(db: &Db) -> odm::Result<()> {
    sync(db, models![Book, Author]).await?;
    let book = |id, title: &str, author: &str, copies| Book {
        id,
        title: title.to_owned(),
        author: author.to_owned(),
        copies,
    };
    let books = [
        book(8751, "The Banquet", "Dante", 2),
        book(8752, "Divine Comedy", "Dante", 1),
        book(7000, "The Odyssey", "Homer", 10),
        book(7020, "Iliad", "Homer", 10),
    ];
    db.collection::<Book>().insert_many(books).await?;
    Ok(())
}
