//! Open cursors.
