//! An object-document mapper for MongoDB.

// Generated code names `::odm`, in this crate's own tests too.
extern crate self as odm;

pub mod collection;
pub(crate) mod engine;
pub mod error;
pub mod model;
pub mod query;
pub mod relation;
pub mod schema;
pub(crate) mod store;
pub mod types;
pub mod update;
pub(crate) mod value;

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
