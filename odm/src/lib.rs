//! An object-document mapper for MongoDB: one derived struct declares what is stored, what is valid
//! and what is indexed; the library derives validators, indexes, typed queries and joins from it. The
//! same code runs on an in-memory engine in the process, or on MongoDB through the official driver.
//!
//! ```
//! use odm::prelude::*;
//!
//! #[derive(Debug, PartialEq, Serialize, Deserialize, Document)]
//! #[odm(collection = "books", index(year = desc, title))]
//! struct Book {
//!     #[serde(rename = "_id")]
//!     id: i32,
//!     #[odm(length(min = 1))]
//!     title: String,
//!     year: i32,
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> odm::Result<()> {
//! let db = Db::memory(); // or Db::connect("mongodb://localhost/library").await?
//! db.sync(models![Book]).plan().await?.apply(Allow::CREATE).await?.require_complete()?;
//!
//! let books = db.collection::<Book>();
//! books.insert_one(&Book { id: 7, title: "Emma".into(), year: 1815 }).await?;
//! let old = books.find(|b| b.year.lt(1900)).sort(|b| b.title.asc()).all().await?;
//! assert_eq!(old.len(), 1);
//! # Ok(())
//! # }
//! ```
//!
//! A program depends on three crates:
//!
//! ```toml
//! [dependencies]
//! mongodb-odm = "0.1" # in code: `odm`
//! serde = { version = "1", features = ["derive"] }
//! tokio = { version = "1", features = ["macros", "rt-multi-thread"] }
//! ```
//!
//! # Where to start
#![cfg_attr(
    odm_site,
    doc = "- [The book](../../index.html): how to use odm, by subject."
)]
//! - [`prelude`]: the names that nearly every program uses, in one import. [`tree::prelude`] has those of trees.
//! - [`derive@Document`], [`derive@Embedded`], [`derive@Projection`]: the derive macros, with every
//!   attribute.
//! - [`Db`] and [`Collection`]: the actions. [`query`] and [`update`]: the filters and updates that their
//!   closures build.
//! - [`schema`]: validators, indexes, and the plan that brings a database in line with its models.
//! - [`mod@relation`]: references and joins. [`tree`]: trees.
//! - [`check`]: whether stored documents are what their models declare.
//! - [`advise`]: what stored data suggests to change in its models.
//! - [`report`]: all of that, with a diagram, in one HTML page.
//! - `pull`: models of the collections of a database that exists, or of a folder of dumps.
//! - `dump`: loads an in-memory database from a folder of files, and writes it to one.
//! - [`error`]: the one error type and its predicates.
//!
//! # In a web service
//! - [`Db`] is a handle: clones of it are the state of the handlers.
//! - [`json::Plain`] reads and writes models as plain JSON: `axum::Json<Plain<Order>>` is an extractor and a response, and
//!   `axum::extract::Path<Id<Order>>` reads an id.
//! - The table in [`error`] says which error is which status code.
//! - [`Within`] gives a handler a deadline, which holds for all of its commands.
//! - [`InsertOne::check_references`](collection::InsertOne::check_references) refuses an order of an unknown customer.
//! - [`transaction!`] writes several documents or none. Transactions, and what is built on them, need a replica set.
//! - [`Find::page`](collection::Find::page) and [`Find::after_token`](collection::Find::after_token) make pages.
//! - `Db::memory()` is the database of the tests.
//!
//! # Features
//! - `memory` (on by default): the in-memory engine, `Db::memory`.
//! - `mongodb` (on by default): MongoDB through the official driver, `Db::connect`.
//! - `srv`: connection strings that start with `mongodb+srv://`.
//! - `server`: the in-memory engine behind a port, for MongoDB's clients in other languages.
//! - `jemalloc`: `server`, and the allocator jemalloc in the program `odm-server`.
//! - `pull`: models of existing collections, `odm::pull` and the program `odm-pull`.
//! - `admin`: an administrator's command of a program's models, `odm::admin`.
//! - `tracing`: a span of the `tracing` crate for each command, `Db::with_tracing`.
//! - `bigdecimal_0_4`: amounts of any precision, `money::PreciseMoney`.
//! - `chrono_0_4`, `jiff_0_2`, `rust_decimal_1`, `serde_json_1`, `time_0_3`, `url_2`, `uuid_1`: [field types of other crates](foreign).
//!
//! At least one of `memory` and `mongodb` must be enabled.

#![warn(missing_docs)]
// docs.rs shows the feature that an item needs.
#![cfg_attr(docsrs, feature(doc_cfg))]
#![cfg_attr(
    not(all(feature = "memory", feature = "mongodb")),
    expect(dead_code, reason = "some code serves only the store that is left out")
)]

#[cfg(not(any(feature = "memory", feature = "mongodb")))]
compile_error!("odm has no store to run on: enable the feature `memory`, `mongodb`, or both");

// Generated code refers to `::odm`, and this crate's own tests derive models too.
extern crate self as odm;

#[cfg(feature = "admin")]
pub mod admin;
pub mod advise;
pub mod buckets;
pub mod check;
pub(crate) mod codec;
pub mod collection;
pub mod counter;
#[cfg(feature = "memory")]
pub mod dump;
pub mod error;
pub(crate) mod exec;
pub mod expr;
pub mod gridfs;
pub(crate) mod markup;
pub mod migrate;
pub mod model;
pub mod overflow;
pub mod pipeline;
pub mod plan;
#[cfg(feature = "pull")]
pub mod pull;
pub mod query;
pub mod relation;
pub mod repair;
pub mod report;
pub mod schema;
pub mod scrub;
#[cfg(feature = "server")]
pub mod server;
pub mod sharding;
pub(crate) mod store;
pub mod tree;
pub mod types;

#[doc(inline)]
pub use self::types::foreign;
#[cfg(feature = "chrono_0_4")]
#[doc(inline)]
pub use self::types::foreign::chrono_0_4;
#[cfg(feature = "jiff_0_2")]
#[doc(inline)]
pub use self::types::foreign::jiff_0_2;
#[cfg(feature = "rust_decimal_1")]
#[doc(inline)]
pub use self::types::foreign::rust_decimal_1;
#[cfg(feature = "serde_json_1")]
#[doc(inline)]
pub use self::types::foreign::serde_json_1;
#[cfg(feature = "time_0_3")]
#[doc(inline)]
pub use self::types::foreign::time_0_3;
#[cfg(feature = "url_2")]
#[doc(inline)]
pub use self::types::foreign::url_2;
#[cfg(feature = "uuid_1")]
#[doc(inline)]
pub use self::types::foreign::uuid_1;
#[doc(inline)]
pub use self::types::foreign::{bytes, double_option, duration, int128, ip, map_keys, system_time};
#[doc(inline)]
pub use self::types::{dbref, geo, json, money, time};
pub mod update;
pub mod write;

pub mod prelude;
#[doc(hidden)]
pub mod support;

pub use bson;
pub use odm_derive::{Document, Embedded, Projection};

pub use crate::collection::{Capability, Collection, Cursor, Db, Session, Within};
pub use crate::error::{
    BulkWriteResult, Code, Error, Result, ServerError, ValidationFailure, Violation, WriteError,
};
pub use crate::model::{Document, Embedded, Projection};
#[cfg(feature = "memory")]
pub use odm_engine::{Context, Hostility, ServerVersion};
