//! The changes of a tree: inserts, moves, swaps, deletes.
//!
//! Hides how each is put together: it reads the nodes that it concerns, and then fills in one list of writes, which the
//! journal runs.

mod graph;
mod insert;
mod relocate;
mod remove;
mod rerank;
mod rules;
mod swap;
