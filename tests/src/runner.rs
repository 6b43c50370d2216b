//! Runs the suite on some stores, as the tests of one binary.

use std::process::ExitCode;
use std::sync::Arc;

use libtest_mimic::{Arguments, Failed, Trial};

use crate::backend::Backend;
use crate::{spared, suite};

/// Runs every case on each of `backends`, and checks that the stores can do what `capability` says: each flag by
/// its name, in the order of [`Capability`](odm::Capability), so that the list is complete.
///
/// Without a back end the cases are listed as ignored.
pub fn run(backends: impl IntoIterator<Item = Backend>, capability: &[(&str, bool)]) -> ExitCode {
    let arguments = Arguments::from_args();
    let backends: Vec<_> = backends.into_iter().collect();
    let ignored = backends.is_empty();
    let flags: Vec<_> = capability
        .iter()
        .map(|(name, can)| format!("{name}: {can}"))
        .collect();
    let expected = format!("Capability {{ {} }}", flags.join(", "));
    let listed = if ignored {
        vec![Backend::Memory]
    } else {
        backends
    };
    let is_hostile = |backend: &Backend| matches!(backend, Backend::Hostile { .. });
    let has_spared = listed.iter().any(is_hostile);
    let mut trials: Vec<_> = listed
        .into_iter()
        .flat_map(|backend| trials_on(&Arc::new(backend), &expected))
        .map(|trial| trial.with_ignored_flag(ignored))
        .collect();
    if has_spared {
        trials.push(Trial::test("spared_cases_exist", spared_cases_exist));
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// The cases on one store.
fn trials_on(backend: &Arc<Backend>, expected: &str) -> Vec<Trial> {
    let prefix = backend.prefix();
    let store = Arc::clone(backend);
    let expected = expected.to_owned();
    let mut trials = vec![Trial::test(format!("{prefix}capability"), move || {
        let found = format!("{:?}", store.capability());
        if found == expected {
            Ok(())
        } else {
            Err(format!("{found}, not {expected}").into())
        }
    })];
    for case in suite::cases().into_iter().filter(|case| backend.has(case)) {
        let store = Arc::clone(backend);
        let name = format!("{prefix}{}", case.short_name());
        trials.push(Trial::test(name, move || {
            store.run(&case);
            Ok(())
        }));
    }
    trials
}

fn spared_cases_exist() -> Result<(), Failed> {
    let unknown = spared::unknown(&suite::cases());
    if unknown.is_empty() {
        Ok(())
    } else {
        Err(format!("no case's name begins with any of {unknown:?}").into())
    }
}
