//! The suite that runs on every store.
