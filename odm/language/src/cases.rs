//! Runs the cases in `tests/cases`, recorded from a real mongod, in the unit tests of several modules.
//! `tests/cases/README.md` describes how they are recorded.

use std::fs;
use std::path::{Path, PathBuf};

use bson::{Bson, Document};

use crate::error::ServerError;

/// The time at which the cases that read the clock were recorded.
pub(crate) const NOW: bson::DateTime = bson::DateTime::from_millis(1_795_226_809_000);

pub(crate) fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .map(|folder| folder.join("tests/cases"))
        .find(|cases| cases.is_dir())
        .unwrap()
        .join(name)
}

/// The text of one file; `name` is the folder and the file name, without the extension.
pub(crate) fn text(name: &str) -> String {
    fs::read_to_string(folder(&format!("{name}.json"))).unwrap()
}

/// The cases of one file.
pub(crate) fn read(name: &str) -> Vec<Document> {
    let cases: Vec<Document> = serde_json::from_str(&text(name)).unwrap();
    assert!(!cases.is_empty(), "{name} has no cases");
    cases
}

/// Checks each case of a file and reports every failure.
pub(crate) fn run(name: &str, check: impl Fn(&Document) -> Result<(), String>) {
    let cases = read(name);
    let failures: Vec<String> = cases.iter().filter_map(|case| check(case).err()).collect();
    report(&failures, cases.len());
}

/// Fails if there are failures. Prints only the first ones: 40, or the number in `ODM_SHOW`.
pub(crate) fn report(failures: &[String], of: usize) {
    let shown: Vec<&str> = failures
        .iter()
        .take(std::env::var("ODM_SHOW").map_or(40, |n| n.parse().unwrap()))
        .map(String::as_str)
        .collect();
    assert!(
        failures.is_empty(),
        "{} of {of}:\n{}",
        failures.len(),
        shown.join("\n")
    );
}

/// The recorded error, `error: {code, message}`, of a case.
pub(crate) fn error(case: &Document) -> Option<(i32, &str)> {
    let error = case.get_document("error").ok()?;
    Some((
        error.get_i32("code").unwrap(),
        error.get_str("message").unwrap(),
    ))
}

/// An error in the form of [`error`].
pub(crate) fn parts(error: &ServerError) -> (i32, &str) {
    (error.code().number(), error.message())
}

/// Drops the sign of NaN, which the recorder does not keep.
pub(crate) fn canonical(value: Bson) -> Bson {
    match value {
        Bson::Double(n) if n.is_nan() => Bson::Double(f64::NAN),
        Bson::Array(values) => Bson::Array(values.into_iter().map(canonical).collect()),
        Bson::Document(document) => {
            let fields = document.into_iter();
            Bson::Document(
                fields
                    .map(|(name, value)| (name, canonical(value)))
                    .collect(),
            )
        }
        other => other,
    }
}

/// Fails if the folder has a file that is neither run nor listed in `input`.
pub(crate) fn every_file_is_run(name: &str, run: &[&str], input: &[&str]) {
    let mut files: Vec<String> = fs::read_dir(folder(name))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned())
        .filter(|file| !input.contains(&file.as_str()))
        .collect();
    let mut run: Vec<&str> = run
        .iter()
        .map(|file| file.trim_start_matches("r#"))
        .collect();
    files.sort_unstable();
    run.sort_unstable();
    assert_eq!(files, run, "the files of tests/cases/{name}");
}

/// Generates one test per file of a folder, which calls `$run` with the file's name, and one test that no file is left
/// out.
macro_rules! files {
    ($folder:literal, $run:ident, input: [$($input:literal),*], [$($name:ident),* $(,)?]) => {
        $(#[test] fn $name() { $run(stringify!($name).trim_start_matches("r#")); })*

        #[test]
        fn every_file_is_run() {
            crate::cases::every_file_is_run($folder, &[$(stringify!($name)),*], &[$($input),*]);
        }
    };
}

pub(crate) use files;
