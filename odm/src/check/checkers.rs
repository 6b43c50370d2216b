//! The comparisons of one model's documents, as one list.

use bson::raw::RawDocumentBuf;

use super::document::{Undeclared, Validation, Versions};
use super::{Aspect, Aspects, FindingKind};
use crate::buckets::check::BucketChecker;
use crate::error::Result;
use crate::exec::Channel;
use crate::gridfs::check::FileChecker;
use crate::model::ModelMeta;
use crate::sharding::check::ShardKeyChecker;
use crate::store::options::Chosen;
use crate::write::checker::Checker;
use crate::write::{
    CopyChecker, Damage, FollowingChecker, RecentChecker, ReferenceChecker, SummaryChecker,
    TwoWayChecker,
};

/// A comparison of the documents of a model.
pub(crate) struct AnyChecker {
    model: &'static ModelMeta,
    of: Of,
}

enum Of {
    References(Box<ReferenceChecker>),
    TwoWay(TwoWayChecker),
    Following(FollowingChecker),
    Copies(CopyChecker),
    Summaries(SummaryChecker),
    Recent(RecentChecker),
    Buckets(BucketChecker),
    Files(FileChecker),
    ShardKeys(ShardKeyChecker),
    Versions(Versions),
    Validation(Box<Validation>),
    Undeclared(Box<Undeclared>),
}

impl AnyChecker {
    /// The comparisons of a model that are asked for. What can't be checked is added to `not_checked`.
    pub(crate) fn all(
        model: &'static ModelMeta,
        aspects: Aspects,
        not_checked: &mut Vec<String>,
    ) -> Result<Vec<Self>> {
        let mut all = Vec::new();
        if aspects.has(Aspect::References) {
            // A reference that a tree keeps is a part of the tree.
            let trees = model.trees.iter();
            let kept = trees.flat_map(|tree| {
                let parent = tree.parent.map(|(field, _)| field);
                [parent, tree.children, tree.ancestors]
            });
            let kept: Vec<_> = kept.flatten().collect();
            let references = ReferenceChecker::of(model)?.without(&kept);
            all.push(Of::References(Box::new(references)));
        }
        if aspects.has(Aspect::TwoWay) {
            all.extend(TwoWayChecker::of(model)?.map(Of::TwoWay));
        }
        if aspects.has(Aspect::Copies) {
            all.extend(CopyChecker::of(model)?.map(Of::Copies));
        }
        if aspects.has(Aspect::Summaries) {
            all.extend(SummaryChecker::of(model)?.map(Of::Summaries));
        }
        if aspects.has(Aspect::Recent) {
            all.extend(RecentChecker::of(model)?.map(Of::Recent));
        }
        if aspects.has(Aspect::Buckets) {
            all.extend(BucketChecker::of(model)?.map(Of::Buckets));
        }
        if aspects.has(Aspect::Files) {
            all.extend(FileChecker::of(model).map(Of::Files));
        }
        if aspects.has(Aspect::ShardKeys) {
            all.extend(ShardKeyChecker::of(model)?.map(Of::ShardKeys));
        }
        if aspects.has(Aspect::SchemaVersions) {
            all.extend(Versions::of(model).map(Of::Versions));
        }
        if aspects.has(Aspect::Validator) {
            match Validation::of(model) {
                Ok(validation) => all.push(Of::Validation(Box::new(validation))),
                // An operator of a rule may be known to MongoDB only.
                Err(error) => {
                    not_checked.push(format!("the validator of `{}`: {error}", model.name));
                }
            }
        }
        if aspects.has(Aspect::UndeclaredFields) {
            all.push(Of::Undeclared(Box::new(Undeclared::of(model)?)));
        }
        Ok(all.into_iter().map(|of| Self { model, of }).collect())
    }

    /// Takes documents for stored that were found a moment ago: not for a repair, which looks at what it has deleted itself.
    pub(super) fn remembering(self) -> Self {
        let of = match self.of {
            Of::References(checker) => Of::References(Box::new(checker.remembering())),
            of => of,
        };
        Self { of, ..self }
    }

    /// The comparison of a `two_way` reference with the other side, which is taken for right.
    pub(crate) fn following(model: &'static ModelMeta, path: &str) -> Result<Option<Self>> {
        let following = FollowingChecker::of(model, path)?.map(Of::Following);
        Ok(following.map(|of| Self { model, of }))
    }

    /// Writes what follows from other documents where it differs in these; returns `false` if this compares something else.
    pub(crate) async fn refresh(
        &self,
        channel: &mut Channel<'_>,
        documents: Vec<RawDocumentBuf>,
    ) -> Result<bool> {
        match &self.of {
            Of::Following(checker) => checker.refresh(channel, documents).await?,
            Of::Copies(checker) => checker.refresh(channel, documents).await?,
            Of::Summaries(checker) => checker.refresh(channel, documents).await?,
            Of::Recent(checker) => checker.refresh(channel, documents).await?,
            Of::Buckets(checker) => checker.refresh(channel, documents).await?,
            Of::References(_)
            | Of::TwoWay(_)
            | Of::Files(_)
            | Of::ShardKeys(_)
            | Of::Versions(_)
            | Of::Validation(_)
            | Of::Undeclared(_) => {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

impl Checker for AnyChecker {
    type Kind = FindingKind;

    fn model(&self) -> &'static ModelMeta {
        self.model
    }

    fn options(&self, channel: &Channel<'_>) -> Chosen {
        match &self.of {
            Of::TwoWay(checker) => checker.options(channel),
            Of::Following(checker) => checker.options(channel),
            Of::Copies(checker) => checker.options(channel),
            Of::Summaries(checker) => checker.options(channel),
            Of::Recent(checker) => checker.options(channel),
            Of::Buckets(checker) => checker.options(channel),
            Of::Files(checker) => checker.options(channel),
            Of::ShardKeys(checker) => checker.options(channel),
            // DBRefs may be in fields that are not declared.
            Of::References(_) | Of::Versions(_) | Of::Validation(_) | Of::Undeclared(_) => {
                channel.current().into()
            }
        }
    }

    fn settles(&self) -> bool {
        match &self.of {
            Of::References(checker) => checker.settles(),
            Of::TwoWay(checker) => checker.settles(),
            Of::Following(checker) => checker.settles(),
            Of::Copies(checker) => checker.settles(),
            Of::Summaries(checker) => checker.settles(),
            Of::Recent(checker) => checker.settles(),
            Of::Buckets(checker) => checker.settles(),
            Of::Files(checker) => checker.settles(),
            Of::ShardKeys(checker) => checker.settles(),
            Of::Versions(_) | Of::Validation(_) | Of::Undeclared(_) => false,
        }
    }

    async fn look(
        &self,
        channel: &mut Channel<'_>,
        documents: &[RawDocumentBuf],
    ) -> Result<Vec<Damage<FindingKind>>> {
        match &self.of {
            Of::References(checker) => checker.look(channel, documents).await.map(converted),
            Of::TwoWay(checker) => checker.look(channel, documents).await.map(converted),
            Of::Following(checker) => checker.look(channel, documents).await.map(converted),
            Of::Copies(checker) => checker.look(channel, documents).await.map(converted),
            Of::Summaries(checker) => checker.look(channel, documents).await.map(converted),
            Of::Recent(checker) => checker.look(channel, documents).await.map(converted),
            Of::Buckets(checker) => checker.look(channel, documents).await.map(converted),
            Of::Files(checker) => checker.look(channel, documents).await.map(converted),
            Of::ShardKeys(checker) => checker.look(channel, documents).await.map(converted),
            Of::Versions(versions) => versions.look(documents),
            Of::Validation(validation) => validation.look(channel, documents).await,
            Of::Undeclared(undeclared) => undeclared.look(documents),
        }
    }
}

fn converted<K>(damages: Vec<Damage<K>>) -> Vec<Damage<FindingKind>>
where
    FindingKind: From<K>,
{
    damages.into_iter().map(Damage::into_kind).collect()
}
