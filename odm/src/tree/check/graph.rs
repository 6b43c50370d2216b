//! Damages of graphs, whose nodes may have several parents.

use std::collections::{HashMap, HashSet};

use super::cycles::Edges;
use super::{DamageKind, TreeReport};
use crate::error::Result;
use crate::plan::shell;
use crate::tree::node::{Node, id_key};
use crate::tree::tree_store::TreeStore;

impl TreeStore<'_> {
    /// Compares the lists of children with the nodes that exist, and looks for cycles.
    pub(super) fn check_graph(&self, nodes: &[Node], report: &mut TreeReport) -> Result<()> {
        let mut positions = HashMap::with_capacity(nodes.len());
        for (position, node) in nodes.iter().enumerate() {
            positions.insert(id_key(&node.id)?, position);
        }
        let mut edges = Edges::default();
        for (position, node) in nodes.iter().enumerate() {
            for field in &node.unread.missing {
                report.add(
                    &node.id,
                    DamageKind::MissingField,
                    format!("`{field}` is missing"),
                );
            }
            for field in &node.unread.mistyped {
                let detail = format!("`{field}` has a value of another type");
                report.add(&node.id, DamageKind::WrongType, detail);
            }
            let mut listed = HashSet::new();
            for child in &node.children {
                let key = id_key(child)?;
                let shown = shell::value(child);
                let Some(below) = positions.get(&key) else {
                    let detail = format!("its child {shown} does not exist");
                    report.add(&node.id, DamageKind::MissingChild, detail);
                    continue;
                };
                if !listed.insert(key) {
                    let detail = format!("it lists its child {shown} more than once");
                    report.add(&node.id, DamageKind::WrongChildren, detail);
                    continue;
                }
                edges.add(position, *below);
            }
            let count = i64::try_from(listed.len()).unwrap_or(i64::MAX);
            if let Some(field) = self.tree.child_count
                && node.child_count != count
                && !node.unread.contains(field)
            {
                let detail = format!(
                    "the number of children is {}, expected {count}",
                    node.child_count
                );
                report.add(&node.id, DamageKind::WrongCount, detail);
            }
        }
        for position in edges.cycles() {
            if let Some(node) = nodes.get(position) {
                let detail = "its parents lead back to it".to_owned();
                report.add(&node.id, DamageKind::Cycle, detail);
            }
        }
        Ok(())
    }
}
