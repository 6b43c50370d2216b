//! Lists of the newest documents of other models: `recent` and `recent_in`.
//!
//! [`facts`] reads the newest documents, and writes the lists where they differ; `check` compares and refreshes what is
//! stored. A list is read again with one query for each document that holds it. An insert in a transaction only pushes the
//! new parts.
//!
//! Pushes depend on the list as it is, so every push writes a fence of the document that holds the list, and whoever writes a
//! list outside of a transaction writes the fence afterwards and reads once more: a push has then seen the list, or its
//! document is read. Otherwise lists are kept in step as [`summaries`](super::summaries) are.

pub(super) mod check;
mod facts;
mod push;

pub(crate) use self::check::RecentChecker;
pub use self::check::{CheckRecent, RecentDamage, RecentReport, RefreshRecent};
pub(in crate::write) use self::facts::{Listed, settle, write};
pub(in crate::write) use self::push::Pushes;
