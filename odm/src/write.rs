//! Writes of several documents that belong together.
//!
//! [`Atomic`] is the builder of all of them: nodes of trees with their neighbours, documents with their rest, and documents
//! with what follows from them. `planned` has what a plan remembers, by which `expecting` refuses it later. `journal` has the records by which a change without a transaction is completed.

mod atomic;
pub(crate) mod checker;
mod chunks;
mod collected;
mod copies;
pub(crate) mod dependents;
mod expecting;
mod fences;
mod follow;
pub(crate) mod journal;
mod newest;
mod planned;
mod propagate;
mod reference_place;
mod references;
mod report;
mod summaries;
mod two_way;

pub use self::atomic::Atomic;
pub(crate) use self::atomic::{WriteSeveral, afterwards};
pub use self::chunks::Scan;
pub(crate) use self::copies::CopyChecker;
pub use self::copies::{CheckCopies, CopyDamage, CopyReport, RefreshCopies};
pub use self::dependents::{
    DeletePlan, DeleteWithDependents, DeleteWithDependentsResult, Dependents,
    FindOneAndDeleteWithDependents,
};
pub(crate) use self::dependents::{ForDependents, delete_with_dependents};
pub use self::follow::{Follow, FollowedBatch, Follower, NotFollowed};
pub(crate) use self::newest::RecentChecker;
pub use self::newest::{CheckRecent, RecentDamage, RecentReport, RefreshRecent};
pub use self::propagate::{
    BulkPropagateResult, BulkWritePropagated, FindAndModifyPropagated, FindOneOrInsertPropagated,
    InsertManyPropagated, InsertOnePropagated, PropagateResult, Propagated, ResumePropagation,
    ResumeResult, SavePropagated, UpdatePlan, UpdatePropagated,
};
pub(crate) use self::propagate::{
    PropagatedInsert, expect_work, inserts_propagate, pending_propagations, resume_propagations,
};
pub(crate) use self::reference_place::exactly;
pub use self::references::{
    CheckReferences, InsertManyChecked, InsertOneChecked, ReferenceDamage, ReferenceReport,
};
pub(crate) use self::references::{ChecksReferences, ReferenceChecker};
pub(crate) use self::report::Progress;
pub use self::report::{Damage, RefreshResult, Report};
pub(crate) use self::summaries::SummaryChecker;
pub use self::summaries::{CheckSummaries, RefreshSummaries, SummaryDamage, SummaryReport};
pub use self::two_way::{CheckTwoWay, RefreshTwoWay, TwoWayDamage, TwoWayReport};
pub(crate) use self::two_way::{FollowingChecker, TwoWayChecker};
