//! Repairs of some documents at once, in one transaction where the deployment has them.

use bson::oid::ObjectId;
use bson::raw::{RawDocument, RawDocumentBuf};
use bson::{Bson, Document, doc};

use super::decide::Decisions;
use super::images;
use super::plan::RepairAction;
use super::report::Tally;
use super::rewrite::{self, Change, Rewrite};
use crate::check::FindingKind;
use crate::check::checkers::AnyChecker;
use crate::collection::transaction::Tries;
use crate::error::{Error, Result};
use crate::exec::{Channel, Images, Keys};
use crate::model::ModelMeta;
use crate::store::Afterwards;
use crate::write::checker::{Checker, id_of, is_about_document, read_again};
use crate::write::{Damage, delete_with_dependents, exactly};

/// How many documents are deleted by one command.
const DELETES: usize = 100;

/// How the documents of a task are repaired.
pub(super) struct Batches<'r> {
    pub(super) channel: &'r Channel<'static>,
    pub(super) checker: &'r AnyChecker,
    pub(super) decisions: &'r Decisions,
    /// The repair under which images are kept.
    pub(super) images: Option<ObjectId>,
}

/// What one transaction has done.
#[derive(Default)]
struct Done {
    repaired: Vec<(FindingKind, String)>,
    has_deleted: bool,
    afterwards: Option<Afterwards>,
}

/// What batches have written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Wrote {
    pub(super) documents: bool,
    /// Documents were deleted, and others with them.
    pub(super) deletes: bool,
}

impl Batches<'_> {
    /// Repairs these documents together. If one of them refuses, the others are repaired without it.
    pub(super) async fn run(&self, ids: Vec<Bson>, tally: &mut Tally) -> Result<Wrote> {
        let model = self.checker.model();
        let mut wrote = Wrote::default();
        let mut open = vec![ids];
        while let Some(mut ids) = open.pop() {
            match self.attempt(&ids).await {
                Ok(done) => {
                    wrote.documents |= !done.repaired.is_empty();
                    wrote.deletes |= done.has_deleted;
                    for (kind, path) in done.repaired {
                        tally.add(model.name, kind, &path, 1);
                    }
                }
                Err(error) if !is_about_document(&error) => return Err(error),
                Err(error) => match ids.len() {
                    0 => {}
                    1 => tally.fail(model.name, ids.remove(0), error),
                    length => {
                        let second = ids.split_off(length / 2);
                        open.push(second);
                        open.push(ids);
                    }
                },
            }
        }
        Ok(wrote)
    }

    async fn attempt(&self, ids: &[Bson]) -> Result<Done> {
        let ids = Keys::of(ids)?;
        let model = self.checker.model();
        if self.channel.store().transactions().await.is_none() {
            let mut outside = self.channel.in_session(None);
            return self.write(&mut outside, &ids).await;
        }
        let mut tries = Tries::joined(self.channel.store());
        loop {
            let session = tries.begin().await?;
            let written = async {
                let Some(repair) = self.images else {
                    let mut inside = self.channel.in_session(Some(session));
                    return self.write(&mut inside, &ids).await;
                };
                let images = Images::default();
                let mut inside = self.channel.in_session(Some(&mut *session));
                inside = inside.keeping(Some(&images));
                let done = self.write(&mut inside, &ids).await?;
                let mut inside = self.channel.in_session(Some(session));
                images::store(&mut inside, model, repair, images).await?;
                Ok(done)
            };
            let written = written.await;
            if let Some(ended) = tries.end(written).await {
                let mut done = ended.and_then(std::convert::identity)?;
                if let Some(work) = done.afterwards.take() {
                    work().await?;
                }
                return Ok(done);
            }
        }
    }

    /// Reads the documents again, and writes what is still wrong with them.
    async fn write(&self, channel: &mut Channel<'_>, ids: &Keys) -> Result<Done> {
        let documents = read_again(channel, self.checker, ids).await?;
        let damages = self.checker.look(channel, &documents).await?;
        let mut done = Done::default();
        let (mut damaged, mut statements, mut deletes) = (Vec::new(), Vec::new(), Vec::new());
        for document in documents {
            let id = id_of(&document)?;
            let mut rewrites = Vec::new();
            let mut is_refreshed = false;
            for damage in damages.iter().filter(|damage| damage.id == id) {
                match self.treatment(damage)? {
                    Treatment::Nothing => continue,
                    Treatment::Refresh => is_refreshed = true,
                    Treatment::Rewrite(rewrite) => rewrites.push(rewrite),
                    Treatment::Delete => deletes.push(Self::as_read(channel, &document, damage)?),
                }
                done.repaired.push((damage.kind, damage.path.clone()));
            }
            let model = self.checker.model();
            if let Some(statement) = rewrite::statement(model, &document, &rewrites)? {
                statements.push(encoded(model, statement)?);
            }
            if is_refreshed {
                damaged.push(document);
            }
        }
        if done.repaired.is_empty() {
            return Ok(done);
        }
        self.send(channel, &statements).await?;
        if !damaged.is_empty() {
            self.checker.refresh(channel, damaged).await?;
        }
        for part in deletes.chunks(DELETES) {
            let filter = doc! {"$or": part};
            let model = self.checker.model();
            let (_, afterwards) = delete_with_dependents(channel, model, filter).await?;
            done.has_deleted = true;
            done.afterwards = both(done.afterwards, afterwards);
        }
        Ok(done)
    }

    /// Sends the statements; outside of a transaction a document may have changed since it was read.
    async fn send(&self, channel: &mut Channel<'_>, statements: &[RawDocumentBuf]) -> Result<()> {
        let model = self.checker.model();
        let matched = channel.of(model).update_in_batches(statements).await?;
        if matched < statements.len() as u64 {
            let message = "another writer has changed the document meanwhile: repair it again";
            return Err(Error::usage(message).with_model(model.name));
        }
        Ok(())
    }

    fn treatment(&self, damage: &Damage<FindingKind>) -> Result<Treatment> {
        let model = self.checker.model();
        let path = damage.path.as_str();
        let stored = damage.stored.clone().unwrap_or(Bson::Null);
        let length = damage
            .expected
            .as_ref()
            .and_then(length)
            .unwrap_or(usize::MAX);
        let change = match self.action(damage)? {
            RepairAction::Refresh | RepairAction::Recompute | RepairAction::Follow { .. } => {
                return Ok(Treatment::Refresh);
            }
            RepairAction::Delete => return Ok(Treatment::Delete),
            RepairAction::SetNull if self.decisions.is_left_out(model, path) => Change::Remove,
            RepairAction::SetNull => Change::Null,
            RepairAction::Pull => Change::Pull,
            RepairAction::RemoveField => Change::Remove,
            RepairAction::KeepFirst => Change::KeepFirst(length),
            RepairAction::KeepLast => Change::KeepLast(length),
            _ => return Ok(Treatment::Nothing),
        };
        Ok(Treatment::Rewrite(Rewrite {
            path: damage.path.clone(),
            value: stored,
            change,
        }))
    }

    /// The filter of a document with a damage, while it has the damage. A transaction fails if another writer changes the document.
    fn as_read(
        channel: &Channel<'_>,
        document: &RawDocument,
        damage: &Damage<FindingKind>,
    ) -> Result<Document> {
        let mut filter = doc! {"_id": {"$eq": damage.id.clone()}};
        let field = damage.path.split('.').next().unwrap_or_default();
        let value = document.get(field).map_err(Error::encode)?;
        if let Some(value) = value.filter(|_| !channel.is_in_transaction()) {
            let value = Bson::try_from(value).map_err(Error::encode)?;
            let same = doc! {"$eq": [format!("${field}"), {"$literal": value}]};
            filter.insert("$expr", same);
        }
        Ok(filter)
    }

    /// The action on a damage of the task.
    pub(super) fn action(&self, damage: &Damage<FindingKind>) -> Result<RepairAction> {
        if damage.kind == FindingKind::OneSidedReference {
            // The task names the side that follows.
            return Ok(RepairAction::Refresh);
        }
        self.decisions
            .action(self.checker.model(), damage.kind, &damage.path)
    }
}

/// The treatment of a damage.
enum Treatment {
    Nothing,
    Refresh,
    Rewrite(Rewrite),
    Delete,
}

fn encoded(model: &'static ModelMeta, statement: Document) -> Result<RawDocumentBuf> {
    if !rewrite::is_small(&statement) {
        let message = "the fields that change are too large for one statement: change them by hand";
        return Err(Error::usage(message).with_model(model.name));
    }
    RawDocumentBuf::try_from(exactly(model, statement)).map_err(Error::encode)
}

fn length(demanded: &Bson) -> Option<usize> {
    match demanded {
        Bson::Int32(length) => usize::try_from(*length).ok(),
        Bson::Int64(length) => usize::try_from(*length).ok(),
        _ => None,
    }
}

fn both(one: Option<Afterwards>, other: Option<Afterwards>) -> Option<Afterwards> {
    crate::write::afterwards(one.into_iter().chain(other).collect())
}
