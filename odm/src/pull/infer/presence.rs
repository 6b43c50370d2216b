//! Fields that are null in some documents, or absent from some.

use crate::pull::item::{ANY, Type};

/// Where a field is missing.
#[derive(Debug, Clone, Copy)]
pub(super) struct Presence {
    pub(super) is_absent: bool,
    pub(super) is_null: bool,
    /// Whether null is written back as absent, in a field that is both.
    pub(super) are_merged: bool,
}

impl Presence {
    /// The type of the field, and its attributes of serde. A document is written as it was read.
    pub(super) fn declare(self, ty: Type) -> (Type, Vec<String>) {
        let skip = || "skip_serializing_if = \"Option::is_none\"".to_owned();
        match (self.is_absent, self.is_null) {
            (false, false) => (ty, Vec::new()),
            (false, true) if ty == ANY => (ty, Vec::new()),
            (false, true) => (ty.option(), Vec::new()),
            (true, true) if !self.are_merged => (
                ty.option().option(),
                vec!["default, with = \"odm::double_option\"".to_owned(), skip()],
            ),
            (true, _) => (ty.option(), vec![skip()]),
        }
    }
}
