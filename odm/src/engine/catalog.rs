//! Databases, collections and their records.
