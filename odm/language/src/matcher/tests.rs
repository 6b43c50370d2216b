//! Runs the cases of `tests/cases/query`, recorded from a real server.

mod laws;

use bson::{Bson, DateTime, Document, RawDocumentBuf};

use super::*;
use crate::cases;
use crate::regex::Regex;

fn globals() -> Globals {
    Globals::new(DateTime::from_millis(0))
}

fn raw(document: &Document) -> RawDocumentBuf {
    RawDocumentBuf::try_from(document).unwrap()
}

/// `{documents: […], queries: [{filter, ids} or {filter, code, errmsg}]}`
fn check(case: &Document, failures: &mut Vec<String>) {
    let documents: Vec<(Bson, RawDocumentBuf)> = case
        .get_array("documents")
        .unwrap()
        .iter()
        .map(|document| {
            let document = document.as_document().unwrap();
            (document.get("_id").unwrap().clone(), raw(document))
        })
        .collect();
    for query in case.get_array("queries").unwrap() {
        let query = query.as_document().unwrap();
        let filter = query.get_document("filter").unwrap();
        let matcher = match Matcher::parse(&raw(filter), &globals()) {
            Ok(matcher) => matcher,
            Err(error) => {
                let expected = (query.get_i32("code").ok(), query.get_str("errmsg").ok());
                if expected != (Some(error.code().number()), Some(error.message())) {
                    failures.push(format!("{filter}\n  {error}\n  not {expected:?}"));
                }
                continue;
            }
        };
        let Ok(ids) = query.get_array("ids") else {
            failures.push(format!("{filter}\n  is accepted, not {query}"));
            continue;
        };
        for (id, document) in &documents {
            let expected = ids.contains(id);
            match matcher.matches(document) {
                Ok(matched) if matched == expected => {}
                other => failures.push(format!(
                    "{filter}\n  {}\n  {other:?}, not {expected}",
                    Document::try_from(&**document).unwrap()
                )),
            }
        }
    }
}

fn run(name: &str) {
    let mut failures = Vec::new();
    let cases = cases::read(&format!("query/{name}"));
    for case in &cases {
        check(case, &mut failures);
    }
    cases::report(&failures, cases.len());
}

#[test]
fn random_filters_match_as_on_mongod() {
    run("nested_filters");
}

/// `[{document, filter, index}]`: where the positional `$` of an update went.
#[test]
fn positional_matches_agree_with_mongod() {
    let mut failures = Vec::new();
    let cases = cases::read("query/positions");
    for case in &cases {
        let document = case.get_document("document").unwrap();
        let filter = case.get_document("filter").unwrap();
        let expected = case
            .get_i32("index")
            .ok()
            .map(|index| usize::try_from(index).unwrap());
        let matcher = Matcher::parse(&raw(filter), &globals()).unwrap();
        let found = matcher.match_position(&raw(document)).unwrap();
        if found.map(|found| found.array_index) != Some(expected) {
            failures.push(format!(
                "{filter}\n  {document}\n  {found:?}, not {expected:?}"
            ));
        }
    }
    cases::report(&failures, cases.len());
}

/// `[{validator, document, details}]`, or `{validator, code, errmsg}` where it is refused.
#[test]
fn validation_failures_are_explained_as_on_mongod() {
    let cases = cases::read("validation/details");
    let mut failures = Vec::new();
    for case in &cases {
        let validator = case.get_document("validator").unwrap();
        let matcher = match Matcher::parse(&raw(validator), &globals()) {
            Ok(matcher) => matcher,
            Err(error) => {
                let expected = (case.get_i32("code").ok(), case.get_str("errmsg").ok());
                if expected != (Some(error.code().number()), Some(error.message())) {
                    failures.push(format!("{validator}\n  {error}\n  not {expected:?}"));
                }
                continue;
            }
        };
        if let Ok(message) = case.get_str("errmsg") {
            failures.push(format!("{validator}\n  is accepted, not {message}"));
            continue;
        }
        let Ok(document) = case.get_document("document") else {
            continue;
        };
        let found = matcher.failure(&raw(document)).unwrap();
        let expected = case.get_document("details").ok();
        if format!("{:?}", found.as_ref()) != format!("{expected:?}") {
            failures.push(format!(
                "{validator}\n  {document}\n  {found:?}\n  not {expected:?}"
            ));
        }
    }
    cases::report(&failures, cases.len());
}

#[test]
fn refusals_agree_with_mongod() {
    run("refusals");
}

#[test]
fn regular_expressions_follow_pcre() {
    run("regex");
}

#[test]
fn unsupported_regex_syntax_is_refused() {
    for pattern in [
        r"(?|(a)|(b))\1",
        r"\X",
        r"\C",
        r"(*UCP)\w",
        "(?R)?",
        "(?=a)*",
    ] {
        let error = Regex::new(pattern, "").unwrap_err();
        assert_eq!(error.code().number(), 238, "{pattern}: {error}");
    }
}

#[test]
fn known_operators_without_support_are_refused() {
    let filter = bson::doc! { "$where": "true" };
    let error = Matcher::parse(&raw(&filter), &globals()).unwrap_err();
    assert_eq!(error.code().number(), 238, "{filter}: {error}");
}

#[test]
fn operators_accept_values_of_every_type() {
    run("operators");
}

#[test]
fn error_messages_print_values_as_mongod_does() {
    run("values_in_errors");
}
