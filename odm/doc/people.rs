// The set-up of examples about versions of a schema: they include this file.

use odm::bson;
use odm::prelude::*;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "people", schema(version = 2, steps(split_name)))]
struct Person {
    #[serde(rename = "_id")]
    id: i32,
    given_name: String,
    family_name: String,
}

/// From version 1 to 2: a name becomes two.
fn split_name(person: &mut bson::Document) -> Result<(), String> {
    let name = person.remove("name").ok_or("no `name`")?;
    let name = name.as_str().ok_or("`name` is not a text")?;
    let (given, family) = name.split_once(' ').unwrap_or((name, ""));
    person.insert("given_name", given);
    person.insert("family_name", family);
    Ok(())
}

/// A database with two people, whom an older program has stored.
async fn two_people() -> odm::Result<(Db, Collection<Person>)> {
    let db = Db::memory();
    let two = [
        bson::doc! {"_id": 1, "name": "Ada Lovelace"},
        bson::doc! {"_id": 2, "name": "Grace Hopper"},
    ];
    db.run_command(bson::doc! {"insert": "people", "documents": two}).await?;
    let people = db.collection::<Person>();
    Ok((db, people))
}
