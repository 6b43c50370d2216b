//! `repair`: computes the kept fields anew, and plans the writes that put them right.

use std::collections::{HashMap, HashSet};

use bson::raw::RawDocumentBuf;
use bson::{Bson, Document, doc};

use super::Tree;
use super::arrange::{Shape, Visit};
use super::forest::Forest;
use super::node::{Node, child_path, id_key, raw_id_key, stored};
use super::resume::Resumed;
use super::spot::Gap;
use crate::collection::equality;
use crate::error::{Error, Result};
use crate::model::tree::DeclaredTree;
use crate::plan::Plan;
use crate::store::options::Options;
use crate::types::tree::between;

impl<D: DeclaredTree> Tree<D> {
    /// Plans the writes that make the kept fields agree with each other: print the plan, then apply it.
    ///
    /// One field of a node decides who its parent is: the `parent` if the tree keeps it; else the ancestors, the path, the
    /// bounds or the children, in this order. A node whose parent is missing, is below it or is in another scope becomes
    /// a root. Siblings keep their order. The other fields follow from that, and a write is planned for each node where they
    /// differ; it matches the values that were read, so it leaves a node alone that has changed since.
    ///
    /// A change without a transaction that failed is completed first, by the record that it left; a node that was not
    /// inserted yet is not in the tree then. No change may run meanwhile.
    ///
    /// A node that would get a place where a unique index has another one, such as a sibling of the same name, is an
    /// error that names both: change or delete one of them, and repair again.
    ///
    /// Of a graph, only listed children that do not exist, and numbers of children, are mended.
    ///
    /// The kept fields of all nodes are in memory meanwhile.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # #[derive(Debug, Serialize, Deserialize, Document)]
    /// # #[odm(collection = "categories", tree(parent_references))]
    /// # struct Category { #[serde(rename = "_id")] id: String, parent: Parent<Category> }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> odm::Result<()> {
    /// # let db = Db::memory();
    /// # let tree = db.tree::<Category>();
    /// # db.run_command(doc! {"insert": "categories", "documents": [{"_id": "dbm", "parent": "Databases"}]}).await?;
    /// let plan = tree.repair().await?;
    /// println!("{plan}");
    /// plan.apply(Allow::WRITE).await?;
    /// assert!(tree.check().await?.is_sound());
    /// # Ok(())
    /// # }
    /// ```
    pub async fn repair(&self) -> Result<Plan> {
        let forest = self.forest();
        let options = Options {
            projection: Some(Node::projection(forest.tree)),
            sort: forest.pre_order_sort(),
            ..Options::default()
        };
        let documents = forest.documents(None, Document::new(), options).await?;
        let Resumed {
            documents,
            nodes,
            last,
            before: mut steps,
            after,
        } = forest.resumed(documents).await?;
        let mut expected = if forest.tree.is_graph {
            forest.graph_fields(&nodes)?
        } else {
            let shape = forest.arrange(&nodes)?;
            forest.expected_fields(&nodes, &shape)?
        };
        if let Some(order) = forest.tree.order {
            for (fields, node) in expected.iter_mut().zip(&nodes) {
                // A rank that stays may come from the record of a change.
                let is_ranked = fields.iter().any(|(field, _)| *field == order);
                let rank = node.rank.clone().filter(|_| !is_ranked);
                fields.extend(rank.map(|rank| (order, rank.into())));
            }
        }
        let mut statements = Vec::new();
        for (document, expected) in documents.iter().zip(expected) {
            statements.extend(statement(document, expected)?);
        }
        statements.sort_by_key(|statement| {
            let id = written(statement).map(|(id, _)| id);
            id.is_some_and(|id| last.contains(id))
        });
        forest.check_repaired(&documents, &statements).await?;
        if !statements.is_empty() {
            let reason = format!(
                "the kept fields of {} nodes contradict the tree",
                statements.len()
            );
            let command = doc! {
                "update": forest.collection(),
                "updates": statements,
                "ordered": false,
            };
            steps.push(forest.write_step(vec![command], reason));
        }
        steps.extend(after);
        Ok(Plan::new(forest.store, steps))
    }
}

/// The update of a node whose fields differ from the expected ones.
pub(super) fn statement(
    document: &RawDocumentBuf,
    expected: KeptFields,
) -> Result<Option<Document>> {
    let own = Document::try_from(&**document).map_err(Error::encode)?;
    let id = own.get("_id").cloned().unwrap_or(Bson::Null);
    let mut filter = doc! {"_id": equality(id)};
    let mut set = Document::new();
    for (field, value) in expected {
        let before = own.get(field);
        if before == Some(&value) {
            continue;
        }
        let unchanged = before.map_or_else(
            || doc! {"$exists": false},
            |before| doc! {"$eq": before.clone()},
        );
        filter.insert(field, unchanged);
        set.insert(field, value);
    }
    let statement = (!set.is_empty()).then(|| doc! {"q": filter, "u": {"$set": set}});
    Ok(statement)
}

/// The node that a statement writes, and the fields that it sets.
fn written(statement: &Document) -> Option<(&Bson, &Document)> {
    let id = match statement.get_document("q").ok()?.get("_id")? {
        Bson::Document(equals) => equals.get("$eq")?,
        id => id,
    };
    let fields = statement
        .get_document("u")
        .ok()?
        .get_document("$set")
        .ok()?;
    Some((id, fields))
}

/// Kept fields with their values.
pub(super) type KeptFields = Vec<(&'static str, Bson)>;

impl Forest {
    /// Refuses a plan by which a node would get a place that a unique index does not allow: applied, it would fail each time.
    async fn check_repaired(
        &self,
        documents: &[RawDocumentBuf],
        statements: &[Document],
    ) -> Result<()> {
        let placings = statements.iter().filter_map(written);
        let placings: Vec<_> = placings
            .map(|(id, fields)| (id.clone(), fields.clone()))
            .collect();
        let mut stay = HashSet::with_capacity(documents.len());
        for document in documents {
            let id = document.get("_id").ok().flatten();
            stay.extend(id.map(raw_id_key));
        }
        self.check_placings(None, &placings, |id| !stay.contains(id))
            .await
            .map_err(|error| error.context("repairing the tree"))
    }

    /// The kept fields that each node should have, by the tree that their source describes.
    pub(super) fn expected_fields(&self, nodes: &[Node], shape: &Shape) -> Result<Vec<KeptFields>> {
        let visits = shape.visits();
        let mut expected = vec![KeptFields::new(); nodes.len()];
        let mut families: HashMap<Option<usize>, Vec<usize>> = HashMap::new();
        let has_families = self.tree.children.is_some() || self.tree.order.is_some();
        let mut lineage = Vec::new();
        // By level: the paths of the node and its ancestors.
        let mut paths: Vec<Option<String>> = Vec::new();
        for visit in &visits {
            let (Some(node), Some(fields)) =
                (nodes.get(visit.position), expected.get_mut(visit.position))
            else {
                continue;
            };
            lineage.truncate(visit.level);
            paths.truncate(visit.level);
            if self.tree.path.is_some() {
                let path = match (paths.last(), lineage.last()) {
                    (Some(path), Some(parent)) => Some(child_path(path.as_deref(), parent)?),
                    _ => None,
                };
                paths.push(path);
            }
            self.own_fields(
                fields,
                node,
                &lineage,
                paths.last().and_then(Option::as_ref),
            );
            lineage.push(node.id.clone());
            if has_families {
                let family = families.entry(visit.parent).or_default();
                family.push(visit.position);
            }
        }
        self.family_fields(nodes, &families, &mut expected)?;
        self.count_fields(nodes, &visits, &mut expected);
        self.bound_fields(nodes, &visits, &mut expected);
        Ok(expected)
    }

    /// The fields that depend on the ancestors, the root first.
    fn own_fields(
        &self,
        fields: &mut KeptFields,
        node: &Node,
        lineage: &[Bson],
        path: Option<&String>,
    ) {
        let tree = self.tree;
        if let Some((field, root)) = tree.parent {
            let parent = lineage.last();
            // The id as it is stored, if it is that of the parent.
            let kept = node.parent.clone().filter(|_| parent.is_some());
            let id = kept.or_else(|| parent.cloned());
            fields.push((field, id.unwrap_or_else(|| root.value())));
        }
        if let Some(field) = tree.ancestors {
            fields.push((field, lineage.to_vec().into()));
        }
        if let Some((field, _)) = tree.path {
            fields.push((field, path.cloned().into()));
        }
        if let Some(field) = tree.depth {
            let depth = i64::try_from(lineage.len()).unwrap_or(i64::MAX);
            fields.push((field, stored(depth)));
        }
    }

    /// The fields that depend on siblings: lists of children, and ranks.
    fn family_fields(
        &self,
        nodes: &[Node],
        families: &HashMap<Option<usize>, Vec<usize>>,
        expected: &mut [KeptFields],
    ) -> Result<()> {
        if let Some(field) = self.tree.children {
            for (position, fields) in expected.iter_mut().enumerate() {
                let children = families.get(&Some(position)).into_iter().flatten();
                let ids =
                    children.filter_map(|child| nodes.get(*child).map(|child| child.id.clone()));
                fields.push((field, ids.collect::<Vec<_>>().into()));
            }
        }
        let Some(field) = self.tree.order else {
            return Ok(());
        };
        let groups = families.values();
        for siblings in groups.flat_map(|family| by_scope(nodes, family)) {
            let ranks = siblings
                .iter()
                .map(|at| nodes.get(*at).and_then(|node| node.rank.as_deref()));
            let ranks: Vec<Option<&str>> = ranks.collect();
            let is_rank = |rank: Option<&str>| rank.is_some() && between(rank, None).is_some();
            if ranks.iter().copied().all(is_rank) && ranks.is_sorted_by(|one, next| one < next) {
                continue;
            }
            let ranks = self.ranks(&Gap::default(), siblings.len())?;
            for (position, rank) in siblings.into_iter().zip(ranks) {
                if let Some(fields) = expected.get_mut(position) {
                    fields.push((field, rank.into()));
                }
            }
        }
        Ok(())
    }

    fn count_fields(&self, nodes: &[Node], visits: &[Visit], expected: &mut [KeptFields]) {
        let mut children = vec![0_i64; nodes.len()];
        let mut descendants = vec![0_i64; nodes.len()];
        for visit in visits.iter().rev() {
            let below = descendants.get(visit.position).copied().unwrap_or_default() + 1;
            if let Some(parent) = visit.parent {
                if let Some(count) = children.get_mut(parent) {
                    *count += 1;
                }
                if let Some(count) = descendants.get_mut(parent) {
                    *count += below;
                }
            }
        }
        for (field, counts) in [
            (self.tree.child_count, children),
            (self.tree.descendant_count, descendants),
        ] {
            let Some(field) = field else {
                continue;
            };
            for (fields, count) in expected.iter_mut().zip(counts) {
                fields.push((field, stored(count)));
            }
        }
    }

    fn bound_fields(&self, nodes: &[Node], visits: &[Visit], expected: &mut [KeptFields]) {
        let Some((left, right)) = self.tree.bounds else {
            return;
        };
        let mut next: HashMap<String, i64> = HashMap::new();
        let mut open: Vec<&Visit> = Vec::new();
        let mut close = |next: &mut HashMap<String, i64>, visit: &Visit, field: &'static str| {
            let scope = nodes
                .get(visit.position)
                .map(|node| format!("{:?}", node.scope));
            let number = next.entry(scope.unwrap_or_default()).or_insert(1);
            if let Some(fields) = expected.get_mut(visit.position) {
                fields.push((field, stored(*number)));
            }
            *number += 1;
        };
        for visit in visits {
            while let Some(top) = open.pop_if(|top| top.level >= visit.level) {
                close(&mut next, top, right);
            }
            close(&mut next, visit, left);
            open.push(visit);
        }
        while let Some(top) = open.pop() {
            close(&mut next, top, right);
        }
    }

    /// What is mended in a graph: listed children that do not exist, and numbers of children.
    fn graph_fields(&self, nodes: &[Node]) -> Result<Vec<KeptFields>> {
        let mut exists = HashSet::with_capacity(nodes.len());
        for node in nodes {
            exists.insert(id_key(&node.id)?);
        }
        let mut expected = Vec::with_capacity(nodes.len());
        for node in nodes {
            let mut children = Vec::new();
            for child in &node.children {
                if exists.contains(&id_key(child)?) {
                    children.push(child.clone());
                }
            }
            let mut fields = KeptFields::new();
            if let Some(field) = self.tree.child_count {
                let count = i64::try_from(children.len()).unwrap_or(i64::MAX);
                fields.push((field, stored(count)));
            }
            if let Some(field) = self.tree.children {
                fields.push((field, children.into()));
            }
            expected.push(fields);
        }
        Ok(expected)
    }
}

/// The roots of several trees, one list for each; other siblings are in one tree.
fn by_scope(nodes: &[Node], family: &[usize]) -> Vec<Vec<usize>> {
    let mut scopes: Vec<(Option<&Bson>, Vec<usize>)> = Vec::new();
    for position in family {
        let scope = nodes.get(*position).and_then(|node| node.scope.as_ref());
        match scopes.iter_mut().find(|(other, _)| *other == scope) {
            Some((_, list)) => list.push(*position),
            None => scopes.push((scope, vec![*position])),
        }
    }
    scopes.into_iter().map(|(_, list)| list).collect()
}
