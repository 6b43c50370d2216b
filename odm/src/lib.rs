//! An object-document mapper for MongoDB: one derived struct declares what is stored, what is valid
//! and what is indexed; validators, indexes, typed queries and joins come from it. It runs on an
//! engine in the process, or on a server through the official driver, with the same code.
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
//! db.sync(models![Book]).plan().await?.apply(Allow::CREATE).await?;
//!
//! let books = db.collection::<Book>();
//! books.insert_one(&Book { id: 7, title: "Emma".into(), year: 1815 }).await?;
//! let old = books.find(|b| b.year.lt(1900)).sort(|b| b.title.asc()).all().await?;
//! assert_eq!(old.len(), 1);
//! # Ok(())
//! # }
//! ```
//!
//! # Where to start
//! - [`prelude`]: all that a program needs, in one import.
//! - [`derive@Document`], [`derive@Embedded`], [`derive@Projection`]: what a struct declares, with every
//!   attribute.
//! - [`Db`] and [`Collection`]: the verbs. [`query`] and [`update`]: what stands in their closures.
//! - [`schema`]: validators, indexes, and the plan that brings a database in line.
//! - [`relation`]: references and joins.
//! - `dump`: folders of files that an in-memory database is filled from, and written to.
//! - [`error`]: the one error type and what can be asked of it.
//!
//! # Features
//! - `memory` (on): the engine in the process, `Db::memory`.
//! - `mongodb` (on): servers through the official driver, `Db::connect`.
//! - `srv`: connection strings that start with `mongodb+srv://`.
//!
//! Either of the first two does without the other; without both there is nothing to run on.

#![warn(missing_docs)]

#[cfg(not(any(feature = "memory", feature = "mongodb")))]
compile_error!("odm has no store to run on: enable the feature `memory`, `mongodb`, or both");

// Generated code names `::odm`, in this crate's own tests too.
extern crate self as odm;

pub(crate) mod codec;
pub mod collection;
#[cfg(feature = "memory")]
pub mod dump;
pub mod error;
pub mod model;
pub mod query;
pub mod relation;
pub mod schema;
#[cfg(feature = "server")]
pub mod server;
pub(crate) mod store;
pub mod types;
pub mod update;

pub mod prelude;
#[doc(hidden)]
pub mod support;

pub use bson;
pub use odm_derive::{Document, Embedded, Projection};

pub use crate::collection::{Capability, Collection, Cursor, Db, Session};
pub use crate::error::{
    BulkWriteResult, Code, Error, Result, ServerError, ValidationFailure, Violation, WriteError,
};
pub use crate::model::{Document, Embedded, Projection};
#[cfg(feature = "memory")]
pub use odm_engine::Context;
