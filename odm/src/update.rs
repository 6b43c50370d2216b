//! Typed updates: they end as the documents a shell user would type.
