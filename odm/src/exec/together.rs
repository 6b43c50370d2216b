//! Commands of one operation that run at the same time.

use futures_core::future::BoxFuture;
use futures_util::{StreamExt, TryStreamExt, stream};

use super::Channel;
use crate::error::Result;

/// How many commands of one operation run at the same time at most, so that it leaves connections of the pool to others.
const TOGETHER: usize = 4;

/// Work that sends commands, and does not depend on other work of the same kind.
pub(crate) trait Task: Send {
    type Output: Send;

    fn run(self, channel: &mut Channel<'_>) -> impl Future<Output = Result<Self::Output>> + Send;
}

/// Runs tasks at the same time where the channel can do so, otherwise one after the other; returns what they return, in their
/// order. The first error ends all.
pub(crate) async fn run_all<T: Task>(
    channel: &mut Channel<'_>,
    tasks: Vec<T>,
) -> Result<Vec<T::Output>> {
    if channel.concurrent().is_none() {
        let mut outputs = Vec::new();
        for task in tasks {
            outputs.push(task.run(channel).await?);
        }
        return Ok(outputs);
    }
    let channel = &*channel;
    let running: Vec<_> = tasks.into_iter().map(|task| apart(channel, task)).collect();
    stream::iter(running).buffered(TOGETHER).try_collect().await
}

/// Runs a task on a channel of its own.
fn apart<'c, T: Task + 'c>(channel: &'c Channel<'_>, task: T) -> BoxFuture<'c, Result<T::Output>> {
    Box::pin(async move {
        let mut own = channel.in_session(None);
        task.run(&mut own).await
    })
}
