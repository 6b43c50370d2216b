//! `check_recent` and `refresh_recent`: lists that do not have the newest documents.

use std::fmt;
use std::sync::Arc;

use bson::raw::{RawBsonRef, RawDocumentBuf};
use bson::{Bson, Document as BsonDocument, RawBson, doc};

use super::super::checker::{self, Checker, id_of};
use super::super::chunks::{Chunks, Scan, Visit};
use super::super::reference_place::exact_read;
use super::super::{Damage, RefreshResult, Report};
use super::facts::{Newest, Ties, parts};
use super::{Listed, settle};
use crate::collection::Collection;
use crate::error::{Error, Result};
use crate::exec::together::{Task, run_all};
use crate::exec::{Channel, Keys};
use crate::model::{Document, ModelMeta};
use crate::plan;
use crate::store::options::Chosen;

/// The kinds of damage that [`Collection::check_recent`] reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RecentDamage {
    /// A list does not have the newest documents, or has them in another order.
    Stale,
}

impl fmt::Display for RecentDamage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stale => f.write_str("stale list"),
        }
    }
}

/// What [`Collection::check_recent`] found.
pub type RecentReport = Report<RecentDamage>;

/// A check of stored lists of the newest, about to run: [`Collection::check_recent`].
pub type CheckRecent<'s, M> = Scan<'s, M, RecentReport>;

/// A refresh of stored lists of the newest, about to run: [`Collection::refresh_recent`].
pub type RefreshRecent<'s, M> = Scan<'s, M, RefreshResult>;

impl<M: Document> Collection<M> {
    /// Finds lists of the newest that do not have the documents which they have to have, whoever has written them.
    ///
    /// It reads each document that holds a list, and the newest documents with one query for each list. A list that seems to
    /// differ is read again together with the documents, at one time where the deployment has transactions: what a write changes
    /// meanwhile is not reported. Documents with equal sort values may be in any order, and any of those with the
    /// smallest value of the list may be in it.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/recent.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = two_hosts().await?;
    /// let hosts = db.collection::<Host>();
    /// assert!(hosts.check_recent().await?.is_sound());
    ///
    /// // Another program does not know of the list.
    /// let message = doc! {"_id": 4, "host": 1, "time": 40, "message": "cpu is on fire!"};
    /// db.run_command(doc! {"insert": "logmsg", "documents": [message]}).await?;
    /// let report = hosts.check_recent().await?;
    /// assert_eq!((report.read, report.damages), (2, 1));
    /// assert_eq!(
    ///     report.listed[0].to_string(),
    ///     "1: stale list: `logmsgs` lacks 1 of the newest 2 documents of `LogMessage`"
    /// );
    /// # Ok(())
    /// # }
    /// ```
    pub fn check_recent<'s>(&self) -> CheckRecent<'s, M> {
        Scan::new("CheckRecent", self.channel(), |chunks| {
            Box::pin(async { checker::check(chunks, RecentChecker::of(M::model())?).await })
        })
    }

    /// Writes the lists of the newest that do not have exactly the newest documents in their order: after writes by other
    /// programs, for documents that are older than the declaration, and after a change of `max` or of the copied fields.
    ///
    /// It needs no transaction: the documents are read again after a list was written, until they have not changed. A run
    /// that stops is completed by the next one.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/recent.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = two_hosts().await?;
    /// // A host from before the declaration.
    /// db.run_command(doc! {"insert": "hosts", "documents": [{"_id": 3}], "bypassDocumentValidation": true}).await?;
    /// let result = db.collection::<Host>().refresh_recent().await?;
    /// assert_eq!((result.read, result.updated), (3, 1));
    /// assert!(times(&db, 3).await?.is_empty());
    /// # Ok(())
    /// # }
    /// ```
    pub fn refresh_recent<'s>(&self) -> RefreshRecent<'s, M> {
        Scan::new("RefreshRecent", self.channel(), |chunks| {
            Box::pin(refresh::<M>(chunks))
        })
    }
}

/// Compares lists with the documents that they list.
pub(crate) struct RecentChecker {
    model: &'static ModelMeta,
    all: Vec<Arc<Listed>>,
}

impl RecentChecker {
    /// The check of a model's lists of the newest, if it has any.
    pub(crate) fn of(model: &'static ModelMeta) -> Result<Option<Self>> {
        let all = Listed::all(model.newest_lists()?)?;
        Ok((!all.is_empty()).then_some(Self { model, all }))
    }

    /// Writes the lists in these documents that differ.
    pub(crate) async fn refresh(
        &self,
        channel: &mut Channel<'_>,
        documents: Vec<RawDocumentBuf>,
    ) -> Result<()> {
        let mut refresh = Refresh {
            all: &self.all,
            updated: 0,
        };
        refresh.visit(channel, documents).await
    }
}

impl Checker for RecentChecker {
    type Kind = RecentDamage;

    fn model(&self) -> &'static ModelMeta {
        self.model
    }

    fn options(&self, channel: &Channel<'_>) -> Chosen {
        let mut projection = projection(&self.all);
        for listed in &self.all {
            projection.insert(listed.list.name, 1);
        }
        exact_read(channel, self.model, Some(projection))
    }

    fn settles(&self) -> bool {
        self.all.iter().any(|listed| !listed.is_strict())
    }

    async fn look(
        &self,
        channel: &mut Channel<'_>,
        documents: &[RawDocumentBuf],
    ) -> Result<Vec<Damage<RecentDamage>>> {
        let looks = self.all.iter().flat_map(|listed| {
            let look = |document| Look { listed, document };
            documents.iter().map(look)
        });
        let damages = run_all(channel, looks.collect::<Vec<_>>()).await?;
        Ok(damages.into_iter().flatten().collect())
    }
}

/// One list of one document.
struct Look<'c> {
    listed: &'c Listed,
    document: &'c RawDocumentBuf,
}

impl Task for Look<'_> {
    type Output = Option<Damage<RecentDamage>>;

    async fn run(self, channel: &mut Channel<'_>) -> Result<Self::Output> {
        let Self { listed, document } = self;
        let key = listed.key.value(document);
        let Some(key) = key.filter(|key| *key != RawBsonRef::Null) else {
            return Ok(None);
        };
        let key = Bson::try_from(key).map_err(Error::encode)?;
        let stored = document.get(listed.list.name).map_err(Error::encode)?;
        let stored = stored.map(RawBson::from);
        let newest = Newest::read(channel, listed, &key, Ties::Listed).await?;
        if newest.is_right(listed, stored.as_ref())? {
            return Ok(None);
        }
        // The list may have other documents with the value of the last.
        let newest = Newest::read(channel, listed, &key, Ties::All).await?;
        if newest.is_right(listed, stored.as_ref())? {
            return Ok(None);
        }
        stale(&id_of(document)?, listed, &newest, stored.as_ref()).map(Some)
    }
}

fn stale(
    id: &Bson,
    listed: &Listed,
    newest: &Newest,
    stored: Option<&RawBson>,
) -> Result<Damage<RecentDamage>> {
    let list = listed.list;
    let (field, source) = (list.recent.field, list.source.name);
    let detail = match (parts(stored)?, stored) {
        (_, None) => format!("`{field}` is missing"),
        (None, _) => format!("`{field}` is no list of documents"),
        (Some(parts), _) => match newest.missing(&parts)? {
            (0, 0) => format!("`{field}` is not in the order of `{}`", list.recent.sort),
            (0, others) => format!(
                "`{field}` has {}, which are not among the newest of `{source}`",
                count(others, "more element")
            ),
            (lacking, _) => {
                let all = plan::documents(newest.listed.len() as u64);
                format!("`{field}` lacks {lacking} of the newest {all} of `{source}`")
            }
        },
    };
    Ok(Damage::new(id, RecentDamage::Stale, detail).at(list.name, None))
}

/// Writes lists that differ from the documents that they list.
pub(in crate::write) struct Refresh<'c> {
    pub(in crate::write) all: &'c [Arc<Listed>],
    pub(in crate::write) updated: u64,
}

impl Visit for Refresh<'_> {
    async fn visit(
        &mut self,
        channel: &mut Channel<'_>,
        documents: Vec<RawDocumentBuf>,
    ) -> Result<()> {
        for listed in self.all {
            let keys = Keys::at(&listed.key, &documents)?;
            self.updated += settle(channel, listed, &keys).await?;
        }
        Ok(())
    }
}

fn count(number: usize, what: &str) -> String {
    match number {
        1 => format!("1 {what}"),
        _ => format!("{number} {what}s"),
    }
}

/// Options of a read of the documents that hold lists, without the lists.
pub(in crate::write) fn options(
    channel: &Channel<'_>,
    model: &'static ModelMeta,
    all: &[Arc<Listed>],
) -> Chosen {
    exact_read(channel, model, Some(projection(all)))
}

fn projection(all: &[Arc<Listed>]) -> BsonDocument {
    let mut projection = doc! {"_id": 1};
    for listed in all {
        projection.insert(listed.key.as_str(), 1);
    }
    projection
}

async fn refresh<M: Document>(chunks: Chunks<'_>) -> Result<RefreshResult> {
    let model = M::model();
    let all = Listed::all(model.newest_lists()?)?;
    let mut refresh = Refresh {
        all: &all,
        updated: 0,
    };
    let mut read = 0;
    if !all.is_empty() {
        let options = options(chunks.channel(), model, &all);
        read = chunks.each(model, &options, &mut refresh).await?;
    }
    Ok(RefreshResult {
        read,
        updated: refresh.updated,
    })
}
