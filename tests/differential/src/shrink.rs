//! The smallest case that still differs in the same way.

use odm::bson::{Bson, Document};

use crate::cases::Case;
use crate::compare::Kind;
use crate::run::Stores;

/// Runs that one difference is worth.
const BUDGET: usize = 500;

pub(crate) async fn shrink(stores: &mut Stores, case: &Case, at: usize, kind: Kind) -> Case {
    let mut best = case.clone();
    best.steps.truncate(at + 1);
    let mut left = BUDGET;
    'again: loop {
        for candidate in candidates(&best) {
            if left == 0 {
                return best;
            }
            left -= 1;
            let last = candidate.steps.len() - 1;
            let outcome = stores.run(&candidate).await;
            if outcome
                .differences
                .iter()
                .any(|difference| difference.at == last && difference.kind == kind)
            {
                best = candidate;
                continue 'again;
            }
        }
        return best;
    }
}

pub(crate) fn candidates(case: &Case) -> Vec<Case> {
    let mut out = Vec::new();
    for at in 0..case.steps.len() - 1 {
        let mut smaller = case.clone();
        smaller.steps.remove(at);
        out.push(smaller);
    }
    for (at, step) in case.steps.iter().enumerate() {
        for (position, (key, value)) in step.command.iter().enumerate() {
            // The collection's name stays, and so does the order of documents.
            if position == 0 || key == "ordered" {
                continue;
            }
            let needed = [
                "filter",
                "query",
                "pipeline",
                "documents",
                "updates",
                "cursor",
                "indexes",
                "key",
                "batchSize",
                "collection",
                "update",
                "remove",
                "sort",
            ];
            if !needed.contains(&key.as_str()) {
                let mut smaller = case.clone();
                smaller.steps[at].command.remove(key);
                out.push(smaller);
            }
            for value in reduce(value) {
                let mut smaller = case.clone();
                smaller.steps[at].command.insert(key, value);
                out.push(smaller);
            }
        }
    }
    out
}

fn reduce(value: &Bson) -> Vec<Bson> {
    match value {
        Bson::Document(document) => {
            let mut out = Vec::new();
            let is_needed = |key: &str| match key {
                "q" => document.contains_key("u") || document.contains_key("limit"),
                "u" => document.contains_key("q"),
                "key" | "name" => true,
                _ => false,
            };
            for (key, child) in document {
                if !is_needed(key) {
                    let mut smaller = document.clone();
                    smaller.remove(key);
                    out.push(smaller.into());
                }
                if key.starts_with('$') {
                    match child {
                        Bson::Document(_) => out.push(child.clone()),
                        Bson::Array(parts) => out.extend(parts.iter().cloned()),
                        _ => {}
                    }
                }
            }
            out.extend(document.iter().flat_map(|(key, child)| {
                reduce(child).into_iter().map(move |child| {
                    let mut smaller: Document = document.clone();
                    smaller.insert(key, child);
                    smaller.into()
                })
            }));
            out
        }
        Bson::Array(values) => {
            let mut out: Vec<Bson> = Vec::new();
            for at in 0..values.len() {
                let mut smaller = values.clone();
                smaller.remove(at);
                out.push(smaller.into());
            }
            for (at, value) in values.iter().enumerate() {
                out.extend(reduce(value).into_iter().map(|value| {
                    let mut smaller = values.clone();
                    smaller[at] = value;
                    smaller.into()
                }));
            }
            out
        }
        Bson::Double(_) | Bson::Int64(_) | Bson::Decimal128(_) => vec![Bson::Int32(1)],
        _ => Vec::new(),
    }
}
