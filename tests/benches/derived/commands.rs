//! The commands that each way sends for one write.

use std::sync::{Arc, Mutex, PoisonError};

use mongodb::Client;
use mongodb::bson::{Document, doc};
use mongodb::event::EventHandler;
use mongodb::event::command::CommandEvent;
use mongodb::options::ClientOptions;
use odm::prelude::*;

use crate::Bench;
use crate::bulk::{self, Way};
use crate::by_hand::ByHand;
use crate::models::Case;

const CASES: [Case; 5] = [
    Case::StrictSummary,
    Case::SettledSummary,
    Case::TwoWay,
    Case::StrictList,
    Case::SettledList,
];

/// The names of the commands since the last look.
#[derive(Debug, Clone, Default)]
struct Sent(Arc<Mutex<Vec<String>>>);

impl Sent {
    fn add(&self, name: String) {
        let mut names = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        names.push(name);
    }

    fn take(&self) -> String {
        let mut names = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *names).join(", ")
    }
}

pub(crate) async fn list(bench: &Bench, uri: &str) {
    let sent = Sent::default();
    let names = sent.clone();
    let mut options = ClientOptions::parse(uri).await.unwrap();
    options.command_event_handler = Some(EventHandler::callback(move |event| {
        if let CommandEvent::Started(event) = event {
            names.add(event.command_name);
        }
    }));
    let client = Client::with_options(options).unwrap();
    let database = client.database(bench.database.name());
    let db = Db::from_driver(database.clone());
    println!("The commands of one write:\n");
    println!("| write | by hand | odm |\n| --- | --- | --- |");
    for case in CASES {
        let names = case.names();
        for name in [names.parents, names.children] {
            let all = database.collection::<Document>(name);
            all.delete_many(doc! {}).await.unwrap();
        }
        let parents = database.collection(names.parents);
        let stored = (0..2).map(|id| case.parent(id, &[]));
        parents.insert_many(stored).await.unwrap();
        let by_hand = ByHand::new(&database, case);
        // The first calls open connections.
        by_hand.insert(1, 0).await;
        case.insert(&db, 2, 0).await;
        sent.take();
        by_hand.insert(3, 0).await;
        let hand = sent.take();
        case.insert(&db, 4, 0).await;
        println!("| insert, {case:?} | {hand} | {} |", sent.take());
        if matches!(case, Case::StrictList | Case::SettledList) {
            continue;
        }
        by_hand.reassign(3, 1).await;
        let hand = sent.take();
        case.reassign(&db, 4, 1).await;
        println!("| move, {case:?} | {hand} | {} |", sent.take());
    }
    let traced = Bench {
        db,
        database,
        rounds: 1,
    };
    let mut row = Vec::new();
    for way in [Way::Each, Way::Odm] {
        bulk::prepare(&traced).await;
        sent.take();
        bulk::run(&traced, way).await;
        row.push(sent.take());
    }
    println!("| bulk write | {} |", row.join(" | "));
}
