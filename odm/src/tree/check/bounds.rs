//! Checks of the bounds of nested sets, read in their order.

use bson::{Bson, Document};

use super::{Checker, DamageKind, Source};
use crate::error::Result;
use crate::tree::node::{Node, id_key};

/// A node whose right bound has not been reached.
struct Open {
    node: Node,
    children: i64,
    /// Whether its bounds are reported, so that nothing follows from them.
    is_damaged: bool,
}

/// The nodes around the current place, and the number that should follow.
#[derive(Default)]
struct Walk {
    scope: Option<Bson>,
    open: Vec<Open>,
    next: i64,
    last_left: Option<i64>,
}

impl Checker<'_> {
    /// Reads the nodes by their left bounds.
    pub(super) async fn bounds(&mut self) -> Result<()> {
        let Some(sort) = self.forest.pre_order_sort() else {
            return Ok(());
        };
        let mut cursor = self.forest.open(Document::new(), Some(sort)).await?;
        let mut walk = Walk {
            next: 1,
            ..Walk::default()
        };
        while let Some(document) = cursor.next().await {
            let document = document.map_err(|error| error.with_model(self.forest.model.name))?;
            let node = Node::read(self.forest.tree, document)?;
            if node.scope != walk.scope {
                self.close(&mut walk, i64::MAX);
                walk = Walk {
                    scope: node.scope.clone(),
                    next: 1,
                    ..Walk::default()
                };
            }
            self.visit(&mut walk, node)?;
        }
        self.close(&mut walk, i64::MAX);
        Ok(())
    }

    fn visit(&mut self, walk: &mut Walk, node: Node) -> Result<()> {
        self.close(walk, node.left);
        let around = walk.open.last().map(|open| &open.node);
        let is_repeated = walk.last_left == Some(node.left)
            || around.is_some_and(|around| node.left == around.right || node.right == around.right);
        let before = self.report.damages;
        if is_repeated {
            let detail = format!(
                "another node has a bound of {} to {}",
                node.left, node.right
            );
            self.report
                .add(&node.id, DamageKind::DuplicateBounds, detail);
        } else if node.left >= node.right {
            let detail = format!("left is {} and right {}", node.left, node.right);
            self.report
                .add(&node.id, DamageKind::OverlappingBounds, detail);
        } else if around.is_some_and(|around| node.right > around.right) {
            let detail = format!(
                "{} to {} crosses the bounds of a node",
                node.left, node.right
            );
            self.report
                .add(&node.id, DamageKind::OverlappingBounds, detail);
        } else if node.left > walk.next {
            let detail = format!("left is {}, and {} is free", node.left, walk.next);
            self.report.add(&node.id, DamageKind::GappedBounds, detail);
        }
        let is_damaged = self.report.damages > before;
        if !is_damaged {
            self.place(walk, &node)?;
        }
        walk.last_left = Some(node.left);
        walk.next = node.left.saturating_add(1);
        if let Some(parent) = walk.open.last_mut() {
            parent.children += 1;
        }
        walk.open.push(Open {
            node,
            children: 0,
            is_damaged,
        });
        Ok(())
    }

    /// Compares the other fields of a node with the nodes around it.
    fn place(&mut self, walk: &Walk, node: &Node) -> Result<()> {
        let tree = self.forest.tree;
        let around = walk.open.last().map(|open| &open.node.id);
        if self.source == Source::Parent {
            let same = match (around, &node.parent) {
                (None, None) => true,
                (Some(around), Some(parent)) => id_key(around)? == id_key(parent)?,
                _ => false,
            };
            if !same {
                let shown = |id: Option<&Bson>| id.map_or("a root".to_owned(), Bson::to_string);
                let detail = format!(
                    "the parent is {}, and the bounds are inside {}",
                    shown(node.parent.as_ref()),
                    shown(around)
                );
                self.report.add(&node.id, DamageKind::Disagreement, detail);
            }
        }
        if self.source == Source::Bounds && tree.depth.is_some() {
            let depth = i64::try_from(walk.open.len()).unwrap_or(i64::MAX);
            if node.depth != depth {
                let detail = format!(
                    "the depth is {}, and {depth} nodes are around it",
                    node.depth
                );
                self.report.add(&node.id, DamageKind::WrongDepth, detail);
            }
        }
        Ok(())
    }

    /// Closes the nodes whose right bounds come before `left`.
    fn close(&mut self, walk: &mut Walk, left: i64) {
        while walk.open.last().is_some_and(|open| open.node.right < left) {
            let Some(Open {
                node,
                children,
                is_damaged,
            }) = walk.open.pop()
            else {
                return;
            };
            if node.right > walk.next && !is_damaged {
                let detail = format!("right is {}, and {} is free", node.right, walk.next);
                self.report.add(&node.id, DamageKind::GappedBounds, detail);
            }
            walk.next = node
                .right
                .max(walk.next.saturating_sub(1))
                .saturating_add(1);
            if self.source == Source::Bounds && !is_damaged {
                let descendants = (node.width() / 2 - 1).max(0);
                self.compare_counts(&node, children, descendants);
            }
        }
    }
}
