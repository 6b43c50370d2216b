//! `check_two_way` and `refresh_two_way`: compares the two sides of references, and lets one follow the other.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use bson::raw::{RawBsonRef, RawDocument, RawDocumentBuf};
use bson::{Bson, Document as BsonDocument, doc};
use odm_language::value::key;

use super::super::checker::{self, Checker, id_of, is_about_document};
use super::super::chunks::{self, Chunks, Scan, Visit};
use super::super::reference_place::{exact_read, exactly};
use super::super::{Damage, RefreshResult, Report};
use super::{BackReference, Links};
use crate::collection::Collection;
use crate::error::{Error, ReferenceError, Result, Withheld, WithheldError, WithheldReason};
use crate::exec::{Channel, Keys};
use crate::model::{Document, ModelMeta};
use crate::plan::shell;
use crate::query::{Decode, Field, fields};
use crate::store::Operation;
use crate::store::options::Chosen;
use crate::update::maintain;

/// The kinds of damage that [`Collection::check_two_way`] reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TwoWayDamage {
    /// A document refers to one that does not refer back.
    OneSided,
}

impl fmt::Display for TwoWayDamage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OneSided => f.write_str("one-sided reference"),
        }
    }
}

/// What [`Collection::check_two_way`] found.
pub type TwoWayReport = Report<TwoWayDamage>;

/// A check of two-way references, about to run: [`Collection::check_two_way`].
pub type CheckTwoWay<'s, M> = Scan<'s, M, TwoWayReport>;

/// A refresh of one side of two-way references, about to run: [`Collection::refresh_two_way`].
pub type RefreshTwoWay<'s, M> = Scan<'s, M, RefreshResult>;

impl<M: Document> Collection<M> {
    /// Finds `two_way` references of this collection's documents to documents that do not refer back, whoever has written
    /// them.
    ///
    /// It reads the references of all documents, 1,000 at a time, and those of the documents to which they lead. What differs is
    /// read once more, both sides at one time where the deployment has transactions, so that writes beside the check are not reported. References that only the other side has are found by a
    /// check of the other collection, and references to nothing by [`check_references`](Self::check_references).
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/two_way.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = two_people().await?;
    /// let tasks = db.collection::<Task>();
    /// tasks.update_by_id(&1, |t| t.owner.set(Some(Ref::from(2)))).leave_stale().await?;
    /// let report = tasks.check_two_way().await?;
    /// assert_eq!(
    ///     report.listed[0].to_string(),
    ///     "1: one-sided reference: `owner` refers to the `Person` with the _id 2, and its `tasks` does not refer back"
    /// );
    /// assert_eq!(db.collection::<Person>().check_two_way().await?.damages, 1);
    /// # Ok(())
    /// # }
    /// ```
    pub fn check_two_way<'s>(&self) -> CheckTwoWay<'s, M> {
        Scan::new("CheckTwoWay", self.channel(), |chunks| {
            Box::pin(async { checker::check(chunks, TwoWayChecker::of(M::model())?).await })
        })
    }

    /// Lets a field of all documents follow the other side of its `two_way` reference: for documents that are older than the
    /// declaration, after [`leave_stale`](crate::collection::UpdateDocuments::leave_stale), and after writes by other programs.
    ///
    /// The other side is taken for right, so name the field that is not. A list keeps its order; what it lacks is added at its
    /// end, by `_id`. Each document is written only while its field is as it was read, and the other side is read again
    /// afterwards, so other writers may run beside it. It reads the documents of the other side by their reference, which
    /// should have an index. [Copies](Self::refresh_copies) beside the field and [summaries](Self::refresh_summaries) are
    /// refreshed by their own calls.
    ///
    /// Where one field is both sides, as that of friends who name each other, no side is wrong: each document keeps its
    /// references to documents that are there, and gets those that it lacks.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/two_way.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = two_people().await?;
    /// let (people, tasks) = (db.collection::<Person>(), db.collection::<Task>());
    /// tasks.update_by_id(&1, |t| t.owner.set(Some(Ref::from(2)))).leave_stale().await?;
    /// // Each task knows its owner, and the lists follow.
    /// let result = people.refresh_two_way(|p| p.tasks).await?;
    /// assert_eq!((result.read, result.updated), (2, 2));
    /// assert_eq!(people.get(&2).await?.ok_or("nobody")?.tasks, [Ref::from(1)]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The field is no `two_way` reference. More documents refer to one than its field can have, or none does, and it must
    /// have one: those before it are written.
    pub fn refresh_two_way<'s, T: 'static, E: Decode<T>>(
        &self,
        field: impl FnOnce(<M as crate::model::Embedded>::Fields<M>) -> Field<M, T, E>,
    ) -> RefreshTwoWay<'s, M> {
        let path = field(fields::<M>()).path().to_string();
        Scan::new("RefreshTwoWay", self.channel(), |chunks| {
            Box::pin(refresh::<M>(chunks, path))
        })
    }
}

/// Options of a read of all two-way references.
pub(in crate::write) fn options(
    channel: &Channel<'_>,
    model: &'static ModelMeta,
    all: &[Arc<BackReference>],
) -> Chosen {
    let mut projection = doc! {"_id": 1};
    for back in all {
        projection.extend(back.own.projection());
    }
    exact_read(channel, model, Some(projection))
}

/// Compares the two sides of references.
pub(crate) struct TwoWayChecker {
    model: &'static ModelMeta,
    all: Vec<Arc<BackReference>>,
}

impl TwoWayChecker {
    /// The check of a model's two-way references, if it has any.
    pub(crate) fn of(model: &'static ModelMeta) -> Result<Option<Self>> {
        let all = BackReference::all(model.two_way()?)?;
        Ok((!all.is_empty()).then_some(Self { model, all }))
    }
}

impl Checker for TwoWayChecker {
    type Kind = TwoWayDamage;

    fn model(&self) -> &'static ModelMeta {
        self.model
    }

    fn options(&self, channel: &Channel<'_>) -> Chosen {
        options(channel, self.model, &self.all)
    }

    async fn look(
        &self,
        channel: &mut Channel<'_>,
        documents: &[RawDocumentBuf],
    ) -> Result<Vec<Damage<TwoWayDamage>>> {
        let mut damages = Vec::new();
        for back in &self.all {
            let (own, other) = (&back.sides.own, &back.sides.other);
            for (id, key) in one_sided(channel, back, documents).await? {
                let detail = format!(
                    "`{}` refers to the `{}` with the {} {}, and its `{}` does not refer back",
                    own.field,
                    other.model.name,
                    other.key,
                    shell::value(&key),
                    other.field,
                );
                let damage = Damage::new(&id, TwoWayDamage::OneSided, detail);
                damages.push(damage.at(own.path.as_str(), Some(key)));
            }
        }
        Ok(damages)
    }
}

/// Compares one side of references with the other one, which is taken for right.
pub(crate) struct FollowingChecker {
    back: Arc<BackReference>,
}

impl FollowingChecker {
    /// The check of the reference with this stored path, if it is a `two_way` one.
    pub(crate) fn of(model: &'static ModelMeta, path: &str) -> Result<Option<Self>> {
        let mut all = model.two_way()?.iter();
        let sides = all.find(|one| one.own.path == path);
        let back = sides.map(BackReference::new).transpose()?;
        Ok(back.map(|back| Self {
            back: Arc::new(back),
        }))
    }

    /// Lets the references of these documents follow the other side.
    pub(crate) async fn refresh(
        &self,
        channel: &mut Channel<'_>,
        documents: Vec<RawDocumentBuf>,
    ) -> Result<()> {
        let options = self.options(channel);
        let mut refresh = Refresh {
            back: &self.back,
            options: &options,
            updated: 0,
        };
        refresh.visit(channel, documents).await
    }
}

impl Checker for FollowingChecker {
    type Kind = TwoWayDamage;

    fn model(&self) -> &'static ModelMeta {
        self.back.sides.own.model
    }

    fn options(&self, channel: &Channel<'_>) -> Chosen {
        options(channel, self.model(), std::slice::from_ref(&self.back))
    }

    async fn look(
        &self,
        channel: &mut Channel<'_>,
        documents: &[RawDocumentBuf],
    ) -> Result<Vec<Damage<TwoWayDamage>>> {
        let own = &self.back.sides.own;
        let damage = |id: &Bson| {
            let detail = format!("`{}` does not follow the other side", own.field);
            Damage::new(id, TwoWayDamage::OneSided, detail).at(own.path.as_str(), None)
        };
        match statements(channel, &self.back, documents).await {
            Ok(statements) => Ok(statements.iter().map(|(id, _)| damage(id)).collect()),
            Err(error) if !is_about_document(&error) => Err(error),
            // The other side leaves this one nothing that it can store: the write reports it.
            Err(_) => {
                let mut damages = Vec::new();
                for document in documents {
                    let one = std::slice::from_ref(document);
                    let is_damaged = match statements(channel, &self.back, one).await {
                        Ok(statements) => !statements.is_empty(),
                        Err(error) if is_about_document(&error) => true,
                        Err(error) => return Err(error),
                    };
                    if is_damaged {
                        damages.push(damage(&id_of(document)?));
                    }
                }
                Ok(damages)
            }
        }
    }
}

/// The `_id`s of documents with a reference to an existing document that does not refer back, and what they refer to.
async fn one_sided(
    channel: &mut Channel<'_>,
    back: &BackReference,
    documents: &[RawDocumentBuf],
) -> Result<Vec<(Bson, Bson)>> {
    let links = Links::between(back, &[], documents)?;
    let mut others = Keys::default();
    for &(_, other) in links.added() {
        others.add_value(links.others.get(other))?;
    }
    let (mut is_found, mut returned) = (BTreeSet::new(), BTreeSet::new());
    back.other
        .read(channel, &others, &mut |document| {
            let key = back.other.key.value(document);
            let Some(other) = key.and_then(|key| links.others.position(key)) else {
                return Ok(());
            };
            is_found.insert(other);
            back.other.path.each_value(document, &mut |value| {
                returned.extend(links.owns.position(value).map(|own| (own, other)));
            });
            Ok(())
        })
        .await?;
    let mut found = Vec::new();
    for document in documents {
        let key = back.own.key.value(document);
        let Some(own) = key.and_then(|key| links.owns.position(key)) else {
            continue;
        };
        let mut others = links.added().range((own, 0)..(own + 1, 0));
        others.try_for_each(|&(own, other)| -> Result<()> {
            if is_found.contains(&other)
                && !returned.contains(&(own, other))
                && let Some(key) = links.others.get(other)
            {
                found.push((id_of(document)?, key.clone()));
            }
            Ok(())
        })?;
    }
    Ok(found)
}

/// Lets the field of documents follow the other side.
pub(in crate::write) struct Refresh<'c> {
    pub(in crate::write) back: &'c BackReference,
    pub(in crate::write) options: &'c Chosen,
    pub(in crate::write) updated: u64,
}

impl Visit for Refresh<'_> {
    async fn visit(
        &mut self,
        channel: &mut Channel<'_>,
        mut documents: Vec<RawDocumentBuf>,
    ) -> Result<()> {
        let model = self.back.sides.own.model;
        loop {
            let statements = statements(channel, self.back, &documents).await?;
            if statements.is_empty() {
                return Ok(());
            }
            let ids = Keys::of(statements.iter().map(|(id, _)| id))?;
            let statements = statements.into_iter().map(|(_, statement)| {
                let statement = exactly(model, statement);
                RawDocumentBuf::try_from(statement).map_err(Error::encode)
            });
            let statements: Result<Vec<_>> = statements.collect();
            self.updated += channel.of(model).update_in_batches(&statements?).await?;
            documents = chunks::again(channel, model, &ids, self.options).await?;
        }
    }
}

/// The statements that let the field of these documents follow the other side, each with the `_id` of its document.
async fn statements(
    channel: &mut Channel<'_>,
    back: &BackReference,
    documents: &[RawDocumentBuf],
) -> Result<Vec<(Bson, BsonDocument)>> {
    let owns = Keys::at(&back.own.key, documents)?;
    let other = &back.other;
    let mut referring: Vec<Vec<Bson>> = vec![Vec::new(); owns.len()];
    let target = other.side.model;
    for part in owns.parts() {
        let find = Operation::Find {
            filter: doc! {other.path.as_str(): {"$in": part}}.into(),
            one: false,
        };
        let options = exact_read(channel, target, Some(other.projection()));
        let read = channel.of(target).read(find, options, |document| {
            let Some(key) = other.key.value(document) else {
                return Ok(());
            };
            let key = Bson::try_from(key).map_err(Error::encode)?;
            let mut positions = BTreeSet::new();
            other.path.each_value(document, &mut |value| {
                positions.extend(owns.position(value));
            });
            for position in positions {
                if let Some(referring) = referring.get_mut(position) {
                    referring.push(key.clone());
                }
            }
            Ok(())
        });
        read.await?;
    }
    if back.is_symmetrical() {
        add_stored(channel, back, documents, (&owns, &mut referring)).await?;
    }
    let mut statements = Vec::new();
    for document in documents {
        let key = back.own.key.value(document);
        let position = key.and_then(|key| owns.position(key));
        let Some(expected) = position.and_then(|position| referring.get(position)) else {
            continue;
        };
        statements.extend(statement(back, document, expected)?);
    }
    Ok(statements)
}

/// Adds the references that documents have, without those to nothing. Where one field is both sides, neither is wrong: each
/// document gets the references that it lacks, and keeps its own.
async fn add_stored(
    channel: &mut Channel<'_>,
    back: &BackReference,
    documents: &[RawDocumentBuf],
    (owns, referring): (&Keys, &mut [Vec<Bson>]),
) -> Result<()> {
    let others = Keys::at(&back.own.path, documents)?;
    let mut existing = BTreeSet::new();
    let key = &back.other.key;
    back.other
        .read(channel, &others, &mut |document| {
            let key = key.value(document);
            existing.extend(key.and_then(|key| others.position(key)));
            Ok(())
        })
        .await?;
    for document in documents {
        let key = back.own.key.value(document);
        let position = key.and_then(|key| owns.position(key));
        let Some(references) = position.and_then(|position| referring.get_mut(position)) else {
            continue;
        };
        back.own.path.each_value(document, &mut |value| {
            let other = others.position(value);
            let other = other.filter(|other| existing.contains(other));
            references.extend(other.and_then(|other| others.get(other).cloned()));
        });
    }
    Ok(())
}

/// The statement that gives the field of a document these references, if it has others.
fn statement(
    back: &BackReference,
    document: &RawDocument,
    expected: &[Bson],
) -> Result<Option<(Bson, BsonDocument)>> {
    let own = &back.own;
    let id = id_of(document)?;
    let stored = own.path.value(document);
    let expected = Keys::of(expected)?;
    let (mut kept, mut is_changed) = (Keys::default(), false);
    own.path.each_value(document, &mut |value| {
        let is_new = kept.position(value).is_none();
        if expected.position(value).is_some() && is_new {
            is_changed |= kept.add(value).is_err();
        } else {
            is_changed |= own.side.is_list() || value != RawBsonRef::Null;
        }
    });
    let mut missing = Vec::new();
    for value in expected.into_values() {
        let raw = bson::RawBson::try_from(value.clone()).map_err(Error::encode)?;
        if kept.position(raw.as_raw_bson_ref()).is_none() {
            missing.push((key::of(raw.as_raw_bson_ref(), None), value));
        }
    }
    missing.sort_by(|(one, _), (other, _)| one.cmp(other));
    if missing.is_empty() && !is_changed {
        return Ok(None);
    }
    let mut references = kept.into_values();
    references.extend(missing.into_iter().map(|(_, value)| value));
    let path = own.path.as_str();
    let mut change = if own.side.is_list() {
        check_room(back, &references)?;
        doc! {"$set": {path: references}}
    } else {
        match references.as_slice() {
            [] if !own.side.can_be_none() => {
                let model = own.side.model.name;
                let error = ReferenceError::Needed { model, id };
                return Err(Error::new(error).with_path(path));
            }
            [] => own.none(),
            [one] => doc! {"$set": {path: one.clone()}},
            [..] => {
                let (other, key) = (&back.sides.other, &own.side.key);
                return Err(Error::usage(format!(
                    "{} documents refer by `{}` to the `{}` with the _id {id}, and its `{}` can refer to one of them only: let the \
                     others refer to another {key}",
                    references.len(),
                    other.field,
                    own.side.model.name,
                    own.side.field,
                )));
            }
        }
    };
    maintain::change(&maintain::fields(own.side.model), &mut change);
    let mut filter = doc! {"_id": {"$eq": id.clone()}};
    let unchanged = match stored {
        None => doc! {"$exists": false},
        Some(stored) => doc! {"$eq": Bson::try_from(stored).map_err(Error::encode)?},
    };
    filter.insert(path, unchanged);
    Ok(Some((id, doc! {"q": filter, "u": change})))
}

fn check_room(back: &BackReference, references: &[Bson]) -> Result<()> {
    let side = &back.sides.own;
    let max = side.max().and_then(|max| u32::try_from(max).ok());
    let Some(max) = max.filter(|max| references.len() > *max as usize) else {
        return Ok(());
    };
    let withheld = Withheld {
        path: side.path.clone(),
        reason: WithheldReason::Full { max },
        documents: 1,
    };
    Err(Error::new(WithheldError::new(vec![withheld])))
}

async fn refresh<M: Document>(chunks: Chunks<'_>, path: String) -> Result<RefreshResult> {
    let model = M::model();
    let mut all = model.two_way()?.iter();
    let Some(sides) = all.find(|one| one.own.path == path) else {
        let message = "only a reference that declares `two_way` has another side to follow";
        let error = Error::usage(message).with_path(path);
        return Err(error.with_model(model.name));
    };
    let back = Arc::new(BackReference::new(sides)?);
    let options = options(chunks.channel(), model, std::slice::from_ref(&back));
    let mut refresh = Refresh {
        back: &back,
        options: &options,
        updated: 0,
    };
    let read = chunks.each(model, &options, &mut refresh).await;
    Ok(RefreshResult {
        read: read.map_err(|error| error.with_model(model.name))?,
        updated: refresh.updated,
    })
}
