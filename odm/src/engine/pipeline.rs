//! Aggregation stages.
