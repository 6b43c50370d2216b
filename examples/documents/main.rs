//! Every relationship in MongoDB's guides to schema design, as structs: what they store, and how they are joined.
//!
//! ```sh
//! cargo run --example documents                                         # on the engine in this process
//! cargo run --example documents -- mongodb://localhost/documents        # on a server: the same output
//! ```
#![expect(
    clippy::print_stdout,
    reason = "the example shows what it stores and finds"
)]

#[path = "all.rs"]
mod examples;

use odm::prelude::*;

use crate::examples::{EXAMPLES, Example};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let db = match std::env::args().nth(1) {
        None => Db::memory(),
        Some(uri) => Db::connect(&uri).await?,
    };
    // Each example ends by dropping the database: never one that holds anything of yours.
    let names = doc! {"listCollections": 1, "nameOnly": true};
    if !db.run_command(names).all().await?.is_empty() {
        return Err(
            "the database is not empty; name one that the examples may fill and drop".into(),
        );
    }
    for example in EXAMPLES {
        let shown = show(&db, example).await;
        db.drop().await?;
        shown?;
    }
    Ok(())
}

async fn show(db: &Db, example: &Example) -> Result<(), Box<dyn std::error::Error>> {
    println!("{}", example.title);
    (example.store)(db).await?;
    for collection in example.collections {
        let find = db.run_command(doc! {"find": *collection, "sort": {"_id": 1}});
        for document in find.all().await? {
            println!("    {collection}: {document}");
        }
    }
    for line in (example.join)(db).await? {
        println!("  {line}");
    }
    println!();
    Ok(())
}
