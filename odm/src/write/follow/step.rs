//! One write of a follower, and the search for the documents that it can't write.

use super::super::propagate::Propagated;
use super::batch::{FollowedBatch, NotFollowed};
use crate::error::{Code, Error, Kind, Result};
use crate::exec::Channel;

/// A write of values that follow from some documents.
pub(super) trait Step: Send {
    type Item: Clone + Send + Sync;

    /// The model whose documents are written, and the names of what they follow.
    fn label(&self) -> (&'static str, String);

    fn run(
        &mut self,
        channel: &mut Channel<'static>,
        items: &[Self::Item],
        done: &mut Vec<Propagated>,
    ) -> impl Future<Output = Result<()>> + Send;

    /// Called for an item that can't be written.
    fn refused(&mut self, _: &Self::Item, error: Error, batch: &mut FollowedBatch) {
        let (model, by) = self.label();
        batch.refuse(NotFollowed { model, by, error });
    }
}

/// Runs a step for all items. Where documents can't be written, it finds out for which items, and runs it for the others.
pub(super) async fn run<S: Step>(
    step: &mut S,
    channel: &mut Channel<'static>,
    items: Vec<S::Item>,
    batch: &mut FollowedBatch,
) -> Result<()> {
    let mut parts = vec![items];
    while let Some(items) = parts.pop() {
        if items.is_empty() {
            continue;
        }
        let result = step.run(channel, &items, &mut batch.written).await;
        let Err(error) = result else { continue };
        if !is_of_documents(&error) {
            return Err(error);
        }
        if items.len() > 1 {
            let (first, second) = items.split_at(items.len() / 2);
            parts.push(second.to_vec());
            parts.push(first.to_vec());
            continue;
        }
        if let [item] = items.as_slice() {
            step.refused(item, error, batch);
        }
    }
    Ok(())
}

/// Codes of errors that another attempt may not have: of the deployment, of the connection, and of the user's rights.
const TRANSIENT: &[i32] = &[
    6, 7, 11, 13, 18, 24, 50, 64, 89, 91, 100, 112, 133, 134, 189, 202, 262, 317, 358, 9001, 10107,
    11600, 11601, 11602, 13388, 13435, 13436,
];

/// Whether the documents are the reason of an error, so that the same write fails again.
pub(super) fn is_of_documents(error: &Error) -> bool {
    if error.is_retryable() || error.is_connection() || error.is_timeout() {
        return false;
    }
    if let Some(code) = error.code() {
        return !TRANSIENT.iter().any(|one| code == Code::from(*one));
    }
    matches!(
        error.kind(),
        Kind::Reference(_) | Kind::Summary(_) | Kind::Withheld(_) | Kind::Usage(_)
    )
}
