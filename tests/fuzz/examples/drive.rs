//! Runs the targets on random input, with nothing but a stable compiler: no coverage guides it, so it finds less in
//! the same time than `cargo fuzz` does.
//!
//! ```text
//! cargo run --release --no-default-features --example drive -- [target|all] [seconds] [seed]
//! cargo run --release --no-default-features --example drive -- filters artifacts/filters/crash-…
//! ```
//! A file instead of seconds is run once. The input that ends the process is left in `artifacts/<target>/last`.

use std::time::{Duration, Instant};
use std::{env, fs, process};

use odm_fuzz::targets::TARGETS;

/// Where a run of one input is called too slow.
const SLOW: Duration = Duration::from_secs(5);

fn main() {
    let args: Vec<String> = env::args().skip(1).collect();
    let wanted = args.first().map_or("all", String::as_str);
    let chosen: Vec<_> = TARGETS
        .iter()
        .filter(|(name, _)| wanted == "all" || wanted == *name)
        .collect();
    if chosen.is_empty() {
        eprintln!("there is no target '{wanted}'");
        process::exit(2);
    }
    if let Some(input) = args.get(1).and_then(|file| fs::read(file).ok()) {
        for (_, run) in chosen {
            run(&input);
        }
        return;
    }
    let seconds = args.get(1).and_then(|text| text.parse().ok()).unwrap_or(10);
    let mut state = args
        .get(2)
        .and_then(|text| text.parse().ok())
        .unwrap_or(1_u64)
        | 1;
    for (name, run) in chosen {
        let folder = format!("{}/artifacts/{name}", env!("CARGO_MANIFEST_DIR"));
        fs::create_dir_all(&folder).expect("the folder of artifacts can be made");
        let last = format!("{folder}/last");
        let began = Instant::now();
        let mut runs = 0_u64;
        while began.elapsed() < Duration::from_secs(seconds) {
            let input = random(&mut state);
            fs::write(&last, &input).expect("the input can be kept");
            let start = Instant::now();
            run(&input);
            assert!(
                start.elapsed() < SLOW,
                "{name}: slower than {SLOW:?}, see {last}"
            );
            runs += 1;
        }
        println!("{name}: {runs} inputs in {seconds} s");
        fs::remove_file(&last).expect("the last input is there");
    }
}

/// Bytes of a xorshift generator, at most some hundred.
fn random(state: &mut u64) -> Vec<u8> {
    let mut next = || {
        *state ^= *state << 13;
        *state ^= *state >> 7;
        *state ^= *state << 17;
        *state
    };
    let size = next() % 600;
    (0..size).map(|_| (next() >> 24) as u8).collect()
}
