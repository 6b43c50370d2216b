//! Validators and indexes from metadata; comparing and applying them.
