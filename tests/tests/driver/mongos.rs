//! The commands that odm sends to a sharded cluster. No cluster runs here: a proxy in front of the engine says that it is a `mongos`, and keeps
//! the commands that only a `mongos` knows.

#![expect(clippy::indexing_slicing, reason = "messages have their headers")]

use std::io::Cursor;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use mongodb::bson::{Document, doc};
use odm::Db;
use odm::plan::Action;
use odm::prelude::*;
use odm::server::Server;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

#[derive(Debug, Serialize, Deserialize, odm::Document)]
#[odm(collection = "readings", shard_key(host = hashed, time))]
struct Reading {
    #[serde(rename = "_id")]
    id: i32,
    host: String,
    time: i64,
}

#[derive(Debug, Serialize, Deserialize, odm::Document)]
#[odm(collection = "places", shard_key(region), collation(locale = "de"))]
struct Place {
    #[serde(rename = "_id")]
    id: i32,
    region: String,
}

const OP_QUERY: i32 = 2004;
const OP_MSG: i32 = 2013;
/// Whether the client takes several replies to one message.
const EXHAUST_ALLOWED: u8 = 1;

/// The state of the proxy.
#[derive(Clone, Default)]
struct Mongos {
    /// The commands that were not passed on.
    kept: Arc<Mutex<Vec<Document>>>,
    /// The documents of `config.collections`.
    sharded: Arc<Mutex<Vec<Document>>>,
}

impl Mongos {
    /// Starts a proxy in front of a server; returns its connection string.
    async fn start(&self, server: SocketAddr) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let mongos = self.clone();
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let mongos = mongos.clone();
                tokio::spawn(async move {
                    let server = TcpStream::connect(server).await.unwrap();
                    mongos.serve(client, server).await;
                });
            }
        });
        format!("mongodb://{address}/shop")
    }

    async fn serve(&self, mut client: TcpStream, mut server: TcpStream) {
        while let Some(mut message) = read(&mut client).await {
            let command = body(&message);
            let verb = command.keys().next().cloned().unwrap_or_default();
            let reply = match verb.as_str() {
                "shardCollection" | "enableSharding" => {
                    self.kept.lock().unwrap().push(without_session(command));
                    answer(&message, &doc! {"ok": 1})
                }
                "find" if command.get_str("$db").is_ok_and(|name| name == "config") => {
                    let batch = self.sharded.lock().unwrap().clone();
                    self.kept.lock().unwrap().push(without_session(command));
                    let cursor =
                        doc! {"id": 0_i64, "ns": "config.collections", "firstBatch": batch};
                    answer(&message, &doc! {"cursor": cursor, "ok": 1})
                }
                _ => {
                    if opcode(&message) == OP_MSG {
                        message[18] &= !EXHAUST_ALLOWED;
                    }
                    server.write_all(&message).await.unwrap();
                    let Some(reply) = read(&mut server).await else {
                        return;
                    };
                    if matches!(verb.as_str(), "hello" | "isMaster" | "ismaster") {
                        answer(&message, &disguised(body(&reply)))
                    } else {
                        reply
                    }
                }
            };
            if client.write_all(&reply).await.is_err() {
                return;
            }
        }
    }

    fn kept(&self) -> Vec<Document> {
        std::mem::take(&mut self.kept.lock().unwrap())
    }
}

/// The reply of a `mongos` to `hello`.
fn disguised(mut hello: Document) -> Document {
    for field in [
        "setName",
        "setVersion",
        "hosts",
        "me",
        "primary",
        "electionId",
        "lastWrite",
        "topologyVersion",
    ] {
        hello.remove(field);
    }
    hello.insert("msg", "isdbgrid");
    hello
}

fn without_session(mut command: Document) -> Document {
    for field in ["lsid", "$clusterTime", "$readPreference", "txnNumber"] {
        command.remove(field);
    }
    command
}

async fn read(stream: &mut TcpStream) -> Option<Vec<u8>> {
    let mut length = [0; 4];
    stream.read_exact(&mut length).await.ok()?;
    let mut message = length.to_vec();
    message.resize(usize::try_from(i32::from_le_bytes(length)).unwrap(), 0);
    stream.read_exact(&mut message[4..]).await.ok()?;
    Some(message)
}

fn opcode(message: &[u8]) -> i32 {
    i32::from_le_bytes(message[12..16].try_into().unwrap())
}

/// The document of a message; other sections hold documents to write.
fn body(message: &[u8]) -> Document {
    let start = match opcode(message) {
        OP_MSG => 21,
        // The name of the collection follows four bytes of flags, and two numbers follow it.
        OP_QUERY => 20 + message[20..].iter().position(|byte| *byte == 0).unwrap() + 9,
        _ => 36,
    };
    Document::from_reader(Cursor::new(&message[start..])).unwrap()
}

/// A reply to a message.
fn answer(message: &[u8], reply: &Document) -> Vec<u8> {
    let mut bytes = Vec::new();
    bytes.extend([0; 8]);
    bytes.extend(&message[4..8]);
    if opcode(message) == OP_MSG {
        bytes.extend(OP_MSG.to_le_bytes());
        bytes.extend([0; 5]);
    } else {
        bytes.extend(1_i32.to_le_bytes());
        bytes.extend([0; 16]);
        bytes.extend(1_i32.to_le_bytes());
    }
    bytes.extend(reply.to_vec().unwrap());
    let length = i32::try_from(bytes.len()).unwrap().to_le_bytes();
    bytes[..4].copy_from_slice(&length);
    bytes
}

async fn cluster() -> (Server, Mongos, Db) {
    let served = crate::serve();
    let mongos = Mongos::default();
    let uri = mongos.start(served.address()).await;
    let db = Db::connect(&uri).await.unwrap();
    assert!(db.capability().await.unwrap().sharded);
    (served, mongos, db)
}

#[tokio::test]
async fn a_plan_shards_new_collections() {
    let (_served, mongos, db) = cluster().await;
    let plan = db.sync(models![Reading, Place]).plan().await.unwrap();
    let asked = mongos.kept();
    assert_eq!(
        asked[0].get_document("filter").unwrap(),
        &doc! {"_id": {"$in": ["shop.readings", "shop.places"]}, "dropped": {"$ne": true}}
    );
    assert!(plan.left_out().is_empty());
    let actions: Vec<_> = plan.steps().iter().map(|step| &step.action).collect();
    assert_eq!(actions[2], &Action::ShardCollection { is_new: true });
    assert!(plan.apply(Allow::CREATE).await.unwrap().is_complete());
    assert_eq!(
        mongos.kept(),
        [
            doc! {"enableSharding": "shop", "$db": "admin"},
            doc! {"shardCollection": "shop.readings", "key": {"host": "hashed", "time": 1}, "$db": "admin"},
            doc! {"enableSharding": "shop", "$db": "admin"},
            doc! {"shardCollection": "shop.places", "key": {"region": 1}, "collation": {"locale": "simple"}, "$db": "admin"},
        ]
    );
    let indexes = db
        .run_command(doc! {"listIndexes": "places"})
        .all()
        .await
        .unwrap();
    assert_eq!(indexes[1].get_document("key").unwrap(), &doc! {"region": 1});
    assert!(!indexes[1].contains_key("collation"), "the simple one");
}

#[tokio::test]
async fn a_plan_compares_the_shard_keys_of_the_cluster() {
    let (_served, mongos, db) = cluster().await;
    let sync = db.sync(models![Reading]);
    let plan = sync.clone().plan().await.unwrap();
    plan.apply(Allow::CREATE).await.unwrap();
    // The collection is there, and not sharded: its documents would move.
    let plan = sync.clone().plan().await.unwrap();
    assert_eq!(
        plan.steps()[0].action,
        Action::ShardCollection { is_new: false }
    );
    assert_eq!(plan.steps()[0].requires(), Some(Allow::CHANGE));
    let listed = |key: Document| doc! {"_id": "shop.readings", "key": key, "unique": false};
    *mongos.sharded.lock().unwrap() = vec![listed(doc! {"host": "hashed", "time": 1.0})];
    assert!(sync.clone().plan().await.unwrap().is_empty());
    *mongos.sharded.lock().unwrap() = vec![listed(doc! {"time": 1})];
    let plan = sync.plan().await.unwrap();
    assert_eq!(plan.steps()[0].action, Action::ByHand);
    assert_eq!(
        plan.steps()[0].reasons,
        [
            "the shard key is {time: 1}, declared {host: \"hashed\", time: 1}: `reshardCollection` moves the documents"
        ]
    );
    assert_eq!(plan.steps().len(), 1);
}

#[tokio::test]
async fn models_without_a_shard_key_ask_for_none() {
    #[derive(Debug, Serialize, Deserialize, odm::Document)]
    #[odm(collection = "plain")]
    struct Plain {
        #[serde(rename = "_id")]
        id: i32,
    }
    let (_served, mongos, db) = cluster().await;
    let plan = db.sync(models![Plain]).plan().await.unwrap();
    assert!(plan.apply(Allow::CREATE).await.unwrap().is_complete());
    assert_eq!(mongos.kept(), Vec::<Document>::new());
    // The proxy passes on what is not for a `mongos` alone.
    let plain = db.collection::<Plain>();
    plain.insert_one(&Plain { id: 1 }).await.unwrap();
    assert_eq!(plain.get(&1).await.unwrap().map(|one| one.id), Some(1));
}
