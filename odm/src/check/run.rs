//! Runs a check: the collections of the models one after the other.

use std::time::Instant;

use bson::{Bson, DateTime, RawBson};

use super::checkers::AnyChecker;
use super::pass::Pass;
use super::report::Tally;
use super::{
    Aspect, Check, CheckProgress, CheckReport, CheckToken, CheckedCollection, Finding, FindingKind,
    Settings, indexes,
};
use crate::error::{Error, Result};
use crate::exec::Channel;
use crate::gridfs::check::orphans;
use crate::model::ModelMeta;
use crate::plan::shell;
use crate::store::options::Chosen;
use crate::store::{Operation, Store};
use crate::tree::check_tree;
use crate::write::{Damage, pending_propagations};

/// The largest value that a finding holds.
const VALUE_BYTES: usize = 1_024;

/// The longest sentence of a finding.
const DETAIL_CHARS: usize = 2_000;

pub(super) async fn run(check: Check<'_>) -> Result<CheckReport> {
    let Check {
        settings: mut check,
        mut hear_progress,
        hear_finding,
        refused,
    } = check;
    if let Some(refused) = refused {
        return Err(refused);
    }
    let started = Instant::now();
    let mut tally = Tally::new(hear_finding);
    let token = check.token.take();
    let first = match &token {
        None => 0,
        Some(token) => start(&check.models, token)?,
    };
    let mut after = token.and_then(|token| token.after);
    let models = check.models.clone();
    for model in models.iter().copied().skip(first) {
        let collection = check.store.names().of(model.collection).to_string();
        let place = |after: Option<Bson>| CheckToken {
            collection: model.collection.to_owned(),
            after,
        };
        let is_late = || {
            check
                .time_limit
                .is_some_and(|limit| started.elapsed() >= limit)
        };
        if is_late() {
            return Ok(tally.end(Some(place(after))));
        }
        if after.is_none() {
            whole(&check, model, &mut tally).await?;
        }
        let checkers = AnyChecker::all(model, check.aspects, &mut tally.report.not_checked)?;
        tally.report.collections.push(CheckedCollection {
            model: model.name,
            collection: collection.clone(),
            read: 0,
        });
        if checkers.is_empty() {
            after = None;
            continue;
        }
        let estimated = match hear_progress {
            Some(_) => estimated(&check.store, model).await?,
            None => 0,
        };
        let channel = Channel::new(check.store.clone(), None);
        let selection = check.selection(model);
        let checkers = checkers.into_iter().map(AnyChecker::remembering);
        let pass = Pass::new(channel, model, selection, checkers.collect(), after.take());
        let mut pass = pass.reading_ahead();
        loop {
            let named = |error: Error| error.with_model(model.name);
            let is_end = !pass.step().await.map_err(named)?;
            let has_enough = check.most.is_some_and(|most| pass.read >= most);
            let is_stopped = !is_end && (has_enough || is_late());
            for damage in pass.confirm(is_end || is_stopped).await.map_err(named)? {
                tally.add(finding(model, &collection, damage));
            }
            if let Some(last) = tally.report.collections.last_mut() {
                last.read = pass.read;
            }
            if is_end {
                break;
            }
            if let Some(hear) = &mut hear_progress {
                hear(&CheckProgress {
                    model: model.name,
                    collection: &collection,
                    read: pass.read,
                    estimated,
                    findings: tally.report.findings,
                });
            }
            if is_stopped && check.sample.is_none() {
                return Ok(tally.end(Some(place(pass.after))));
            }
            if is_stopped {
                let sentence = format!(
                    "the rest of the sample of `{}`: the time was over",
                    model.name
                );
                tally.report.not_checked.push(sentence);
                break;
            }
        }
    }
    if check.aspects.has(Aspect::UnfinishedChanges) {
        unfinished(&check, &mut tally).await?;
    }
    Ok(tally.end(None))
}

/// The position of the model with which a check goes on.
fn start(models: &[&'static ModelMeta], token: &CheckToken) -> Result<usize> {
    let position = models
        .iter()
        .position(|model| model.collection == token.collection);
    position.ok_or_else(|| {
        let declared = models.iter().map(|model| format!("`{}`", model.collection));
        Error::usage(format!(
            "the token is of a check that stopped in the collection `{}`, and this one checks {}: list the same models",
            token.collection,
            declared.collect::<Vec<_>>().join(", "),
        ))
    })
}

/// Checks what is not about single documents.
async fn whole(check: &Settings, model: &'static ModelMeta, tally: &mut Tally<'_>) -> Result<()> {
    let store = &check.store;
    if check.aspects.has(Aspect::Indexes) {
        for unindexed in indexes::unindexed(store, model).await? {
            let collection = store.names().of(unindexed.model.collection).to_string();
            tally.add(Finding {
                kind: FindingKind::UnindexedRelation,
                model: unindexed.model.name,
                collection,
                id: None,
                path: unindexed.path,
                stored: None,
                expected: None,
                detail: unindexed.detail,
            });
        }
    }
    if check.aspects.has(Aspect::Files) && model.gridfs.is_some() {
        let mut channel = Channel::new(store.clone(), None);
        let collection = store.names().of(model.collection).to_string();
        let mut hear = |id: Bson| {
            let detail = format!(
                "no file has the _id {}, and chunks belong to it: delete them by `delete` of the bucket",
                shell::value(&id)
            );
            let damage = Damage::new(&id, FindingKind::OrphanedChunks, detail);
            tally.add(finding(model, &collection, damage));
        };
        orphans(&mut channel, model, begun_before(check), &mut hear).await?;
    }
    if !check.aspects.has(Aspect::Trees) || model.trees.is_empty() {
        return Ok(());
    }
    let is_part = check.sample.is_some() || check.filters.contains_key(model.collection);
    if is_part {
        let sentence = format!(
            "the trees of `{}`: only a part of its documents is read",
            model.name
        );
        tally.report.not_checked.push(sentence);
        return Ok(());
    }
    let collection = store.names().of(model.collection).to_string();
    for tree in model.trees {
        let report = check_tree(store, model, tree, begun_before(check)).await?;
        let unlisted = report.damages - report.listed.len() as u64;
        for damage in report.listed {
            tally.add(finding(model, &collection, damage.into_kind()));
        }
        tally.report.findings += unlisted;
    }
    Ok(())
}

/// The time after which changes may still run.
fn begun_before(check: &Settings) -> DateTime {
    let now = DateTime::now().timestamp_millis();
    let age = i64::try_from(check.unfinished_after.as_millis()).unwrap_or(i64::MAX);
    DateTime::from_millis(now.saturating_sub(age))
}

/// Reports changes whose copies, summaries and lists are not all written.
async fn unfinished(check: &Settings, tally: &mut Tally<'_>) -> Result<()> {
    let Some(first) = check.models.first() else {
        return Ok(());
    };
    let mut channel = Channel::new(check.store.clone(), None);
    for pending in pending_propagations(&mut channel, first, begun_before(check)).await? {
        let mut models = check.models.iter();
        let name = |model: &&&ModelMeta| {
            let collection = check.store.names().of(model.collection);
            *collection == *pending.collection || model.collection == pending.collection
        };
        let Some(model) = models.find(name) else {
            continue;
        };
        let since = pending
            .at
            .map(|at| format!(" since {at}"))
            .unwrap_or_default();
        let detail = format!(
            "a change of `{}` has not reached all copies, summaries and lists{since}: call `resume_propagation`",
            model.name,
        );
        tally.add(Finding {
            kind: FindingKind::UnfinishedChange,
            model: model.name,
            collection: pending.collection,
            id: Some(pending.id),
            path: String::new(),
            stored: None,
            expected: None,
            detail,
        });
    }
    Ok(())
}

async fn estimated(store: &Store, model: &'static ModelMeta) -> Result<u64> {
    let mut channel = Channel::new(store.clone(), None);
    let count = channel
        .of(model)
        .count(Operation::EstimatedCount, Chosen::default());
    count.await
}

fn finding(model: &'static ModelMeta, collection: &str, damage: Damage<FindingKind>) -> Finding {
    let mut detail = damage.detail;
    if let Some((end, _)) = detail.char_indices().nth(DETAIL_CHARS) {
        detail.truncate(end);
        detail.push('…');
    }
    Finding {
        kind: damage.kind,
        model: model.name,
        collection: collection.to_owned(),
        id: Some(damage.id),
        path: damage.path,
        stored: damage.stored.and_then(small),
        expected: damage.expected.and_then(small),
        detail,
    }
}

/// The value, unless it is large: a report may hold thousands of them.
fn small(value: Bson) -> Option<Bson> {
    let raw = RawBson::try_from(value.clone()).ok()?;
    let bytes = match &raw {
        RawBson::Document(document) => document.as_bytes().len(),
        RawBson::Array(elements) => elements.as_bytes().len(),
        RawBson::String(text) => text.len(),
        RawBson::Binary(binary) => binary.bytes.len(),
        _ => 0,
    };
    (bytes <= VALUE_BYTES).then_some(value)
}
