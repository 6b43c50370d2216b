//! The suite on the engine in this process.

use std::process::ExitCode;

use odm_tests::Backend;

fn main() -> ExitCode {
    odm_tests::run(
        Some(Backend::Memory),
        &[
            ("transactions", true),
            ("change_streams", true),
            ("sharded", false),
            ("secondaries", false),
            ("durable", false),
        ],
    )
}
