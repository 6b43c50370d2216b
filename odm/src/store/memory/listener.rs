//! Tasks that wait for what is written.

use std::task::{Context, Poll};

use crate::engine::Interest;
use crate::store::memory::Memory;

/// One task's place among those that the engine's log of changes wakes.
pub(crate) struct Listener {
    memory: Memory,
    number: u64,
}

impl Listener {
    pub(crate) fn new(memory: &Memory) -> Self {
        Self {
            memory: memory.clone(),
            number: memory.signal().listener(),
        }
    }

    /// Ready if the log was written to since `seen`; else the task is woken when it is, by what it waits for.
    pub(crate) fn poll(&self, interest: &Interest, seen: u64, context: &Context<'_>) -> Poll<()> {
        self.memory
            .signal()
            .poll(self.number, interest, seen, context)
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.memory.signal().forget(self.number);
    }
}
