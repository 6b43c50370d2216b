//! Collections: one action for each file.
