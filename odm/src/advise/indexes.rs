//! Indexes that nothing uses, and those that another one makes redundant.

use bson::{DateTime, Document, doc};

use super::report::number;
use super::subject::Subject;
use super::{Advice, AdviceCode, AdviceReport};
use crate::error::Result;
use crate::model::ModelMeta;
use crate::plan::shell;
use crate::schema::indexes::{collation, declared};
use crate::schema::normal::{NormalIndex, integer};
use crate::store::Store;

/// An index of a collection.
#[derive(Debug)]
pub(super) struct Index {
    normal: NormalIndex,
    /// Whether the model declares it.
    is_declared: bool,
    /// The number of its uses and since when they are counted; none if MongoDB does not say.
    uses: Option<(i64, DateTime)>,
}

/// The indexes of the model's collection, with their uses.
pub(super) async fn read(
    store: &Store,
    subject: &Subject,
    report: &mut AdviceReport,
) -> Result<Vec<Index>> {
    let name = &*subject.collection;
    let command = doc! {"aggregate": name, "pipeline": [{"$indexStats": {}}], "cursor": {}};
    let what = || format!("uses of the indexes of {}", subject.title());
    let stats = report.unless_refused(what, store.run_cursor(command).await)?;
    let listed = if let Some(stats) = stats {
        stats
    } else {
        let what = || format!("indexes of {}", subject.title());
        let listed = store.run_cursor(doc! {"listIndexes": name}).await;
        report.unless_refused(what, listed)?.unwrap_or_default()
    };
    let declared = normal_declared(subject.model)?;
    let mut indexes: Vec<Index> = Vec::new();
    for stats in &listed {
        // `$indexStats` has the specification inside; `listIndexes` lists it.
        let spec = stats.get_document("spec").unwrap_or(stats);
        let normal = NormalIndex::read(spec, None);
        let uses = stats.get_document("accesses").ok().and_then(uses);
        if let Some(known) = indexes.iter_mut().find(|it| it.normal.name == normal.name) {
            // Another shard.
            known.uses = known.uses.zip(uses).map(|((one, since), (other, later))| {
                (one.saturating_add(other), since.max(later))
            });
            continue;
        }
        indexes.push(Index {
            is_declared: declared.iter().any(|it| it.is_equivalent(&normal)),
            normal,
            uses,
        });
    }
    Ok(indexes)
}

fn uses(accesses: &Document) -> Option<(i64, DateTime)> {
    let count = accesses.get("ops").and_then(integer)?;
    Some((count, *accesses.get_datetime("since").ok()?))
}

fn normal_declared(model: &'static ModelMeta) -> Result<Vec<NormalIndex>> {
    let default = model.collation.as_ref().map(collation::document);
    let declared = declared(model)?;
    let normal = |spec: &Document| NormalIndex::read(spec, default.as_ref());
    Ok(declared.iter().map(|one| normal(&one.spec)).collect())
}

/// The indexed strings whose variants are to be compared, with the names of their indexes: those of which no index has a collation
/// that ignores case.
pub(super) fn case_sensitive(indexes: &[Index], strings: &[String]) -> Vec<(String, String)> {
    let on = |path: &str| {
        let has = move |index: &&Index| {
            let kind = index.normal.key.get(path);
            kind.and_then(integer).is_some() && !index.normal.is_text()
        };
        let mut found = indexes.iter().filter(has).peekable();
        let name = found.peek()?.normal.name.clone();
        let ignores_case = found.any(|index| index.normal.ignores_case());
        (!ignores_case).then_some(name)
    };
    let found = strings
        .iter()
        .filter_map(|path| Some((path.clone(), on(path)?)));
    found.collect()
}

/// The advice about the indexes, of which `now` is the time of the server.
pub(super) fn advise(
    subject: &Subject,
    indexes: &[Index],
    now: DateTime,
    unused_for: std::time::Duration,
    report: &mut AdviceReport,
) {
    let mut too_early: Option<DateTime> = None;
    for index in indexes {
        if index.normal.unique
            || index.normal.hidden
            || index.normal.expire_after_seconds.is_some()
            || index.normal.name == "_id_"
        {
            continue;
        }
        let others = indexes.iter().map(|other| &other.normal);
        if let Some(other) = others.clone().find(|other| other.covers(&index.normal)) {
            report.advice.push(redundant(subject, index, other));
            continue;
        }
        let Some((0, since)) = index.uses else {
            continue;
        };
        let counted = now.saturating_duration_since(since);
        if counted >= unused_for {
            report.advice.push(unused(subject, index, since, counted));
        } else {
            too_early = too_early.max(Some(since));
        }
    }
    if let Some(since) = too_early {
        report.not_examined.push(format!(
            "unused indexes of {}: MongoDB counts uses only since {}",
            subject.title(),
            time(since),
        ));
    }
}

/// What to do about an index that is not needed.
fn without(subject: &Subject, index: &Index) -> String {
    let name = &index.normal.name;
    let collection = &*subject.collection;
    if index.is_declared {
        format!(
            "remove the declaration of `{name}` from `{}`, and apply the plan of `sync` with `Allow::DROP`; to try it first, declare \
             it `hidden`",
            subject.model.name
        )
    } else {
        format!(
            "no model declares `{name}`: hide it by `collMod`, and drop it when nothing became slower: \
             `{{dropIndexes: \"{collection}\", index: \"{name}\"}}`"
        )
    }
}

fn redundant(subject: &Subject, index: &Index, other: &NormalIndex) -> Advice {
    let normal = &index.normal;
    Advice {
        index: Some(normal.name.clone()),
        figures: doc! {
            "keys": number(normal.key.len() as u64),
            "keys_of_other": number(other.key.len() as u64),
        },
        message: format!(
            "the index `{}` {} consists of the first keys of `{}` {}, which serves the same queries",
            normal.name,
            shell::document(&normal.key),
            other.name,
            shell::document(&other.key),
        ),
        remedy: without(subject, index),
        ..subject.advice(AdviceCode::RedundantIndex)
    }
}

fn unused(
    subject: &Subject,
    index: &Index,
    since: DateTime,
    counted: std::time::Duration,
) -> Advice {
    let normal = &index.normal;
    Advice {
        index: Some(normal.name.clone()),
        figures: doc! {"ops": 0_i64, "since": since, "days": number(counted.as_secs() / (24 * 60 * 60))},
        message: format!(
            "no operation has used the index `{}` {} since {}, when mongod started or the index was built",
            normal.name,
            shell::document(&normal.key),
            time(since),
        ),
        remedy: without(subject, index),
        ..subject.advice(AdviceCode::UnusedIndex)
    }
}

/// `2026-11-28T08:30:00Z`
fn time(time: DateTime) -> String {
    let text = time.try_to_rfc3339_string();
    text.unwrap_or_else(|_| time.to_string())
}
