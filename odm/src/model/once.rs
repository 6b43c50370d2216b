//! Values that are found once in a process, for a model or another part of the metadata.

use std::collections::HashMap;
use std::sync::{LazyLock, PoisonError, RwLock};

use foldhash::fast::RandomState;

use crate::error::Result;

/// What was found so far, by the address of what it was found for.
pub(crate) type Found<T> = LazyLock<RwLock<HashMap<usize, &'static T, RandomState>>>;

/// Finds a value for a part of the metadata once in a process. A process has few models, and metadata is as constant as they
/// are, so what is found is never freed.
pub(crate) fn once<K, T: Send + Sync>(
    known: &Found<T>,
    of: &'static K,
    find: impl FnOnce() -> Result<T>,
) -> Result<&'static T> {
    let address = std::ptr::from_ref(of).addr();
    let found = known.read().unwrap_or_else(PoisonError::into_inner);
    if let Some(found) = found.get(&address) {
        return Ok(found);
    }
    drop(found);
    let new = find()?;
    let mut known = known.write().unwrap_or_else(PoisonError::into_inner);
    Ok(known
        .entry(address)
        .or_insert_with(|| Box::leak(Box::new(new))))
}
