//! What the operating system tells of a process, from `/proc`.

use std::fs;
use std::time::Duration;

/// The processor time that a process has had.
pub(crate) fn processor_of(pid: u32) -> Duration {
    /// Ticks of a second: Linux shows no others to programs.
    const TICK: Duration = Duration::from_millis(10);
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    // The name in brackets may hold anything.
    let (_, fields) = stat.rsplit_once(')').unwrap();
    let ticks: u32 = fields
        .split_whitespace()
        .skip(11)
        .take(2)
        .map(|field| field.parse::<u32>().unwrap())
        .sum();
    TICK * ticks
}

/// The memory that a process has, in bytes.
pub(crate) fn resident(pid: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status
        .lines()
        .find(|line| line.starts_with("VmRSS:"))
        .unwrap();
    let kilobytes: u64 = line.split_whitespace().nth(1).unwrap().parse().unwrap();
    kilobytes * 1024
}
