//! Runs the suite on one store, as the tests of one binary.

use std::process::ExitCode;
use std::sync::Arc;

use libtest_mimic::{Arguments, Trial};

use crate::backend::Backend;
use crate::suite;

/// Runs every case on `backend`, and checks that the store can do what `capability` says: each flag by
/// its name, in the order of [`Capability`](odm::Capability), so that the list is complete.
///
/// Without a back end the cases are listed as ignored.
pub fn run(backend: Option<Backend>, capability: &[(&str, bool)]) -> ExitCode {
    let arguments = Arguments::from_args();
    let ignored = backend.is_none();
    let backend = Arc::new(backend.unwrap_or(Backend::Memory));
    let flags: Vec<_> = capability
        .iter()
        .map(|(name, can)| format!("{name}: {can}"))
        .collect();
    let expected = format!("Capability {{ {} }}", flags.join(", "));
    let store = Arc::clone(&backend);
    let mut trials = vec![Trial::test("capability", move || {
        let found = format!("{:?}", store.capability());
        if found == expected {
            Ok(())
        } else {
            Err(format!("{found}, not {expected}").into())
        }
    })];
    for case in suite::cases() {
        let store = Arc::clone(&backend);
        trials.push(Trial::test(case.short_name(), move || {
            store.run(&case);
            Ok(())
        }));
    }
    let trials = trials
        .into_iter()
        .map(|trial| trial.with_ignored_flag(ignored))
        .collect();
    libtest_mimic::run(&arguments, trials).exit_code()
}
