//! References to documents of another collection.

use super::Document;

/// The id of a document of `T`, stored as that id and nothing else.
#[derive(Debug)]
pub struct Ref<T: Document>(pub(crate) T::Id);
