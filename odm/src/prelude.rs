//! Everything that a program usually needs, in one import.
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

pub use bson::oid::ObjectId;
pub use bson::{Bson, DateTime, Decimal128, Uuid, doc};
pub use serde::{Deserialize, Serialize};

pub use crate::collection::{
    Change, ChangeStream, Collation, Collection, Cursor, Db, FullDocument,
    FullDocumentBeforeChange, Hint, Loaded, Operation, OperationType, ReadConcern, ReadPreference,
    ResumeToken, ReturnDocument, Session, TransactionOptions, WriteConcern,
};
pub use crate::plan::Allow;
pub use crate::query::{Field, Filter, Sort, raw};
pub use crate::relation::{Joined, Resolved};
pub use crate::schema::Validate;
pub use crate::tree::{Position, Tree};
pub use crate::types::tree::{
    Ancestors, Children, Depth, Left, Materialized, NodeCount, Parent, Rank, Right, ZeroRoot,
};
pub use crate::types::{Id, Ref};
pub use crate::update::Update;
pub use crate::{Document, Embedded, Projection, models, transaction};
