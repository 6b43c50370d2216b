//! The threads of connections.

use std::thread::JoinHandle;

/// Threads that are joined after they have ended.
///
/// A handle that is dropped detaches its thread, and a thread that ends at that moment crashes the process: glibc's
/// `pthread_detach` (seen with 2.36) reads the thread's descriptor after it has marked the thread as detached, when the
/// thread may have unmapped it.
#[derive(Debug, Default)]
pub(crate) struct Threads {
    handles: Vec<JoinHandle<()>>,
    /// The number of handles at which the ended ones are looked for again.
    sweep_at: usize,
}

impl Threads {
    /// Ended threads that are kept at least: each costs a stack of address space and a page or two of memory.
    const SLACK: usize = 16;

    /// Adds a thread, and joins those that have ended. A sweep looks at each handle, and waits until their number has
    /// doubled: a connection costs the same whatever their number.
    pub(crate) fn add(&mut self, thread: JoinHandle<()>) {
        self.handles.push(thread);
        if self.handles.len() >= self.sweep_at {
            self.join_ended();
            self.sweep_at = 2 * self.handles.len() + Self::SLACK;
        }
    }

    fn join_ended(&mut self) {
        for thread in self.handles.extract_if(.., |thread| thread.is_finished()) {
            // A panic has been reported, and its connection closed.
            let _ = thread.join();
        }
    }

    /// Joins the threads that have ended, and leaves the others to themselves.
    pub(crate) fn close(mut self) {
        self.join_ended();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::thread;

    use super::*;

    #[test]
    fn ended_threads_are_joined_and_running_ones_are_kept() {
        let mut threads = Threads::default();
        let (end, ended) = mpsc::channel::<()>();
        threads.add(thread::spawn(move || ended.recv().unwrap_or_default()));
        for _ in 0..1000 {
            let thread = thread::spawn(|| ());
            while !thread.is_finished() {
                thread::yield_now();
            }
            threads.add(thread);
            assert!(threads.handles.len() <= 2 + Threads::SLACK + 2);
        }
        threads.join_ended();
        assert_eq!(threads.handles.len(), 1);
        drop(end);
        threads.close();
    }
}
