//! Fuzz targets of the engine: what stands behind `cargo fuzz run <target>`, and behind the driver that a stable
//! compiler builds (`examples/drive.rs`).
//!
//! Raw bytes seldom get past the first check of a parser. All targets but `bson` therefore read the fuzzer's bytes as
//! choices ([`arbitrary::Unstructured`]) and draw BSON from them with the names that MongoDB 6.0 knows, which a server
//! listed itself (`tests/cases/names/server.json`).

pub mod draw;
pub mod targets;
pub mod words;
