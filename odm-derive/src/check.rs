//! Every refusal: what is wrong, and what to write instead.
