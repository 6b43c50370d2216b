//! `check_copies` and `refresh_copies`: copies that do not have the value of the field that they follow.

use std::fmt;

use bson::raw::RawDocumentBuf;
use bson::{Bson, DateTime, Document as BsonDocument, doc};

use super::super::checker::{self, Checker, id_of};
use super::super::chunks::{Chunks, Scan, Visit};
use super::super::reference_place::{Outdated, exact_read};
use super::super::{Damage, RefreshResult, Report};
use super::facts::{Difference, Facts, Holders, settle};
use super::kept::Kept;
use crate::collection::Collection;
use crate::error::{Error, Result};
use crate::exec::{Channel, Keys};
use crate::model::copies::RefreshAge;
use crate::model::{Document, ModelMeta};
use crate::plan::shell;
use crate::store::options::Chosen;

/// The kinds of damage that [`Collection::check_copies`] reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CopyDamage {
    /// A copy has another value than the field that it follows.
    Stale,
}

impl fmt::Display for CopyDamage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stale => f.write_str("stale copy"),
        }
    }
}

/// What [`Collection::check_copies`] found.
pub type CopyReport = Report<CopyDamage>;

/// A check of stored copies, about to run: [`Collection::check_copies`].
pub type CheckCopies<'s, M> = Scan<'s, M, CopyReport>;

/// A refresh of stored copies, about to run: [`Collection::refresh_copies`].
pub type RefreshCopies<'s, M> = Scan<'s, M, RefreshResult>;

impl<M: Document> Collection<M> {
    /// Finds copies that do not have the value of the field that they follow, whoever has written them.
    ///
    /// It reads the references and copies of all documents, 1,000 at a time, and the copied fields with one query for each
    /// reference that has copies beside it. What seems to differ is read again, at one time where the deployment has
    /// transactions, so that a write between two reads is not reported; a copy that a propagation has not reached yet is. Copies that are declared `once` are facts of
    /// their own. A copy with `refresh(older_than = …)` is reported if it differs and is older than that.
    /// [`check_references`](Self::check_references) finds references that lead to nothing.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/copies.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = two_hosts().await?;
    /// let messages = db.collection::<LogMessage>();
    /// assert!(messages.check_copies().await?.is_sound());
    ///
    /// // Another program does not know of the copies.
    /// db.run_command(doc! {"update": "hosts", "updates": [{"q": {"_id": 1}, "u": {"$set": {"ipaddr": "127.0.0.9"}}}]}).await?;
    /// let report = messages.check_copies().await?;
    /// assert_eq!((report.read, report.damages), (3, 3));
    /// assert_eq!(
    ///     report.listed[0].to_string(),
    ///     r#"1: stale copy: `ipaddr` is "127.0.0.1", and the field that it copies is "127.0.0.9""#
    /// );
    /// # Ok(())
    /// # }
    /// ```
    pub fn check_copies<'s>(&self) -> CheckCopies<'s, M> {
        Scan::new("CheckCopies", self.channel(), |chunks| {
            Box::pin(async { checker::check(chunks, CopyChecker::of(M::model())?).await })
        })
    }

    /// Writes the copies of all documents that do not have the value of the field that they follow: after writes by other
    /// programs, after [`leave_stale`](crate::collection::UpdateDocuments::leave_stale), and for documents that are older than the
    /// declaration. Of copies with `refresh(older_than = …)`, it writes those that are older, with the time of the read.
    ///
    /// It needs no transaction: each document is written by one update that matches only while its reference is the same, and
    /// the copied fields are read again afterwards. A run that stops is completed by the next one.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/copies.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = two_hosts().await?;
    /// // A message from before the address was copied.
    /// db.run_command(doc! {"insert": "logmsg", "documents": [{"_id": 7, "host": 2}], "bypassDocumentValidation": true}).await?;
    /// let messages = db.collection::<LogMessage>();
    /// let result = messages.refresh_copies().await?;
    /// assert_eq!((result.read, result.updated), (4, 1));
    /// assert_eq!(messages.get(&7).await?.ok_or("no message")?.ipaddr, "127.0.0.2");
    /// # Ok(())
    /// # }
    /// ```
    pub fn refresh_copies<'s>(&self) -> RefreshCopies<'s, M> {
        Scan::new("RefreshCopies", self.channel(), |chunks| {
            Box::pin(refresh::<M>(chunks))
        })
    }

    /// Writes the copies that are older than their `refresh(older_than = …)`, or that no time stands beside. A worker calls it as
    /// often as the copies may be late.
    ///
    /// Unlike [`refresh_copies`](Self::refresh_copies), it reads only the documents that have such copies: by the indexes on the
    /// times, if each has one. The stored time is from before the read of the copied fields, by the clock of this machine. A copy is
    /// written only if it is still too old: of several workers, one that is late changes nothing that another has written.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// #[derive(Debug, Serialize, Deserialize, Document)]
    /// #[odm(collection = "products")]
    /// struct Product {
    ///     #[serde(rename = "_id")]
    ///     id: i32,
    ///     price: i64,
    /// }
    ///
    /// #[derive(Debug, Serialize, Deserialize, Document)]
    /// #[odm(collection = "offers")]
    /// struct Offer {
    ///     #[serde(rename = "_id")]
    ///     id: i32,
    ///     product: Ref<Product>,
    ///     #[odm(copy_of(product.price, refresh(older_than = "1d", at = checked)))]
    ///     price: i64,
    ///     #[odm(index)]
    ///     checked: odm::bson::DateTime,
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = Db::memory();
    /// let (products, offers) = (db.collection::<Product>(), db.collection::<Offer>());
    /// products.insert_one(&Product { id: 1, price: 40 }).await?;
    /// let (product, checked) = (Ref::from(1), odm::bson::DateTime::MIN);
    /// let new = |id| Offer { id, product, price: 0, checked };
    /// offers.insert_one(&new(1)).propagate().await?;
    /// offers.insert_one(&new(2)).await?; // filled by the next refresh
    ///
    /// // A change of the price writes nothing else.
    /// products.update_by_id(&1, |p| p.price.set(50)).await?;
    /// let result = offers.refresh_overdue_copies().await?;
    /// assert_eq!((result.read, result.updated), (1, 1));
    /// assert_eq!(offers.get(&2).await?.ok_or("no offer")?.price, 50);
    /// assert_eq!(offers.get(&1).await?.ok_or("no offer")?.price, 40, "less than a day old");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The model has no such copies.
    pub fn refresh_overdue_copies<'s>(&self) -> RefreshCopies<'s, M> {
        Scan::new("RefreshCopies", self.channel(), |chunks| {
            Box::pin(refresh_overdue::<M>(chunks))
        })
    }
}

/// The copies of the model that follow changes, or by their age.
fn following(model: &'static ModelMeta) -> Result<Vec<&'static Kept>> {
    let copies = model.copies()?.iter();
    Kept::all(copies.filter(|copies| copies.follows_reference()))
}

/// Compares copies with the fields that they follow.
pub(crate) struct CopyChecker {
    model: &'static ModelMeta,
    copies: Vec<&'static Kept>,
}

impl CopyChecker {
    /// The check of a model's copies, if it has any that follow changes.
    pub(crate) fn of(model: &'static ModelMeta) -> Result<Option<Self>> {
        let copies = following(model)?;
        Ok((!copies.is_empty()).then_some(Self { model, copies }))
    }

    /// Writes the copies in these documents that differ.
    pub(crate) async fn refresh(
        &self,
        channel: &mut Channel<'_>,
        documents: Vec<RawDocumentBuf>,
    ) -> Result<()> {
        let mut refresh = Refresh {
            copies: &self.copies,
            updated: 0,
        };
        refresh.visit(channel, documents).await
    }
}

impl Checker for CopyChecker {
    type Kind = CopyDamage;

    fn model(&self) -> &'static ModelMeta {
        self.model
    }

    fn options(&self, channel: &Channel<'_>) -> Chosen {
        options(channel, self.model, &self.copies)
    }

    fn settles(&self) -> bool {
        self.copies.iter().any(|kept| !kept.is_strict())
    }

    async fn look(
        &self,
        channel: &mut Channel<'_>,
        documents: &[RawDocumentBuf],
    ) -> Result<Vec<Damage<CopyDamage>>> {
        let mut damages = Vec::new();
        for kept in &self.copies {
            let keys = Keys::at(&kept.reference, documents)?;
            let facts = Facts::read(channel, kept, &keys, false).await?;
            for document in documents {
                for difference in facts.differences(kept, document)? {
                    damages.push(stale(&id_of(document)?, difference));
                }
            }
        }
        Ok(damages)
    }
}

fn stale(id: &Bson, difference: Difference) -> Damage<CopyDamage> {
    let Difference { path, copy, value } = difference;
    let text = |value: &Option<Bson>| match value {
        Some(value) => shell::value(value),
        None => "missing".to_owned(),
    };
    let detail = format!(
        "`{path}` is {}, and the field that it copies is {}",
        text(&copy),
        text(&value),
    );
    let damage = Damage::new(id, CopyDamage::Stale, detail);
    damage.at(path, copy).expecting(value)
}

/// Writes copies that differ from the fields that they follow.
pub(in crate::write) struct Refresh<'c> {
    pub(in crate::write) copies: &'c [&'static Kept],
    pub(in crate::write) updated: u64,
}

impl Visit for Refresh<'_> {
    async fn visit(
        &mut self,
        channel: &mut Channel<'_>,
        documents: Vec<RawDocumentBuf>,
    ) -> Result<()> {
        for kept in self.copies {
            let mut holders = Holders::default();
            if let Some(before) = kept.before(DateTime::now()) {
                for document in &documents {
                    if kept.has_older(document, before)? {
                        holders.add(kept, document)?;
                    }
                }
                if !holders.is_empty() {
                    let facts = Facts::read(channel, kept, &holders.keys, false).await?;
                    self.updated += facts.write_older(channel, kept, &holders, before).await?;
                }
                continue;
            }
            for document in differing(channel, kept, &documents).await? {
                holders.add(kept, &document)?;
            }
            if !holders.is_empty() {
                let keys = &holders.keys;
                self.updated += settle(channel, kept, Some(&holders), keys, None).await?;
            }
        }
        Ok(())
    }
}

/// The documents with copies that differ from the fields as they are read now.
async fn differing(
    channel: &mut Channel<'_>,
    kept: &Kept,
    documents: &[RawDocumentBuf],
) -> Result<Vec<RawDocumentBuf>> {
    let keys = Keys::at(&kept.reference, documents)?;
    let facts = Facts::read(channel, kept, &keys, false).await?;
    let mut differing = Vec::new();
    for document in documents {
        if !facts.differences(kept, document)?.is_empty() {
            differing.push(document.clone());
        }
    }
    Ok(differing)
}

/// Options of a read of all references and copies.
pub(in crate::write) fn options(
    channel: &Channel<'_>,
    model: &'static ModelMeta,
    copies: &[&'static Kept],
) -> Chosen {
    let mut projection = BsonDocument::new();
    for kept in copies {
        projection.extend(kept.projection());
    }
    exact_read(channel, model, Some(projection))
}

async fn refresh<M: Document>(chunks: Chunks<'_>) -> Result<RefreshResult> {
    refresh_all(chunks, M::model(), following(M::model())?).await
}

async fn refresh_overdue<M: Document>(chunks: Chunks<'_>) -> Result<RefreshResult> {
    let model = M::model();
    let mut copies = following(model)?;
    let (now, mut overdue) = (DateTime::now(), Vec::new());
    copies.retain(|kept| match (kept.before(now), &kept.copies.refresh) {
        (Some(time), Some(RefreshAge { at, .. })) => {
            overdue.push(kept.place.all_outdated(Outdated::Before { at, time }));
            true
        }
        _ => false,
    });
    let filter = match overdue.len() {
        0 => {
            let error = Error::usage(
                "no copy of this model is refreshed by its age: write `copy_of(…, refresh(older_than = \"1d\", at = …))`, or call \
                 `refresh_copies`",
            );
            return Err(error.with_model(model.name));
        }
        1 => overdue.remove(0),
        _ => doc! {"$or": overdue},
    };
    refresh_all(chunks.matching(filter), model, copies).await
}

async fn refresh_all(
    chunks: Chunks<'_>,
    model: &'static ModelMeta,
    copies: Vec<&'static Kept>,
) -> Result<RefreshResult> {
    let mut refresh = Refresh {
        copies: &copies,
        updated: 0,
    };
    let mut read = 0;
    if !copies.is_empty() {
        let options = options(chunks.channel(), model, &copies);
        read = chunks.each(model, &options, &mut refresh).await?;
    }
    Ok(RefreshResult {
        read,
        updated: refresh.updated,
    })
}
