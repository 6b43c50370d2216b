//! The suite on the server that `ODM_TEST_URI` names.
#![expect(clippy::print_stderr, reason = "a skipped suite says so")]

use std::process::ExitCode;

use odm_tests::Backend;

fn main() -> ExitCode {
    let server = Backend::server_from_env();
    if server.is_none() {
        eprintln!(
            "skipped: no server. To run the suite on one, a replica set, name it: \
             ODM_TEST_URI='mongodb://127.0.0.1:27017/?directConnection=true'"
        );
    }
    odm_tests::run(
        server,
        &[
            ("transactions", true),
            ("change_streams", true),
            ("sharded", false),
            ("secondaries", false),
            ("durable", true),
        ],
    )
}
