//! Documents that were unwound have no struct.

use odm::pipeline::pipeline;
use odm::prelude::*;

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "books")]
struct Book {
    #[serde(rename = "_id")]
    id: i32,
    tags: Vec<String>,
}

async fn tags(books: &Collection<Book>) -> odm::Result<()> {
    books.aggregate(pipeline::<Book>().unwind(|b| b.tags)).all().await?;
    Ok(())
}

fn main() {}
