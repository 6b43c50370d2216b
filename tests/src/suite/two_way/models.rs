//! Two-way references of each arity: one and many, many and many, one and one.

use odm::prelude::*;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "owners", has_many(owned: Task, by = owner))]
pub(super) struct Owner {
    #[serde(rename = "_id")]
    pub(super) id: String,
    pub(super) name: String,
    #[odm(references(many, max = 4), two_way = owner)]
    #[serde(rename = "t")]
    pub(super) tasks: Vec<Ref<Task>>,
    #[odm(version)]
    pub(super) version: i64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "tasks")]
pub(super) struct Task {
    #[serde(rename = "_id")]
    pub(super) id: i32,
    #[odm(index, two_way = tasks)]
    #[serde(rename = "o", skip_serializing_if = "Option::is_none", default)]
    pub(super) owner: Option<Ref<Owner>>,
    #[odm(copy_of(owner.name))]
    pub(super) owner_name: Option<String>,
    #[odm(version)]
    pub(super) version: i64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "movies")]
pub(super) struct Movie {
    #[serde(rename = "_id")]
    pub(super) id: i32,
    #[odm(references(many, max = 100), two_way = movies)]
    pub(super) cast: Vec<Ref<Actor>>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "actors")]
pub(super) struct Actor {
    #[serde(rename = "_id")]
    pub(super) id: i32,
    #[odm(references(many, max = 100), two_way = cast)]
    pub(super) movies: Vec<Ref<Movie>>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "people")]
pub(super) struct Person {
    #[serde(rename = "_id")]
    pub(super) id: i32,
    #[odm(two_way = partner)]
    pub(super) partner: Option<Ref<Person>>,
    #[odm(references(many, max = 50), two_way = friends)]
    pub(super) friends: Vec<Ref<Person>>,
}

/// Each ticket has a seat.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "tickets")]
pub(super) struct Ticket {
    #[serde(rename = "_id")]
    pub(super) id: i32,
    #[odm(two_way = ticket)]
    pub(super) seat: Ref<Seat>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "seats")]
pub(super) struct Seat {
    #[serde(rename = "_id")]
    pub(super) id: i32,
    #[odm(two_way = seat)]
    pub(super) ticket: Option<Ref<Ticket>>,
}

pub(super) fn owner(id: &str, tasks: &[i32]) -> Owner {
    Owner {
        id: id.to_owned(),
        name: id.to_uppercase(),
        tasks: tasks.iter().copied().map(Ref::from).collect(),
        version: 0,
    }
}

pub(super) fn task(id: i32, owner: Option<&str>) -> Task {
    Task {
        id,
        owner: owner.map(Ref::from),
        owner_name: None,
        version: 0,
    }
}

pub(super) fn person(id: i32) -> Person {
    Person {
        id,
        partner: None,
        friends: Vec::new(),
    }
}
