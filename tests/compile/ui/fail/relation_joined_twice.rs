use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "authors")]
struct Author {
    #[serde(rename = "_id")]
    id: i32,
}

#[derive(Serialize, Deserialize, Embedded)]
struct Credit {
    author: Ref<Author>,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "books")]
struct Book {
    #[serde(rename = "_id")]
    id: i32,
    text: Credit,
    preface: Credit,
}

async fn rows(books: Collection<Book>) -> odm::Result<()> {
    let find = books.find_all().join(|b| b.text.author).join(|b| b.preface.author);
    let rows = find.all().await?;
    let _ = rows[0].author();
    Ok(())
}

fn main() {}
