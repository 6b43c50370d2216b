//! BSON values: their order, arithmetic, types, paths and keys. Pure functions: no state, no I/O.
