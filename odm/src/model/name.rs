//! The one resolver of stored names.
