//! Versions of a schema: what older programs have stored is read, changed and migrated.

use odm::bson::Document as BsonDocument;
use odm::prelude::*;

#[derive(Debug, Serialize, Deserialize, Document)]
#[odm(
    collection = "people",
    schema(version = 3, steps(split_name, add_currency))
)]
struct Person {
    #[serde(rename = "_id")]
    id: i32,
    given_name: String,
    family_name: String,
    salary: i64,
    currency: String,
}

/// From version 1 to 2: a name becomes two.
fn split_name(person: &mut BsonDocument) -> Result<(), String> {
    let name = person.remove("name").ok_or("no `name`")?;
    let name = name.as_str().ok_or("`name` is not a text")?;
    let (given, family) = name.split_once(' ').ok_or("only one word")?;
    person.insert("given_name", given);
    person.insert("family_name", family);
    Ok(())
}

/// From version 2 to 3: salaries have been in euros so far.
fn add_currency(person: &mut BsonDocument) {
    person.insert("currency", "EUR");
}

/// Stores documents as the programs before have done.
async fn store(db: &Db) -> odm::Result<()> {
    let people = (1..=8_i32).map(|id| match id {
        1..=4 => doc! {"_id": id, "name": format!("Ada Lovelace-{id}"), "salary": i64::from(id)},
        5 => doc! {"_id": id, "name": "Plato", "salary": 5_i64},
        6 | 7 => doc! {
            "_id": id, "given_name": "Grace", "family_name": "Hopper", "salary": i64::from(id), "schema_version": 2,
        },
        // A newer program runs already.
        _ => doc! {"_id": id, "full_name": "Emmy Noether", "schema_version": 4},
    });
    let people: Vec<_> = people.collect();
    db.run_command(doc! {"insert": "people", "documents": people})
        .await?;
    Ok(())
}

pub(super) async fn show(db: &Db) -> Result<(), Box<dyn std::error::Error>> {
    store(db).await?;
    let people = db.collection::<Person>();
    println!("\n{} people are outdated", people.count_outdated().await?);

    // Reads pass older documents through the steps.
    let first = people.get(&1).await?.ok_or("nobody has the id 1")?;
    println!(
        "read: {}, {}, {} {}",
        first.family_name, first.given_name, first.salary, first.currency
    );
    for id in [5, 8] {
        if let Err(error) = people.get(&id).await {
            println!("{error}");
        }
    }

    // What changes is rewritten.
    people
        .update_by_id(&2, |p| p.salary.inc(100) & p.currency.set("GBP"))
        .await?;
    let mut third = people.load(&3).await?.ok_or("nobody has the id 3")?;
    third.family_name = String::from("King");
    people.save(&mut third).await?;
    println!("{} are left", people.count_outdated().await?);

    let plan = db.migrate(models![Person]).plan().await?;
    print!("{plan}");
    let report = plan.run().await?;
    print!("{report}");
    println!("{} is left", people.count_outdated().await?);

    // The test of a step: a recorded document.
    let upgraded: Person =
        odm::migrate::upgrade(doc! {"_id": 9, "name": "Alan Turing", "salary": 9_i64})?;
    println!("upgraded: {}", upgraded.family_name);
    Ok(())
}
