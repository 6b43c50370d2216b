//! Queues of tasks of this process that would otherwise conflict in the database, each by a key.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use tokio::sync::{Mutex as Queue, OwnedMutexGuard};

/// How long a task waits for its turn. Then it goes on: the tasks before it may not be polled, and the database still keeps
/// their writes apart.
const PATIENCE: Duration = Duration::from_secs(10);

/// The queues of a deployment; clones share them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Turns(Arc<Mutex<Queues>>);

#[derive(Debug, Default)]
struct Queues {
    by_key: HashMap<Vec<u8>, Weak<Queue<()>>>,
    /// How many keys there may be before those that nobody waits for are removed.
    limit: usize,
}

/// The turn of a task, or `None` after a wait in vain. The next one in the queue has it when this is dropped.
pub(crate) type Turn = Option<OwnedMutexGuard<()>>;

impl Turns {
    /// Waits for the turn of the caller: first come, first served. A wait that is dropped leaves the queue.
    pub(crate) async fn wait(&self, key: Vec<u8>) -> Turn {
        self.wait_at_most(PATIENCE, key).await
    }

    async fn wait_at_most(&self, patience: Duration, key: Vec<u8>) -> Turn {
        let turn = self.queue(key).lock_owned();
        tokio::time::timeout(patience, turn).await.ok()
    }

    fn queue(&self, key: Vec<u8>) -> Arc<Queue<()>> {
        let mut queues = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(queue) = queues.by_key.get(&key).and_then(Weak::upgrade) {
            return queue;
        }
        if queues.by_key.len() >= queues.limit {
            queues.by_key.retain(|_, queue| queue.strong_count() > 0);
            queues.limit = (2 * queues.by_key.len()).max(64);
        }
        let queue = Arc::default();
        queues.by_key.insert(key, Arc::downgrade(&queue));
        queue
    }
}

#[cfg(test)]
mod tests {
    use std::task::Poll;

    use super::*;

    /// Whether a task has its turn at once.
    async fn is_free(turns: &Turns, key: &[u8]) -> bool {
        let wait = turns.wait(key.to_vec());
        let mut wait = std::pin::pin!(wait);
        let now = std::future::poll_fn(|context| Poll::Ready(wait.as_mut().poll(context)));
        now.await.is_ready()
    }

    #[tokio::test]
    async fn turns_are_taken_in_order_and_dropped_waits_leave() {
        let turns = Turns::default();
        let first = turns.wait(vec![1]).await;
        assert!(is_free(&turns, &[2]).await);
        // The dropped wait does not get the turn.
        assert!(!is_free(&turns, &[1]).await);
        let order = Mutex::new(Vec::new());
        let later = |number: u32| {
            let (turns, order) = (&turns, &order);
            async move {
                let _turn = turns.wait(vec![1]).await;
                tokio::task::yield_now().await;
                order.lock().unwrap().push(number);
            }
        };
        let release = async move { drop(first) };
        tokio::join!(later(1), later(2), later(3), release);
        assert_eq!(*order.lock().unwrap(), [1, 2, 3]);
        assert!(is_free(&turns, &[1]).await);
    }

    #[tokio::test]
    async fn a_task_that_is_never_polled_holds_the_others_up_for_a_while() {
        let turns = Turns::default();
        let held = turns.wait(vec![1]).await;
        let patience = Duration::from_millis(20);
        assert!(turns.wait_at_most(patience, vec![1]).await.is_none());
        drop(held);
        assert!(turns.wait_at_most(patience, vec![1]).await.is_some());
    }

    #[test]
    fn keys_that_nobody_waits_for_are_removed() {
        let turns = Turns::default();
        for key in 0..1_000_u32 {
            turns.queue(key.to_le_bytes().to_vec());
        }
        assert!(turns.0.lock().unwrap().by_key.len() <= 64);
    }
}
