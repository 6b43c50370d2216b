//! Data that grows and changes: files that are larger than a document, traffic that is logged, numbered, counted and viewed,
//! models of data that other programs have stored, lists that overflow, several models in one collection, versions of a schema, collections for a
//! cluster, documents that MongoDB does not store, and shapes that change.
//!
//! ```sh
//! cargo run --example growth                                     # on the engine in this process
//! cargo run --example growth -- mongodb://localhost/growth       # on a server: the same output
//! ```
#![expect(
    clippy::print_stdout,
    reason = "the example shows what it stores and finds"
)]

mod existing;
mod files;
mod limits;
mod outliers;
mod shapes;
mod shards;
mod traffic;
mod variants;
mod versions;

use odm::prelude::*;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let db = match std::env::args().nth(1) {
        None => Db::memory(),
        Some(uri) => Db::connect(&uri).await?,
    };
    // The example ends by dropping the database: never one that holds anything of yours.
    let names = doc! {"listCollections": 1, "nameOnly": true};
    if !db.run_command(names).all().await?.is_empty() {
        return Err(
            "the database is not empty; name one that the example may fill and drop".into(),
        );
    }
    let shown = show(&db).await;
    db.drop().await?;
    shown
}

async fn show(db: &Db) -> Result<(), Box<dyn std::error::Error>> {
    files::show(db).await?;
    traffic::show(db).await?;
    existing::show(db).await?;
    outliers::show(db).await?;
    variants::show(db).await?;
    shards::show(db).await?;
    limits::show(db).await?;
    shapes::show(db).await?;
    versions::show(db).await
}
