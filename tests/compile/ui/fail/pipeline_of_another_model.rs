//! A pipeline runs on the collection of its model.

use odm::pipeline::pipeline;
use odm::prelude::*;

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "books")]
struct Book {
    #[serde(rename = "_id")]
    id: i32,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "films")]
struct Film {
    #[serde(rename = "_id")]
    id: i32,
}

async fn first(films: &Collection<Film>) -> odm::Result<()> {
    films.aggregate(pipeline::<Book>().limit(1)).all().await?;
    Ok(())
}

fn main() {}
