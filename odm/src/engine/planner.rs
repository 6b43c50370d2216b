//! Chooses how a filter and a sort are answered.
