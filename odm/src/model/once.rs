//! Values that are found for a model once in a process.

use std::collections::HashMap;
use std::sync::{LazyLock, PoisonError, RwLock};

use super::ModelMeta;
use crate::error::Result;

/// What was found for the models that were asked for it, by the address of the model.
pub(super) type Found<T> = LazyLock<RwLock<HashMap<usize, &'static [T]>>>;

/// Finds values for the model once in a process. A process has few models, and metadata is as constant as they are, so what
/// is found is never freed.
pub(super) fn once<T: Send + Sync>(
    known: &RwLock<HashMap<usize, &'static [T]>>,
    model: &'static ModelMeta,
    find: impl FnOnce() -> Result<Vec<T>>,
) -> Result<&'static [T]> {
    let address = std::ptr::from_ref(model).addr();
    let found = known.read().unwrap_or_else(PoisonError::into_inner);
    if let Some(found) = found.get(&address) {
        return Ok(found);
    }
    drop(found);
    let new = find()?;
    let mut known = known.write().unwrap_or_else(PoisonError::into_inner);
    Ok(known
        .entry(address)
        .or_insert_with(|| Box::leak(new.into_boxed_slice())))
}
