//! Futures that are dropped before they are done.

use std::future::poll_fn;
use std::task::Poll;

/// Polls a future this many times, then drops it. Returns its output if it was done by then.
pub async fn dropped_after<F: Future>(polls: usize, future: F) -> Option<F::Output> {
    let mut future = Box::pin(future);
    let mut polled = 0;
    poll_fn(|cx| {
        if polled == polls {
            return Poll::Ready(None);
        }
        polled += 1;
        future.as_mut().poll(cx).map(Some)
    })
    .await
}
