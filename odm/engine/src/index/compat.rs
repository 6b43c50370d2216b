//! Imitates the deprecated option `returnKey`, which returns index keys instead of documents.

mod return_key;
