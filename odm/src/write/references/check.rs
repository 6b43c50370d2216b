//! `check_references`: finds stored references that lead to no document.

use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use bson::raw::{RawBsonRef, RawDocument, RawDocumentBuf};
use bson::{Bson, doc};

use super::found;
use crate::collection::Collection;
use crate::error::{Error, Result};
use crate::exec::declared::{Declared, Target, Walk};
use crate::exec::together::{Task, run_all};
use crate::exec::{Channel, Keys};
use crate::model::{Document, ModelMeta};
use crate::plan::shell;
use crate::query::operators::any_of;
use crate::store::options::{Chosen, Options};
use crate::store::{CollectionName, Operation};
use crate::write::checker::{self, Checker, id_of};
use crate::write::chunks::Scan;
use crate::write::{Damage, Report};

/// How long a document is taken for stored after it was found.
const MOMENT: Duration = Duration::from_secs(5);

/// How many keys are remembered for each target.
const REMEMBERED: usize = 16 * 1_024;

/// The kinds of damage that [`Collection::check_references`] reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ReferenceDamage {
    /// A reference leads to no document.
    Dangling,
}

impl fmt::Display for ReferenceDamage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Dangling => f.write_str("dangling reference"),
        }
    }
}

/// What [`Collection::check_references`] found.
pub type ReferenceReport = Report<ReferenceDamage>;

/// A check of stored references, about to run: [`Collection::check_references`].
pub type CheckReferences<'s, M> = Scan<'s, M, ReferenceReport>;

impl<M: Document> Collection<M> {
    /// Finds references in stored documents that lead to no document, whoever has written them.
    ///
    /// It reads the references of all documents, 1,000 at a time, and looks up with one query for each referenced model which
    /// documents exist. References are found at any depth: in lists, maps and tuples, in the variants of enums, and in DBRefs,
    /// which may lead to any collection of any database. What seems to dangle is read again together with what it leads to, at
    /// one time where the deployment has transactions, so that a reference which never dangled is not reported.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/on_delete.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = a_shelf().await?;
    /// let books = db.collection::<Book>();
    /// assert!(books.check_references().await?.is_sound());
    ///
    /// db.collection::<Author>().delete_by_id(&1).leave_dangling().await?;
    /// let report = books.check_references().await?;
    /// assert_eq!((report.read, report.damages), (3, 3));
    /// assert_eq!(
    ///     report.listed[0].to_string(),
    ///     "1: dangling reference: `author` leads to no `Author` with the _id 1"
    /// );
    /// # Ok(())
    /// # }
    /// ```
    pub fn check_references<'s>(&self) -> CheckReferences<'s, M> {
        Scan::new("CheckReferences", self.channel(), |chunks| {
            Box::pin(async {
                let checker = ReferenceChecker::of(M::model())?.remembering();
                checker::check(
                    chunks,
                    Some(checker).filter(ReferenceChecker::has_references),
                )
                .await
            })
        })
    }
}

/// Compares references with the documents that exist.
pub(crate) struct ReferenceChecker {
    model: &'static ModelMeta,
    declared: Declared,
    /// The keys that led to a document a moment ago, for each target, if they are remembered.
    remembered: Option<Mutex<Vec<Remembered>>>,
}

/// Keys that led to a document a moment ago. Many documents refer to the same few, and each chunk of them would look those up
/// again.
#[derive(Default)]
struct Remembered {
    keys: Keys,
    /// When the first one was looked up.
    since: Option<Instant>,
}

impl Remembered {
    /// Adds what was found by a lookup that began at this time.
    fn add(&mut self, looked: &Looked, began: Instant) -> Result<()> {
        for (key, is_found) in looked.keys.values().iter().zip(&looked.is_found) {
            if *is_found {
                self.since.get_or_insert(began);
                self.keys.add_value(Some(key))?;
            }
        }
        Ok(())
    }

    fn has(&self, key: RawBsonRef<'_>) -> bool {
        self.keys.position(key).is_some()
    }

    /// Forgets all keys if they are old or many.
    fn trim(&mut self) {
        let is_old = self.since.is_some_and(|since| since.elapsed() >= MOMENT);
        if is_old || self.keys.len() >= REMEMBERED {
            *self = Self::default();
        }
    }
}

impl ReferenceChecker {
    pub(crate) fn of(model: &'static ModelMeta) -> Result<Self> {
        let declared = Declared::of(model)?;
        Ok(Self {
            model,
            declared,
            remembered: None,
        })
    }

    /// Takes documents for stored that were found a moment ago. What is deleted in this moment may be missed; what is missing is
    /// never remembered. Not for a check that looks at what it has deleted itself.
    pub(crate) fn remembering(mut self) -> Self {
        self.remembered = Some(Mutex::default());
        self
    }

    /// Whether documents may refer to others by the fields that are declared.
    fn has_references(&self) -> bool {
        let paths = self.declared.references();
        paths.is_none_or(|paths| {
            paths.keys().any(|path| path != "_id") || !self.declared.targets().is_empty()
        })
    }

    /// Leaves the references in these fields at the top level to others.
    pub(crate) fn without(mut self, names: &[&'static str]) -> Self {
        self.declared.without_references_in(names);
        self
    }

    /// The keys that need not be looked up.
    fn remembered(&self) -> Option<MutexGuard<'_, Vec<Remembered>>> {
        let all = self.remembered.as_ref()?;
        let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
        all.resize_with(self.declared.targets().len(), Remembered::default);
        all.iter_mut().for_each(Remembered::trim);
        Some(all)
    }

    /// Remembers what lookups that began at this time have found.
    fn remember(&self, references: &[Looked], began: Instant) -> Result<()> {
        let Some(mut remembered) = self.remembered() else {
            return Ok(());
        };
        let mut all = remembered.iter_mut().zip(references);
        all.try_for_each(|(remembered, looked)| remembered.add(looked, began))
    }

    /// The namespace of the documents to which a DBRef leads; `None` if no collection can have the name.
    fn namespace(&self, channel: &Channel<'_>, dbref: &RawDocument) -> Option<Namespace> {
        let text = |name| dbref.get(name).ok().flatten().and_then(RawBsonRef::as_str);
        let (collection, database) = (text("$ref")?, text("$db"));
        let own = channel.store().database();
        let database = database.filter(|name| *name != own).map(str::to_owned);
        let mut models = self.declared.targets().iter().map(|target| target.model);
        let model = models.find(|model| database.is_none() && model.collection == collection);
        let collection = match model {
            // Other DBRefs may lead to other variants in the collection.
            Some(model) => channel.collection(model).whole(),
            None => CollectionName::Chosen(collection.into()),
        };
        let is_legal = |name: &str| !name.is_empty() && !name.contains(['$', '\0']);
        let is_database = |name: &str| is_legal(name) && !name.contains(['/', '\\', '.', '"', ' ']);
        let can_exist = is_legal(&collection)
            && !collection.starts_with('.')
            && database.as_deref().is_none_or(is_database);
        can_exist.then_some(Namespace {
            database,
            collection,
        })
    }
}

/// Where the documents are to which a DBRef leads.
#[derive(Debug, Clone, PartialEq)]
struct Namespace {
    /// The database, if it is another one.
    database: Option<String>,
    collection: CollectionName,
}

impl Namespace {
    /// Finds out for each `_id` whether there is a document.
    async fn found(
        &self,
        channel: &mut Channel<'_>,
        model: &'static ModelMeta,
        ids: &Keys,
    ) -> Result<Vec<bool>> {
        let mut is_found = vec![false; ids.len()];
        let own = channel.store().database().to_owned();
        let mut channel = channel.at(self.database.as_deref().unwrap_or(&own));
        for part in ids.parts() {
            let find = Operation::Find {
                one: part.len() == 1,
                filter: any_of("_id", part).into(),
            };
            let options = Options {
                projection: Some(doc! {"_id": 1}),
                ..channel.current()
            };
            let target = channel.named(self.collection.clone(), model);
            let read = target.read(find, options.into(), |document| {
                let id = document.get("_id").map_err(Error::encode)?;
                let position = id.and_then(|id| ids.position(id));
                if let Some(found) = position.and_then(|position| is_found.get_mut(position)) {
                    *found = true;
                }
                Ok(())
            });
            read.await?;
        }
        Ok(is_found)
    }
}

impl fmt::Display for Namespace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(database) = &self.database {
            write!(f, "{database}.")?;
        }
        write!(f, "{}", self.collection)
    }
}

/// Keys that documents store, and whether each leads to a document.
#[derive(Default)]
struct Looked {
    keys: Keys,
    is_found: Vec<bool>,
}

impl Looked {
    fn is_missing(&self, value: RawBsonRef<'_>) -> bool {
        let position = self.keys.position(value);
        position.is_some_and(|position| self.is_found.get(position) == Some(&false))
    }
}

/// Keys to look up in one collection.
enum Lookup<'l> {
    Target(&'l Target, &'l mut Looked),
    Namespace(&'static ModelMeta, &'l Namespace, &'l mut Looked),
}

impl Task for Lookup<'_> {
    type Output = bool;

    /// Returns whether all were found.
    async fn run(self, channel: &mut Channel<'_>) -> Result<bool> {
        let (is_found, looked) = match self {
            Self::Target(target, looked) => {
                let keys = &looked.keys;
                let is_found = found(channel, target.model, &target.key, keys, &[]).await?;
                (is_found, looked)
            }
            Self::Namespace(model, namespace, looked) => {
                let is_found = namespace.found(channel, model, &looked.keys).await?;
                (is_found, looked)
            }
        };
        looked.is_found = is_found;
        Ok(!looked.is_found.contains(&false))
    }
}

impl Checker for ReferenceChecker {
    type Kind = ReferenceDamage;

    fn model(&self) -> &'static ModelMeta {
        self.model
    }

    fn options(&self, channel: &Channel<'_>) -> Chosen {
        Chosen::from(Options {
            projection: self.declared.references(),
            ..channel.current()
        })
    }

    async fn look(
        &self,
        channel: &mut Channel<'_>,
        documents: &[RawDocumentBuf],
    ) -> Result<Vec<Damage<ReferenceDamage>>> {
        let began = Instant::now();
        let Lookups {
            mut references,
            mut dbrefs,
            is_impossible,
        } = Collect::all(self, channel, documents)?;
        let targets = self.declared.targets().iter().zip(&mut references);
        let lookups = targets.map(|(target, looked)| Lookup::Target(target, looked));
        let mut lookups: Vec<_> = lookups.collect();
        for (namespace, looked) in &mut dbrefs {
            lookups.push(Lookup::Namespace(self.model, namespace, looked));
        }
        let are_found = run_all(channel, lookups).await?;
        self.remember(&references, began)?;
        let is_suspicious = is_impossible || are_found.contains(&false);
        let mut damages = Vec::new();
        if !is_suspicious {
            return Ok(damages);
        }
        for document in documents {
            let id = id_of(document)?;
            let mut compare = Compare {
                checker: self,
                channel,
                references: &references,
                dbrefs: &dbrefs,
                id: &id,
                damages: &mut damages,
                failed: Ok(()),
            };
            self.declared.walk(document, &mut compare)?;
            compare.failed?;
        }
        Ok(damages)
    }
}

/// What the references of documents lead to.
#[derive(Default)]
struct Lookups {
    /// Keys, by target.
    references: Vec<Looked>,
    dbrefs: Vec<(Namespace, Looked)>,
    /// Whether a DBRef names a collection that can't exist.
    is_impossible: bool,
}

/// Collects the references of documents.
struct Collect<'c, 's> {
    checker: &'c ReferenceChecker,
    channel: &'c Channel<'s>,
    remembered: Option<MutexGuard<'c, Vec<Remembered>>>,
    lookups: Lookups,
    failed: Result<()>,
}

impl<'c, 's> Collect<'c, 's> {
    fn all(
        checker: &'c ReferenceChecker,
        channel: &'c Channel<'s>,
        documents: &[RawDocumentBuf],
    ) -> Result<Lookups> {
        let targets = checker.declared.targets().iter();
        let mut collect = Self {
            checker,
            channel,
            remembered: checker.remembered(),
            lookups: Lookups {
                references: targets.map(|_| Looked::default()).collect(),
                ..Lookups::default()
            },
            failed: Ok(()),
        };
        for document in documents {
            checker.declared.walk(document, &mut collect)?;
        }
        collect.failed?;
        Ok(collect.lookups)
    }

    fn add(looked: Option<&mut Looked>, value: RawBsonRef<'_>, failed: &mut Result<()>) {
        if let Some(looked) = looked
            && let Err(error) = looked.keys.add(value)
        {
            *failed = Err(error);
        }
    }
}

impl Walk for Collect<'_, '_> {
    fn reference(&mut self, targets: &[usize], _: &[&str], value: RawBsonRef<'_>) {
        for target in targets {
            let remembered = self.remembered.as_ref().and_then(|all| all.get(*target));
            if remembered.is_some_and(|keys| keys.has(value)) {
                continue;
            }
            Self::add(
                self.lookups.references.get_mut(*target),
                value,
                &mut self.failed,
            );
        }
    }

    fn dbref(&mut self, _: &[&str], dbref: &RawDocument) {
        let Some(id) = dbref.get("$id").ok().flatten() else {
            return;
        };
        let Some(namespace) = self.checker.namespace(self.channel, dbref) else {
            self.lookups.is_impossible = true;
            return;
        };
        let mut dbrefs = self.lookups.dbrefs.iter();
        let position = dbrefs.position(|(other, _)| *other == namespace);
        let position = position.unwrap_or_else(|| {
            self.lookups.dbrefs.push((namespace, Looked::default()));
            self.lookups.dbrefs.len() - 1
        });
        let looked = self
            .lookups
            .dbrefs
            .get_mut(position)
            .map(|(_, looked)| looked);
        Self::add(looked, id, &mut self.failed);
    }
}

/// Reports the references of one document that lead to nothing.
struct Compare<'c, 's> {
    checker: &'c ReferenceChecker,
    channel: &'c Channel<'s>,
    references: &'c [Looked],
    dbrefs: &'c [(Namespace, Looked)],
    id: &'c Bson,
    damages: &'c mut Vec<Damage<ReferenceDamage>>,
    failed: Result<()>,
}

impl Compare<'_, '_> {
    fn add(&mut self, path: &[&str], value: RawBsonRef<'_>, what: impl FnOnce(&Bson) -> String) {
        let stored = match Bson::try_from(value) {
            Ok(stored) => stored,
            Err(error) => {
                self.failed = Err(Error::encode(error));
                return;
            }
        };
        let path = path.join(".");
        let detail = format!("`{path}` leads to no {}", what(&stored));
        let damage = Damage::new(self.id, ReferenceDamage::Dangling, detail);
        self.damages.push(damage.at(path, Some(stored)));
    }
}

impl Walk for Compare<'_, '_> {
    fn reference(&mut self, targets: &[usize], path: &[&str], value: RawBsonRef<'_>) {
        let references = self.references;
        let is_missing = |target: &usize| {
            let looked = references.get(*target);
            looked.is_some_and(|looked| looked.is_missing(value))
        };
        if !targets.iter().all(is_missing) {
            return;
        }
        let checker = self.checker;
        let targets = targets
            .iter()
            .filter_map(|target| checker.declared.targets().get(*target));
        self.add(path, value, |value| {
            let targets = targets.map(|target| {
                format!(
                    "`{}` with the {} {}",
                    target.model.name,
                    target.key.as_str(),
                    shell::value(value)
                )
            });
            targets.collect::<Vec<_>>().join(" and no ")
        });
    }

    fn dbref(&mut self, path: &[&str], dbref: &RawDocument) {
        let Some(id) = dbref.get("$id").ok().flatten() else {
            return;
        };
        let namespace = self.checker.namespace(self.channel, dbref);
        let looked = |(other, looked): &(Namespace, Looked)| {
            namespace.as_ref() == Some(other) && !looked.is_missing(id)
        };
        if self.dbrefs.iter().any(looked) {
            return;
        }
        self.add(path, RawBsonRef::Document(dbref), |value| {
            let id = value.as_document().and_then(|dbref| dbref.get("$id"));
            let id = id.map_or_else(String::new, shell::value);
            match &namespace {
                Some(namespace) => format!("document of `{namespace}` with the _id {id}"),
                None => "document, because no collection can have the name in it".to_owned(),
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn looked(range: std::ops::Range<i64>, is_found: bool) -> Looked {
        let ids: Vec<_> = range.map(Bson::from).collect();
        let keys = Keys::of(&ids).unwrap();
        let is_found = vec![is_found; keys.len()];
        Looked { keys, is_found }
    }

    #[test]
    fn what_is_missing_is_not_remembered() {
        let mut remembered = Remembered::default();
        remembered.add(&looked(0..2, true), Instant::now()).unwrap();
        remembered
            .add(&looked(2..4, false), Instant::now())
            .unwrap();
        remembered.trim();
        let has = |id| remembered.has(RawBsonRef::Int64(id));
        assert_eq!([0, 1, 2, 3].map(has), [true, true, false, false]);
    }

    #[test]
    fn old_keys_and_many_keys_are_forgotten() {
        let most = i64::try_from(REMEMBERED).unwrap();
        for (keys, age, is_kept) in [
            (10, Duration::ZERO, true),
            (10, MOMENT, false),
            (most - 1, Duration::ZERO, true),
            (most, Duration::ZERO, false),
        ] {
            let mut remembered = Remembered::default();
            let began = Instant::now().checked_sub(age).unwrap();
            remembered.add(&looked(0..keys, true), began).unwrap();
            // Later keys are forgotten with the first one.
            remembered.add(&looked(0..1, true), Instant::now()).unwrap();
            remembered.trim();
            assert_eq!(
                remembered.has(RawBsonRef::Int64(0)),
                is_kept,
                "{keys} {age:?}"
            );
        }
    }
}
