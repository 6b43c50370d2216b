use odm::prelude::*;
use odm::tree::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "categories", tree(parent_references))]
struct Category {
    #[serde(rename = "_id")]
    id: String,
    parent: Parent<Category>,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "books")]
struct Book {
    #[serde(rename = "_id")]
    id: String,
}

async fn nodes(db: &Db, one: &Category, book: &Book) -> odm::Result<()> {
    db.tree::<Book>();
    let tree = db.tree::<Category>();
    tree.children(book).all().await?;
    tree.children("Books").all().await?;
    tree.children(one.id.clone()).all().await?;
    tree.insert(Book { id: String::new() }, Position::root())
        .await?;
    Ok(())
}

fn main() {}
