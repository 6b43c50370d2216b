//! Commands that mongod may still run, although their calls have been dropped.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use futures::TryStreamExt;
use mongodb::Client;
use mongodb::event::EventHandler;
use mongodb::event::cmap::CmapEvent;
use mongodb::event::command::CommandEvent;
use mongodb::options::ClientOptions;
use odm::Db;
use odm::bson::{self, doc};

use crate::backend::connected_uri;

/// How long a case waits for commands of its dropped calls.
const LONGEST: Duration = Duration::from_secs(60);

/// The commands of a handle that have no reply yet.
///
/// The driver closes the connection of a command whose future is dropped. mongod still runs what has arrived, on a busy machine
/// after the next commands of the case.
pub(crate) struct InFlight {
    commands: Arc<Commands>,
    /// The database of operations in progress; `None` in memory, where a dropped future runs no further.
    admin: Option<mongodb::Database>,
}

/// The last command of each connection that has had no reply, by the driver's number of the connection.
#[derive(Default)]
struct Commands(Mutex<HashMap<u32, Command>>);

struct Command {
    /// The server's number of the connection.
    connection: i64,
    state: State,
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    Sent,
    /// The pool has the connection again: the command was not sent, or its reply was read.
    CheckedIn,
    /// The pool has closed the connection, because its command was dropped.
    Closed,
}

impl InFlight {
    /// Another handle to the same database, and its commands.
    pub(crate) async fn watch(db: &Db) -> (Db, Self) {
        let commands = Arc::<Commands>::default();
        if db.as_driver().is_none() {
            let admin = None;
            return (db.clone(), Self { commands, admin });
        }
        let mut options = ClientOptions::parse(connected_uri()).await.unwrap();
        let noted = Arc::clone(&commands);
        options.command_event_handler =
            Some(EventHandler::callback(move |event| noted.command(&event)));
        let noted = Arc::clone(&commands);
        options.cmap_event_handler = Some(EventHandler::callback(move |event| {
            noted.connection(&event);
        }));
        let client = Client::with_options(options).unwrap();
        let admin = Some(client.database("admin"));
        let db = Db::from_driver(client.database(db.name()));
        (db, Self { commands, admin })
    }

    /// Waits until each command has its reply or, if its call was dropped, until mongod has closed its connection.
    pub(crate) async fn end(&self) {
        let Some(admin) = &self.admin else { return };
        let began = Instant::now();
        while !self.commands.lock().is_empty() {
            assert!(began.elapsed() < LONGEST, "commands are still in flight");
            let open = admin.aggregate([
                doc! { "$currentOp": { "allUsers": true, "idleConnections": true } },
                doc! { "$match": { "connectionId": { "$exists": true } } },
                doc! { "$project": { "_id": { "$toLong": "$connectionId" } } },
            ]);
            let open: Vec<bson::Document> = open.await.unwrap().try_collect().await.unwrap();
            let is_open = |id| open.iter().any(|row| row.get_i64("_id").unwrap() == id);
            self.commands
                .lock()
                .retain(|_, command| match command.state {
                    State::Sent => true,
                    State::CheckedIn => false,
                    State::Closed => is_open(command.connection),
                });
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }
}

impl Commands {
    fn lock(&self) -> MutexGuard<'_, HashMap<u32, Command>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn command(&self, event: &CommandEvent) {
        match event {
            CommandEvent::Started(event) => {
                let connection = event.connection.server_id.expect("mongod numbers them");
                let state = State::Sent;
                let command = Command { connection, state };
                self.lock().insert(event.connection.id, command);
            }
            CommandEvent::Succeeded(event) => _ = self.lock().remove(&event.connection.id),
            CommandEvent::Failed(event) => _ = self.lock().remove(&event.connection.id),
            _ => {}
        }
    }

    fn connection(&self, event: &CmapEvent) {
        let (id, state) = match event {
            CmapEvent::ConnectionCheckedIn(event) => (event.connection_id, State::CheckedIn),
            CmapEvent::ConnectionClosed(event) => (event.connection_id, State::Closed),
            _ => return,
        };
        if let Some(command) = self.lock().get_mut(&id) {
            command.state = state;
        }
    }
}
