//! Reads of one moment outside of transactions: read concern `snapshot`.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use bson::{DateTime, Timestamp};
use odm_language::error::{Code, ServerError};

use crate::catalog::namespace::Namespace;
use crate::catalog::{Catalog, Root};

/// How long a moment can be gone back to, in milliseconds: the server's `minSnapshotHistoryWindowInSeconds`.
const WINDOW: i64 = 300_000;

/// How many moments are kept. Each keeps what was replaced since.
const MOST: usize = 10_000;

/// What a read is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Moment {
    /// Now; the reply tells which time that is.
    Present,
    /// The time that an earlier reply told.
    At(Timestamp),
}

/// Everything, as it was at a time.
#[derive(Debug, Clone)]
pub(crate) struct Snapshot {
    pub(crate) time: Timestamp,
    pub(crate) root: Root,
}

/// The moments that reads were of, and that later ones may ask for by their time.
#[derive(Debug, Default)]
pub(crate) struct Snapshots {
    /// With the time of the engine's clock at which each was taken.
    kept: Mutex<BTreeMap<(u32, u32), (Root, DateTime)>>,
}

impl Snapshots {
    fn kept(&self) -> MutexGuard<'_, BTreeMap<(u32, u32), (Root, DateTime)>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Forgets the moments that are too long ago.
    pub(crate) fn expire(&self, now: DateTime) {
        self.kept().retain(|_, (_, taken)| {
            now.timestamp_millis()
                .saturating_sub(taken.timestamp_millis())
                <= WINDOW
        });
    }

    /// How many moments are kept.
    pub(crate) fn count(&self) -> usize {
        self.kept().len()
    }

    /// What there was at the moment. The present one can be asked for again.
    pub(crate) fn at(
        &self,
        moment: Moment,
        catalog: &Catalog,
        now: DateTime,
    ) -> Result<Snapshot, ServerError> {
        self.expire(now);
        let mut kept = self.kept();
        let Moment::At(time) = moment else {
            let (time, root) = catalog.moment(now);
            kept.insert((time.time, time.increment), (root.clone(), now));
            if kept.len() > MOST {
                kept.pop_first();
            }
            return Ok(Snapshot { time, root });
        };
        match kept.get(&(time.time, time.increment)) {
            Some((root, _)) => Ok(Snapshot {
                time,
                root: root.clone(),
            }),
            None => Err(ServerError::new(
                Code::SNAPSHOT_TOO_OLD,
                format!(
                    "Read timestamp Timestamp({}, {}) is older than the oldest available timestamp.",
                    time.time, time.increment
                ),
            )),
        }
    }
}

impl Snapshot {
    /// Checks that the collection can be read as it was: a collection is what it is now, with the documents of then.
    pub(crate) fn check(
        &mut self,
        catalog: &Catalog,
        namespace: &Namespace,
    ) -> Result<(), ServerError> {
        let Some(now) = catalog.collection(namespace) else {
            self.root.remove(namespace);
            return Ok(());
        };
        if now.options.capped.is_some() {
            return Err(ServerError::new(
                Code::SNAPSHOT_UNAVAILABLE,
                "Reading from capped collections with readConcern snapshot is not supported",
            ));
        }
        match self.root.collection(namespace) {
            Some(then) if then.uuid == now.uuid => Ok(()),
            _ => Err(ServerError::new(
                Code::SNAPSHOT_UNAVAILABLE,
                format!(
                    "Unable to read from a snapshot due to pending collection catalog changes; please retry the \
                     operation. Snapshot timestamp is Timestamp({}, {})",
                    self.time.time, self.time.increment
                ),
            )),
        }
    }
}
