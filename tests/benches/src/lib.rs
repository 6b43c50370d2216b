//! What the benchmarks share. Each of them is a program of its own, beside this folder.

/// The URI of the mongod that `ODM_TEST_URI` names, if it names one.
pub fn mongod_uri() -> Option<String> {
    std::env::var("ODM_TEST_URI")
        .ok()
        .filter(|uri| !uri.is_empty())
}

/// The ways of a benchmark in the order of a round. Each round begins with another one: mongod still works for what was measured
/// before, and slows down whatever comes next.
pub fn turns<T>(round: i32, ways: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut ways: Vec<T> = ways.into_iter().collect();
    let first = usize::try_from(round).unwrap_or_default() % ways.len().max(1);
    ways.rotate_left(first);
    ways
}

/// Lets the peak begin again with the memory that the process has now.
pub fn reset_peak() {
    // Only Linux has it, and elsewhere the peak is unknown anyway.
    let _written = std::fs::write("/proc/self/clear_refs", "5");
}

/// The largest memory of this process since then.
pub fn peak() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    peak.map_or("unknown", str::trim).to_owned()
}
