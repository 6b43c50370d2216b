//! What a delete does to the documents that refer to the deleted ones.

use std::collections::{HashMap, HashSet, VecDeque};

use bson::raw::RawBsonRef;
use bson::{Bson, Document, RawDocumentBuf, doc};

use super::super::collected::Collected;
use super::super::fences::Fences;
use super::super::reference_place::{ReferencePlace, exact_read, exactly};
use super::super::two_way::{BackReference, Links};
use crate::error::{Error, ReferenceError, Result};
use crate::exec::{Channel, Keys, StoredPath};
use crate::model::copies::{CopiedField, Copies};
use crate::model::{InverseMeta, ModelMeta, OnDelete, name};
use crate::plan::{self, Step};
use crate::query::operators::any_of;
use crate::store::Operation;

/// The effects of a delete, in the order in which they were found: those on documents that refer to others which are
/// deleted themselves come later.
#[derive(Debug, Default)]
pub(super) struct Effects {
    found: Vec<Effect>,
    /// The `_id`s of the deleted documents, by their declared collection, where other effects depend on them.
    deleted: HashMap<&'static str, Keys>,
    /// The deleted documents that others may refer to.
    pub(super) documents: Vec<Deleted>,
}

/// Documents of one model that are deleted.
#[derive(Debug)]
pub(super) struct Deleted {
    pub(super) model: &'static ModelMeta,
    pub(super) documents: Vec<RawDocumentBuf>,
}

/// What a delete does to the documents of one model by one relation.
#[derive(Debug)]
pub(super) struct Effect {
    /// The model whose documents are deleted.
    pub(super) model: &'static ModelMeta,
    pub(super) relation: &'static InverseMeta,
    pub(super) policy: OnDelete,
    pub(super) place: ReferencePlace,
    /// What references to the deleted documents store.
    pub(super) keys: Keys,
    /// The `_id`s of the documents that refer to them, if they were read.
    ids: Option<Keys>,
}

/// The models that a delete may reach.
#[derive(Debug, Default)]
struct Reach {
    /// The collections and names of models whose documents may be deleted. The metadata of one model may have several
    /// addresses.
    deleted: HashSet<(&'static str, &'static str)>,
    /// The collections of models whose documents restrict a delete.
    restricting: HashSet<&'static str>,
}

impl Reach {
    /// Follows the declared relations, and refuses those on which a delete can't act.
    fn follow(&mut self, model: &'static ModelMeta) -> Result<()> {
        let mut open = vec![model];
        while let Some(model) = open.pop() {
            if !self.deleted.insert((model.collection, model.name)) {
                continue;
            }
            for relation in model.dependents() {
                let target = (relation.target)();
                refuse_trees(relation, target).map_err(|error| error.with_model(model.name))?;
                match relation.acts_on_delete() {
                    Some(OnDelete::Cascade) => open.push(target),
                    Some(OnDelete::Restrict) => {
                        self.restricting.insert(target.collection);
                    }
                    _ => {}
                }
            }
        }
        Ok(())
    }

    /// Whether the documents of a model have to be read before they are deleted.
    fn reads(&self, model: &'static ModelMeta) -> Result<bool> {
        Ok(model.dependents().next().is_some()
            || self.restricting.contains(model.collection)
            || model.derives()?)
    }
}

/// Refuses policies that would change a tree past its operations.
fn refuse_trees(relation: &InverseMeta, target: &ModelMeta) -> Result<()> {
    if target.trees.is_empty() {
        return Ok(());
    }
    let policy = relation.acts_on_delete();
    let path = ReferencePlace::of(relation)?.path();
    let mut kept = target.trees.iter().flat_map(|tree| tree.fields());
    let is_kept = kept.any(|field| path.split('.').next() == Some(field));
    let changes = match policy {
        Some(OnDelete::Cascade) => true,
        Some(OnDelete::SetNull | OnDelete::Pull) => is_kept,
        _ => false,
    };
    if !changes {
        return Ok(());
    }
    Err(Error::usage(format!(
        "`{}` would change nodes of a tree past it: delete the nodes of `{}` by `db.tree::<…>().delete(…)`, and declare \
         `on_delete = restrict`",
        relation.name, target.name
    )))
}

/// The stored fields by which other documents refer to those of this model, the references to which others refer back, and
/// the `_id` and the version.
pub(super) fn projection(model: &'static ModelMeta) -> Result<Document> {
    let mut fields = doc! {"_id": 1};
    for relation in model.dependents() {
        fields.insert(key_of(model, relation)?.as_str(), 1);
    }
    for one in model.two_way()? {
        fields.insert(&one.own.key, 1);
        fields.insert(&one.own.path, 1);
    }
    for one in Collected::from(model)? {
        fields.insert(one.reference().as_str(), 1);
    }
    // Any typed change since a plan shows in the version.
    fields.extend(model.version.map(|name| (name.to_owned(), 1.into())));
    Ok(fields)
}

fn key_of(model: &'static ModelMeta, relation: &InverseMeta) -> Result<StoredPath> {
    let key = name::resolve((model.embedded)(), relation.key)?;
    Ok(StoredPath::through_arrays(&key.path))
}

/// The `_id`s of documents.
pub(super) fn ids(documents: &[RawDocumentBuf]) -> Result<Keys> {
    let mut keys = Keys::default();
    for document in documents {
        if let Some(id) = document.get("_id").map_err(Error::encode)? {
            keys.add(id)?;
        }
    }
    Ok(keys)
}

impl Effects {
    /// Finds the effects of a delete of these documents, which have the fields of their [`projection`].
    pub(super) async fn find(channel: &mut Channel<'_>, deleted: Vec<Deleted>) -> Result<Self> {
        let mut effects = Self::default();
        let mut open = VecDeque::from(deleted);
        let mut reach = Reach::default();
        for Deleted { model, documents } in &open {
            reach.follow(model)?;
            effects.see(model, documents)?;
        }
        while let Some(deleted) = open.pop_front() {
            let Deleted { model, documents } = &deleted;
            for relation in model.dependents() {
                let Some(policy) = relation.acts_on_delete() else {
                    continue;
                };
                // Nothing refers to a document whose key is null.
                let keys = Keys::at(&key_of(model, relation)?, documents)?;
                if keys.len() == 0 {
                    continue;
                }
                let effect = Effect {
                    model,
                    relation,
                    policy,
                    place: ReferencePlace::of(relation)?,
                    keys,
                    ids: None,
                };
                let target = effect.place.model;
                let mut read = None;
                if policy == OnDelete::Cascade && reach.reads(target)? {
                    let unseen = effects.unseen(channel, &effect).await?;
                    read = Some(ids(&unseen)?);
                    open.push_back(Deleted {
                        model: target,
                        documents: unseen,
                    });
                }
                effects.found.push(Effect {
                    ids: read,
                    ..effect
                });
            }
            effects.documents.push(deleted);
        }
        Ok(effects)
    }

    /// Keeps the `_id`s of documents that are deleted.
    fn see(&mut self, model: &'static ModelMeta, documents: &[RawDocumentBuf]) -> Result<()> {
        let seen = self.deleted.entry(model.collection).or_default();
        for document in documents {
            if let Some(id) = document.get("_id").map_err(Error::encode)? {
                seen.add(id)?;
            }
        }
        Ok(())
    }

    /// The fences of the deleted documents, to which inserts of documents that refer to them write, too.
    pub(super) fn fences(&self, channel: &Channel<'_>) -> Result<Fences> {
        let mut fences = Fences::default();
        for effect in &self.found {
            let key = key_of(effect.model, effect.relation)?;
            let collection = channel.collection(effect.model);
            fences.add(&collection, key.as_str(), &effect.keys)?;
        }
        Ok(fences)
    }

    /// Reads the documents that refer to deleted ones, and that no other effect deletes.
    async fn unseen(
        &mut self,
        channel: &mut Channel<'_>,
        effect: &Effect,
    ) -> Result<Vec<RawDocumentBuf>> {
        let target = effect.place.model;
        let seen = self.deleted.entry(target.collection).or_default();
        let mut unseen = Vec::new();
        for part in effect.keys.parts() {
            let find = Operation::Find {
                filter: effect.place.refers_to(&part).into(),
                one: false,
            };
            let options = exact_read(channel, target, Some(projection(target)?));
            let read = channel.of(target).read(find, options, |document| {
                if let Some(id) = document.get("_id").map_err(Error::encode)?
                    && seen.position(id).is_none()
                {
                    seen.add(id)?;
                    unseen.push(document.to_owned());
                }
                Ok(())
            });
            read.await?;
        }
        Ok(unseen)
    }

    /// Returns an error if a document restricts the delete.
    pub(super) async fn check(&self, channel: &mut Channel<'_>) -> Result<()> {
        let restricting = |effect: &&Effect| effect.policy == OnDelete::Restrict;
        for effect in self.found.iter().filter(restricting) {
            let target = effect.place.model;
            let deleted = self.deleted.get(target.collection);
            let mut referring = None;
            for part in effect.keys.parts() {
                let find = Operation::Find {
                    filter: effect.place.refers_to(&part).into(),
                    one: deleted.is_none(),
                };
                let options = exact_read(channel, target, Some(doc! {"_id": 1}));
                let read = channel.of(target).read_while(find, options, |document| {
                    let id = document.get("_id").map_err(Error::encode)?;
                    let id = id.unwrap_or(RawBsonRef::Null);
                    let remains = deleted.is_none_or(|deleted| deleted.position(id).is_none());
                    if remains {
                        referring = Some(Bson::try_from(id).map_err(Error::encode)?);
                    }
                    Ok(!remains)
                });
                read.await?;
                if let Some(id) = referring.take() {
                    let relation = effect.relation;
                    let error = ReferenceError::Restricted {
                        relation: relation.name,
                        model: target.name,
                        by: relation.by.join("."),
                        id,
                    };
                    return Err(Error::new(error).with_model(effect.model.name));
                }
            }
        }
        Ok(())
    }

    /// The references that refer back to deleted documents.
    pub(super) fn back(&self) -> Result<Vec<(BackReference, Links)>> {
        let mut all = Vec::new();
        for Deleted { model, documents } in &self.documents {
            for sides in model.two_way()? {
                let back = BackReference::new(sides)?;
                let links = Links::between(&back, documents, &[])?;
                if !links.is_empty() {
                    all.push((back, links));
                }
            }
        }
        Ok(all)
    }

    /// The values that were collected from deleted documents, with the keys of the documents that hold them.
    pub(super) fn collected(&self) -> Result<Vec<(Collected, Keys)>> {
        let mut all: Vec<(Collected, Keys)> = Vec::new();
        for Deleted { model, documents } in &self.documents {
            for one in Collected::from(model)? {
                let keys = Keys::at(one.reference(), documents)?;
                match all.iter_mut().find(|(known, _)| known.is(&one)) {
                    Some((_, known)) => known.add_all(&keys)?,
                    None if keys.len() > 0 => all.push((one, keys)),
                    None => {}
                }
            }
        }
        Ok(all)
    }

    /// The effects that write, in the order in which they are written: references are removed first, and of deleted
    /// documents those last to which others refer.
    pub(super) fn in_order(&self) -> impl Iterator<Item = &Effect> {
        let is_update =
            |effect: &&Effect| matches!(effect.policy, OnDelete::SetNull | OnDelete::Pull);
        let is_delete = |effect: &&Effect| effect.policy == OnDelete::Cascade;
        let updates = self.found.iter().filter(is_update);
        updates.chain(self.found.iter().rev().filter(is_delete))
    }
}

impl Effect {
    /// Filters that together match the documents on which the effect acts.
    pub(super) fn filters(&self) -> Vec<Document> {
        if let Some(ids) = &self.ids {
            return in_parts(ids);
        }
        let parts = self.keys.parts_for(self.place.repeats());
        let refer = |part: &Vec<Bson>| self.place.refers_to(part);
        parts.iter().map(refer).collect()
    }

    /// The copies beside the references, and their values once the references are null.
    fn copies_beside(&self) -> Result<Vec<(&'static str, Option<Bson>)>> {
        let copies = self.place.model.copies()?.iter();
        let beside = copies.filter(|copies| self.relation.by.iter().eq(&copies.by));
        let fields = beside.flat_map(Copies::following);
        Ok(fields.filter_map(CopiedField::none).collect())
    }

    /// The write commands, without the name of the collection.
    pub(super) fn statements(&self) -> Result<Vec<Document>> {
        let model = self.place.model;
        if self.policy == OnDelete::Cascade {
            return Ok(deletes(model, self.filters()));
        }
        let copies = self.copies_beside()?;
        let parts = self.keys.parts_for(self.place.repeats());
        let statement = |part: &Vec<Bson>| match self.policy {
            OnDelete::Pull => self.place.pull(part),
            _ => Ok(self.place.set_null(part, &copies)),
        };
        let statements: Result<Vec<_>> = parts.iter().map(statement).collect();
        let statements = statements?.into_iter();
        Ok(statements.map(|one| exactly(model, one)).collect())
    }

    /// Writes the effect; returns how many documents it deleted or changed.
    pub(super) async fn write(&self, channel: &mut Channel<'_>) -> Result<u64> {
        let model = self.place.model;
        let mut written = 0;
        for statement in self.statements()? {
            let collection = channel.of(model);
            written += if self.policy == OnDelete::Cascade {
                collection.delete_by(vec![statement]).await?
            } else {
                collection.update(vec![statement]).await?.matched()
            };
        }
        Ok(written)
    }

    /// The step of a plan.
    pub(super) fn step(&self, collection: &str, documents: u64) -> Result<Step> {
        let (model, relation) = (self.place.model, self.relation);
        let statements = model.shown(self.statements()?);
        let command = if self.policy == OnDelete::Cascade {
            doc! {"delete": collection, "deletes": statements}
        } else {
            doc! {"update": collection, "updates": statements}
        };
        let policy = match self.policy {
            OnDelete::SetNull => "set_null",
            OnDelete::Pull => "pull",
            _ => "cascade",
        };
        let index = match model.index_for(relation.by) {
            Some(index) => {
                let keys = index.keys.iter().map(|key| key.path.join("."));
                format!("the index on {}", keys.collect::<Vec<_>>().join(", "))
            }
            None => "a scan".to_owned(),
        };
        let declared = format!(
            "`{}.{}` declares `on_delete = {policy}`",
            self.model.name, relation.name
        );
        let mut step = Step::writes(model, collection, vec![command], declared);
        step.reasons.push(format!(
            "refer to {} by `{}`, found by {index}",
            plan::documents(self.keys.len() as u64),
            relation.by.join("."),
        ));
        Ok(step.of_documents(documents))
    }

    /// Counts the documents on which the effect acts.
    pub(super) async fn count(&self, channel: &mut Channel<'_>) -> Result<u64> {
        if let Some(ids) = &self.ids {
            return Ok(ids.len() as u64);
        }
        let model = self.place.model;
        let mut count = 0;
        for filter in self.filters() {
            let filter = filter.into();
            let options = exact_read(channel, model, None);
            count += channel
                .of(model)
                .count(Operation::Count { filter }, options)
                .await?;
        }
        Ok(count)
    }
}

/// Filters by `_id`, of which each fits one command.
fn in_parts(ids: &Keys) -> Vec<Document> {
    let parts = ids.parts().into_iter();
    parts.map(|part| any_of("_id", part)).collect()
}

fn deletes(model: &ModelMeta, filters: Vec<Document>) -> Vec<Document> {
    let statement = |filter| exactly(model, doc! {"q": filter, "limit": 0});
    filters.into_iter().map(statement).collect()
}

/// Statements that delete the documents with these `_id`s.
pub(super) fn deletes_of(model: &ModelMeta, ids: &Keys) -> Vec<Document> {
    deletes(model, in_parts(ids))
}
