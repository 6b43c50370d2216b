//! How each read finds its nodes, by the fields that a tree keeps.
//!
//! A tree may keep fields of several patterns, and each read uses the best of them: the first that its function here
//! finds. The book's chapter on trees has these orders as a table, which a test compares with this code.

use crate::model::TreeMeta;
use crate::model::tree::RootParent;

/// How each read of a tree finds its nodes. The variants hold the names of the fields.
#[derive(Debug, Clone, Copy)]
pub(in crate::tree) struct Ways {
    pub(in crate::tree) ancestors: AncestorsBy,
    pub(in crate::tree) parent: ParentBy,
    pub(in crate::tree) children: ChildrenBy,
    pub(in crate::tree) has_children: HasChildrenBy,
    /// All descendants.
    pub(in crate::tree) descendants: DescendantsBy,
    /// The descendants within a number of levels.
    pub(super) levels_below: LevelsBelowBy,
    pub(in crate::tree) roots: RootsBy,
    pub(in crate::tree) leaves: LeavesBy,
    pub(in crate::tree) depth: DepthBy,
    pub(in crate::tree) siblings: OrderBy,
}

/// The field that leads from node to node where `$graphLookup` follows it, level by level on the server.
#[derive(Debug, Clone, Copy)]
pub(in crate::tree) enum Links {
    Parent(&'static str),
    Children(&'static str),
}

/// How the ancestors of a node are found.
#[derive(Debug, Clone, Copy)]
pub(in crate::tree) enum AncestorsBy {
    /// The node lists them.
    Ancestors,
    /// They are the parts of the node's path.
    Path,
    /// Their bounds enclose those of the node: left and right.
    Bounds(&'static str, &'static str),
    Links(Links),
}

/// The field that says who the parent of a node is. `check` compares the others with it.
#[derive(Debug, Clone, Copy)]
pub(in crate::tree) enum ParentBy {
    Parent(&'static str),
    /// The last of the ancestors.
    Ancestors(&'static str),
    /// The last part of the path.
    Path(&'static str),
    /// The nearest bounds around those of the node: left and right.
    Bounds(&'static str, &'static str),
    /// The node that lists it.
    Children(&'static str),
}

/// How the children of a node are found.
#[derive(Debug, Clone, Copy)]
pub(in crate::tree) enum ChildrenBy {
    /// They name the node as their parent.
    Parent(&'static str),
    /// The node lists them.
    Children,
    /// Their path is that of the node and the node.
    Path(&'static str),
    /// The node is the last of their ancestors.
    Ancestors(&'static str),
    /// They are one level deeper, and the bounds of the node enclose their left bound.
    BoundsAndDepth {
        left: &'static str,
        depth: &'static str,
    },
    /// The client picks them from all descendants, whose left bound is between those of the node.
    Bounds(&'static str),
}

/// The fields that show whether a node has children.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::tree) enum HasChildrenBy {
    /// The node lists them.
    Children,
    /// There is room between the bounds of the node.
    Bounds,
    /// Another node names it as its parent.
    Parent,
    /// The ancestors or the path of another node have it.
    Lineage,
}

/// How all descendants of a node are found.
#[derive(Debug, Clone, Copy)]
pub(in crate::tree) enum DescendantsBy {
    /// The bounds of the node enclose their left bound.
    Bounds(&'static str),
    /// Their path starts with that of the node and the node.
    Path(&'static str),
    /// The node is one of their ancestors.
    Ancestors(&'static str),
    Links(Links),
}

/// How the descendants of a node within a number of levels are found.
#[derive(Debug, Clone, Copy)]
pub(in crate::tree) enum LevelsBelowBy {
    /// The bounds of the node enclose their left bound, and their depth is within the levels.
    BoundsAndDepth {
        left: &'static str,
        depth: &'static str,
    },
    Path(&'static str),
    Ancestors(&'static str),
    /// The client picks them from all descendants, whose left bound is between those of the node.
    Bounds(&'static str),
    Links(Links),
}

/// How the roots are found.
#[derive(Debug, Clone, Copy)]
pub(in crate::tree) enum RootsBy {
    /// Their parent is what a root stores.
    Parent(&'static str, RootParent),
    /// They have no path.
    Path(&'static str),
    /// They have no ancestors.
    Ancestors(&'static str),
    /// Their depth is 0.
    Depth(&'static str),
    /// The client picks the nodes that no bounds enclose.
    Bounds,
    /// No node lists them, which a `$lookup` shows.
    Children(&'static str),
}

/// How the nodes without children are found.
#[derive(Debug, Clone, Copy)]
pub(in crate::tree) enum LeavesBy {
    /// The number of their children is 0.
    ChildCount(&'static str),
    /// The number of their descendants is 0.
    DescendantCount(&'static str),
    /// They list no children.
    Children(&'static str),
    /// There is no room between their bounds: left and right.
    Bounds(&'static str, &'static str),
    /// No node names them as its parent.
    Parent(&'static str, RootParent),
    /// No node has them as the last of its ancestors.
    Ancestors(&'static str),
    /// No path ends with them.
    Path(&'static str),
}

/// How the number of a node's ancestors is found.
#[derive(Debug, Clone, Copy)]
pub(in crate::tree) enum DepthBy {
    Depth(&'static str),
    /// By the length of the array.
    Ancestors(&'static str),
    /// By the number of parts.
    Path(&'static str),
    /// By the bounds around those of the node.
    Bounds(&'static str),
    Links(Links),
}

/// The field that orders siblings.
#[derive(Debug, Clone, Copy)]
pub(in crate::tree) enum OrderBy {
    Rank(&'static str),
    /// Left and right.
    Bounds(&'static str, &'static str),
    /// The list of their parent.
    Children(&'static str),
    /// Nothing: they are in any order.
    None,
}

impl Ways {
    /// The ways of a tree.
    pub(in crate::tree) const fn of(tree: &TreeMeta) -> Self {
        Self {
            ancestors: AncestorsBy::of(tree),
            parent: ParentBy::of(tree),
            children: ChildrenBy::of(tree),
            has_children: HasChildrenBy::of(tree),
            descendants: DescendantsBy::of(tree),
            levels_below: LevelsBelowBy::of(tree),
            roots: RootsBy::of(tree),
            leaves: LeavesBy::of(tree),
            depth: DepthBy::of(tree),
            siblings: OrderBy::of(tree),
        }
    }
}

/// The list of children of a tree that keeps nothing else. The derive refuses a tree without any field.
const fn list_of(tree: &TreeMeta) -> &'static str {
    match tree.children {
        Some(children) => children,
        None => "",
    }
}

impl Links {
    const fn of(tree: &TreeMeta) -> Self {
        match tree.parent {
            Some((parent, _)) => Self::Parent(parent),
            None => Self::Children(list_of(tree)),
        }
    }
}

impl AncestorsBy {
    const fn of(tree: &TreeMeta) -> Self {
        match (tree.ancestors, tree.path, tree.bounds) {
            (Some(_), _, _) => Self::Ancestors,
            (None, Some(_), _) => Self::Path,
            (None, None, Some((left, right))) => Self::Bounds(left, right),
            (None, None, None) => Self::Links(Links::of(tree)),
        }
    }

    /// Whether the node itself stores them.
    pub(in crate::tree) const fn is_stored(self) -> bool {
        matches!(self, Self::Ancestors | Self::Path)
    }
}

impl ParentBy {
    const fn of(tree: &TreeMeta) -> Self {
        match (tree.parent, tree.ancestors, tree.path, tree.bounds) {
            (Some((parent, _)), _, _, _) => Self::Parent(parent),
            (None, Some(ancestors), _, _) => Self::Ancestors(ancestors),
            (None, None, Some((path, _)), _) => Self::Path(path),
            (None, None, None, Some((left, right))) => Self::Bounds(left, right),
            (None, None, None, None) => Self::Children(list_of(tree)),
        }
    }

    /// Whether the node itself stores it.
    pub(in crate::tree) const fn is_stored(self) -> bool {
        matches!(self, Self::Parent(_) | Self::Ancestors(_) | Self::Path(_))
    }

    /// The names of the fields.
    pub(in crate::tree) fn fields(self) -> Vec<&'static str> {
        match self {
            Self::Parent(field)
            | Self::Ancestors(field)
            | Self::Path(field)
            | Self::Children(field) => vec![field],
            Self::Bounds(left, right) => vec![left, right],
        }
    }
}

impl ChildrenBy {
    const fn of(tree: &TreeMeta) -> Self {
        match (tree.parent, tree.children, tree.path, tree.ancestors) {
            (Some((parent, _)), _, _, _) => Self::Parent(parent),
            (None, Some(_), _, _) => Self::Children,
            (None, None, Some((path, _)), _) => Self::Path(path),
            (None, None, None, Some(ancestors)) => Self::Ancestors(ancestors),
            (None, None, None, None) => match (tree.bounds, tree.depth) {
                (Some((left, _)), Some(depth)) => Self::BoundsAndDepth { left, depth },
                (Some((left, _)), None) => Self::Bounds(left),
                (None, _) => Self::Children,
            },
        }
    }
}

impl HasChildrenBy {
    const fn of(tree: &TreeMeta) -> Self {
        match (tree.children, tree.bounds, tree.parent) {
            (Some(_), _, _) => Self::Children,
            (None, Some(_), _) => Self::Bounds,
            (None, None, Some(_)) => Self::Parent,
            (None, None, None) => Self::Lineage,
        }
    }

    /// Whether the node itself shows it.
    pub(in crate::tree) const fn is_stored(self) -> bool {
        matches!(self, Self::Children | Self::Bounds)
    }
}

impl DescendantsBy {
    const fn of(tree: &TreeMeta) -> Self {
        match (tree.bounds, tree.path, tree.ancestors) {
            (Some((left, _)), _, _) => Self::Bounds(left),
            (None, Some((path, _)), _) => Self::Path(path),
            (None, None, Some(ancestors)) => Self::Ancestors(ancestors),
            (None, None, None) => Self::Links(Links::of(tree)),
        }
    }
}

impl LevelsBelowBy {
    const fn of(tree: &TreeMeta) -> Self {
        match (tree.bounds, tree.depth, tree.path, tree.ancestors) {
            (Some((left, _)), Some(depth), _, _) => Self::BoundsAndDepth { left, depth },
            (_, _, Some((path, _)), _) => Self::Path(path),
            (_, _, None, Some(ancestors)) => Self::Ancestors(ancestors),
            (Some((left, _)), None, None, None) => Self::Bounds(left),
            (None, _, None, None) => Self::Links(Links::of(tree)),
        }
    }
}

impl RootsBy {
    const fn of(tree: &TreeMeta) -> Self {
        match (tree.parent, tree.path, tree.ancestors, tree.depth) {
            (Some((parent, root)), _, _, _) => Self::Parent(parent, root),
            (None, Some((path, _)), _, _) => Self::Path(path),
            (None, None, Some(ancestors), _) => Self::Ancestors(ancestors),
            (None, None, None, Some(depth)) => Self::Depth(depth),
            (None, None, None, None) => match tree.bounds {
                Some(_) => Self::Bounds,
                None => Self::Children(list_of(tree)),
            },
        }
    }

    /// Whether a field of the roots says that they are roots, so that a filter finds them.
    pub(in crate::tree) const fn is_stored(self) -> bool {
        !matches!(self, Self::Bounds | Self::Children(_))
    }
}

impl LeavesBy {
    const fn of(tree: &TreeMeta) -> Self {
        match (tree.child_count, tree.descendant_count, tree.children) {
            (Some(count), _, _) => Self::ChildCount(count),
            (None, Some(count), _) => Self::DescendantCount(count),
            (None, None, Some(children)) => Self::Children(children),
            (None, None, None) => match (tree.bounds, tree.parent, tree.ancestors, tree.path) {
                (Some((left, right)), _, _, _) => Self::Bounds(left, right),
                (None, Some((parent, root)), _, _) => Self::Parent(parent, root),
                (None, None, Some(ancestors), _) => Self::Ancestors(ancestors),
                (None, None, None, Some((path, _))) => Self::Path(path),
                (None, None, None, None) => Self::Children(list_of(tree)),
            },
        }
    }

    /// Whether a field of the leaves says that they are leaves, so that a filter finds them.
    pub(in crate::tree) const fn is_stored(self) -> bool {
        !matches!(self, Self::Parent(..) | Self::Ancestors(_) | Self::Path(_))
    }
}

impl DepthBy {
    const fn of(tree: &TreeMeta) -> Self {
        match (tree.depth, tree.ancestors, tree.path, tree.bounds) {
            (Some(depth), _, _, _) => Self::Depth(depth),
            (None, Some(ancestors), _, _) => Self::Ancestors(ancestors),
            (None, None, Some((path, _)), _) => Self::Path(path),
            (None, None, None, Some((left, _))) => Self::Bounds(left),
            (None, None, None, None) => Self::Links(Links::of(tree)),
        }
    }

    /// Whether the node itself shows it.
    pub(in crate::tree) const fn is_stored(self) -> bool {
        !matches!(self, Self::Bounds(_) | Self::Links(_))
    }
}

impl OrderBy {
    const fn of(tree: &TreeMeta) -> Self {
        match (tree.order, tree.bounds, tree.children) {
            (Some(rank), _, _) => Self::Rank(rank),
            (None, Some((left, right)), _) => Self::Bounds(left, right),
            (None, None, Some(children)) => Self::Children(children),
            (None, None, None) => Self::None,
        }
    }

    /// The field of the siblings by which they are sorted, if there is one.
    pub(in crate::tree) const fn field(self) -> Option<&'static str> {
        match self {
            Self::Rank(field) | Self::Bounds(field, _) => Some(field),
            Self::Children(_) | Self::None => None,
        }
    }
}

#[cfg(test)]
mod tests;
