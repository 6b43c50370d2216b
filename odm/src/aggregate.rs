//! Raw pipelines with a typed result.
