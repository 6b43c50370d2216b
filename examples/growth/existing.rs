//! Models of what is there: collections that no struct has described yet.

use odm::prelude::*;
use odm::pull::Sample;

/// Stores documents as another program would.
async fn store(db: &Db) -> odm::Result<()> {
    let keepers = [
        doc! {"_id": "ada", "name": "Ada"},
        doc! {"_id": "bob", "name": "Bob", "pager": 7},
    ];
    db.run_command(doc! {"insert": "keepers", "documents": keepers})
        .await?;
    let animals = (1..=24_i32).map(|n| {
        doc! {
            "_id": n,
            "name": format!("animal {n}"),
            "class": if n % 3 == 0 { "bird" } else { "mammal" },
            "keeper": if n % 2 == 0 { "ada" } else { "bob" },
            "weights": [{"kg": f64::from(n) / 2.0, "year": 2020}],
        }
    });
    let animals: Vec<_> = animals.collect();
    db.run_command(doc! {"insert": "animals", "documents": animals})
        .await?;
    let name = doc! {"key": {"name": 1}, "name": "name_1", "unique": true};
    db.run_command(doc! {"createIndexes": "animals", "indexes": [name]})
        .await?;
    Ok(())
}

pub(super) async fn show(db: &Db) -> Result<(), Box<dyn std::error::Error>> {
    store(db).await?;
    let pulled = db
        .pull()
        .only(["animals", "keepers"])
        .sample(Sample::All)
        .await?;
    println!("\nmodels of {}:", pulled.collections().join(", "));
    println!("{}", pulled.to_source());

    // A second run keeps the file's edits, and adds what is new.
    let edited = pulled.to_source().replace("pub pager:", "pub beeper:");
    let edited = edited.replace(
        "pub beeper:",
        "#[serde(rename = \"pager\")]\n    pub beeper:",
    );
    let again = db
        .pull()
        .only(["animals", "keepers"])
        .sample(Sample::All)
        .await?;
    let merged = again.merge(&edited)?;
    println!("a second run changes the file: {}", merged.source != edited);
    Ok(())
}
