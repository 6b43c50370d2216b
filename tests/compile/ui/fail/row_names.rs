use std::sync::Arc;

use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "authors", has_many(books: Book, by = author))]
struct Author {
    #[serde(rename = "_id")]
    id: i32,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "books", index(author))]
struct Book {
    #[serde(rename = "_id")]
    id: i32,
    author: Ref<Author>,
}

struct Page<T>(T);

type WithoutTypes = odm::row!(Author { books });
type Misspelt = odm::row!(Author { boks: Vec<Arc<Book>> });
type Generic = odm::row!(Page<Book> { books: Vec<Arc<Book>> });
type NoList = odm::row!(Author);
type Names = odm::relation!(books);
type Two = odm::relation!(Author::books, Book::author);

async fn another_type(books: Collection<Book>) -> Vec<odm::row!(Book { author: Arc<Author> })> {
    books.find_all().join(|b| b.author).all().await.unwrap()
}

fn unjoined(row: &odm::row!(Author { books: Vec<Arc<Book>> })) -> usize {
    row.desks().len()
}

fn misspelt(row: &Misspelt) -> i32 {
    row.id
}

fn main() {}
