//! Summaries of documents of other models: `count_of`, `sum_of`, `mean_of`, `min_of` and `max_of`.
//!
//! [`facts`] computes the summaries of some documents, and writes them where they differ; `check` compares and refreshes what
//! is stored. A summary is always computed from all documents of the relation, and never counted up, so that a write which runs
//! twice does no harm.
//!
//! Writes beside each other keep summaries in step as they keep copies: by a fence of the document that holds the summaries,
//! where the relation is strict, and otherwise by a second look (see [`copies`](super::copies)).

pub(super) mod check;
mod facts;
mod number;

pub(crate) use self::check::SummaryChecker;
pub use self::check::{CheckSummaries, RefreshSummaries, SummaryDamage, SummaryReport};
pub(in crate::write) use self::facts::{Summed, Values, settle};
