//! Aggregation expressions: compiled once, evaluated over raw documents.
