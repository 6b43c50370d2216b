//! Typed pipelines: stages over fields, each of which knows the shape of its documents.
//!
//! A [`Pipeline`] starts from a model. `match_`, `sort` and `limit` leave the shape of the documents as it is; `project` and
//! `group_by` make documents of another derived struct, written as a [`output!`](crate::output); `unwind` adds an element of a
//! list. [`Collection::aggregate`](crate::Collection::aggregate) runs it and returns that struct.
//!
//! ```
//! use odm::pipeline::pipeline;
//! use odm::prelude::*;
//! use odm::output;
//!
//! #[derive(Serialize, Deserialize, Document)]
//! #[odm(collection = "films")]
//! struct Film {
//!     #[serde(rename = "_id")]
//!     id: i32,
//!     year: i32,
//!     rating: Option<f64>,
//! }
//!
//! #[derive(Debug, PartialEq, Serialize, Deserialize, Embedded)]
//! struct Year {
//!     year: i32,
//!     films: i64,
//!     rating: Option<f64>,
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> odm::Result<()> {
//! # let db = Db::memory();
//! let films = db.collection::<Film>();
//! films.insert_one(Film { id: 1, year: 1931, rating: Some(8.5) }).await?;
//! films.insert_one(Film { id: 2, year: 1931, rating: None }).await?;
//!
//! let years = pipeline::<Film>()
//!     .match_(|f| f.year.gte(1900))
//!     .group_by(|f| f.year, |f, group| output!(Year {
//!         year: group.key(),
//!         films: group.count(),
//!         rating: group.avg(f.rating),
//!     }))
//!     .sort(|y| y.films.desc());
//! let years = films.aggregate(years).all().await?;
//! assert_eq!(years, [Year { year: 1931, films: 2, rating: Some(8.5) }]);
//! # Ok(())
//! # }
//! ```

mod accumulators;
mod bucket;
mod facet;
mod group;
mod input;
mod models;
mod output;
mod stage;
mod stages;
mod values;
mod view;
mod window;

pub use self::bucket::{Bounds, ValueCount};
pub use self::facet::{Branch, Facets, PageWithTotal};
pub use self::group::{Group, Grouped};
pub use self::input::{Input, With};
pub use self::models::{MergeTarget, WhenMatched, WhenNotMatched, Written};
pub use self::output::Output;
#[doc(hidden)]
pub use self::output::unwritten;
#[doc(hidden)]
pub use self::stage::Stages;
pub(crate) use self::stage::{GraphLookup, Lookup, OUTER, Results, Stage};
pub use self::stages::{DocumentCount, IntoStages, Pipeline, pipeline};
pub(crate) use self::values::unwound;
pub use self::view::IntoView;
#[doc(hidden)]
pub use self::view::view_stages;
pub use self::window::{Partition, Partitions, Window, partition_by};
