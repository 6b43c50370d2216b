//! What plans of writes hold, so that a plan can be compared with a later one of the same call.

use std::hash::{BuildHasher, Hasher, RandomState};

use bson::{Bson, Document, RawDocumentBuf};
use odm_language::value::{key, raw_writer};

use super::WriteSeveral;
use crate::error::{Error, OutdatedPlanError, Result};
use crate::exec::Channel;
use crate::model::ModelMeta;
use crate::plan::{self, Action, Step};

/// Several writes that can be planned.
pub trait WriteSteps: WriteSeveral {
    /// Adds what they would write, by the reads that they begin with.
    fn add_to(
        &self,
        channel: &mut Channel<'_>,
        plan: &mut Planned,
    ) -> impl Future<Output = Result<()>> + Send;
}

/// The steps of a plan, and digests of the calls and of what their reads have returned.
#[derive(Debug, Clone, Default)]
pub struct Planned {
    pub(super) steps: Vec<Step>,
    calls: Vec<u64>,
    /// One for each collection and reason.
    reads: Vec<Read>,
    /// Random, so that nobody can store documents that have the digests of others.
    seed: RandomState,
}

/// Documents that were read from a collection.
#[derive(Debug, Clone)]
struct Read {
    collection: String,
    /// Why they were read.
    reason: &'static str,
    documents: Digests,
}

/// The number of documents, and sums of the digests of each, because their order says nothing.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
struct Digests {
    count: u64,
    ids: u64,
    contents: u64,
}

impl Planned {
    /// The plan that writes would have now, comparable with this one.
    pub(super) async fn again<W: WriteSteps>(
        &self,
        writes: &W,
        channel: &mut Channel<'_>,
    ) -> Result<Self> {
        let mut now = Self {
            seed: self.seed.clone(),
            ..Self::default()
        };
        writes.add_to(channel, &mut now).await?;
        Ok(now)
    }

    /// The plan of writes.
    pub(super) async fn of<W: WriteSteps>(writes: &W, channel: &mut Channel<'_>) -> Result<Self> {
        let plan = Self::default().again(writes, channel).await;
        plan.map_err(|error| error.with_model(writes.model().name))
    }

    /// Keeps the digest of a call: its commands, and words that the commands do not show.
    pub(super) fn add_call(
        &mut self,
        channel: &Channel<'_>,
        model: &ModelMeta,
        mut commands: Vec<Document>,
        words: &[bool],
    ) -> Result<()> {
        let mut hasher = self.seed.build_hasher();
        for name in [
            channel.store().database(),
            &*channel.collection(model),
            model.name,
        ] {
            hasher.write(name.as_bytes());
            hasher.write_u8(0xff);
        }
        for word in words {
            hasher.write_u8(u8::from(*word));
        }
        for command in &mut commands {
            forget_circumstances(command);
            forget_times(model, command);
            self.hash_fields(command, &mut hasher)?;
        }
        self.calls.push(hasher.finish());
        Ok(())
    }

    /// Keeps the digests of documents that were read, by the reason why.
    pub(super) fn add_read(
        &mut self,
        channel: &Channel<'_>,
        model: &ModelMeta,
        reason: &'static str,
        documents: &[RawDocumentBuf],
    ) -> Result<()> {
        let digest = |bytes: &[u8]| {
            let mut hasher = self.seed.build_hasher();
            hasher.write(bytes);
            hasher.finish()
        };
        let mut read = Digests::default();
        for document in documents {
            let id = document.get("_id").map_err(Error::encode)?;
            let ids = id.map_or(0, |id| digest(&key::of(id, None)));
            let contents = digest(document.as_bytes());
            let count = 1;
            read.add(Digests {
                count,
                ids,
                contents,
            });
        }
        let collection = channel.collection(model);
        let mut reads = self.reads.iter_mut();
        match reads.find(|known| known.kind() == (&*collection, reason)) {
            Some(known) => known.documents.add(read),
            None => self.reads.push(Read {
                collection: collection.to_string(),
                reason,
                documents: read,
            }),
        }
        Ok(())
    }

    /// Refuses another plan than this one.
    pub(super) fn expect(&self, now: &Self) -> Result<()> {
        if self.calls != now.calls {
            return Err(Error::new(OutdatedPlanError::OtherCall));
        }
        let differences = self.differences(now);
        if differences.is_empty() {
            return Ok(());
        }
        Err(Error::new(OutdatedPlanError::Differences(differences)))
    }

    fn differences(&self, now: &Self) -> Vec<String> {
        let mut differences = Vec::new();
        let mut counted = Vec::new();
        for ((collection, reason), planned, now) in paired(&self.counts(), &now.counts()) {
            if planned != now {
                counted.push(collection);
                differences.push(numbers((collection, reason), planned, now));
            }
        }
        for (kind, planned, now) in paired(&self.digests(), &now.digests()) {
            if planned == now || counted.contains(&kind.0) {
                continue;
            }
            differences.push(if planned.count != now.count {
                numbers(kind, planned.count, now.count)
            } else if planned.ids != now.ids {
                format!("{}: other documents", name(kind))
            } else {
                format!("{}: the documents have changed", name(kind))
            });
        }
        differences
    }

    fn digests(&self) -> Vec<((&str, &str), Digests)> {
        let reads = self.reads.iter();
        reads.map(|read| (read.kind(), read.documents)).collect()
    }

    /// The documents of each kind of step, by the collection and the reason.
    fn counts(&self) -> Vec<((&str, &str), u64)> {
        let mut counts: Vec<((&str, &str), u64)> = Vec::new();
        for step in &self.steps {
            let Action::WriteDocuments { count } = step.action else {
                continue;
            };
            let reason = step.reasons.first().map_or("", String::as_str);
            let kind = (step.collection.as_str(), reason);
            match counts.iter_mut().find(|(known, _)| *known == kind) {
                Some((_, known)) => *known += count,
                None => counts.push((kind, count)),
            }
        }
        counts
    }

    /// The order of fields says nothing: maps are encoded in any.
    fn hash_fields(&self, document: &Document, hasher: &mut impl Hasher) -> Result<()> {
        let mut sum = 0_u64;
        for (name, value) in document {
            let mut field = self.seed.build_hasher();
            field.write(name.as_bytes());
            field.write_u8(0xff);
            self.hash_value(value, &mut field)?;
            sum = sum.wrapping_add(field.finish());
        }
        hasher.write_usize(document.len());
        hasher.write_u64(sum);
        Ok(())
    }

    fn hash_value(&self, value: &Bson, hasher: &mut impl Hasher) -> Result<()> {
        match value {
            Bson::Document(document) => {
                hasher.write_u8(0);
                self.hash_fields(document, hasher)
            }
            Bson::Array(values) => {
                hasher.write_u8(1);
                hasher.write_usize(values.len());
                let mut values = values.iter();
                values.try_for_each(|value| self.hash_value(value, hasher))
            }
            value => {
                hasher.write_u8(2);
                let bytes = raw_writer::one("", value).map_err(Error::encode)?;
                hasher.write(bytes.as_bytes());
                Ok(())
            }
        }
    }
}

impl Read {
    fn kind(&self) -> (&str, &str) {
        (&self.collection, self.reason)
    }
}

impl Digests {
    fn add(&mut self, other: Self) {
        self.count += other.count;
        self.ids = self.ids.wrapping_add(other.ids);
        self.contents = self.contents.wrapping_add(other.contents);
    }
}

/// A collection, and what is written to it.
fn name((collection, reason): (&str, &str)) -> String {
    match reason {
        "" => collection.to_owned(),
        reason => format!("{collection} ({reason})"),
    }
}

fn numbers(kind: (&str, &str), planned: u64, now: u64) -> String {
    format!(
        "{}: {} planned, {now} now",
        name(kind),
        plan::documents(planned)
    )
}

/// The values of both lists by their names.
fn paired<K: Copy + PartialEq, V: Copy + Default>(
    planned: &[(K, V)],
    now: &[(K, V)],
) -> Vec<(K, V, V)> {
    let value = |all: &[(K, V)], name| {
        let found = all.iter().find(|(known, _)| *known == name);
        found.map_or_else(V::default, |(_, value)| *value)
    };
    let is_new = |name| planned.iter().all(|(known, _)| *known != name);
    let new = now.iter().filter(|(name, _)| is_new(*name));
    let all = planned.iter().chain(new);
    all.map(|&(name, _)| (name, value(planned, name), value(now, name)))
        .collect()
}

/// Leaves out what says nothing of the documents that a command writes.
fn forget_circumstances(command: &mut Document) {
    for name in ["comment", "maxTimeMS", "writeConcern"] {
        command.remove(name);
    }
}

/// Leaves out the times that the library sets: each call has its own.
fn forget_times(model: &ModelMeta, command: &mut Document) {
    let Some(times) = model.timestamps else {
        return;
    };
    let names = [times.created_at, times.updated_at];
    let forget = |fields: &mut Document| {
        for name in names.iter().flatten() {
            fields.remove(name);
        }
    };
    if let Ok(documents) = command.get_array_mut("documents") {
        for document in documents {
            in_document(document, &forget);
        }
    }
    if let Ok(updates) = command.get_array_mut("updates") {
        let updates = updates.iter_mut().filter_map(Bson::as_document_mut);
        for change in updates.filter_map(|update| update.get_mut("u")) {
            forget_times_of_change(change, &forget);
        }
    }
    if let Some(change @ (Bson::Document(_) | Bson::Array(_))) = command.get_mut("update") {
        forget_times_of_change(change, &forget);
    }
}

fn forget_times_of_change(change: &mut Bson, forget: &impl Fn(&mut Document)) {
    let parts = match change {
        Bson::Array(stages) => stages.as_mut_slice(),
        operators => std::slice::from_mut(operators),
    };
    for part in parts.iter_mut().filter_map(Bson::as_document_mut) {
        for operator in ["$set", "$setOnInsert"] {
            if let Some(fields) = part.get_mut(operator) {
                in_document(fields, forget);
            }
        }
        // A replacement merges the document and the fields that the library sets.
        let merged = part.get_document_mut("$replaceWith");
        let merged = merged.and_then(|it| it.get_array_mut("$mergeObjects"));
        if let Ok([_, fields]) = merged.map(Vec::as_mut_slice) {
            in_document(fields, forget);
        }
    }
}

fn in_document(value: &mut Bson, change: &impl Fn(&mut Document)) {
    if let Bson::Document(document) = value {
        change(document);
    }
}
