//! One tree in the five patterns of MongoDB's guides: what each stores, and the commands that each operation sends.
//!
//! ```sh
//! cargo run --example trees                                     # on the engine in this process
//! cargo run --example trees -- mongodb://localhost/trees        # on a server
//! ```
//!
//! The outputs differ only in the order in which `$graphLookup` finds nodes.
#![expect(
    clippy::print_stdout,
    reason = "the example shows what it stores and sends"
)]

mod categories;

use odm::prelude::*;

use crate::categories::{PATTERNS, Pattern};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let db = match std::env::args().nth(1) {
        None => Db::memory(),
        Some(uri) => Db::connect(&uri).await?,
    };
    // Each pattern ends by dropping the database: never one that holds anything of yours.
    let names = doc! {"listCollections": 1, "nameOnly": true};
    if !db.run_command(names).all().await?.is_empty() {
        return Err(
            "the database is not empty; name one that the example may fill and drop".into(),
        );
    }
    for pattern in PATTERNS {
        let shown = show(&db, pattern).await;
        db.drop().await?;
        shown?;
    }
    Ok(())
}

async fn show(db: &Db, pattern: &Pattern) -> odm::Result<()> {
    println!("{}", pattern.title);
    (pattern.store)(db).await?;
    for document in db.run_command(doc! {"find": "categories"}).all().await? {
        println!("    {document}");
    }
    let watched = db.on_command(|event| {
        let mut command = event.command.clone();
        // What the driver adds, and the names of databases, would differ between stores.
        for added in [
            "lsid",
            "txnNumber",
            "$db",
            "startTransaction",
            "autocommit",
            "$clusterTime",
        ] {
            command.remove(added);
        }
        println!("        {command}");
    });
    (pattern.steps)(&watched, &|line| println!("  {line}")).await?;
    println!();
    Ok(())
}
