//! Snapshot reads outside of transactions: read concern `snapshot`.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use bson::{DateTime, Timestamp};
use odm_language::error::{Code, ServerError};

use crate::catalog::namespace::Namespace;
use crate::catalog::{Catalog, Root};

/// How long a snapshot can be read, in milliseconds: MongoDB's `minSnapshotHistoryWindowInSeconds`.
const WINDOW: i64 = 300_000;

/// How many snapshots are kept. Each holds on to the data that was replaced since.
const MAX_SNAPSHOTS: usize = 10_000;

/// The time that a read is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Moment {
    /// Now; the reply contains the time.
    Present,
    /// The time from an earlier reply.
    At(Timestamp),
}

/// The whole state at a time.
#[derive(Debug, Clone)]
pub(crate) struct Snapshot {
    pub(crate) time: Timestamp,
    pub(crate) root: Root,
}

/// The snapshots of earlier reads, which later reads may request by their time.
#[derive(Debug, Default)]
pub(crate) struct Snapshots {
    /// By cluster time; each with the engine time at which it was taken.
    snapshots: Mutex<BTreeMap<(u32, u32), (Root, DateTime)>>,
}

impl Snapshots {
    fn snapshots(&self) -> MutexGuard<'_, BTreeMap<(u32, u32), (Root, DateTime)>> {
        self.snapshots
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Forgets expired snapshots.
    pub(crate) fn expire(&self, now: DateTime) {
        self.snapshots().retain(|_, (_, taken)| {
            now.timestamp_millis()
                .saturating_sub(taken.timestamp_millis())
                <= WINDOW
        });
    }

    /// How many snapshots are stored now.
    pub(crate) fn count(&self) -> usize {
        self.snapshots().len()
    }

    /// The snapshot of a moment. A snapshot of the present is kept for later reads.
    pub(crate) fn at(
        &self,
        moment: Moment,
        catalog: &Catalog,
        now: DateTime,
    ) -> Result<Snapshot, ServerError> {
        self.expire(now);
        let mut snapshots = self.snapshots();
        let Moment::At(time) = moment else {
            let (time, root) = catalog.moment(now);
            snapshots.insert((time.time, time.increment), (root.clone(), now));
            if snapshots.len() > MAX_SNAPSHOTS {
                snapshots.pop_first();
            }
            return Ok(Snapshot { time, root });
        };
        match snapshots.get(&(time.time, time.increment)) {
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
    /// Checks that the snapshot can be read under the current catalog: a dropped collection reads as missing, and a
    /// recreated one fails.
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
