//! The threads of connections.

use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

/// The stack size of a connection's thread. The most deeply nested commands need up to 2 MiB in an unoptimised build,
/// which is a thread's whole default stack. Unused stack costs address space, but no memory.
const STACK: usize = 8 * 1024 * 1024;

/// Threads that are joined when they have ended: each joins the one that ended before it.
///
/// Threads are not detached, because glibc (seen with 2.36) crashes if one ends at that moment: `pthread_detach` reads the
/// thread's descriptor after it has marked the thread as detached, when the thread may have unmapped it.
#[derive(Debug, Default)]
pub(crate) struct Threads(Mutex<Handles>);

#[derive(Debug, Default)]
struct Handles {
    running: HashMap<i64, JoinHandle<()>>,
    /// The thread that has ended last.
    ended: Option<JoinHandle<()>>,
}

impl Threads {
    /// Starts the thread of a connection.
    pub(crate) fn spawn(
        self: &Arc<Self>,
        id: i64,
        serve: impl FnOnce() + Send + 'static,
    ) -> io::Result<()> {
        let threads = Arc::clone(self);
        // A thread that ends at once waits until its handle is here.
        let mut handles = self.handles();
        let thread = thread::Builder::new()
            .name(format!("conn{id}"))
            .stack_size(STACK)
            .spawn(move || {
                let _ending = Ending { threads, id };
                serve();
            })?;
        handles.running.insert(id, thread);
        Ok(())
    }

    /// Joins the thread that has ended last. Threads that still run are left to themselves.
    pub(crate) fn close(&self) {
        let ended = self.handles().ended.take();
        join(ended);
    }

    fn handles(&self) -> MutexGuard<'_, Handles> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Joins the thread that ended before, when this one ends, even by a panic.
struct Ending {
    threads: Arc<Threads>,
    id: i64,
}

impl Drop for Ending {
    fn drop(&mut self) {
        let mut handles = self.threads.handles();
        let own = handles.running.remove(&self.id);
        let before = std::mem::replace(&mut handles.ended, own);
        drop(handles);
        join(before);
    }
}

fn join(thread: Option<JoinHandle<()>>) {
    if let Some(thread) = thread {
        // A panic has been reported, and its connection closed.
        let _ = thread.join();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn ended_threads_are_joined_and_running_ones_are_kept() {
        let threads = Arc::new(Threads::default());
        let (end, ended) = mpsc::channel::<()>();
        threads
            .spawn(0, move || ended.recv().unwrap_or_default())
            .unwrap();
        let (done, is_done) = mpsc::channel();
        for id in 1..=1000 {
            let done = done.clone();
            threads.spawn(id, move || done.send(id).unwrap()).unwrap();
        }
        drop(done);
        assert_eq!(is_done.iter().count(), 1000);
        while threads.handles().running.len() > 1 {
            thread::yield_now();
        }
        assert!(threads.handles().running.contains_key(&0));
        threads.close();
        assert!(threads.handles().ended.is_none());
        drop(end);
        while !threads.handles().running.is_empty() {
            thread::yield_now();
        }
        threads.close();
    }
}
