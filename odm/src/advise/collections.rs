//! The collections of the database: how many there are, and which are empty.

use std::collections::HashMap;

use bson::doc;

use super::report::number;
use super::thresholds::LOOKED_INTO;
use super::{Advice, AdviceCode, AdviceReport};
use crate::error::Result;
use crate::store::{CollectionName, Store};

/// The type of each collection (`collection`, `view`, `timeseries`), by its name.
pub(super) type Listed = HashMap<String, String>;

pub(super) async fn list(store: &Store, report: &mut AdviceReport) -> Result<Option<Listed>> {
    let command = doc! {"listCollections": 1, "nameOnly": true, "authorizedCollections": true};
    let what = || "the collections of the database".to_owned();
    let listed = report.unless_refused(what, store.run_cursor(command).await)?;
    let named = |collection: bson::Document| {
        let name = collection.get_str("name").ok()?.to_owned();
        let kind = collection.get_str("type").unwrap_or("collection");
        Some((name, kind.to_owned()))
    };
    Ok(listed.map(|listed| listed.into_iter().filter_map(named).collect()))
}

/// The advice about the collections. Those of the models are `declared`.
pub(super) async fn advise(
    store: &Store,
    listed: &Listed,
    declared: &[CollectionName],
    most: u64,
    report: &mut AdviceReport,
) -> Result<()> {
    let is_system = |name: &str| name.starts_with("system.");
    let stored = listed
        .iter()
        .filter(|(name, kind)| *kind != "view" && !is_system(name));
    let count = stored.count() as u64;
    if count > most {
        report.advice.push(Advice {
            figures: doc! {"collections": number(count), "most": number(most)},
            message: format!(
                "the database has {count} collections, and {most} are as many as its server should have; each has files of its own, \
                 as has each of its indexes"
            ),
            remedy: "keep documents of one kind in one collection, with an indexed field for the tenant or the month in place of a \
                     collection for each; drop collections that nobody reads"
                .to_owned(),
            ..Advice::of(AdviceCode::TooManyCollections)
        });
    }
    let is_own = |name: &str| name.starts_with("odm_") || is_system(name);
    let others = listed.iter().filter(|(name, kind)| {
        *kind == "collection" && !is_own(name) && !declared.iter().any(|it| **it == ***name)
    });
    let mut others: Vec<&String> = others.map(|(name, _)| name).collect();
    others.sort_unstable();
    if others.len() > LOOKED_INTO {
        report.not_examined.push(format!(
            "whether {} of {} collections without a model are empty",
            others.len() - LOOKED_INTO,
            others.len()
        ));
    }
    for name in others.into_iter().take(LOOKED_INTO) {
        let find = doc! {
            "find": name,
            "projection": {"_id": 1},
            "limit": 1,
            "singleBatch": true,
        };
        let what = || format!("the collection `{name}`");
        let found = report.unless_refused(what, store.run_cursor(find).await)?;
        if found.is_some_and(|found| found.is_empty()) {
            report.advice.push(Advice {
                collection: Some(name.clone()),
                figures: doc! {"documents": 0_i64},
                message: format!(
                    "the collection `{name}` has no documents, and none of the models of this call declares it"
                ),
                remedy: format!("if no program needs it, drop it: `{{drop: \"{name}\"}}`"),
                ..Advice::of(AdviceCode::EmptyCollection)
            });
        }
    }
    Ok(())
}
