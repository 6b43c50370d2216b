//! What the ways without odm's trees know of a node, and the rows that they insert.

use std::collections::HashMap;
use std::fmt::Write;

use mongodb::bson::{Bson, Document, doc};
use odm::tree::Pattern;
use serde::{Deserialize, Serialize};

use crate::models::name;

/// Where a node goes.
#[derive(Debug, Clone, Copy)]
pub(crate) enum At {
    LastIn(i32),
    Before(i32),
}

/// The fields that say where a node is.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Place {
    #[serde(rename = "_id")]
    pub(crate) id: i32,
    pub(crate) parent: Option<i32>,
    pub(crate) children: Vec<i32>,
    pub(crate) ancestors: Vec<i32>,
    pub(crate) path: Option<String>,
    pub(crate) left: i32,
    pub(crate) right: i32,
    pub(crate) rank: String,
}

impl Place {
    pub(crate) fn projection(pattern: Pattern) -> Document {
        match pattern {
            Pattern::ParentReferences => doc! {"parent": 1, "rank": 1},
            Pattern::ChildReferences => doc! {"children": 1},
            Pattern::ArrayOfAncestors => doc! {"ancestors": 1, "rank": 1},
            Pattern::MaterializedPath => doc! {"path": 1, "rank": 1},
            Pattern::NestedSets => doc! {"left": 1, "right": 1},
        }
    }

    /// The path of the children.
    pub(crate) fn path_of_children(&self) -> String {
        format!("{}{},", self.path.as_deref().unwrap_or(","), self.id)
    }

    /// The family of the children.
    pub(crate) fn family(&self) -> Family {
        let mut ancestors = self.ancestors.clone();
        ancestors.push(self.id);
        Family {
            parent: self.id,
            ancestors,
            path: self.path_of_children(),
        }
    }

    /// The family of a node that has a parent: its own.
    pub(crate) fn own_family(&self) -> Family {
        let path = self.path.clone().unwrap_or_default();
        let in_path = path.trim_end_matches(',').rsplit(',').next();
        let in_path = in_path.and_then(|id| id.parse().ok());
        let parent = self.parent.or(self.ancestors.last().copied()).or(in_path);
        Family {
            parent: parent.unwrap_or_default(),
            ancestors: self.ancestors.clone(),
            path,
        }
    }
}

/// What siblings have in common.
pub(crate) struct Family {
    pub(crate) parent: i32,
    pub(crate) ancestors: Vec<i32>,
    pub(crate) path: String,
}

impl Family {
    /// The filter of the siblings.
    pub(crate) fn filter(&self, pattern: Pattern) -> Document {
        match pattern {
            Pattern::ParentReferences => doc! {"parent": self.parent},
            Pattern::MaterializedPath => doc! {"path": &self.path},
            _ => {
                let size = i32::try_from(self.ancestors.len()).unwrap();
                doc! {"ancestors": {"$eq": self.parent, "$size": size}}
            }
        }
    }

    /// Whether a node is the parent of the siblings or above it.
    pub(crate) fn is_below(&self, node: i32) -> bool {
        let in_path = self.path.contains(&format!(",{node},"));
        self.parent == node || self.ancestors.contains(&node) || in_path
    }

    /// The fields of a node with this rank, in a pattern that keeps the lineage.
    pub(crate) fn fields(&self, pattern: Pattern, rank: &str) -> Document {
        if pattern == Pattern::MaterializedPath {
            return doc! {"path": &self.path, "rank": rank};
        }
        doc! {"ancestors": self.ancestors.as_slice(), "rank": rank}
    }

    /// The row of a node with this rank.
    pub(crate) fn row(self, pattern: Pattern, id: i32, rank: String) -> Row {
        let name = name(id);
        match pattern {
            Pattern::ParentReferences => Row::Parent {
                id,
                parent: Some(self.parent),
                rank,
                name,
            },
            Pattern::MaterializedPath => Row::Path {
                id,
                path: Some(self.path),
                rank,
                name,
            },
            _ => Row::Ancestors {
                id,
                ancestors: self.ancestors,
                rank,
                name,
            },
        }
    }
}

/// A rank after `low` and before the whole number that follows: enough for a benchmark, which inserts only there.
pub(crate) fn after(low: &str) -> String {
    format!("{low}i")
}

/// A document to insert.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum Row {
    Parent {
        #[serde(rename = "_id")]
        id: i32,
        parent: Option<i32>,
        rank: String,
        name: String,
    },
    Children {
        #[serde(rename = "_id")]
        id: i32,
        children: Vec<i32>,
        name: String,
    },
    Ancestors {
        #[serde(rename = "_id")]
        id: i32,
        ancestors: Vec<i32>,
        rank: String,
        name: String,
    },
    Path {
        #[serde(rename = "_id")]
        id: i32,
        path: Option<String>,
        rank: String,
        name: String,
    },
    Bounds {
        #[serde(rename = "_id")]
        id: i32,
        left: i32,
        right: i32,
        name: String,
    },
}

/// The rows of a whole tree, from its edges. Siblings keep the order of the edges.
pub(crate) fn rows(pattern: Pattern, edges: impl Iterator<Item = (i32, Option<i32>)>) -> Vec<Row> {
    let edges: Vec<(i32, Option<i32>)> = edges.collect();
    let positions = edges.iter().zip(0_usize..);
    let positions: HashMap<i32, usize> = positions.map(|((id, _), at)| (*id, at)).collect();
    let mut roots = Vec::new();
    let mut children = vec![Vec::new(); edges.len()];
    for (position, (_, parent)) in edges.iter().enumerate() {
        match parent {
            Some(parent) => children[positions[parent]].push(position),
            None => roots.push(position),
        }
    }
    let mut writer = Writer {
        pattern,
        edges: &edges,
        children: &children,
        ancestors: Vec::new(),
        path: ",".to_owned(),
        bound: 0,
        rows: Vec::with_capacity(edges.len()),
    };
    writer.siblings(&roots);
    writer.rows
}

/// Writes the rows of a tree, each node after its parent but in nested sets, where the right bound is known last.
struct Writer<'t> {
    pattern: Pattern,
    edges: &'t [(i32, Option<i32>)],
    children: &'t [Vec<usize>],
    ancestors: Vec<i32>,
    path: String,
    bound: i32,
    rows: Vec<Row>,
}

impl Writer<'_> {
    fn siblings(&mut self, siblings: &[usize]) {
        for (place, position) in siblings.iter().enumerate() {
            let (id, parent) = self.edges[*position];
            self.bound += 1;
            let left = self.bound;
            match self.pattern {
                Pattern::ParentReferences => self.rows.push(Row::Parent {
                    id,
                    parent,
                    rank: rank(place),
                    name: name(id),
                }),
                Pattern::ChildReferences => {
                    let children = self.children[*position].iter();
                    self.rows.push(Row::Children {
                        id,
                        children: children.map(|child| self.edges[*child].0).collect(),
                        name: name(id),
                    });
                }
                Pattern::ArrayOfAncestors => self.rows.push(Row::Ancestors {
                    id,
                    ancestors: self.ancestors.clone(),
                    rank: rank(place),
                    name: name(id),
                }),
                Pattern::MaterializedPath => self.rows.push(Row::Path {
                    id,
                    path: parent.is_some().then(|| self.path.clone()),
                    rank: rank(place),
                    name: name(id),
                }),
                Pattern::NestedSets => {}
            }
            let length = self.path.len();
            write!(self.path, "{id},").unwrap();
            self.ancestors.push(id);
            let below = self.children;
            self.siblings(&below[*position]);
            self.ancestors.pop();
            self.path.truncate(length);
            self.bound += 1;
            if self.pattern == Pattern::NestedSets {
                self.rows.push(Row::Bounds {
                    id,
                    left,
                    right: self.bound,
                    name: name(id),
                });
            }
        }
    }
}

/// The rank of a place: `o` and two digits in base 36.
fn rank(place: usize) -> String {
    const DIGITS: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";
    let digit = |at: usize| char::from(DIGITS[at]);
    format!("o{}{}", digit(place / 36), digit(place % 36))
}

/// Numbers from `from` to `to` move by `by`.
pub(crate) struct Shift {
    pub(crate) from: i32,
    pub(crate) to: i32,
    pub(crate) by: i32,
}

/// How the bounds change when a subtree moves to `at`: those of the subtree, and those between its old place and its new one.
pub(crate) fn shifts(node: &Place, at: i32) -> [Shift; 2] {
    let width = node.right - node.left + 1;
    let subtree = |by| Shift {
        from: node.left,
        to: node.right,
        by,
    };
    if at > node.right {
        let between = Shift {
            from: node.right + 1,
            to: at - 1,
            by: -width,
        };
        [subtree(at - node.right - 1), between]
    } else {
        let between = Shift {
            from: at,
            to: node.left - 1,
            by: width,
        };
        [subtree(at - node.left), between]
    }
}

/// The pipeline that puts a path or ancestors in place of those of the moved node, in its descendants.
pub(crate) fn replace_lineage(pattern: Pattern, node: &Place, family: &Family) -> Vec<Document> {
    if pattern == Pattern::MaterializedPath {
        let bytes = i32::try_from(node.path.as_ref().map_or(1, String::len)).unwrap();
        let rest = doc! {"$substrBytes": ["$path", bytes, -1]};
        return vec![doc! {"$set": {"path": {"$concat": [&family.path, rest]}}}];
    }
    let dropped = i32::try_from(node.ancestors.len()).unwrap();
    let rest = doc! {"$slice": ["$ancestors", dropped, i32::MAX]};
    let before: Vec<Bson> = family.ancestors.iter().map(|id| (*id).into()).collect();
    vec![doc! {"$set": {"ancestors": {"$concatArrays": [before, rest]}}}]
}
