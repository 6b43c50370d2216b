//! The result of one step of a follower.

use super::super::propagate::Propagated;
use crate::error::Error;

/// The result of [`Follower::next`](super::Follower::next): the events that it handled, and the documents that it wrote.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct FollowedBatch {
    /// How many events of the change stream were handled.
    pub events: u64,
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
