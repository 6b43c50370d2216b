//! `check_recent` and `refresh_recent`: lists that do not have the newest documents.

use std::fmt;
use std::sync::Arc;

use bson::raw::{RawBsonRef, RawDocument, RawDocumentBuf};
use bson::{Bson, doc};

use super::super::chunks::{Chunks, Scan, Visit};
use super::super::reference_place::exact_read;
use super::super::{RefreshResult, Report};
use super::facts::{Holder, Newest, Ties, parts};
use super::{Listed, settle};
use crate::collection::Collection;
use crate::error::{Error, Result};
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
    /// differ is read again, and the documents before and after that: what a write changes meanwhile is not reported. A list
    /// that a write has not reached yet is. Documents with equal sort values may be in any order, and any of those with the
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
            Box::pin(check::<M>(chunks))
        })
    }

    /// Writes the lists of the newest that do not have exactly the newest documents in their order: after writes that went
    /// past odm, for documents that are older than the declaration, and after a change of `max` or of the copied fields.
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
struct Check<'c> {
    all: &'c [Arc<Listed>],
    report: RecentReport,
}

impl Visit for Check<'_> {
    async fn visit(
        &mut self,
        channel: &mut Channel<'static>,
        documents: Vec<RawDocumentBuf>,
    ) -> Result<()> {
        for listed in self.all {
            for document in &documents {
                let (Some(key), Some(holder)) = holder(channel, listed, document).await? else {
                    continue;
                };
                let newest = Newest::read(channel, listed, &key, Ties::Listed).await?;
                if newest.is_right(listed, holder.stored.as_ref())? {
                    continue;
                }
                // A write between two reads changes the newest, and what was read between them says nothing.
                let before = Newest::read(channel, listed, &key, Ties::All).await?;
                let again = listed.holders(channel, doc! {"_id": {"$eq": &holder.id}});
                let again = again.await?.into_iter().next();
                let newest = Newest::read(channel, listed, &key, Ties::All).await?;
                if let Some(holder) = again
                    && newest == before
                    && !newest.is_right(listed, holder.stored.as_ref())?
                {
                    self.add(listed, &newest, &holder)?;
                }
            }
        }
        Ok(())
    }
}

impl Check<'_> {
    fn add(&mut self, listed: &Listed, newest: &Newest, holder: &Holder) -> Result<()> {
        let list = listed.list;
        let (field, source) = (list.recent.field, list.source.name);
        let detail = match (parts(holder.stored.as_ref())?, &holder.stored) {
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
        self.report.add(&holder.id, RecentDamage::Stale, detail);
        Ok(())
    }
}

/// Writes lists that differ from the documents that they list.
pub(in crate::write) struct Refresh<'c> {
    pub(in crate::write) all: &'c [Arc<Listed>],
    pub(in crate::write) updated: u64,
}

impl Visit for Refresh<'_> {
    async fn visit(
        &mut self,
        channel: &mut Channel<'static>,
        documents: Vec<RawDocumentBuf>,
    ) -> Result<()> {
        for listed in self.all {
            let keys = Keys::at(&listed.key, &documents)?;
            self.updated += settle(channel, listed, &keys).await?;
        }
        Ok(())
    }
}

/// The key of a document, and its list as it is stored now. Lists may be large, so that they are read one at a time.
async fn holder(
    channel: &mut Channel<'_>,
    listed: &Listed,
    document: &RawDocument,
) -> Result<(Option<Bson>, Option<Holder>)> {
    let key = listed
        .key
        .value(document)
        .filter(|key| *key != RawBsonRef::Null);
    let Some(key) = key else {
        return Ok((None, None));
    };
    let id = document
        .get("_id")
        .map_err(Error::encode)?
        .unwrap_or(RawBsonRef::Null);
    let id = Bson::try_from(id).map_err(Error::encode)?;
    let holders = listed.holders(channel, doc! {"_id": {"$eq": id}}).await?;
    let key = Bson::try_from(key).map_err(Error::encode)?;
    Ok((Some(key), holders.into_iter().next()))
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
    let mut projection = doc! {"_id": 1};
    for listed in all {
        projection.insert(listed.key.as_str(), 1);
    }
    exact_read(channel, model, Some(projection))
}

async fn check<M: Document>(chunks: Chunks<'_>) -> Result<RecentReport> {
    let model = M::model();
    let all = Listed::all(model.newest_lists()?)?;
    let report = RecentReport::default();
    if all.is_empty() {
        return Ok(report);
    }
    let options = options(chunks.channel(), model, &all);
    let mut check = Check { all: &all, report };
    check.report.read = chunks.each(model, &options, &mut check).await?;
    Ok(check.report)
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
