//! The messages for code that the derives refuse. The other files here are code that they accept: without such cases,
//! trybuild checks all of these at once.
//!
//! `TRYBUILD=overwrite cargo test -p odm-compile-tests` writes the expected messages anew; read them
//! before committing.

#[test]
fn ui() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("ui/fail/*.rs");
}
