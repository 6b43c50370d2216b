//! The memory of stages that keep documents, for commands that may not use the disk (`allowDiskUse: false`).
//!
//! Sizes are estimates: those of the documents and their keys, and what mongod adds to each.

use bson::raw::RawDocument;
use odm_language::error::{Code, ServerError};
use odm_language::expression::Globals;
use odm_language::expression::memory_limit::{LIMIT, variable_size};
use odm_language::value::raw::elements;

/// What mongod's `$sort` adds to the size of a document and its key.
pub(crate) const SORTED: usize = 96;

/// The fixed part of a field.
const FIELD: usize = 16;

/// The bytes that a stage holds.
#[derive(Debug)]
pub(crate) struct Memory {
    used: usize,
    is_limited: bool,
}

impl Memory {
    /// Nothing yet, with a limit unless the command may use the disk.
    pub(crate) fn new(globals: &Globals) -> Self {
        Self::limited(!globals.allows_disk_use())
    }

    /// Nothing yet, with a limit or without.
    pub(crate) fn limited(is_limited: bool) -> Self {
        Self {
            used: 0,
            is_limited,
        }
    }

    /// Whether there is a limit.
    pub(crate) fn is_limited(&self) -> bool {
        self.is_limited
    }

    pub(crate) fn is_exceeded(&self) -> bool {
        self.is_limited && self.used > LIMIT
    }

    pub(crate) fn add(&mut self, bytes: usize) {
        self.used = self.used.saturating_add(bytes);
    }

    pub(crate) fn remove(&mut self, bytes: usize) {
        self.used = self.used.saturating_sub(bytes);
    }

    /// Counts anew.
    pub(crate) fn reset(&mut self, bytes: usize) {
        self.used = bytes;
    }
}

/// The error of a stage that would have to use the disk.
pub(crate) fn needs_disk(message: impl Into<String>) -> ServerError {
    ServerError::new(
        Code::QUERY_EXCEEDED_MEMORY_LIMIT_NO_DISK_USE_ALLOWED,
        message,
    )
}

/// The error of a sort that would have to use the disk.
pub(crate) fn sort_needs_disk(has_limit: bool) -> ServerError {
    let advice = if has_limit {
        " Aborting operation. Pass allowDiskUse:true to opt in."
    } else {
        ""
    };
    needs_disk(format!(
        "Sort exceeded memory limit of {LIMIT} bytes, but did not opt in to external sorting.{advice}"
    ))
}

/// The first part of each path.
pub(crate) fn top_level<'p>(paths: impl Iterator<Item = &'p str>) -> Vec<String> {
    let heads = paths.filter_map(|path| path.split('.').next());
    heads.map(str::to_owned).collect()
}

/// The approximate size of the document, or of these fields of it.
pub(crate) fn size_of(document: &RawDocument, fields: Option<&[String]>) -> usize {
    let Some(fields) = fields else {
        return document.as_bytes().len();
    };
    elements(document)
        .filter(|(name, _)| fields.iter().any(|field| field == name))
        .map(|(name, value)| FIELD + name.len() + variable_size(value))
        .sum()
}
