//! What another program changes between a plan and its write, and a plain model of what a plan reads.

use std::collections::{BTreeMap, BTreeSet};

use odm::bson::{Bson, Document as BsonDocument};
use odm::prelude::*;

use super::super::dependents::insert;
use super::verbs::{NAMED, Verb};

pub(super) const COLLECTIONS: [&str; 3] = ["hosts", "messages", "answers"];

#[derive(Debug, Clone, Copy)]
pub(super) enum Change {
    // No plan reads these fields.
    Note,
    Name,
    /// The field by which messages refer.
    Number,
    OneMatches,
    OneMatchesLess,
    AnotherMatches,
    FirstMatchesNot,
    NewHost,
    NewHostNine,
    NoHostOne,
    NewMessage,
    NoMessageTwo,
    MessageMoves,
    MessageMovesAway,
    MessagesSwap,
    MessageVersion,
    NewPart,
    NoCycle,
    NewAnswer,
    NoAnswerOne,
    AnswerMoves,
}

pub(super) const CHANGES: [Change; 21] = [
    Change::Note,
    Change::Name,
    Change::Number,
    Change::OneMatches,
    Change::OneMatchesLess,
    Change::AnotherMatches,
    Change::FirstMatchesNot,
    Change::NewHost,
    Change::NewHostNine,
    Change::NoHostOne,
    Change::NewMessage,
    Change::NoMessageTwo,
    Change::MessageMoves,
    Change::MessageMovesAway,
    Change::MessagesSwap,
    Change::MessageVersion,
    Change::NewPart,
    Change::NoCycle,
    Change::NewAnswer,
    Change::NoAnswerOne,
    Change::AnswerMoves,
];

fn host(id: i32, rank: i32, part_of: Bson) -> BsonDocument {
    let time = DateTime::from_millis(0);
    doc! {
        "_id": id, "number": id * 10, "name": "ada", "rank": rank, "note": "n", "part_of": part_of,
        "created": time, "updated": time,
    }
}

fn message(id: i32, host: i32) -> BsonDocument {
    let time = DateTime::from_millis(0);
    doc! {"_id": id, "host": host, "host_name": "ada", "version": 1_i64, "created": time}
}

async fn update(db: &Db, collection: &str, id: i32, change: BsonDocument) {
    let update = doc! {"q": {"_id": id}, "u": change};
    let command = doc! {"update": collection, "updates": [update]};
    db.run_command(command).await.unwrap();
}

async fn delete(db: &Db, collection: &str, filter: BsonDocument) {
    let delete = doc! {"q": filter, "limit": 0};
    let command = doc! {"delete": collection, "deletes": [delete]};
    db.run_command(command).await.unwrap();
}

/// Two hosts of rank 5, which are parts of each other, and a third; messages of the first two, and answers.
pub(super) async fn set_up(db: &Db) {
    let hosts = [
        host(1, 5, 2.into()),
        host(2, 5, 1.into()),
        host(3, 0, Bson::Null),
    ];
    let messages = [message(1, 10), message(2, 10), message(3, 20)];
    let answers = [(1, 1), (2, 1), (3, 3)];
    let answers = answers.map(|(id, to)| doc! {"_id": id, "message": to});
    restore(db, &[hosts.to_vec(), messages.to_vec(), answers.to_vec()]).await;
}

/// Stores these documents of each collection, and no others.
pub(super) async fn restore(db: &Db, all: &[Vec<BsonDocument>]) {
    for (name, documents) in COLLECTIONS.into_iter().zip(all) {
        delete(db, name, doc! {}).await;
        if !documents.is_empty() {
            insert(db, name, documents.iter().cloned()).await;
        }
    }
}

/// The documents of each collection in the order in which they are stored.
pub(super) async fn state(db: &Db) -> Vec<Vec<BsonDocument>> {
    let mut all = Vec::new();
    for name in COLLECTIONS {
        all.push(db.run_command(doc! {"find": name}).all().await.unwrap());
    }
    all
}

/// Everything in the database.
pub(super) async fn everything(db: &Db) -> BTreeMap<String, Vec<BsonDocument>> {
    let mut all = BTreeMap::new();
    for name in db.list_collection_names().await.unwrap() {
        let find = doc! {"find": &name, "sort": {"_id": 1}};
        let documents = db.run_command(find).all().await.unwrap();
        all.insert(name, documents);
    }
    all
}

impl Change {
    pub(super) async fn apply(self, db: &Db) {
        let set = |field: &str, value: Bson| doc! {"$set": {field: value}};
        match self {
            Self::Note => update(db, "hosts", 1, set("note", "m".into())).await,
            Self::Name => update(db, "hosts", 1, set("name", "bob".into())).await,
            Self::Number => update(db, "hosts", 1, set("number", 11.into())).await,
            Self::OneMatches => update(db, "hosts", 3, set("rank", 5.into())).await,
            Self::OneMatchesLess => update(db, "hosts", 2, set("rank", 0.into())).await,
            Self::AnotherMatches => {
                update(db, "hosts", 2, set("rank", 0.into())).await;
                update(db, "hosts", 3, set("rank", 5.into())).await;
            }
            Self::FirstMatchesNot => update(db, "hosts", 1, set("rank", 0.into())).await,
            Self::NewHost | Self::NewHostNine => {
                let id = if matches!(self, Self::NewHost) { 4 } else { 9 };
                delete(db, "hosts", doc! {"_id": id}).await;
                insert(db, "hosts", [host(id, 5, Bson::Null)]).await;
            }
            Self::NoHostOne => delete(db, "hosts", doc! {"_id": 1}).await,
            Self::NewMessage => {
                delete(db, "messages", doc! {"_id": 7}).await;
                insert(db, "messages", [message(7, 10)]).await;
            }
            Self::NoMessageTwo => delete(db, "messages", doc! {"_id": 2}).await,
            Self::MessageMoves => update(db, "messages", 3, set("host", 10.into())).await,
            Self::MessageMovesAway => update(db, "messages", 3, set("host", 30.into())).await,
            Self::MessagesSwap => {
                update(db, "messages", 1, set("host", 20.into())).await;
                update(db, "messages", 3, set("host", 10.into())).await;
            }
            Self::MessageVersion => {
                update(db, "messages", 1, doc! {"$inc": {"version": 1_i64}}).await;
            }
            Self::NewPart => update(db, "hosts", 3, set("part_of", 1.into())).await,
            Self::NoCycle => update(db, "hosts", 2, set("part_of", Bson::Null)).await,
            Self::NewAnswer => {
                delete(db, "answers", doc! {"_id": 7}).await;
                insert(db, "answers", [doc! {"_id": 7, "message": 1}]).await;
            }
            Self::NoAnswerOne => delete(db, "answers", doc! {"_id": 1}).await,
            Self::AnswerMoves => update(db, "answers", 1, set("message", 3.into())).await,
        }
    }
}

fn number(document: &BsonDocument, field: &str) -> i32 {
    document.get_i32(field).unwrap()
}

type Hosts<'a> = Vec<&'a BsonDocument>;

/// The hosts that the verb matches.
fn matching(verb: Verb, hosts: &[BsonDocument]) -> Hosts<'_> {
    let with = |id| hosts.iter().filter(move |host| number(host, "_id") == id);
    let ranked = hosts
        .iter()
        .filter(|host| number(host, "rank") == NAMED.rank);
    match verb {
        Verb::InsertOne | Verb::InsertMany | Verb::BulkInsert => Vec::new(),
        Verb::UpdateMany
        | Verb::UpdateByPipeline
        | Verb::BulkUpdate
        | Verb::BulkOfAll
        | Verb::DeleteMany => ranked.collect(),
        Verb::FindOneAndUpdate | Verb::FindOneAndDelete => ranked
            .max_by_key(|host| number(host, "_id"))
            .into_iter()
            .collect(),
        Verb::UpdateOne
        | Verb::DeleteOne
        | Verb::Replace
        | Verb::FindOneAndReplace
        | Verb::BulkReplace => ranked.filter(|host| number(host, "_id") == 1).collect(),
        Verb::UpsertOfNone => with(9).collect(),
        Verb::UpdateById
        | Verb::UpsertOfOne
        | Verb::ReplaceById
        | Verb::Save
        | Verb::DeleteById
        | Verb::BulkDelete => with(1).collect(),
        Verb::DeleteAll => hosts.iter().collect(),
    }
}

fn fields(documents: &Hosts<'_>, other: &str) -> BTreeSet<String> {
    let print = |host: &&BsonDocument| format!("{} {}", host["_id"], host[other]);
    documents.iter().map(print).collect()
}

fn updated(hosts: &Hosts<'_>, messages: &[BsonDocument]) -> String {
    let numbers: Vec<_> = hosts.iter().map(|host| &host["number"]).collect();
    let refer = |message: &&BsonDocument| numbers.contains(&&message["host"]);
    let holders = messages.iter().filter(refer).count();
    format!("{:?}, {holders} messages", fields(hosts, "number"))
}

fn deleted(matching: &Hosts<'_>, state: &[Vec<BsonDocument>]) -> String {
    let mut all = matching.clone();
    let mut place = 0;
    while let Some(host) = all.get(place).copied() {
        let part = |other: &&BsonDocument| other["part_of"] == host["_id"];
        for part in state[0].iter().filter(part) {
            if !all.contains(&part) {
                all.push(part);
            }
        }
        place += 1;
    }
    let others = all.split_off(matching.len());
    let refer = |message: &&BsonDocument| {
        let mut hosts = matching.iter().chain(&others);
        hosts.any(|host| host["number"] == message["host"])
    };
    let messages: Vec<_> = state[1].iter().filter(refer).collect();
    let ids: Vec<_> = messages.iter().map(|message| &message["_id"]).collect();
    let answers = state[2].iter();
    let answers = answers.filter(|answer| ids.contains(&&answer["message"]));
    format!(
        "{:?}, {:?}, {:?}, {} answers",
        fields(matching, "number"),
        fields(&others, "number"),
        fields(&messages, "version"),
        answers.count()
    )
}

/// What a plan of the verb has to notice.
pub(super) fn picture(verb: Verb, state: &[Vec<BsonDocument>]) -> String {
    let matching = matching(verb, &state[0]);
    match verb {
        verb if verb.inserts() => String::new(),
        verb if verb.deletes() => deleted(&matching, state),
        Verb::BulkDelete => deleted(&matching, state),
        Verb::BulkOfAll => {
            let with = |id| {
                let hosts = state[0].iter();
                hosts
                    .filter(move |host| number(host, "_id") == id)
                    .collect()
            };
            let updates = updated(&matching, &state[1]);
            format!(
                "{updates}; {}; {:?}",
                deleted(&with(3), state),
                fields(&with(1), "_id")
            )
        }
        _ => updated(&matching, &state[1]),
    }
}
