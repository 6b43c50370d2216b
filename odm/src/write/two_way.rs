//! References that refer to each other: `two_way`.
//!
//! A [`BackReference`] is the field of other documents that has to follow the references of those that are written.
//! [`Links`] are the references that a write adds and removes. A change of a link writes both of its documents, in one
//! transaction: so two changes of one link conflict, and need no fence.

pub(super) mod check;
mod links;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use bson::{Bson, Document, RawDocumentBuf, doc};

pub use self::check::{CheckTwoWay, RefreshTwoWay, TwoWayDamage, TwoWayReport};
pub(crate) use self::check::{FollowingChecker, TwoWayChecker};
pub(in crate::write) use self::links::Links;
use super::collected::Collected;
use super::copies::kept::Kept;
use super::reference_place::{exact_read, exactly};
use crate::error::{Error, ReferenceError, Result, Withheld, WithheldError, WithheldReason};
use crate::exec::{Channel, Keys, StoredPath};
use crate::model::copies::CopiedField;
use crate::model::two_way::{Side, TwoWay};
use crate::store::Operation;
use crate::update::maintain;

/// An update of a side.
struct Statement {
    filter: Document,
    change: Document,
    /// How many documents match if both sides were right before.
    expected: usize,
}

/// The field of other documents that refers back.
#[derive(Debug)]
pub(in crate::write) struct BackReference {
    pub(in crate::write) sides: &'static TwoWay,
    pub(in crate::write) own: Stored,
    pub(in crate::write) other: Stored,
}

/// Where one side is stored.
#[derive(Debug)]
pub(in crate::write) struct Stored {
    pub(in crate::write) side: &'static Side,
    pub(in crate::write) path: StoredPath,
    pub(in crate::write) key: StoredPath,
    /// The copies beside the reference.
    pub(in crate::write) copies: Vec<&'static Kept>,
    /// The values that are collected from the documents by this reference.
    pub(in crate::write) collected: Vec<Collected>,
}

/// What a change of links has written.
#[derive(Debug, Default)]
pub(in crate::write) struct Written {
    /// How many documents of the written side lost a reference to another one.
    pub(in crate::write) own: u64,
    /// How many documents of the other side were written.
    pub(in crate::write) other: u64,
    /// The keys of those that refer to another document now.
    pub(in crate::write) referring: Keys,
    /// The keys of the documents to which they refer or have referred.
    pub(in crate::write) owns: Keys,
}

impl BackReference {
    /// Whether one field is both sides, as that of friends who name each other.
    pub(in crate::write) fn is_symmetrical(&self) -> bool {
        let (own, other) = (&self.sides.own, &self.sides.other);
        own.model.collection == other.model.collection && own.path == other.path
    }

    pub(in crate::write) fn new(sides: &'static TwoWay) -> Result<Self> {
        Ok(Self {
            sides,
            own: Stored::new(&sides.own)?,
            other: Stored::new(&sides.other)?,
        })
    }

    pub(in crate::write) fn all(
        all: impl IntoIterator<Item = &'static TwoWay>,
    ) -> Result<Vec<Arc<Self>>> {
        let all = all.into_iter();
        all.map(|sides| Self::new(sides).map(Arc::new)).collect()
    }

    /// Writes the other side of links.
    ///
    /// # Errors
    ///
    /// A new reference leads to no document; a list has no room; a document would be without a reference that it must have.
    pub(in crate::write) async fn write(
        &self,
        channel: &mut Channel<'_>,
        links: &Links,
    ) -> Result<Written> {
        let mut written = Written::default();
        if links.is_empty() {
            return Ok(written);
        }
        let (added, removed) = (links.added(), links.removed());
        let mut replaced = BTreeSet::new();
        if !self.other.side.is_list() {
            let mut owners: BTreeMap<usize, usize> = BTreeMap::new();
            for &(own, other) in added {
                if owners.insert(other, own).is_some_and(|one| one != own) {
                    return Err(self.several(links.others.get(other)));
                }
            }
            (written.own, written.owns) = self.take(channel, links, &owners).await?;
            replaced.extend(owners.into_keys());
        }
        // A reference that is replaced needs not be removed.
        let removed = removed
            .iter()
            .filter(|(_, other)| !replaced.contains(other));
        let removed: Vec<_> = removed.copied().collect();
        let (owns, others) = (&links.owns, &links.others);
        let mut statements = self.other.remove(channel, owns, others, &removed).await?;
        statements.extend(self.other.add(owns, others, added)?);
        let expected: usize = statements.iter().map(|one| one.expected).sum();
        written.other = self.other.send(channel, statements).await?;
        let is_less = written.other < expected as u64;
        if self.other.side.is_list() && is_less && !added.is_empty() {
            let new = groups(added.iter().map(|&(own, other)| (other, own)));
            self.other.explain(channel, owns, others, &new).await?;
        }
        for &(_, other) in added {
            written.referring.add_value(others.get(other))?;
        }
        written.owns.add_all(owns)?;
        Ok(written)
    }

    /// How many documents of the other side have to follow removed references.
    pub(in crate::write) async fn count_removed(
        &self,
        channel: &mut Channel<'_>,
        links: &Links,
    ) -> Result<u64> {
        let (key, path) = (self.other.key.as_str(), self.other.path.as_str());
        let by_other = groups(links.removed().iter().map(|&(own, other)| (other, own)));
        let others: Vec<usize> = by_other.into_keys().collect();
        let model = self.other.side.model;
        let mut count = 0;
        for others in subset(&links.others, &others)?.parts_for(2) {
            for owns in links.owns.parts_for(2) {
                let filter = doc! {key: {"$in": &others}, path: {"$in": owns}}.into();
                let options = exact_read(channel, model, None);
                let counted = channel
                    .of(model)
                    .count(Operation::Count { filter }, options);
                count += counted.await?;
            }
        }
        Ok(count)
    }

    /// Takes other documents from those to which they refer so far, where they can refer to one only.
    async fn take(
        &self,
        channel: &mut Channel<'_>,
        links: &Links,
        owners: &BTreeMap<usize, usize>,
    ) -> Result<(u64, Keys)> {
        let mut others = Keys::default();
        for &other in owners.keys() {
            others.add_value(links.others.get(other))?;
        }
        let mut is_found = vec![false; others.len()];
        let (mut owns, mut taken) = (Keys::default(), BTreeSet::new());
        self.other
            .read(channel, &others, &mut |document| {
                let Some(key) = self.other.key.value(document) else {
                    return Ok(());
                };
                let (Some(found), Some(other)) = (others.position(key), links.others.position(key))
                else {
                    return Ok(());
                };
                if let Some(is_found) = is_found.get_mut(found) {
                    *is_found = true;
                }
                let new = owners.get(&other);
                let mut added = Ok(());
                self.other.path.each_value(document, &mut |value| {
                    if value == bson::raw::RawBsonRef::Null || added.is_err() {
                        return;
                    }
                    if links.owns.position(value).as_ref() != new {
                        added = owns.add(value).map(|own| {
                            taken.insert((other, own));
                        });
                    }
                });
                added
            })
            .await?;
        if let Some(missing) = is_found.iter().position(|found| !found) {
            return Err(self.dangling(others.get(missing)));
        }
        let taken: Vec<_> = taken.into_iter().collect();
        let others = &links.others;
        let removed = self.own.remove(channel, others, &owns, &taken).await?;
        Ok((self.own.send(channel, removed).await?, owns))
    }

    fn several(&self, other: Option<&Bson>) -> Error {
        let (model, field) = (self.other.side.model.name, self.other.side.field);
        let key = other.cloned().unwrap_or(Bson::Null);
        Error::usage(format!(
            "the write lets several documents refer to the `{model}` with the {} {key}, and its `{field}` can refer to one of them \
             only: write one document",
            self.other.side.key
        ))
    }

    fn dangling(&self, key: Option<&Bson>) -> Error {
        let error = ReferenceError::Dangling {
            target: self.other.side.model.name,
            key: self.other.side.key.clone(),
            value: key.cloned().unwrap_or(Bson::Null),
        };
        Error::new(error).with_path(self.own.side.path.clone())
    }
}

impl Stored {
    fn new(side: &'static Side) -> Result<Self> {
        let beside = side.model.copies()?.iter();
        let beside =
            beside.filter(|copies| copies.follows_reference() && copies.by == [side.field]);
        let copies = Kept::all(beside)?;
        let mut collected = Collected::from(side.model)?;
        collected.retain(|one| one.reference().as_str() == side.path);
        Ok(Self {
            side,
            path: StoredPath::at(&side.path),
            key: StoredPath::at(&side.key),
            copies,
            collected,
        })
    }

    /// Reads the references of the documents with these keys.
    pub(in crate::write) async fn read(
        &self,
        channel: &mut Channel<'_>,
        keys: &Keys,
        visit: &mut (dyn FnMut(&bson::RawDocument) -> Result<()> + Send),
    ) -> Result<()> {
        let model = self.side.model;
        for part in keys.parts() {
            let find = Operation::Find {
                filter: doc! {self.key.as_str(): {"$in": part}}.into(),
                one: false,
            };
            let options = exact_read(channel, model, Some(self.projection()));
            channel.of(model).read(find, options, &mut *visit).await?;
        }
        Ok(())
    }

    /// The fields that links are read from.
    pub(in crate::write) fn projection(&self) -> Document {
        doc! {"_id": 1, self.key.as_str(): 1, self.path.as_str(): 1}
    }

    /// The statements that remove the references of documents to targets: `removed` has the positions of both.
    async fn remove(
        &self,
        channel: &mut Channel<'_>,
        targets: &Keys,
        keys: &Keys,
        removed: &[(usize, usize)],
    ) -> Result<Vec<Statement>> {
        let (key, path) = (self.key.as_str(), self.path.as_str());
        let mut statements = Vec::new();
        // One statement for each document, or for each target, whichever are fewer.
        let by_key = groups(removed.iter().map(|&(target, key)| (key, target)));
        let by_target = groups(removed.iter().copied());
        if self.side.is_list() && by_key.len() <= by_target.len() {
            for (document, references) in by_key {
                for part in subset(targets, &references)?.parts() {
                    let filter = doc! {key: equal(keys.get(document)), path: {"$in": &part}};
                    statements.push(Statement {
                        filter,
                        change: doc! {"$pull": {path: {"$in": part}}},
                        expected: 1,
                    });
                }
            }
        } else {
            for (target, documents) in by_target {
                let reference = equal(targets.get(target));
                let change = if self.side.is_list() {
                    doc! {"$pull": {path: reference.clone()}}
                } else {
                    self.none()
                };
                for part in subset(keys, &documents)?.parts() {
                    let expected = part.len();
                    let filter = doc! {key: {"$in": part}, path: reference.clone()};
                    if !self.side.can_be_none() {
                        self.refuse_none(channel, &filter).await?;
                        continue;
                    }
                    statements.push(Statement {
                        filter,
                        change: change.clone(),
                        expected,
                    });
                }
            }
        }
        Ok(statements)
    }

    /// The statements that let documents refer to targets: `added` has the positions of both.
    fn add(
        &self,
        targets: &Keys,
        keys: &Keys,
        added: &BTreeSet<(usize, usize)>,
    ) -> Result<Vec<Statement>> {
        let (key, path) = (self.key.as_str(), self.path.as_str());
        let mut statements = Vec::new();
        if !self.side.is_list() {
            for (target, documents) in groups(added.iter().copied()) {
                let reference = targets.get(target).cloned().unwrap_or(Bson::Null);
                for part in subset(keys, &documents)?.parts() {
                    let expected = part.len();
                    let filter = doc! {key: {"$in": part}, path: {"$not": {"$eq": &reference}}};
                    statements.push(Statement {
                        filter,
                        change: doc! {"$set": {path: &reference}},
                        expected,
                    });
                }
            }
            return Ok(statements);
        }
        for (document, references) in groups(added.iter().map(|&(target, key)| (key, target))) {
            let references = subset(targets, &references)?.into_values();
            let mut filter = doc! {
                key: equal(keys.get(document)),
                path: {"$not": {"$all": &references}},
            };
            if let Some(max) = self.side.max() {
                match max.checked_sub(references.len() as u64) {
                    Some(free) => filter.insert(format!("{path}.{free}"), doc! {"$exists": false}),
                    None => filter.insert("_id", doc! {"$in": []}),
                };
            }
            statements.push(Statement {
                filter,
                change: doc! {"$addToSet": {path: {"$each": references}}},
                expected: 1,
            });
        }
        Ok(statements)
    }

    /// Finds out why a document did not get its new references, if it does not have them already.
    async fn explain(
        &self,
        channel: &mut Channel<'_>,
        targets: &Keys,
        keys: &Keys,
        added: &BTreeMap<usize, Vec<usize>>,
    ) -> Result<()> {
        let documents = Keys::of(added.keys().filter_map(|document| keys.get(*document)))?;
        let (mut is_found, mut is_full) = (vec![false; documents.len()], 0);
        let mut visit = |document: &bson::RawDocument| {
            let Some(key) = self.key.value(document) else {
                return Ok(());
            };
            if let Some(found) = documents.position(key).and_then(|it| is_found.get_mut(it)) {
                *found = true;
            }
            let mut references = BTreeSet::new();
            self.path.each_value(document, &mut |value| {
                references.extend(targets.position(value));
            });
            let new = keys.position(key).and_then(|position| added.get(&position));
            let has_all = new.is_none_or(|new| new.iter().all(|one| references.contains(one)));
            is_full += u64::from(!has_all);
            Ok(())
        };
        self.read(channel, &documents, &mut visit).await?;
        if let Some(missing) = is_found.iter().position(|found| !found) {
            let error = ReferenceError::Dangling {
                target: self.side.model.name,
                key: self.side.key.clone(),
                value: documents.get(missing).cloned().unwrap_or(Bson::Null),
            };
            return Err(Error::new(error));
        }
        if is_full == 0 {
            return Ok(());
        }
        let max = self.side.max().and_then(|max| u32::try_from(max).ok());
        let withheld = Withheld {
            path: self.side.path.clone(),
            reason: WithheldReason::Full {
                max: max.unwrap_or(u32::MAX),
            },
            documents: is_full,
        };
        Err(Error::new(WithheldError::new(vec![withheld])).with_model(self.side.model.name))
    }

    /// The change of a field that loses its only reference, and of the copies beside it.
    fn none(&self) -> Document {
        let none = (!self.side.is_skipped).then_some(Bson::Null);
        let copies = self.copies.iter().flat_map(|kept| kept.copies.following());
        let mut values = vec![(self.side.path.as_str(), none)];
        values.extend(copies.filter_map(CopiedField::none));
        let (mut set, mut unset) = (Document::new(), Document::new());
        for (path, value) in values {
            match value {
                Some(value) => set.insert(path, value),
                None => unset.insert(path, ""),
            };
        }
        let operators = [("$set", set), ("$unset", unset)].into_iter();
        let operators = operators.filter(|(_, operands)| !operands.is_empty());
        operators
            .map(|(operator, operands)| (operator.to_owned(), operands.into()))
            .collect()
    }

    /// Returns an error if a document matches, and so would lose a reference that it must have.
    async fn refuse_none(&self, channel: &mut Channel<'_>, filter: &Document) -> Result<()> {
        let model = self.side.model;
        let find = Operation::Find {
            filter: filter.clone().into(),
            one: true,
        };
        let options = exact_read(channel, model, Some(doc! {"_id": 1}));
        let found = channel.of(model).documents(find, options).await?;
        let Some(document) = found.first() else {
            return Ok(());
        };
        let id = document.get("_id").map_err(Error::encode)?;
        let id = id.map(Bson::try_from).transpose().map_err(Error::encode)?;
        Err(Error::new(ReferenceError::Needed {
            model: model.name,
            id: id.unwrap_or(Bson::Null),
        })
        .with_path(self.side.path.clone()))
    }

    async fn send(&self, channel: &mut Channel<'_>, statements: Vec<Statement>) -> Result<u64> {
        if statements.is_empty() {
            return Ok(0);
        }
        let model = self.side.model;
        let maintained = maintain::fields(model);
        let statements = statements.into_iter().map(|statement| {
            let Statement {
                filter, mut change, ..
            } = statement;
            maintain::change(&maintained, &mut change);
            let statement = exactly(model, doc! {"q": filter, "u": change, "multi": true});
            RawDocumentBuf::try_from(statement).map_err(Error::encode)
        });
        let statements: Result<Vec<_>> = statements.collect();
        channel.of(model).update_in_batches(&statements?).await
    }
}

/// The second numbers of the pairs with each first one.
fn groups(pairs: impl Iterator<Item = (usize, usize)>) -> BTreeMap<usize, Vec<usize>> {
    let mut groups: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (first, second) in pairs {
        groups.entry(first).or_default().push(second);
    }
    groups
}

/// The values at these positions.
fn subset(keys: &Keys, positions: &[usize]) -> Result<Keys> {
    Keys::of(positions.iter().filter_map(|position| keys.get(*position)))
}

/// The condition of a field with this value. It takes a regular expression as a value.
fn equal(value: Option<&Bson>) -> Document {
    doc! {"$eq": value.cloned().unwrap_or(Bson::Null)}
}
