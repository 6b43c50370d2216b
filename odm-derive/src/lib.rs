//! Derive macros of the `odm` crate.
