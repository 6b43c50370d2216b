//! What the benchmarks share. Each of them is a program of its own, beside this folder.

/// The URI of the mongod that `ODM_TEST_URI` names, if it names one.
pub fn mongod_uri() -> Option<String> {
    std::env::var("ODM_TEST_URI")
        .ok()
        .filter(|uri| !uri.is_empty())
}
