//! Copies of fields of other documents: `copy_of`.
//!
//! [`kept`] finds where the copies beside a reference are stored. [`facts`] reads the fields that copies follow, and writes them where copies differ. `propagate` beside this module orders
//! the commands of inserts and updates; `check` compares and refreshes what is stored.
//!
//! Two clients that write at the same time would leave a stale copy: a change of the field sweeps over the copies and does not
//! see a document that is being inserted with the previous value. By its guarantee, a relation closes this gap in one of two
//! ways. *Strict*: both write a fence of the document, in their transactions, and MongoDB lets one of them run again.
//! *Settled*: both look again after they have written, until they find nothing to do.

pub(super) mod check;
pub(super) mod facts;
pub(super) mod kept;
pub(super) mod throttled;

pub(crate) use self::check::CopyChecker;
pub use self::check::{CheckCopies, CopyDamage, CopyReport, RefreshCopies};
use crate::error::Result;
use crate::exec::{Channel, Keys};
use crate::model::Guarantee;

use self::kept::Kept;
use super::fences::Fences;

impl Kept {
    /// Whether writes that depend on each other conflict, so that no second look is needed.
    pub(super) fn is_strict(&self) -> bool {
        let relation = self.copies.relation;
        relation.is_some_and(|relation| relation.guarantee() == Guarantee::Strict)
    }

    /// Whether the copies follow changes at all.
    pub(super) fn follows(&self) -> bool {
        self.copies.relation.is_some()
    }

    /// Adds the fences of the documents with these keys.
    pub(super) fn fence(
        &self,
        channel: &Channel<'_>,
        keys: &Keys,
        fences: &mut Fences,
    ) -> Result<()> {
        let source = channel.collection(self.copies.source);
        fences.add(&source, self.key.as_str(), keys)
    }
}
