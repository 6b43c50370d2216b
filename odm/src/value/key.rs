//! Order-preserving bytes.
