//! Tasks that wait for writes.

use std::fmt;
use std::sync::Arc;
use std::task::{Context, Poll};

use crate::catalog::changes::Interest;
use crate::service::Service;

/// One task's registration with the engine's log of changes, which wakes it.
pub struct Listener {
    service: Arc<Service>,
    number: u64,
}

impl Listener {
    /// Registers a task, which then polls the listener.
    pub fn new(service: &Arc<Service>) -> Self {
        Self {
            service: Arc::clone(service),
            number: service.signal().listener(),
        }
    }

    /// Ready if the log was written to since `seen`; otherwise the next change that matches `interest` wakes the task.
    pub fn poll(&self, interest: &Interest, seen: u64, context: &Context<'_>) -> Poll<()> {
        self.service
            .signal()
            .poll(self.number, interest, seen, context)
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.service.signal().forget(self.number);
    }
}

impl fmt::Debug for Listener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Listener({})", self.number)
    }
}
