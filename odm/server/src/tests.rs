//! Removal of the state that clients leave behind, and shutdown.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use bson::{Bson, DateTime, Document, Uuid, doc};
use odm_engine::{Context, ServerVersion, Service};

use super::{GRACE, Options, Served, Server};

const CLIENTS: i32 = 8;

/// A service, and a server of it at a free port.
fn serve(context: Context) -> (Arc<Service>, Server) {
    let service = Arc::new(Service::new(context));
    let server = Server::bind(&service, Options::default(), "127.0.0.1:0").unwrap();
    (service, server)
}

struct Client(TcpStream);

impl Client {
    fn to(address: SocketAddr) -> Self {
        Self(TcpStream::connect(address).unwrap())
    }

    fn ask(&mut self, command: Document) -> Document {
        let shown = command.to_string();
        let reply = self.try_ask(command).unwrap();
        assert!(!reply.contains_key("code"), "{shown}: {reply}");
        reply
    }

    /// The reply, unless the connection ends.
    fn try_ask(&mut self, mut command: Document) -> Option<Document> {
        if !command.contains_key("$db") {
            command.insert("$db", "test");
        }
        let document = command.to_vec().unwrap();
        let mut frame = Vec::new();
        let length = i32::try_from(21 + document.len()).unwrap();
        for field in [length, 1, 0, 2013, 0] {
            frame.extend(field.to_le_bytes());
        }
        frame.push(0);
        frame.extend(document);
        self.0.write_all(&frame).ok()?;
        let mut header = [0; 16];
        self.0.read_exact(&mut header).ok()?;
        let length = i32::from_le_bytes(*header.first_chunk().unwrap());
        let mut body = vec![0; usize::try_from(length).unwrap() - 16];
        self.0.read_exact(&mut body).ok()?;
        Some(Document::from_reader(&body[5..]).unwrap())
    }

    /// Leaves cursors, sessions and a transaction behind.
    fn work(mut self, number: i32) {
        let session = doc! { "id": Uuid::new() };
        for step in 0..50 {
            let id = number * 1000 + step;
            let row = doc! { "_id": id, "text": "x".repeat(500) };
            self.ask(doc! { "insert": "c", "documents": [row], "lsid": session.clone(), "txnNumber": i64::from(step) });
            self.ask(doc! { "find": "c", "filter": { "_id": id } });
        }
        self.ask(doc! { "find": "c", "batchSize": 1 });
        self.ask(doc! { "find": "c", "limit": 1, "readConcern": { "level": "snapshot" } });
        let watch = doc! { "$changeStream": {} };
        self.ask(doc! { "aggregate": "c", "pipeline": [watch], "cursor": {} });
        self.ask(doc! {
            "insert": "c",
            "documents": [{ "_id": Bson::Int32(-number - 1) }],
            "lsid": { "id": Uuid::new() },
            "txnNumber": 1_i64,
            "autocommit": false,
            "startTransaction": true,
        });
    }
}

#[test]
fn a_stream_started_at_the_time_of_a_write_reports_it() {
    let server = serve(Context::system()).1;
    let mut client = Client::to(server.address());
    for id in 0..2 {
        let written = client.ask(doc! { "insert": "c", "documents": [{ "_id": id }] });
        let time = written.get_timestamp("operationTime").unwrap();
        let watch = doc! { "$changeStream": { "startAtOperationTime": time } };
        let open = doc! { "aggregate": "c", "pipeline": [watch], "cursor": {} };
        let stream = client.ask(open);
        let cursor = stream.get_document("cursor").unwrap();
        let more =
            doc! { "getMore": cursor.get_i64("id").unwrap(), "collection": "c", "maxTimeMS": 100 };
        let first = cursor.get_array("firstBatch").unwrap().clone();
        let more = client.ask(more);
        let next = more.get_document("cursor").unwrap().get_array("nextBatch");
        let events: Vec<_> = first.iter().chain(next.unwrap()).collect();
        let event = events
            .first()
            .and_then(|event| event.as_document())
            .unwrap();
        assert_eq!(event.get_timestamp("clusterTime").unwrap(), time);
        assert_eq!(events.len(), 1);
    }
}

#[test]
fn a_server_reports_the_version_of_its_engine() {
    for (version, wire, shown, number) in [
        (ServerVersion::V6_0, 17, "6.0", "6.0.5"),
        (ServerVersion::V8_0, 25, "8.0", "8.0.0"),
    ] {
        let server = serve(Context::system().with_version(version)).1;
        let mut client = Client::to(server.address());
        let mut ask = |mut command: Document| {
            command.insert("$db", "admin");
            client.try_ask(command).unwrap()
        };
        let hello = ask(doc! { "hello": 1 });
        assert_eq!(hello.get_i32("maxWireVersion").ok(), Some(wire));
        let status = ask(doc! { "serverStatus": 1 });
        assert_eq!(status.get_str("version").ok(), Some(number));
        let set = |to: &str| doc! { "setFeatureCompatibilityVersion": to };
        assert_eq!(ask(set(shown)).get_f64("ok").ok(), Some(1.0));
        // CommandNotSupported
        assert_eq!(ask(set("5.0")).get_i32("code").ok(), Some(115));
        assert_eq!(ask(set("9.0")).get_i32("code").ok(), Some(4_926_900));
    }
}

#[test]
fn abandoned_cursors_and_sessions_are_removed() {
    let clock = Arc::new(AtomicI64::new(1_700_000_000_000));
    let shared = Arc::clone(&clock);
    let context =
        Context::system().with_clock(move || DateTime::from_millis(shared.load(Ordering::Relaxed)));
    let server = serve(context).1;
    let (state, address) = (&server.state, server.address());
    let hello = || doc! { "hello": 1, "$db": "admin" };
    let alone = || {
        let began = Instant::now();
        while state.counts().0 > 0 || !state.operations.all().is_empty() {
            assert!(began.elapsed() < Duration::from_secs(10));
            thread::sleep(Duration::from_millis(5));
        }
    };
    let mut logged = Vec::new();
    for _round in 0..3 {
        thread::scope(|scope| {
            for number in 0..CLIENTS {
                scope.spawn(move || Client::to(address).work(number));
            }
        });
        alone();
        let each = usize::try_from(CLIENTS).unwrap();
        assert_eq!(state.service.counts(), [2 * each, each, 2 * each]);
        let [moments, log] = state.service.retained_sizes();
        assert!(moments == each && log > 0, "{moments} {log}");

        clock.fetch_add(31 * 60_000, Ordering::Relaxed);
        // A monitoring request of a driver.
        Client::to(address).ask(hello());
        alone();
        assert_eq!(state.service.counts(), [0; 3]);
        let [moments, log] = state.service.retained_sizes();
        assert_eq!(moments, 0);
        logged.push(log);
        Client::to(address).ask(doc! { "drop": "c" });
    }
    assert!(
        logged.iter().all(|log| *log <= 8 * 1024 * 1024),
        "{logged:?}"
    );
}

/// Calls that write, wait for documents or wait for a transaction all end, and no write is partial.
#[test]
fn a_server_stops_with_clients_connected() {
    let (service, server) = serve(Context::system());
    let address = server.address();
    let rows = [
        doc! { "_id": 0, "n": 0, "m": 0 },
        doc! { "_id": 1, "n": 0, "m": 0 },
    ];
    Client::to(address).ask(doc! { "insert": "c", "documents": rows.to_vec() });
    let mut holder = Client::to(address);
    let update = |id: i32| {
        let u = doc! { "$inc": { "n": 1, "m": 1 } };
        doc! { "update": "c", "updates": [{ "q": { "_id": id }, "u": u }] }
    };
    let mut held = update(1);
    held.extend(doc! {
        "lsid": { "id": Uuid::new() }, "txnNumber": 1_i64, "autocommit": false, "startTransaction": true,
    });
    holder.ask(held);
    let began = thread::scope(|scope| {
        for number in 0..CLIENTS {
            scope.spawn(move || {
                let mut client = Client::to(address);
                let mut more = doc! {};
                if number % 3 == 1 {
                    let stages = [
                        doc! { "$changeStream": {} },
                        doc! { "$match": { "none": 1 } },
                    ];
                    let watch =
                        doc! { "aggregate": "c", "pipeline": stages.to_vec(), "cursor": {} };
                    let opened = client.ask(watch);
                    let id = opened
                        .get_document("cursor")
                        .unwrap()
                        .get_i64("id")
                        .unwrap();
                    more = doc! { "getMore": id, "collection": "c", "maxTimeMS": 60_000 };
                }
                loop {
                    let reply = match number % 3 {
                        0 => client.try_ask(update(0)),
                        1 => client.try_ask(more.clone()),
                        _ => client.try_ask(update(1)),
                    };
                    if reply.is_none() {
                        break;
                    }
                }
            });
        }
        thread::sleep(Duration::from_millis(200));
        let began = Instant::now();
        server.stop();
        began
    });
    assert!(began.elapsed() < GRACE, "it has waited in vain");
    let find = bson::rawdoc! { "find": "c", "filter": { "$expr": { "$ne": ["$n", "$m"] } }, "$db": "test" };
    let found = Document::try_from(service.try_run(&find).unwrap()).unwrap();
    let found = found
        .get_document("cursor")
        .unwrap()
        .get_array("firstBatch");
    assert!(found.unwrap().is_empty());
}

/// Otherwise its client would wait forever.
#[test]
fn a_connection_whose_thread_fails_is_closed() {
    let server = serve(Context::system()).1;
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (stream, _) = listener.accept().unwrap();
    let state = Arc::clone(&server.state);
    let id = state.admit(&stream).unwrap();
    let served = Served { state, id };
    let serving = thread::spawn(move || {
        let _ends_with_it = (served, stream);
        panic!("as an engine with a fault would");
    });
    serving.join().unwrap_err();
    assert_eq!(server.state.counts().0, 0);
    assert_eq!(client.read(&mut [0]).unwrap(), 0);
}
