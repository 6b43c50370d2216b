//! The two stores behind one door: operations in, responses out.
