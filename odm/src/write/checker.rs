//! Comparisons of stored documents with what else is stored, and the second looks that keep writers from being reported.

use std::time::{Duration, Instant};

use bson::raw::RawDocumentBuf;
use bson::{Bson, RawDocument};

use super::chunks::{self, Chunks, Visit};
use super::report::{Damage, Report};
use crate::collection::transaction::Tries;
use crate::collection::{Db, TransactionOptions};
use crate::error::{Code, Error, Result};
use crate::exec::{Channel, Keys};
use crate::model::ModelMeta;
use crate::store::options::{Chosen, ReadConcern, ReadPreference, WriteConcern};

/// How many suspects are read again at once.
const SUSPECTS: usize = 1_000;

/// How long a write outside of a transaction may take to reach what follows from it.
const SETTLING: Duration = Duration::from_millis(200);

/// How many times suspects are read again where no two commands read at the same time.
const LOOKS: usize = 3;

/// A comparison of the documents of a model with what else is stored.
pub(crate) trait Checker: Send + Sync {
    /// The kinds of damage that it finds.
    type Kind: Clone + PartialEq + Send + Sync;

    fn model(&self) -> &'static ModelMeta;

    /// The options of a read of what it compares.
    fn options(&self, channel: &Channel<'_>) -> Chosen;

    /// Whether writers leave for a moment what looks like damage.
    fn settles(&self) -> bool {
        false
    }

    /// Compares these documents with what is stored now.
    fn look(
        &self,
        channel: &mut Channel<'_>,
        documents: &[RawDocumentBuf],
    ) -> impl Future<Output = Result<Vec<Damage<Self::Kind>>>> + Send;
}

/// Documents that seemed to be damaged when they were read.
#[derive(Debug, Default)]
pub(crate) struct Suspects {
    ids: Keys,
    /// When the last one was found.
    found: Option<Instant>,
}

impl Suspects {
    pub(crate) fn add<K>(&mut self, damages: &[Damage<K>]) -> Result<()> {
        for damage in damages {
            self.ids.add_value(Some(&damage.id))?;
            self.found = Some(Instant::now());
        }
        Ok(())
    }

    /// Whether the suspects are to be confirmed before the next documents are read.
    pub(crate) fn is_full(&self) -> bool {
        self.ids.len() >= SUSPECTS
    }

    /// Reads the suspects again, and what they are compared with, at one time where the deployment has it; returns what is wrong
    /// with them. What writers settle a moment later is not.
    pub(crate) async fn confirm<C: Checker>(
        &mut self,
        channel: &Channel<'_>,
        checker: &C,
    ) -> Result<Vec<Damage<C::Kind>>> {
        let Self { ids, found } = std::mem::take(self);
        let Some(found) = found else {
            return Ok(Vec::new());
        };
        let mut damages = look_again(channel, checker, ids).await?;
        let is_torn = channel.store().transactions().await.is_none();
        if (checker.settles() || is_torn) && !damages.is_empty() {
            tokio::time::sleep(SETTLING.saturating_sub(found.elapsed())).await;
            damages = still(channel, checker, damages).await?;
        }
        Ok(damages)
    }
}

/// The damages that are found once more.
async fn still<C: Checker>(
    channel: &Channel<'_>,
    checker: &C,
    mut damages: Vec<Damage<C::Kind>>,
) -> Result<Vec<Damage<C::Kind>>> {
    let ids = Keys::of(damages.iter().map(|damage| &damage.id))?;
    let mut again = look_again(channel, checker, ids).await?;
    let mut is_found_again = |damage: &Damage<C::Kind>| {
        let position = again.iter().position(|other| other.is_same(damage));
        position
            .map(|position| again.swap_remove(position))
            .is_some()
    };
    damages.retain(&mut is_found_again);
    Ok(damages)
}

async fn look_again<C: Checker>(
    channel: &Channel<'_>,
    checker: &C,
    ids: Keys,
) -> Result<Vec<Damage<C::Kind>>> {
    let Some(transactions) = channel.store().transactions().await else {
        let mut outside = channel.in_session(None);
        let mut damages = read_and_look(&mut outside, checker, &ids).await?;
        for _ in 1..LOOKS {
            if damages.is_empty() {
                break;
            }
            let again = read_and_look(&mut outside, checker, &ids).await?;
            damages.retain(|damage| again.iter().any(|other| other.is_same(damage)));
        }
        return Ok(damages);
    };
    // Nothing is written, so that the commit need not wait for other members.
    let mut options = TransactionOptions::new()
        .read_preference(ReadPreference::primary())
        .write_concern(WriteConcern::nodes(1));
    if transactions.is_sharded {
        options = options.read_concern(ReadConcern::Snapshot);
    }
    let store = channel.store().clone();
    let mut tries = Tries::new(&Db { store }, options);
    loop {
        let mut inside = channel.in_session(Some(tries.begin().await?));
        let found = read_and_look(&mut inside, checker, &ids).await;
        if let Some(ended) = tries.end(found).await {
            return ended?;
        }
    }
}

/// Reads documents once more, as the comparison needs them.
pub(crate) async fn read_again<C: Checker>(
    channel: &mut Channel<'_>,
    checker: &C,
    ids: &Keys,
) -> Result<Vec<RawDocumentBuf>> {
    let options = checker.options(channel);
    chunks::again(channel, checker.model(), ids, &options).await
}

async fn read_and_look<C: Checker>(
    channel: &mut Channel<'_>,
    checker: &C,
    ids: &Keys,
) -> Result<Vec<Damage<C::Kind>>> {
    let documents = read_again(channel, checker, ids).await?;
    checker.look(channel, &documents).await
}

/// Checks the documents of chunks, and adds what is wrong to a report.
struct Checked<C: Checker> {
    checker: C,
    suspects: Suspects,
    report: Report<C::Kind>,
}

impl<C: Checker> Checked<C> {
    async fn confirm(&mut self, channel: &Channel<'_>) -> Result<()> {
        let damages = self.suspects.confirm(channel, &self.checker).await?;
        for damage in damages {
            self.report.push(damage);
        }
        Ok(())
    }
}

impl<C: Checker> Visit for Checked<C> {
    async fn visit(
        &mut self,
        channel: &mut Channel<'_>,
        documents: Vec<RawDocumentBuf>,
    ) -> Result<()> {
        let damages = self.checker.look(channel, &documents).await?;
        self.suspects.add(&damages)?;
        if self.suspects.is_full() {
            self.confirm(channel).await?;
        }
        Ok(())
    }
}

/// Checks all documents of a collection.
pub(super) async fn check<C: Checker>(
    chunks: Chunks<'_>,
    checker: Option<C>,
) -> Result<Report<C::Kind>> {
    let Some(checker) = checker else {
        return Ok(Report::default());
    };
    let (model, channel) = (checker.model(), chunks.channel().in_session(None));
    let options = checker.options(&channel);
    let mut checked = Checked {
        checker,
        suspects: Suspects::default(),
        report: Report::default(),
    };
    checked.report.read = chunks.each(model, &options, &mut checked).await?;
    let confirmed = checked.confirm(&channel).await;
    confirmed.map_err(|error| error.with_model(model.name))?;
    Ok(checked.report)
}

/// Whether an error is about the document that was written: another document may be written by the same command.
pub(crate) fn is_about_document(error: &Error) -> bool {
    let is_about_server = error.is_connection()
        || error.is_timeout()
        || error.is_retryable()
        || error.is_declaration()
        || error.is_unsupported()
        || [Some(Code::UNAUTHORIZED), Some(Code::INTERRUPTED)].contains(&error.code());
    !is_about_server
}

/// The stored `_id` of a document.
pub(crate) fn id_of(document: &RawDocument) -> Result<Bson> {
    let id = document.get("_id").map_err(Error::encode)?;
    let id = id.map(Bson::try_from).transpose().map_err(Error::encode)?;
    Ok(id.unwrap_or(Bson::Null))
}
