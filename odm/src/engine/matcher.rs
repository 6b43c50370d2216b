//! Query filters: parsed into a closed enum of predicates, evaluated over raw documents.
