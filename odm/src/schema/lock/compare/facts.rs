//! What differs between options, indexes, rules, relations and trees.

use std::collections::BTreeSet;

use bson::{Bson, Document};

use super::super::{Fact, Impact};
use super::Changes;
use crate::schema::normal::integer;
use crate::types::json::text;

impl Changes<'_> {
    pub(super) fn facts(&mut self) {
        let (old, new) = (&self.old.facts, &self.new.facts);
        let keys: BTreeSet<_> = old.keys().chain(new.keys()).collect();
        for key in keys {
            let (before, after) = (old.get(key), new.get(key));
            if before != after {
                let (before, after) = (before.map(String::as_str), after.map(String::as_str));
                self.fact(key.0, &key.1, before, after);
            }
        }
    }

    fn fact(&mut self, fact: Fact, name: &str, before: Option<&str>, after: Option<&str>) {
        let subject = format!("{} {name}", fact.word());
        let what = match (before, after) {
            (None, Some(after)) => format!("added: {after}"),
            (Some(before), None) => format!("removed; it was {before}"),
            (before, after) => {
                format!(
                    "is {}, and was {}",
                    after.unwrap_or_default(),
                    before.unwrap_or_default()
                )
            }
        };
        let is_added = after.is_some();
        let (impact, consequence) = match fact {
            _ if self.is_view() => (
                Impact::Compatible,
                "MongoDB computes the documents of a view",
            ),
            Fact::Option => {
                self.option_changed(name, &document(before), &document(after), is_added)
            }
            Fact::Index => index(before.is_some(), &document(before), &document(after)),
            Fact::Keywords if is_added => (
                Impact::Rewrite,
                "stored documents have other keywords, or none",
            ),
            Fact::Relation if document(after).contains_key("recent") => (
                Impact::Rewrite,
                "a refresh writes the lists of stored documents",
            ),
            Fact::Rule if is_added && self.is_enforced() => (
                Impact::Rewrite,
                "documents that break the rule can't be updated",
            ),
            Fact::Tree if is_added => (
                Impact::Rewrite,
                "`repair` of the tree computes the fields that it keeps",
            ),
            Fact::Relation | Fact::Keywords | Fact::Rule | Fact::Tree => (Impact::Compatible, ""),
        };
        let what = if consequence.is_empty() {
            what
        } else {
            format!("{what}: {consequence}")
        };
        let step = (impact > Impact::Compatible).then(|| {
            let verb = match fact {
                Fact::Index => "prepare",
                Fact::Relation | Fact::Keywords => "refresh",
                Fact::Rule => "fit",
                Fact::Tree => "repair",
                Fact::Option => "change",
            };
            format!("{verb}_{name}")
        });
        self.add(&subject, impact, what, step);
    }

    fn option_changed(
        &self,
        name: &str,
        before: &Document,
        after: &Document,
        is_added: bool,
    ) -> (Impact, &'static str) {
        let less = |key: &str| falls(before.get(key), after.get(key));
        match name {
            "deny_undeclared" if is_added && self.is_enforced() => (
                Impact::Rewrite,
                "documents with undeclared fields can't be updated",
            ),
            "validation" if self.is_enforced() => (
                Impact::Rewrite,
                "documents that were never validated can't be updated if they are invalid",
            ),
            "capped" if is_added && (before.is_empty() || less("size") || less("max")) => {
                (Impact::LosesData, "MongoDB removes the oldest documents")
            }
            "capped" if !is_added => (
                Impact::Rewrite,
                "MongoDB can't change this: copy the documents into a new collection",
            ),
            "time_series" if is_added && same_but(before, after, "expire_after_seconds") => {
                if less("expire_after_seconds") {
                    (
                        Impact::LosesData,
                        "MongoDB removes documents that are older",
                    )
                } else {
                    (Impact::Compatible, "")
                }
            }
            "view" if is_added && !before.is_empty() => (Impact::Compatible, "sync changes it"),
            "time_series" | "collation" | "view" => (
                Impact::Rewrite,
                "MongoDB can't change this: copy the documents into a new collection",
            ),
            "shard_key" => (
                Impact::Rewrite,
                "a cluster distributes the documents anew, and asks for the fields in all of them",
            ),
            "schema_version" if !before.is_empty() => (
                Impact::Rewrite,
                "the stored version is in a field that nobody reads, so the document counts as version 1",
            ),
            "gridfs" if is_added && !before.is_empty() => {
                (Impact::Compatible, "stored files keep their chunks")
            }
            "gridfs" => (
                Impact::Rewrite,
                "the chunks of stored files are elsewhere, or missing",
            ),
            "bucket" => (
                Impact::Rewrite,
                "stored buckets have other bounds or fields",
            ),
            "overflow" if is_added && same_but(before, after, "max") => {
                (Impact::Compatible, "full overflow documents get no more")
            }
            "overflow" => (
                Impact::Rewrite,
                "stored overflow documents are of another list, or are found by other fields",
            ),
            _ => (Impact::Compatible, ""),
        }
    }
}

fn index(was_there: bool, before: &Document, after: &Document) -> (Impact, &'static str) {
    let is_set = |spec: &Document, option: &str| spec.get(option) == Some(&Bson::Boolean(true));
    if after.is_empty() {
        return (Impact::Compatible, "sync drops it if it may");
    }
    let seconds = "expireAfterSeconds";
    if after.contains_key(seconds) && falls(before.get(seconds), after.get(seconds)) {
        return (
            Impact::LosesData,
            "MongoDB removes documents that are older",
        );
    }
    let covers_more = || {
        before.get("key") != after.get("key")
            || before.get("collation") != after.get("collation")
            || (is_set(before, "sparse") && !is_set(after, "sparse"))
            || before.get("partialFilterExpression") != after.get("partialFilterExpression")
    };
    if is_set(after, "unique") && (!is_set(before, "unique") || covers_more()) {
        return (
            Impact::Rewrite,
            "MongoDB does not build it while documents have the same key",
        );
    }
    let what = if was_there {
        "sync changes it, or builds it anew"
    } else {
        "sync builds it"
    };
    (Impact::Compatible, what)
}

/// Whether a number gets smaller, or bounds what had no bound.
fn falls(before: Option<&Bson>, after: Option<&Bson>) -> bool {
    let (before, after) = (before.and_then(integer), after.and_then(integer));
    after.is_some_and(|after| before.is_none_or(|before| after < before))
}

fn same_but(one: &Document, other: &Document, key: &str) -> bool {
    let rest = |document: &Document| {
        let mut rest = document.clone();
        rest.remove(key);
        rest
    };
    rest(one) == rest(other)
}

/// A value as a document; empty for any other.
fn document(value: Option<&str>) -> Document {
    let document = value.and_then(|value| text::document(value.as_bytes()).ok());
    document.unwrap_or_default()
}
