//! Code that the derives accept, and the messages for code that they refuse.
//!
//! `TRYBUILD=overwrite cargo test -p odm-compile-tests` writes the expected messages anew; read them
//! before committing.

#[test]
fn ui() {
    let cases = trybuild::TestCases::new();
    cases.pass("ui/pass/*.rs");
    cases.compile_fail("ui/fail/*.rs");
}
