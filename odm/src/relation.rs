//! References between collections.
