//! Values that a document holds of all those that refer to it: summaries, and lists of the newest.

use std::sync::Arc;

use super::fences::Fences;
use super::newest::{self, Listed};
use super::summaries::{self, Summed, Values};
use crate::error::Result;
use crate::exec::{Channel, Keys, StoredPath};
use crate::model::ModelMeta;
use crate::model::newest::NewestList;
use crate::model::summaries::Summaries;

/// The values that the documents of a model hold by one reference to them.
#[derive(Debug, Clone)]
pub(super) enum Collected {
    Summaries(Arc<Summed>),
    List(Arc<Listed>),
}

impl Collected {
    pub(super) fn all(
        summaries: impl IntoIterator<Item = &'static Summaries>,
        lists: impl IntoIterator<Item = &'static NewestList>,
    ) -> Result<Vec<Self>> {
        let summaries = Summed::all(summaries)?.into_iter().map(Self::Summaries);
        let lists = Listed::all(lists)?.into_iter().map(Self::List);
        Ok(summaries.chain(lists).collect())
    }

    /// The values that documents of this model hold.
    pub(super) fn held_by(model: &'static ModelMeta) -> Result<Vec<Self>> {
        Self::all(model.summaries()?, model.newest_lists()?)
    }

    /// The values in other documents that are collected from documents of this model.
    pub(super) fn from(model: &'static ModelMeta) -> Result<Vec<Self>> {
        let (summaries, lists) = (model.summarized()?.iter(), model.listed()?.iter());
        Self::all(summaries.copied(), lists.copied())
    }

    /// The model whose documents hold the values.
    pub(super) fn holder(&self) -> &'static ModelMeta {
        match self {
            Self::Summaries(summed) => summed.summaries.model,
            Self::List(listed) => listed.list.model,
        }
    }

    /// The model of the documents from which the values are collected.
    pub(super) fn source(&self) -> &'static ModelMeta {
        match self {
            Self::Summaries(summed) => summed.summaries.target,
            Self::List(listed) => listed.list.source,
        }
    }

    /// The stored paths of the fields of those documents that decide the values: the reference, and what is read.
    pub(super) fn sources(&self) -> Vec<&str> {
        let mut paths = vec![self.reference().as_str()];
        match self {
            Self::Summaries(summed) => {
                let fields = summed.summaries.fields.iter();
                let sources = fields.filter_map(|field| field.source.as_ref());
                paths.extend(sources.map(|source| source.path.as_str()));
            }
            Self::List(listed) => {
                paths.push(listed.list.sort);
                paths.extend(listed.list.copied.iter().map(String::as_str));
            }
        }
        paths
    }

    /// The stored names of the fields that have the values.
    pub(super) fn fields(&self) -> Vec<String> {
        match self {
            Self::Summaries(summed) => {
                let fields = summed.summaries.fields.iter();
                fields.map(|field| field.name.to_owned()).collect()
            }
            Self::List(listed) => vec![listed.list.name.to_owned()],
        }
    }

    /// Whether the values are a list whose elements have the `_id`s of their documents.
    pub(super) fn lists_ids(&self) -> bool {
        match self {
            Self::Summaries(_) => false,
            Self::List(listed) => listed.list.has_id,
        }
    }

    /// The stored path of the field to which the reference leads, in the documents that hold the values.
    pub(super) fn key(&self) -> &StoredPath {
        match self {
            Self::Summaries(summed) => &summed.key,
            Self::List(listed) => &listed.key,
        }
    }

    /// The stored path of the reference, in the documents from which the values are collected.
    pub(super) fn reference(&self) -> &StoredPath {
        match self {
            Self::Summaries(summed) => &summed.reference,
            Self::List(listed) => &listed.reference,
        }
    }

    /// The relation that is summarized, or the list.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Summaries(summed) => summed.summaries.relation.name,
            Self::List(listed) => listed.list.recent.field,
        }
    }

    /// The step of a plan that writes the values, in words.
    pub(super) fn step(&self) -> String {
        match self {
            Self::Summaries(summed) => {
                let fields = summed.summaries.fields.iter().map(|field| field.rust);
                let fields: Vec<_> = fields.collect();
                format!("compute `{}` from `{}`", fields.join("`, `"), self.name())
            }
            Self::List(listed) => {
                let source = listed.list.source.name;
                format!("list the newest of `{source}` in `{}`", self.name())
            }
        }
    }

    pub(super) fn is(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Summaries(one), Self::Summaries(other)) => {
                std::ptr::eq(one.summaries, other.summaries)
            }
            (Self::List(one), Self::List(other)) => std::ptr::eq(one.list, other.list),
            _ => false,
        }
    }

    /// Whether writes that depend on each other conflict, so that no second look is needed.
    pub(super) fn is_strict(&self) -> bool {
        match self {
            Self::Summaries(summed) => summed.is_strict(),
            Self::List(listed) => listed.is_strict(),
        }
    }

    /// Writes the fences of the documents with these keys.
    pub(super) async fn fence(&self, channel: &mut Channel<'_>, keys: &Keys) -> Result<()> {
        let holder = channel.collection(self.holder());
        let mut fences = Fences::default();
        fences.add(&holder, self.key().as_str(), keys)?;
        fences.write(channel, self.holder()).await
    }

    /// Writes the values into the documents with these keys that have others; returns how many were written.
    pub(super) async fn write(&self, channel: &mut Channel<'_>, keys: &Keys) -> Result<u64> {
        match self {
            Self::Summaries(summed) => {
                let values = Values::read(channel, summed, keys).await?;
                values.write(channel, summed).await
            }
            Self::List(listed) => newest::write(channel, listed, keys).await,
        }
    }

    /// Writes the values until they do not change; returns how many documents were written.
    pub(super) async fn settle(&self, channel: &mut Channel<'_>, keys: &Keys) -> Result<u64> {
        match self {
            Self::Summaries(summed) => summaries::settle(channel, summed, keys, None).await,
            Self::List(listed) => newest::settle(channel, listed, keys).await,
        }
    }
}
