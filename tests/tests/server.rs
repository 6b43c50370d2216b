//! The suite on the engine behind a port, through the official driver.

use std::process::ExitCode;

use odm_tests::Backend;

fn main() -> ExitCode {
    odm_tests::run(
        Some(Backend::Served),
        &[
            ("transactions", true),
            ("change_streams", true),
            ("sharded", false),
            ("secondaries", false),
            ("durable", true),
        ],
    )
}
