// `?` converts errors into any type: the block has to name one.

use std::time::Duration;

use odm::prelude::*;

#[derive(Debug, Serialize, Deserialize, Document)]
#[odm(collection = "books")]
struct Book {
    #[serde(rename = "_id")]
    id: i32,
}

#[tokio::main]
async fn main() {
    let books = Db::memory().collection::<Book>();
    let block = async {
        books.insert_one(Book { id: 1 }).await?;
        Ok(books.get(&1).await?)
    };
    block.within(Duration::from_secs(1)).await.unwrap();
}
