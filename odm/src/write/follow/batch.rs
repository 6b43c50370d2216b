//! The result of one step of a follower.

use std::time::Duration;

use bson::raw::{RawBsonRef, RawDocument};
use bson::{DateTime, RawDocumentBuf};
use odm_language::value::raw;

use super::super::propagate::Propagated;
use crate::error::Error;

/// The result of [`Follower::next`](super::Follower::next): the events that it handled, and the documents that it wrote.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct FollowedBatch {
    /// How many events of the change stream were handled.
    pub events: u64,
    /// The time from the first of these changes until all of them were handled, by the clocks of MongoDB and of this machine; none
    /// if there was no event. A value that grows from batch to batch says that the follower is too slow for the writes.
    pub lag: Option<Duration>,
    /// Whether all documents were read, of all relations: the follower had no position in the stream, or MongoDB has no
    /// longer kept the changes since its position.
    pub scrubbed: bool,
    /// For how many relations all documents were read, because the events did not say which of them follow.
    pub scans: u64,
    /// The documents that were written, because they had other values.
    pub written: Vec<Propagated>,
    /// How many values could not be written, and stay as they are until another event or a refresh.
    pub refused: u64,
    /// The first 1,000 of them.
    pub not_followed: Vec<NotFollowed>,
}

/// A value that a follower could not write: a field can't store a summary, a validator refuses a document, a list is full.
#[derive(Debug)]
#[non_exhaustive]
pub struct NotFollowed {
    /// The model of the documents, such as `LogMessage`.
    pub model: &'static str,
    /// The Rust names of what it follows, as in [`Propagated::by`].
    pub by: String,
    /// The reason.
    pub error: Error,
}

/// The most values that a batch lists.
const LISTED: usize = 1_000;

/// The time since the first of these events. Before MongoDB 6.0, events have the second only.
pub(super) fn lag(events: &[RawDocumentBuf]) -> Option<Duration> {
    let at = events.iter().filter_map(|event| time(event)).min()?;
    let passed = DateTime::now().timestamp_millis() - at.timestamp_millis();
    Some(Duration::from_millis(u64::try_from(passed).unwrap_or(0)))
}

fn time(event: &RawDocument) -> Option<DateTime> {
    match raw::get(event, "wallTime") {
        Some(RawBsonRef::DateTime(time)) => Some(time),
        _ => match raw::get(event, "clusterTime")? {
            RawBsonRef::Timestamp(time) => {
                Some(DateTime::from_millis(i64::from(time.time) * 1_000))
            }
            _ => None,
        },
    }
}

impl FollowedBatch {
    pub(super) fn refuse(&mut self, one: NotFollowed) {
        self.refused += 1;
        if self.not_followed.len() < LISTED {
            self.not_followed.push(one);
        }
    }

    /// How many documents were written.
    pub fn documents(&self) -> u64 {
        self.written.iter().map(|one| one.documents).sum()
    }
}
