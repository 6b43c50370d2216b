//! Trees in memory: nodes with their children inside.

use std::fmt::{self, Write as _};
use std::ops::{Deref, DerefMut};

use bson::Bson;
use bson::raw::RawDocumentBuf;
use serde::{Deserialize, Serialize};

use super::Tree;
use super::node::Node;
use super::places::Shape;
use crate::collection::{decode_document, encode};
use crate::error::Result;
use crate::model::Document;
use crate::model::tree::DeclaredTree;

/// A node with its children, in their order.
///
/// Branches nest as deep as their tree. Only formatting with `Debug` and serializing recurse, and overflow the stack at some
/// thousand levels.
///
/// A branch serializes nested, as `{"node": …, "children": […]}`; what was read back can be [loaded](Tree::insert_branches).
#[derive(Debug, Serialize, Deserialize)]
pub struct Branch<M> {
    /// The node.
    pub node: M,
    /// The children.
    pub children: Branches<M>,
}

/// The children of a [`Branch`]: a vector that drops branches of any depth without recursion.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Branches<M>(Vec<Branch<M>>);

impl<M> Branches<M> {
    /// The branches as a plain vector.
    ///
    /// ```
    /// # use odm::tree::Branch;
    /// let books = Branch::leaf("Books").with("Fiction").with("History");
    /// let children = books.children.into_vec();
    /// assert_eq!(children[1].node, "History");
    /// ```
    pub fn into_vec(mut self) -> Vec<Branch<M>> {
        std::mem::take(&mut self.0)
    }
}

impl<M> Drop for Branches<M> {
    fn drop(&mut self) {
        let mut open = std::mem::take(&mut self.0);
        while let Some(mut branch) = open.pop() {
            open.append(&mut branch.children.0);
        }
    }
}

impl<M> Default for Branches<M> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<M> From<Vec<Branch<M>>> for Branches<M> {
    fn from(branches: Vec<Branch<M>>) -> Self {
        Self(branches)
    }
}

impl<M> FromIterator<Branch<M>> for Branches<M> {
    fn from_iter<I: IntoIterator<Item = Branch<M>>>(branches: I) -> Self {
        Self(branches.into_iter().collect())
    }
}

impl<M> Deref for Branches<M> {
    type Target = Vec<Branch<M>>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl<M> DerefMut for Branches<M> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}

impl<M> IntoIterator for Branches<M> {
    type Item = Branch<M>;
    type IntoIter = std::vec::IntoIter<Branch<M>>;

    fn into_iter(self) -> Self::IntoIter {
        self.into_vec().into_iter()
    }
}

impl<'b, M> IntoIterator for &'b Branches<M> {
    type Item = &'b Branch<M>;
    type IntoIter = std::slice::Iter<'b, Branch<M>>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl<M> Branch<M> {
    /// A node without children.
    ///
    /// ```
    /// # use odm::tree::Branch;
    /// let fiction = Branch::leaf("Fiction");
    /// assert_eq!(fiction.len(), 1);
    /// ```
    pub fn leaf(node: M) -> Self {
        Self {
            node,
            children: Branches::default(),
        }
    }

    /// Adds a last child.
    ///
    /// ```
    /// # use odm::tree::Branch;
    /// let books = Branch::leaf("Books").with("Fiction").with(Branch::leaf("Programming").with("Databases"));
    /// assert_eq!(books.len(), 4);
    /// ```
    #[must_use]
    pub fn with(mut self, child: impl Into<Self>) -> Self {
        self.children.push(child.into());
        self
    }

    /// The number of nodes.
    ///
    /// ```
    /// # use odm::tree::Branch;
    /// let books = Branch::leaf("Books").with("Fiction").with("History");
    /// assert_eq!(books.len(), 3);
    /// ```
    pub fn len(&self) -> usize {
        let mut count = 0;
        self.visit(&mut |_, _| count += 1);
        count
    }

    /// Whether there are no nodes: never, because a branch has at least one.
    ///
    /// ```
    /// # use odm::tree::Branch;
    /// let fiction = Branch::leaf("Fiction");
    /// assert!(!fiction.is_empty());
    /// assert!(fiction.children.is_empty());
    /// ```
    pub const fn is_empty(&self) -> bool {
        false
    }

    /// Calls `visit` with each node in pre-order, and with its level below this one.
    ///
    /// ```
    /// # use odm::tree::Branch;
    /// let books = Branch::leaf("Books").with(Branch::leaf("Programming").with("Databases"));
    /// let mut depths = Vec::new();
    /// books.visit(&mut |node, depth| depths.push((*node, depth)));
    /// assert_eq!(depths, [("Books", 0), ("Programming", 1), ("Databases", 2)]);
    /// ```
    pub fn visit<'b>(&'b self, visit: &mut impl FnMut(&'b M, usize)) {
        self.iter().for_each(|(node, level)| visit(node, level));
    }

    /// The nodes in pre-order, each with its level below this one.
    ///
    /// ```
    /// # use odm::tree::Branch;
    /// let books = Branch::leaf("Books").with(Branch::leaf("Programming").with("Databases")).with("Fiction");
    /// let deepest = books.iter().max_by_key(|(_, level)| *level);
    /// assert_eq!(deepest, Some((&"Databases", 2)));
    /// ```
    pub fn iter(&self) -> impl Iterator<Item = (&M, usize)> {
        let mut open = vec![(self, 0)];
        std::iter::from_fn(move || {
            let (branch, level) = open.pop()?;
            open.extend(branch.children.iter().rev().map(|child| (child, level + 1)));
            Some((&branch.node, level))
        })
    }

    /// The branch as indented text, a line for each node.
    ///
    /// ```
    /// # use odm::tree::Branch;
    /// let books = Branch::leaf("Books").with(Branch::leaf("Programming").with("Databases")).with("Fiction");
    /// let text = books.to_text(|name| name.to_string());
    /// assert_eq!(text, "Books\n  Programming\n    Databases\n  Fiction\n");
    /// ```
    pub fn to_text(&self, mut label: impl FnMut(&M) -> String) -> String {
        let mut text = String::new();
        self.visit(&mut |node, level| {
            text.push_str(&"  ".repeat(level));
            text.push_str(&label(node));
            text.push('\n');
        });
        text
    }

    /// The branch as a Mermaid flowchart, which Markdown viewers draw.
    ///
    /// ```
    /// # use odm::tree::Branch;
    /// let books = Branch::leaf("Books").with("Fiction");
    /// let diagram = books.to_mermaid(|name| name.to_string());
    /// assert!(diagram.starts_with("flowchart TD") && diagram.contains("Fiction"), "{diagram}");
    /// ```
    pub fn to_mermaid(&self, mut label: impl FnMut(&M) -> String) -> String {
        let mut text = "flowchart TD\n".to_owned();
        // By level: the number of the last node.
        let mut last: Vec<usize> = Vec::new();
        let mut number = 0;
        self.visit(&mut |node, level| {
            let quoted = label(node)
                .replace('"', "#quot;")
                .replace(['\n', '\r'], " ");
            let written = match level.checked_sub(1).and_then(|above| last.get(above)) {
                Some(parent) => write!(text, "    n{parent} --> n{number}[\"{quoted}\"]"),
                None => write!(text, "    n{number}[\"{quoted}\"]"),
            };
            debug_assert!(written.is_ok(), "a string takes everything");
            text.push('\n');
            last.truncate(level);
            last.push(number);
            number += 1;
        });
        text
    }
}

impl<M> Branch<M> {
    /// The branch as a graph in the DOT language, which Graphviz draws.
    ///
    /// ```
    /// # use odm::tree::Branch;
    /// let books = Branch::leaf("Books").with("Fiction");
    /// let graph = books.to_dot(|name| name.to_string());
    /// assert_eq!(graph, "digraph {\n    n0 [label=\"Books\"]\n    n1 [label=\"Fiction\"]\n    n0 -> n1\n}\n");
    /// ```
    pub fn to_dot(&self, mut label: impl FnMut(&M) -> String) -> String {
        let mut text = "digraph {\n".to_owned();
        // By level: the number of the last node.
        let mut last: Vec<usize> = Vec::new();
        for (number, (node, level)) in self.iter().enumerate() {
            let escaped = label(node).replace('\\', "\\\\").replace('"', "\\\"");
            let escaped = escaped.replace('\n', "\\n").replace('\r', "");
            let mut written = writeln!(text, "    n{number} [label=\"{escaped}\"]");
            if let Some(parent) = level.checked_sub(1).and_then(|above| last.get(above)) {
                written = writeln!(text, "    n{parent} -> n{number}");
            }
            debug_assert!(written.is_ok(), "a string takes everything");
            last.truncate(level);
            last.push(number);
        }
        text.push_str("}\n");
        text
    }
}

impl<M: Clone> Clone for Branch<M> {
    fn clone(&self) -> Self {
        let mut growing = Growing::default();
        for (node, level) in self.iter() {
            growing.add(node.clone(), level);
        }
        let cloned = growing.finish().pop();
        cloned.unwrap_or_else(|| Self::leaf(self.node.clone()))
    }
}

impl<M: PartialEq> PartialEq for Branch<M> {
    // In pre-order, levels determine parents.
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl<M: Eq> Eq for Branch<M> {}

impl<M> From<M> for Branch<M> {
    fn from(node: M) -> Self {
        Self::leaf(node)
    }
}

impl<M: fmt::Display> fmt::Display for Branch<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_text(M::to_string))
    }
}

impl<D: DeclaredTree> Tree<D> {
    /// Arranges documents that are in memory: each in its parent, siblings in their order. A document whose parent is not
    /// among them starts a branch of its own.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::tree::prelude::*;
    /// # #[derive(Debug, Clone, Serialize, Deserialize, Document)]
    /// # #[odm(collection = "categories", tree(parent_references))]
    /// # struct Category { #[serde(rename = "_id")] id: String, parent: Parent<Category> }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> odm::Result<()> {
    /// # let db = Db::memory();
    /// # let tree = db.tree::<Category>();
    /// # let new = |id: &str| Category { id: id.to_owned(), parent: Parent::default() };
    /// # let books = tree.insert(new("Books"), Position::root()).await?.node;
    /// # tree.insert(new("Fiction"), Position::child_of(&books)).await?;
    /// let branches = tree.arrange(tree.all().all().await?)?;
    /// assert_eq!(branches[0].to_text(|category| category.id.clone()), "Books\n  Fiction\n");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// A document can't be encoded.
    pub fn arrange(&self, documents: Vec<D::Model>) -> Result<Vec<Branch<D::Model>>> {
        let tree_store = self.tree_store();
        let nodes = documents.iter().map(|document| {
            let raw = encode(document).map_err(|error| error.with_model(D::Model::model().name))?;
            Node::read(tree_store.tree, &raw)
        });
        let nodes = nodes.collect::<Result<Vec<_>>>()?;
        Ok(branches(&tree_store.arrange(&nodes)?, documents))
    }

    /// Arranges documents as they are stored, the first level in the order of `top`.
    pub(super) fn arrange_stored(
        &self,
        stored: &[RawDocumentBuf],
        top: Option<&[Bson]>,
    ) -> Result<Vec<Branch<D::Model>>> {
        let tree_store = self.tree_store();
        let mut nodes = Vec::with_capacity(stored.len());
        let mut documents = Vec::with_capacity(stored.len());
        for document in stored {
            nodes.push(Node::read(tree_store.tree, document)?);
            documents.push(decode_document(document)?);
        }
        Ok(branches(&tree_store.arrange_below(&nodes, top)?, documents))
    }
}

/// The documents at the positions of a shape.
fn branches<M>(shape: &Shape, documents: Vec<M>) -> Vec<Branch<M>> {
    let mut slots: Vec<Option<M>> = documents.into_iter().map(Some).collect();
    let mut growing = Growing::default();
    for visit in shape.visits() {
        if let Some(node) = slots.get_mut(visit.position).and_then(Option::take) {
            growing.add(node, visit.level);
        }
    }
    growing.finish()
}

/// Branches made of nodes in pre-order.
struct Growing<M> {
    roots: Vec<Branch<M>>,
    /// The branches that may get more nodes, by level.
    open: Vec<Branch<M>>,
}

impl<M> Default for Growing<M> {
    fn default() -> Self {
        Self {
            roots: Vec::new(),
            open: Vec::new(),
        }
    }
}

impl<M> Growing<M> {
    fn add(&mut self, node: M, level: usize) {
        self.close(level);
        self.open.push(Branch::leaf(node));
    }

    /// Ends the branches from this level on.
    fn close(&mut self, level: usize) {
        while self.open.len() > level {
            let Some(done) = self.open.pop() else {
                return;
            };
            match self.open.last_mut() {
                Some(parent) => parent.children.push(done),
                None => self.roots.push(done),
            }
        }
    }

    fn finish(mut self) -> Vec<Branch<M>> {
        self.close(0);
        self.roots
    }
}

#[cfg(test)]
mod tests {
    use super::Branch;

    #[test]
    fn deep_branches_are_visited_compared_cloned_and_dropped() {
        let mut deep = Branch::leaf(0);
        for node in 1..100_000 {
            deep = Branch::leaf(node).with(deep);
        }
        assert_eq!(deep.len(), 100_000);
        let mut deepest = None;
        deep.visit(&mut |node, level| deepest = Some((*node, level)));
        assert_eq!(deepest, Some((0, 99_999)));
        assert!(deep.clone() == deep);
        let below = deep.children.into_vec();
        assert_eq!(below.len(), 1);
        drop(below);
    }

    #[test]
    fn branches_of_other_shapes_differ() {
        let nested = Branch::leaf(1).with(Branch::leaf(2).with(3));
        let flat = Branch::leaf(1).with(2).with(3);
        assert!(nested != flat && flat == flat.clone() && nested == nested.clone());
    }

    #[test]
    fn branches_serialize_nested() {
        let tree = Branch::leaf(1).with(2);
        let text = serde_json::to_string(&tree).unwrap();
        assert_eq!(text, r#"{"node":1,"children":[{"node":2,"children":[]}]}"#);
        let back: Branch<i32> = serde_json::from_str(&text).unwrap();
        assert_eq!(back, tree);
    }

    #[test]
    fn branches_are_drawn() {
        let tree = Branch::leaf("Books")
            .with(Branch::leaf("a \"b\"").with("c"))
            .with("d");
        assert_eq!(tree.len(), 4);
        assert_eq!(tree.to_string(), "Books\n  a \"b\"\n    c\n  d\n");
        assert_eq!(
            tree.to_mermaid(|node| (*node).to_owned()),
            "flowchart TD\n    n0[\"Books\"]\n    n0 --> n1[\"a #quot;b#quot;\"]\n    n1 --> n2[\"c\"]\n    n0 --> n3[\"d\"]\n"
        );
        let dot = tree.to_dot(|node| (*node).to_owned());
        assert!(
            dot.contains("n1 [label=\"a \\\"b\\\"\"]\n    n0 -> n1\n"),
            "{dot}"
        );
        assert!(dot.contains("    n0 -> n3\n"), "{dot}");
    }
}
