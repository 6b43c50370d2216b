//! Index specifications, keys and entries.
