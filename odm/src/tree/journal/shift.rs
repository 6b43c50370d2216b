//! Moves of bounds: by how much, and of which nodes.

use bson::Bson;

/// Numbers from `from` to `to` move by `by`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::tree) struct Shift {
    pub(in crate::tree) from: i64,
    pub(in crate::tree) to: i64,
    pub(in crate::tree) by: i64,
}

/// How the nodes are found whose bounds enclose those that move.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::tree) enum EnclosingNodes {
    /// They are among these.
    Ids(Vec<Bson>),
    /// By their own bounds.
    Bounds,
}

/// The offset that marks new bounds until all nodes have moved. It is larger than any bound of a tree.
pub(super) const MARK: i64 = 1 << 40;

/// A move of bounds. Without a transaction it has two steps: the first adds [`MARK`] to new bounds, so that they differ from
/// those of nodes that have not moved yet, and the second takes it away.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Shifting {
    pub(super) shifts: Vec<Shift>,
    /// The nodes that have only one bound in the shifts.
    pub(super) enclosing: EnclosingNodes,
    /// Whether the first step is done.
    pub(super) is_moved: bool,
}

impl Shifting {
    /// The first and the last bound that move.
    pub(super) fn range(&self) -> Option<(i64, i64)> {
        let from = self.shifts.iter().map(|shift| shift.from).min()?;
        let to = self.shifts.iter().map(|shift| shift.to).max()?;
        Some((from, to))
    }
}
