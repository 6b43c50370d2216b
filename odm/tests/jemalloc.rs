//! `odm-server` with jemalloc gives the memory of what was dropped back.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test that panics has failed")]

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use odm::Db;
use odm::bson::doc;

const MIB: u64 = 1 << 20;

/// The program, killed where the test fails.
struct Program(Child);

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Program {
    /// The memory that the process has, in bytes.
    fn resident(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.0.id())).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmRSS:"));
        let kilobytes = line.unwrap().split_whitespace().nth(1).unwrap();
        kilobytes.parse::<u64>().unwrap() * 1024
    }
}

#[tokio::test]
async fn dropped_memory_is_returned() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_odm-server"))
        .args(["--listen", "127.0.0.1:0"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    let output = child.stdout.take().unwrap();
    BufReader::new(output).read_line(&mut line).unwrap();
    let program = Program(child);
    let uri = line.trim_end().replace("/?", "/test?");
    let db = Db::connect(&uri).await.unwrap();
    let before = program.resident();
    for id in 0..10 {
        let document = doc! { "_id": id, "text": "x".repeat(12_000_000) };
        let insert = doc! { "insert": "large", "documents": [document] };
        db.run_command(insert).await.unwrap();
    }
    assert!(program.resident() > before + 100 * MIB);
    db.run_command(doc! { "drop": "large" }).await.unwrap();
    // jemalloc returns unused pages little by little.
    let began = Instant::now();
    while program.resident() > before + 32 * MIB {
        assert!(
            began.elapsed() < Duration::from_secs(120),
            "{} MiB are kept",
            program.resident() / MIB
        );
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}
