//! Many connections at once: the engine behind a port beside a real server, each under the same load, one after the other.
//!
//! ```sh
//! ODM_TEST_URI='mongodb://127.0.0.1:27017/?directConnection=true' ODM_BENCH_MONGOD_PID=$(pidof mongod) \
//!     cargo bench -p odm-benches --bench load -- [--seconds 60] [--connections 64] [--rounds 1]
//! ```
//!
//! Of ten operations five are finds by id, two count a field of a document up, two insert a document, one deletes one: each of
//! one small document, each awaited before the next on its connection. The client speaks the protocol itself, so that it
//! takes little of the processor that both share. What counts is operations for each second of the server's processor
//! time. Of the server's process the memory is shown: before, at most, when the connections are closed, and when what was
//! written is dropped. Several rounds tell whether it grows.
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::cast_precision_loss,
    reason = "a benchmark reports, and stops at anything unexpected"
)]

#[path = "engine/process.rs"]
mod process;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use std::{env, thread};

use odm::Db;
use odm::bson::{Document, RawDocumentBuf, doc};
use odm::server::Server;
use process::{processor_of, resident};

/// Documents that are there all the time.
const DOCUMENTS: i32 = 10_000;

fn main() {
    let arguments: Vec<String> = env::args().collect();
    if arguments.iter().any(|argument| argument == "--serve") {
        return serve();
    }
    let value = |name: &str, usual: u64| {
        let at = arguments.iter().position(|argument| argument == name);
        let told = at.and_then(|at| arguments.get(at + 1)?.parse().ok());
        told.unwrap_or(usual)
    };
    let load = Load {
        time: Duration::from_secs(value("--seconds", 60)),
        connections: value("--connections", 64),
    };
    println!(
        "{} connections for {} s\n",
        load.connections,
        load.time.as_secs()
    );
    println!(
        "| server | operations/s | p50, µs | p99, µs | processor, µs per operation | memory before, at most, closed, dropped, MiB |"
    );
    println!("| --- | --- | --- | --- | --- | --- |");
    let engine = Engine::start();
    let mut ours = 0.0;
    for _ in 0..value("--rounds", 1) {
        ours = load.run("odm", &engine.address, engine.child.id());
    }
    let server = env::var("ODM_TEST_URI").ok();
    let pid = env::var("ODM_BENCH_MONGOD_PID").ok();
    if let (Some(uri), Some(pid)) = (server, pid) {
        let host = uri.split("://").nth(1).unwrap().split('/').next().unwrap();
        let theirs = load.run("mongod", host, pid.parse().unwrap());
        println!(
            "\noperations per processor second: odm does {:.1} times mongod's",
            theirs / ours
        );
    }
}

/// The engine in a process of its own, so that its processor time and its memory are its own.
struct Engine {
    child: Child,
    address: String,
}

impl Engine {
    fn start() -> Self {
        let mut child = Command::new(env::current_exe().unwrap())
            .arg("--serve")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut address = String::new();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        output.read_line(&mut address).unwrap();
        Self {
            child,
            address: address.trim().to_owned(),
        }
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        // It ends with its input.
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

fn serve() {
    let server = Server::bind(&Db::memory(), "127.0.0.1:0").unwrap();
    println!("{}", server.address());
    let _ = std::io::stdin().read_to_end(&mut Vec::new());
    server.stop();
}

struct Load {
    time: Duration,
    connections: u64,
}

impl Load {
    /// Prints a row, and answers the processor time of an operation, in microseconds.
    fn run(&self, name: &str, address: &str, pid: u32) -> f64 {
        let before = resident(pid);
        let mut first = Connection::to(address);
        first.fill();
        let processor = processor_of(pid);
        let began = Instant::now();
        let threads: Vec<_> = (0..self.connections)
            .map(|number| {
                let (address, time) = (address.to_owned(), self.time);
                thread::spawn(move || Connection::to(&address).work(number, time))
            })
            .collect();
        let is_over = AtomicBool::new(false);
        let (mut times, most) = thread::scope(|scope| {
            let most = scope.spawn(|| {
                let mut most = before;
                while !is_over.load(Ordering::Relaxed) {
                    most = most.max(resident(pid));
                    thread::sleep(Duration::from_millis(100));
                }
                most
            });
            let times: Vec<u32> = threads
                .into_iter()
                .flat_map(|thread| thread.join().unwrap())
                .collect();
            is_over.store(true, Ordering::Relaxed);
            (times, most.join().unwrap())
        });
        let elapsed = began.elapsed().as_secs_f64();
        let processor = processor_of(pid).saturating_sub(processor).as_secs_f64() * 1e6;
        thread::sleep(Duration::from_secs(1));
        let closed = resident(pid);
        let count: i32 = first.ask(&doc! { "count": "load" }).get_i32("n").unwrap();
        assert!(count >= DOCUMENTS, "{count}");
        first.ask(&doc! { "dropDatabase": 1 });
        drop(first);
        thread::sleep(Duration::from_secs(1));
        let dropped = resident(pid);
        times.sort_unstable();
        let at = |share: usize| times[(times.len() - 1) * share / 100];
        let operations = times.len() as f64;
        let cost = processor / operations;
        let mib = |bytes: u64| bytes / 1024 / 1024;
        println!(
            "| {name} | {:.0} | {} | {} | {cost:.1} | {}, {}, {}, {} |",
            operations / elapsed,
            at(50),
            at(99),
            mib(before),
            mib(most.max(closed)),
            mib(closed),
            mib(dropped)
        );
        cost
    }
}

struct Connection {
    stream: TcpStream,
    reply: Vec<u8>,
}

impl Connection {
    fn to(address: &str) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_nodelay(true).unwrap();
        Self {
            stream,
            reply: Vec::new(),
        }
    }

    /// The reply's bytes, from its document on.
    fn send(&mut self, command: &Document) -> &[u8] {
        let mut command = command.clone();
        command.insert("$db", "odm_load");
        let document = RawDocumentBuf::try_from(&command).unwrap().into_bytes();
        let length = i32::try_from(21 + document.len()).unwrap();
        let mut frame = Vec::with_capacity(21 + document.len());
        for field in [length, 1, 0, 2013, 0] {
            frame.extend(field.to_le_bytes());
        }
        frame.push(0);
        frame.extend(document);
        self.stream.write_all(&frame).unwrap();
        let mut header = [0; 16];
        self.stream.read_exact(&mut header).unwrap();
        let length = i32::from_le_bytes(header[..4].try_into().unwrap());
        self.reply.resize(usize::try_from(length).unwrap() - 16, 0);
        self.stream.read_exact(&mut self.reply).unwrap();
        &self.reply[5..]
    }

    fn ask(&mut self, command: &Document) -> Document {
        let reply = Document::from_reader(self.send(command)).unwrap();
        let went_well = reply.get_f64("ok").is_ok_and(|ok| ok > 0.5);
        assert!(
            went_well && !reply.contains_key("writeErrors"),
            "{command}: {reply}"
        );
        reply
    }

    fn fill(&mut self) {
        self.ask(&doc! { "dropDatabase": 1 });
        for start in (0..DOCUMENTS).step_by(1000) {
            let rows: Vec<_> = (start..start + 1000).map(row).collect();
            self.ask(&doc! { "insert": "load", "documents": rows });
        }
    }

    /// How long each operation took, in microseconds.
    fn work(&mut self, number: u64, time: Duration) -> Vec<u32> {
        let mut times = Vec::new();
        let mut mine = i32::try_from(number).unwrap() * 10_000_000 + DOCUMENTS;
        let mut left = mine;
        let mut state = number * 2 + 1;
        let began = Instant::now();
        while began.elapsed() < time {
            for step in 0..10 {
                // Numbers in no order are enough.
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1);
                let id = i32::try_from((state >> 33) % 10_000).unwrap();
                let command = match step {
                    0..5 => {
                        doc! { "find": "load", "filter": { "_id": id }, "limit": 1, "singleBatch": true }
                    }
                    5 | 6 => {
                        doc! { "update": "load", "updates": [{ "q": { "_id": id }, "u": { "$inc": { "n": 1 } } }] }
                    }
                    7 | 8 => {
                        mine += 1;
                        doc! { "insert": "load", "documents": [row(mine)] }
                    }
                    _ => {
                        left += 1;
                        doc! { "delete": "load", "deletes": [{ "q": { "_id": left }, "limit": 1 }] }
                    }
                };
                let asked = Instant::now();
                self.ask(&command);
                times.push(u32::try_from(asked.elapsed().as_micros()).unwrap_or(u32::MAX));
            }
        }
        times
    }
}

fn row(id: i32) -> Document {
    doc! { "_id": id, "n": 0, "name": format!("item {id:>010}"), "amount": 12.5 }
}
