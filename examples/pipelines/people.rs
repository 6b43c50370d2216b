//! The page of `$graphLookup`: people with the names of their friends.

use odm::output;
use odm::pipeline::{Pipeline, pipeline};
use odm::prelude::*;

use super::{owned, sync};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "people")]
pub(crate) struct Person {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(unique)]
    name: String,
    #[odm(refers_to(Person, by = name), items(max = 200))]
    friends: Vec<String>,
    hobbies: Vec<String>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, Embedded)]
pub(crate) struct Connections {
    name: String,
    friends: Vec<String>,
    #[serde(rename = "connections who play golf")]
    pub(crate) golfers: Vec<String>,
}

pub(crate) fn friends_who_play_golf() -> Pipeline<Person, Connections> {
    pipeline::<Person>()
        .match_(|p| p.name.eq("Tanya Jordan"))
        .graph_lookup_within(|p| p.friends, 9, |p| p.hobbies.has("golf"))
        .project(|(p, golfers)| {
            output!(Connections {
                name: p.name,
                friends: p.friends,
                golfers: golfers.expr().map(|golfer| golfer.name),
            })
        })
}

pub(crate) async fn store(db: &Db) -> odm::Result<()> {
    sync(db, models![Person]).await?;
    let person = |id, name: &str, friends: &[&str], hobbies: &[&str]| Person {
        id,
        name: name.to_owned(),
        friends: owned(friends),
        hobbies: owned(hobbies),
    };
    let (tanya, terry) = ("Tanya Jordan", "Terry Hawkins");
    let (shirley, carole) = ("Shirley Soto", "Carole Hale");
    let (angelo, joseph) = ("Angelo Ward", "Joseph Dennis");
    let people = [
        person(1, tanya, &[shirley, terry, carole], &["tennis", "golf"]),
        person(2, carole, &[joseph, tanya], &["frisbee", "golf"]),
        person(3, terry, &[tanya, angelo], &["knitting", "frisbee"]),
        person(4, joseph, &[angelo, carole], &["tennis", "golf"]),
        person(5, angelo, &[terry, joseph], &["travel", "golf"]),
        person(6, shirley, &[tanya], &["frisbee", "knitting"]),
    ];
    db.collection::<Person>().insert_many(people).await?;
    Ok(())
}
