//! Imitates the order in which mongod rejects the options of a query that exclude each other.

pub(crate) mod exclusive_options;
