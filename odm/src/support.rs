//! All that generated code may name; no part of the public API.
