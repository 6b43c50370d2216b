//! Waiting for locks that are mostly held for a few microseconds.
//!
//! A sleep costs the waiting thread tens of microseconds, and the thread that wakes it several more. So a waiter tries
//! the lock a few times first. The pauses grow, because each try takes the lock's cache line away from its holder.

use std::sync::{
    Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, TryLockError,
    TryLockResult,
};

/// The number of tries for a lock that a writer holds while it prepares its change: together about as long as a sleep.
const LOOKS_FOR_WRITER: u32 = 24;

/// The number of tries for a lock that is held while a change is published, or while a document is looked up.
const LOOKS: u32 = 10;

/// The longest pause between two tries, in spin-loop hints.
const LONGEST_PAUSE: u32 = 64;

/// Tries a lock `looks` times; `None` if the caller should sleep instead.
fn spin<T>(looks: u32, mut look: impl FnMut() -> TryLockResult<T>) -> Option<T> {
    let mut pause = 1;
    for _ in 0..looks {
        match look() {
            Ok(guard) => return Some(guard),
            Err(TryLockError::Poisoned(poisoned)) => return Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => {}
        }
        for _ in 0..pause {
            std::hint::spin_loop();
        }
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
    None
}

/// Locks the mutex, poisoned or not: a panic leaves no half-made change, as nothing here is changed in steps.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    spin(LOOKS_FOR_WRITER, || mutex.try_lock())
        .unwrap_or_else(|| mutex.lock().unwrap_or_else(PoisonError::into_inner))
}

pub(super) fn read<T>(lock: &RwLock<T>) -> RwLockReadGuard<'_, T> {
    spin(LOOKS, || lock.try_read())
        .unwrap_or_else(|| lock.read().unwrap_or_else(PoisonError::into_inner))
}

pub(super) fn write<T>(lock: &RwLock<T>) -> RwLockWriteGuard<'_, T> {
    spin(LOOKS, || lock.try_write())
        .unwrap_or_else(|| lock.write().unwrap_or_else(PoisonError::into_inner))
}

#[cfg(test)]
mod tests {
    use std::sync::{Mutex, RwLock};
    use std::thread;
    use std::time::Duration;

    use super::{lock, read, write};

    #[test]
    fn a_lock_that_is_held_for_long_is_acquired() {
        let counted = Mutex::new(0);
        let shared = RwLock::new(0);
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let mut count = lock(&counted);
                    thread::sleep(Duration::from_millis(2));
                    *count += 1;
                    *write(&shared) += 1;
                    assert!(*read(&shared) >= 1);
                });
            }
        });
        assert_eq!((*lock(&counted), *read(&shared)), (4, 4));
    }
}
