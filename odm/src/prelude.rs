//! The names that nearly every program uses, in one import.
//!
//! ```
//! use odm::prelude::*;
//!
//! #[derive(Debug, PartialEq, Serialize, Deserialize, Document)]
//! #[odm(collection = "books")]
//! struct Book {
//!     #[serde(rename = "_id")]
//!     id: i32,
//!     title: String,
//! }
//! ```
//!
//! Import other types from their modules: options and change events from [`collection`](crate::collection), sort orders and
//! raw filters from [`query`](crate::query), values without a Rust type of their own from [`bson`]. Models
//! of trees also need [`tree::prelude`](crate::tree::prelude).

pub use bson::oid::ObjectId;
pub use bson::{DateTime, doc};
pub use serde::{Deserialize, Serialize};

pub use crate::collection::{Collection, Db, Session};
// A trait: without it, `books.find_all().within(…)` does not compile.
pub use crate::collection::Within as _;
pub use crate::plan::Allow;
pub use crate::query::Filter;
pub use crate::relation::Resolved;
// A trait: without it, `book.validate()` does not compile.
pub use crate::schema::Validate;
pub use crate::types::{Id, Ref};
pub use crate::update::Update;
pub use crate::{Document, Embedded, Projection, models, transaction};
