//! Makes a report of a database in one HTML file: the guides' examples, with damage done on purpose.
//!
//! ```sh
//! cargo run --example report                    # prints where the page is
//! cargo run --example report -- report.html     # chooses the file
//! ```
#![expect(clippy::print_stdout, reason = "the example prints where the page is")]

#[path = "documents/all.rs"]
#[expect(dead_code, reason = "the examples are stored, and not joined")]
mod examples;

use std::path::PathBuf;

use odm::model::ModelMeta;
use odm::prelude::*;

use crate::examples::{hosts, movies, patrons, people, products, publishers, students};

/// One model for each collection: some of the guides' examples share them.
fn models() -> impl IntoIterator<Item = &'static ModelMeta> {
    models![
        patrons::addresses::Member,
        patrons::addresses::Mail,
        publishers::squillions::Publisher,
        publishers::squillions::Book,
        people::Place,
        people::Person,
        students::courses::Student,
        students::courses::Course,
        movies::Movie,
        movies::MovieDetails,
        products::parts::Product,
        products::parts::Part,
        hosts::newest::Host,
        hosts::newest::LogMessage,
    ]
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = match std::env::args().nth(1) {
        Some(path) => PathBuf::from(path),
        None => std::env::temp_dir().join("report.html"),
    };
    let db = Db::memory();
    fill(&db).await?;
    damage(&db).await?;
    let report = db.report(models()).title("The guides' examples").await?;
    std::fs::write(&path, report.html())?;
    println!("{}", path.display());
    Ok(())
}

async fn fill(db: &Db) -> odm::Result<()> {
    patrons::addresses::store(db).await?;
    publishers::squillions::store(db).await?;
    people::store(db).await?;
    students::courses::store(db).await?;
    movies::store(db).await?;
    products::parts::store(db).await?;
    hosts::newest::store(db).await
}

/// Does what other programs do: they know nothing of the models.
async fn damage(db: &Db) -> odm::Result<()> {
    let one = |filter: bson::Document, change: bson::Document| doc! {"q": filter, "u": change};
    let commands = [
        // Books without their publisher.
        doc! {"delete": "publishers", "deletes": [{"q": {}, "limit": 1}]},
        // A field that no model declares, and a text in place of a page count.
        doc! {"update": "books", "bypassDocumentValidation": true, "updates": [
            one(doc! {"pages": 216}, doc! {"$set": {"colour": "red"}}),
            one(doc! {"pages": 68}, doc! {"$set": {"pages": "sixty-eight"}}),
        ]},
        // A host whose list of the newest messages is behind.
        doc! {"update": "hosts", "bypassDocumentValidation": true, "updates": [
            one(doc! {}, doc! {"$set": {"logmsgs": []}}),
        ]},
        // An index that a model declares is gone, and one is there that none declares.
        doc! {"dropIndexes": "books", "index": {"publisher_id": 1}},
        doc! {"createIndexes": "parts", "indexes": [
            {"key": {"name": 1}, "name": "by_name"},
            {"key": {"name": 1, "price": 1}, "name": "by_name_and_price"},
        ]},
        doc! {"create": "old_orders"},
    ];
    for command in commands {
        db.run_command(command).await?;
    }
    Ok(())
}
