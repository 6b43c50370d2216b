//! Whether documents of a model have to do with derived data.

use std::sync::{LazyLock, RwLock};

use super::ModelMeta;
use super::once::{Found, once};
use crate::error::Result;

static DERIVES: Found<bool> = LazyLock::new(RwLock::default);

impl ModelMeta {
    /// Whether a write of documents of this model may change values that follow from others, in them or in other documents:
    /// copies, references that refer back, summaries, lists of the newest. Most models have none, and their writes look no
    /// further.
    pub(crate) fn derives(&'static self) -> Result<bool> {
        let found = once(&DERIVES, self, || {
            let any = !self.copied()?.is_empty()
                || !self.copies()?.is_empty()
                || !self.two_way()?.is_empty()
                || !self.summarized()?.is_empty()
                || !self.summaries()?.is_empty()
                || !self.listed()?.is_empty()
                || !self.newest_lists()?.is_empty();
            Ok(any)
        })?;
        Ok(*found)
    }
}
