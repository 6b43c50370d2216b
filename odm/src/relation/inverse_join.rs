//! Loads the documents that refer to the rows of a join.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use bson::doc;
use bson::raw::{RawBsonRef, RawDocument};
use futures_core::future::BoxFuture;
use serde::de::DeserializeOwned;

use super::branch::sealed::Sealed;
use super::branch::{Branch, Branches, IntoBranch};
use super::inverse::{Inverse, InverseValue, Of, Search};
use super::scope::check_projection;
use crate::error::Result;
use crate::exec::{Channel, Keys, StoredPath};
use crate::model::Document;
use crate::pipeline::{Lookup, Stage};
use crate::store::operation::Operation;

/// An [`Inverse`] to load.
pub struct InverseJoin<M, N, T, K, D, J> {
    search: Search,
    branches: J,
    of: PhantomData<Of<M, N, T, K, D>>,
}

/// More documents than a reply of 16 MB holds.
const BATCH: u32 = 1_000_000;

/// The keys of rows.
#[derive(Debug, Default)]
pub struct Referred {
    pub(super) keys: Keys,
    /// The position of each row's key. No document refers to a row that lacks its key or has null there.
    pub(super) rows: Vec<Option<usize>>,
}

impl Referred {
    pub(super) fn add(&mut self, key: &StoredPath, row: &RawDocument) -> Result<()> {
        let value = key.value(row).filter(|value| *value != RawBsonRef::Null);
        let position = value.map(|value| self.keys.add(value)).transpose()?;
        self.rows.push(position);
        Ok(())
    }
}

impl<M, N, T, K, D, J> Sealed for InverseJoin<M, N, T, K, D, J> {}

impl<M, N, T, K, D, J> Branch for InverseJoin<M, N, T, K, D, J>
where
    M: Document,
    N: 'static,
    T: Document,
    K: InverseValue,
    D: DeserializeOwned + Send + Sync + 'static,
    J: Branches,
{
    type Name = N;
    type Value = K::Value<J::Row<D>>;
    type Gathered = Referred;

    fn check(&mut self, projection: Option<&bson::Document>) -> Result<()> {
        self.search.scope.check_with(&mut self.branches)?;
        check_projection(projection, self.search.ends.key.as_str())
    }

    fn gather(&self, gathered: &mut Referred, row: &RawDocument) -> Result<()> {
        gathered.add(&self.search.ends.key, row)
    }

    fn load<'a>(
        &'a self,
        gathered: Referred,
        mut channel: Channel<'a>,
    ) -> BoxFuture<'a, Result<Vec<Self::Value>>> {
        Box::pin(async move {
            let Referred { keys, rows } = gathered;
            let mut read = Read {
                documents: Vec::new(),
                links: Vec::new(),
                children: J::Gathered::default(),
            };
            if self.search.scope.limit.is_some() && keys.len() > 1 {
                self.look_up(&keys, &mut channel, &mut read).await?;
            } else {
                self.find(&keys, &mut channel, &mut read).await?;
            }
            let count = read.documents.len();
            let values = self
                .branches
                .load(read.children, count, channel.reborrow())
                .await?;
            let joined: Vec<Arc<J::Row<D>>> = read
                .documents
                .into_iter()
                .zip(values)
                .map(|(document, values)| Arc::new(J::row(document, values)))
                .collect();
            let mut groups: Vec<Vec<Arc<J::Row<D>>>> = Vec::new();
            groups.resize_with(keys.len(), Vec::new);
            for (position, document) in read.links {
                if let (Some(group), Some(row)) = (groups.get_mut(position), joined.get(document)) {
                    group.push(Arc::clone(row));
                }
            }
            let shared = rows.len() > keys.len();
            let mut group = |position: usize| match groups.get_mut(position) {
                Some(group) if shared => group.clone(),
                Some(group) => std::mem::take(group),
                None => Vec::new(),
            };
            Ok(rows
                .into_iter()
                .map(|position| K::of(position.map_or_else(Vec::new, &mut group)))
                .collect())
        })
    }
}

/// The documents that were read.
struct Read<D, G> {
    documents: Vec<D>,
    /// The position of a key, and that of a document that refers to it.
    links: Vec<(usize, usize)>,
    children: G,
}

impl<M, N, T, K, D, J> InverseJoin<M, N, T, K, D, J>
where
    M: Document,
    T: Document,
    D: DeserializeOwned + Send + Sync + 'static,
    J: Branches,
{
    fn add(&self, read: &mut Read<D, J::Gathered>, raw: &RawDocument) -> Result<usize> {
        let document = read.documents.len();
        let current = self.search.scope.current(raw)?;
        let gathered = self.branches.gather(&mut read.children, &current.raw);
        gathered.map_err(|error| self.search.scope.named(error))?;
        read.documents.push(self.search.scope.decode(current)?);
        Ok(document)
    }

    /// Reads all documents that refer to one of the keys, with one query or several if one would be too large for a
    /// command.
    async fn find(
        &self,
        keys: &Keys,
        channel: &mut Channel<'_>,
        read: &mut Read<D, J::Gathered>,
    ) -> Result<()> {
        let by = &self.search.ends.by;
        for part in keys.parts() {
            let only = (keys.len() == 1).then_some(0);
            let visit = |raw: &RawDocument| {
                let document = self.add(read, raw)?;
                if let Some(position) = only {
                    read.links.push((position, document));
                    return Ok(());
                }
                let first = read.links.len();
                by.each_value(raw, &mut |value| {
                    if let Some(position) = keys.position(value) {
                        let link = (position, document);
                        // A list may name a document twice.
                        if !read.links.get(first..).unwrap_or_default().contains(&link) {
                            read.links.push(link);
                        }
                    }
                });
                Ok(())
            };
            let condition = self.search.scope.condition(by.as_str(), part);
            self.search.scope.find(channel, condition, visit).await?;
        }
        Ok(())
    }

    /// Reads the first documents that refer to each of the keys. The pipeline unwinds what it looks up, so that no
    /// document of the reply grows past 16 MB.
    async fn look_up(
        &self,
        keys: &Keys,
        channel: &mut Channel<'_>,
        read_into: &mut Read<D, J::Gathered>,
    ) -> Result<()> {
        const JOINED: &str = "joined";
        let (key, by) = (self.search.ends.key.as_str(), self.search.ends.by.as_str());
        let stages = self.search.scope.stages().into_iter();
        let lookup = Lookup {
            model: T::model(),
            local: key.to_owned(),
            foreign: by.to_owned(),
            outer: false,
            // Each row has one of the keys.
            optional: false,
            stages: stages.map(Stage::Plain).collect(),
            to: JOINED.to_owned(),
        };
        let lookup = lookup.stage(channel.store().names());
        for part in keys.parts() {
            let pipeline = vec![
                doc! {"$match": {key: {"$in": part}}},
                doc! {"$project": {key: 1}},
                lookup.clone(),
                doc! {"$unwind": format!("${JOINED}")},
            ];
            let mut options = channel.options();
            // One reply, unless it would grow past 16 MB.
            options.batch_size = Some(BATCH);
            let operation = Operation::Aggregate { pipeline };
            let visit = |raw: &RawDocument| {
                let key = self.search.ends.key.value(raw);
                let position = key.and_then(|key| keys.position(key));
                if let (Some(position), Ok(Some(RawBsonRef::Document(joined)))) =
                    (position, raw.get(JOINED))
                {
                    let document = self.add(read_into, joined)?;
                    read_into.links.push((position, document));
                }
                Ok(())
            };
            channel
                .of(M::model())
                .read(operation, options, visit)
                .await?;
        }
        // The pipeline runs this find for each row.
        if let Some(first) = keys.get(0) {
            let condition = self.search.scope.condition(by, vec![first.clone()]);
            self.search.scope.explain(channel, condition).await?;
        }
        Ok(())
    }
}

impl<M, N, T, K, D, J> IntoBranch<M> for Inverse<M, N, T, K, D, J>
where
    M: Document,
    N: 'static,
    T: Document,
    K: InverseValue,
    D: DeserializeOwned + Send + Sync + 'static,
    J: Branches,
{
    type Branch = InverseJoin<M, N, T, K, D, J>;

    fn into_branch(self) -> Self::Branch {
        let (search, branches) = self.into_parts();
        InverseJoin {
            search,
            branches,
            of: PhantomData,
        }
    }
}

impl<M, N, T, K, D, J: fmt::Debug> fmt::Debug for InverseJoin<M, N, T, K, D, J> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InverseJoin")
            .field("search", &self.search)
            .field("branches", &self.branches)
            .finish_non_exhaustive()
    }
}
