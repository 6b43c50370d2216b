//! The places of nodes: where each stands, by the fields that its tree keeps.
//!
//! Hides the five patterns, and the commands by which each finds nodes. The rest of the tree asks for the parent, the
//! ancestors, the children or the descendants of a node, for the filter of a selection, for the shape of nodes in memory,
//! and for the kept fields of a place. `ways.rs` decides which fields answer.

mod arrange;
mod kept_fields;
mod leaves;
mod levels;
mod lookup;
mod placement;
mod select;
mod structure;
mod ways;

pub(super) use self::arrange::{Shape, Visit};
pub(super) use self::lookup::Lookup;
pub(super) use self::placement::{Moving, Placement, RankGap};
pub(super) use self::select::{Extent, Selected, Selection};
pub(super) use self::structure::nothing;
pub(super) use self::ways::{
    AncestorsBy, ChildrenBy, DescendantsBy, HasChildrenBy, Links, ParentBy, Ways,
};
