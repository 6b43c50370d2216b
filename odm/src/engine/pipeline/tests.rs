//! Runs the cases of `tests/cases/stage`, recorded from a real server.

use bson::raw::{RawArrayBuf, RawBson, RawDocument, RawDocumentBuf};
use bson::{DateTime, Document};

use super::projection::Projection;
use super::{Pipeline, Source};
use crate::engine::expression::Globals;
use crate::engine::matcher::Matcher;
use crate::error::ServerError;

/// One collection, `stage_cases`.
struct Held(Vec<RawDocumentBuf>);

impl Source for Held {
    fn find(
        &self,
        _database: Option<&str>,
        collection: &str,
        filter: &RawDocument,
        globals: &Globals,
    ) -> Result<Vec<RawDocumentBuf>, ServerError> {
        let matcher = Matcher::parse(filter, globals)?;
        let mut found = Vec::new();
        for document in self.0.iter().filter(|_| collection == "stage_cases") {
            if matcher.matches(document)? {
                found.push(document.clone());
            }
        }
        Ok(found)
    }

    fn random(&self) -> u64 {
        7
    }

    fn replace_all(
        &self,
        _database: Option<&str>,
        _collection: &str,
        _documents: Vec<RawDocumentBuf>,
    ) -> Result<(), ServerError> {
        Ok(())
    }
}

fn read(name: &str) -> Vec<Document> {
    let path = format!(
        "{}/../tests/cases/stage/{name}.json",
        env!("CARGO_MANIFEST_DIR")
    );
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn raw(document: &Document) -> RawDocumentBuf {
    RawDocumentBuf::try_from(document).unwrap()
}

fn run(case: &Document, source: &Held) -> Result<Vec<RawDocumentBuf>, ServerError> {
    let globals = Globals::new(DateTime::from_millis(1_795_226_809_000));
    if let Ok(projection) = case.get_document("projection") {
        let matcher = Matcher::parse(&raw(case.get_document("filter").unwrap()), &globals)?;
        let projection = Projection::parse(&raw(projection), &globals)?;
        let mut found = Vec::new();
        for document in &source.0 {
            if let Some(at) = matcher.match_position(document)? {
                let projected = projection.apply(document, at.array_index, &globals);
                found.push(projected.map_err(|e| e.within("Executor error during find command"))?);
            }
        }
        return Ok(found);
    }
    let stages = case.get_array("pipeline").unwrap().iter().cloned();
    let stages: RawArrayBuf = stages
        .map(|stage| RawBson::try_from(stage).unwrap())
        .collect();
    let pipeline = Pipeline::parse(&stages, &globals)?;
    let input = Box::new(source.0.iter().cloned().map(Ok));
    pipeline.run(0, input, source, &globals)?.collect()
}

fn check(case: &Document, source: &Held) -> Result<(), String> {
    let got = run(case, source);
    let wanted = match case.get_document("error") {
        Ok(error) => Err((
            error.get_i32("code").unwrap(),
            error.get_str("message").unwrap(),
        )),
        Err(_) => Ok(case
            .get_array("result")
            .unwrap()
            .iter()
            .map(|document| raw(document.as_document().unwrap()))
            .collect::<Vec<_>>()),
    };
    let same = match (&got, &wanted) {
        (Ok(got), Ok(wanted)) => got == wanted,
        (Err(got), Err(wanted)) => (got.code().number(), got.message()) == *wanted,
        _ => false,
    };
    if same {
        return Ok(());
    }
    let decoded = |documents: Vec<RawDocumentBuf>| -> Vec<String> {
        documents
            .into_iter()
            .map(|document| Document::try_from(document).unwrap().to_string())
            .collect()
    };
    Err(format!(
        "{:?}{:?}\n    wanted {:?}\n    got    {:?}",
        case.get("pipeline"),
        case.get("projection"),
        wanted.map(decoded),
        got.map(decoded)
    ))
}

fn file(name: &str) {
    let source = Held(read("documents").iter().map(raw).collect());
    let cases = read(name);
    assert!(!cases.is_empty());
    let failures: Vec<String> = cases
        .iter()
        .filter_map(|case| check(case, &source).err())
        .collect();
    assert!(
        failures.is_empty(),
        "{} of {}:\n{}",
        failures.len(),
        cases.len(),
        failures.join("\n")
    );
}

macro_rules! files {
    ($($name:ident),* $(,)?) => { $(#[test] fn $name() { file(stringify!($name)); })* };
}

files!(
    count,
    facet,
    find,
    group,
    limit_skip,
    lookup,
    pipeline,
    project,
    replace,
    sample,
    set,
    sort,
    sort_by_count,
    union_with,
    unset,
    unwind,
);

/// `match` is a word of Rust.
#[test]
fn matching() {
    file("match");
}
