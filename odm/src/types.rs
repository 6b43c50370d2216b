//! What users put in fields: ids.
