//! The suite on the engine in this process, and on hostile engines, which do what MongoDB may do and mongod seldom does:
//! `ODM_TEST_SEEDS` lists their seeds.

use std::process::ExitCode;

use odm_tests::Backend;

fn main() -> ExitCode {
    odm_tests::run(
        std::iter::once(Backend::Memory).chain(Backend::hostile_from_env()),
        &[
            ("transactions", true),
            ("change_streams", true),
            ("sharded", false),
            ("secondaries", false),
            ("durable", false),
        ],
    )
}
