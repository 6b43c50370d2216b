//! `check_summaries` and `refresh_summaries`: summaries that do not have the value which their relation has.

use std::fmt;
use std::sync::Arc;

use bson::raw::RawDocumentBuf;
use bson::{Bson, Document as BsonDocument};

use super::super::checker::{self, Checker, id_of};
use super::super::chunks::{Chunks, Scan, Visit};
use super::super::reference_place::exact_read;
use super::super::{Damage, RefreshResult, Report};
use super::facts::{Difference, what};
use super::{Summed, Values, settle};
use crate::collection::Collection;
use crate::error::Result;
use crate::exec::{Channel, Keys};
use crate::model::{Document, ModelMeta};
use crate::plan::shell;
use crate::store::options::Chosen;

/// The kinds of damage that [`Collection::check_summaries`] reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SummaryDamage {
    /// A summary has another value than the documents of its relation have.
    Stale,
}

impl fmt::Display for SummaryDamage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stale => f.write_str("stale summary"),
        }
    }
}

/// What [`Collection::check_summaries`] found.
pub type SummaryReport = Report<SummaryDamage>;

/// A check of stored summaries, about to run: [`Collection::check_summaries`].
pub type CheckSummaries<'s, M> = Scan<'s, M, SummaryReport>;

/// A refresh of stored summaries, about to run: [`Collection::refresh_summaries`].
pub type RefreshSummaries<'s, M> = Scan<'s, M, RefreshResult>;

impl<M: Document> Collection<M> {
    /// Finds summaries that do not have the value which the documents of their relation have, whoever has written them.
    ///
    /// It reads the summaries of all documents, 1,000 at a time, and computes them with one aggregation for each relation that is
    /// summarized. Documents that seem to differ are read again together with the values, at one time where the deployment has
    /// transactions: what a write changes meanwhile is not reported. Sums and means of doubles may differ by 1e-12 of
    /// their value, because MongoDB adds in any order.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/summaries.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = two_products().await?;
    /// let products = db.collection::<Product>();
    /// assert!(products.check_summaries().await?.is_sound());
    ///
    /// // Another program does not know of the summaries.
    /// let review = doc! {"_id": 3, "product": 2, "stars": 4, "helpful": 0};
    /// db.run_command(doc! {"insert": "reviews", "documents": [review]}).await?;
    /// let report = products.check_summaries().await?;
    /// assert_eq!((report.read, report.damages), (2, 3));
    /// assert_eq!(
    ///     report.listed[0].to_string(),
    ///     "2: stale summary: `review_count` is 0, and the count of `reviews` is 1"
    /// );
    /// # Ok(())
    /// # }
    /// ```
    pub fn check_summaries<'s>(&self) -> CheckSummaries<'s, M> {
        Scan::new("CheckSummaries", self.channel(), |chunks| {
            Box::pin(async { checker::check(chunks, SummaryChecker::of(M::model())?).await })
        })
    }

    /// Writes the summaries of all documents that do not have the value which the documents of their relation have: after writes
    /// by other programs, and for documents that are older than the declaration.
    ///
    /// It needs no transaction: the values are computed again after they were written, until they have not changed. A run that
    /// stops is completed by the next one.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/summaries.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = two_products().await?;
    /// // A product from before the declaration.
    /// db.run_command(doc! {"insert": "products", "documents": [{"_id": 3}], "bypassDocumentValidation": true}).await?;
    /// let products = db.collection::<Product>();
    /// let result = products.refresh_summaries().await?;
    /// assert_eq!((result.read, result.updated), (3, 1));
    /// assert_eq!(products.get(&3).await?.ok_or("no product")?.review_count, 0);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`is_unfit_summary`](crate::Error::is_unfit_summary): a field can't store its value.
    pub fn refresh_summaries<'s>(&self) -> RefreshSummaries<'s, M> {
        Scan::new("RefreshSummaries", self.channel(), |chunks| {
            Box::pin(refresh::<M>(chunks))
        })
    }
}

/// Compares summaries with the documents that they summarize.
pub(crate) struct SummaryChecker {
    model: &'static ModelMeta,
    all: Vec<Arc<Summed>>,
}

impl SummaryChecker {
    /// The check of a model's summaries, if it has any.
    pub(crate) fn of(model: &'static ModelMeta) -> Result<Option<Self>> {
        let all = Summed::all(model.summaries()?)?;
        Ok((!all.is_empty()).then_some(Self { model, all }))
    }

    /// Writes the summaries in these documents that differ.
    pub(crate) async fn refresh(
        &self,
        channel: &mut Channel<'_>,
        documents: Vec<RawDocumentBuf>,
    ) -> Result<()> {
        let mut refresh = Refresh {
            all: &self.all,
            is_exact: false,
            updated: 0,
        };
        refresh.visit(channel, documents).await
    }
}

impl Checker for SummaryChecker {
    type Kind = SummaryDamage;

    fn model(&self) -> &'static ModelMeta {
        self.model
    }

    fn options(&self, channel: &Channel<'_>) -> Chosen {
        options(channel, self.model, &self.all)
    }

    fn settles(&self) -> bool {
        self.all.iter().any(|summed| !summed.is_strict())
    }

    async fn look(
        &self,
        channel: &mut Channel<'_>,
        documents: &[RawDocumentBuf],
    ) -> Result<Vec<Damage<SummaryDamage>>> {
        let mut damages = Vec::new();
        for summed in &self.all {
            let keys = Keys::at(&summed.key, documents)?;
            let values = Values::read(channel, summed, &keys).await?;
            for document in documents {
                for difference in values.differences(summed, document, false)? {
                    damages.push(stale(&id_of(document)?, summed, difference));
                }
            }
        }
        Ok(damages)
    }
}

fn stale(id: &Bson, summed: &Summed, difference: Difference) -> Damage<SummaryDamage> {
    let Difference {
        field,
        stored,
        computed,
    } = difference;
    let text = |value: &Option<Bson>| match value {
        Some(value) => shell::value(value),
        None => "missing".to_owned(),
    };
    let detail = format!(
        "`{}` is {}, and the {} is {}",
        field.name,
        text(&stored),
        what(field, summed.summaries),
        text(&computed),
    );
    let damage = Damage::new(id, SummaryDamage::Stale, detail);
    damage.at(field.name, stored).expecting(computed)
}

/// Writes summaries that differ from what they summarize.
pub(in crate::write) struct Refresh<'c> {
    pub(in crate::write) all: &'c [Arc<Summed>],
    /// Whether a sum or a mean that differs by rounding only is written.
    pub(in crate::write) is_exact: bool,
    pub(in crate::write) updated: u64,
}

impl Visit for Refresh<'_> {
    async fn visit(
        &mut self,
        channel: &mut Channel<'_>,
        documents: Vec<RawDocumentBuf>,
    ) -> Result<()> {
        for summed in self.all {
            let differing = differing(channel, summed, &documents, self.is_exact).await?;
            if !differing.is_empty() {
                let keys = Keys::at(&summed.key, &differing)?;
                self.updated += settle(channel, summed, &keys, None).await?;
            }
        }
        Ok(())
    }
}

/// The documents with summaries that differ from the values as they are computed now.
async fn differing(
    channel: &mut Channel<'_>,
    summed: &Summed,
    documents: &[RawDocumentBuf],
    is_exact: bool,
) -> Result<Vec<RawDocumentBuf>> {
    let keys = Keys::at(&summed.key, documents)?;
    let values = Values::read(channel, summed, &keys).await?;
    let mut differing = Vec::new();
    for document in documents {
        if !values.differences(summed, document, is_exact)?.is_empty() {
            differing.push(document.clone());
        }
    }
    Ok(differing)
}

/// Options of a read of all summaries.
pub(in crate::write) fn options(
    channel: &Channel<'_>,
    model: &'static ModelMeta,
    all: &[Arc<Summed>],
) -> Chosen {
    let mut projection = BsonDocument::new();
    for summed in all {
        projection.extend(summed.projection());
    }
    exact_read(channel, model, Some(projection))
}

async fn refresh<M: Document>(chunks: Chunks<'_>) -> Result<RefreshResult> {
    let model = M::model();
    let all = Summed::all(model.summaries()?)?;
    let mut refresh = Refresh {
        all: &all,
        is_exact: true,
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
