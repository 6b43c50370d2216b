//! `repair`: computes the kept fields anew, and plans the writes that put them right.

use std::collections::{HashMap, HashSet};

use bson::raw::RawDocumentBuf;
use bson::{Bson, Document, doc};

use super::survey::{Misplaced, by_scope};
use crate::collection::equality;
use crate::error::{Error, Result};
use crate::model::ModelMeta;
use crate::model::tree::{DeclaredTree, TreeMeta};
use crate::plan::{Plan, shell};
use crate::store::Store;
use crate::store::options::Options;
use crate::tree::Tree;
use crate::tree::journal::Resumed;
use crate::tree::node::{Node, agrees, child_path, id_key, raw_id_key, scope_key, stored};
use crate::tree::places::{Shape, Visit};
use crate::tree::tree_store::TreeStore;

/// The most nodes that a printed plan names.
const MAX_REASONS: usize = 100;

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
    /// # use odm::tree::prelude::*;
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
        plan(self.tree_store()).await
    }
}

/// Plans the writes that make the kept fields of a tree agree with each other.
pub(crate) async fn repair_tree(
    store: &Store,
    model: &'static ModelMeta,
    tree: &'static TreeMeta,
) -> Result<Plan> {
    plan(TreeStore::of(store, model, tree)).await
}

async fn plan(mut tree_store: TreeStore<'_>) -> Result<Plan> {
    let options = Options {
        projection: Some(Node::projection(tree_store.tree)),
        sort: tree_store.pre_order_sort(),
        ..Options::default()
    };
    let documents = tree_store.documents(Document::new(), options).await?;
    let Resumed {
        documents,
        nodes,
        last,
        before: mut steps,
        after,
    } = tree_store.resumed(documents).await?;
    let mut survey = None;
    let mut expected = if tree_store.tree.is_graph {
        tree_store.graph_fields(&nodes)?
    } else {
        let survey = survey.insert(tree_store.survey(&nodes)?);
        tree_store.expected_fields(&nodes, &survey.shape)?
    };
    if let Some(order) = tree_store.tree.order {
        for (fields, node) in expected.iter_mut().zip(&nodes) {
            // A rank that stays may come from the record of a change.
            let is_ranked = fields.iter().any(|(field, _)| *field == order);
            let rank = node.rank.clone().filter(|_| !is_ranked);
            fields.extend(rank.map(|rank| (order, rank.into())));
        }
    }
    let mut statements = Vec::new();
    let mut reasons = Vec::new();
    for (position, (document, expected)) in documents.iter().zip(expected).enumerate() {
        let Some(statement) = statement(document, expected)? else {
            continue;
        };
        if reasons.len() < MAX_REASONS {
            let survey = survey.as_ref();
            let fault = survey.and_then(|survey| survey.fault(position));
            let is_root = survey.is_some_and(|survey| survey.parent(position).is_none());
            reasons.push(reason(&statement, fault.filter(|_| is_root)));
        }
        statements.push(statement);
    }
    statements.sort_by_key(|statement| {
        let id = written(statement).map(|(id, _)| id);
        id.is_some_and(|id| last.contains(id))
    });
    tree_store.check_repaired(&documents, &statements).await?;
    if !statements.is_empty() {
        let count = statements.len();
        if count > reasons.len() {
            let more = count - reasons.len();
            reasons.push(format!(
                "and {more} more: the commands of the plan hold all"
            ));
        }
        let nodes = if count == 1 {
            "node contradicts"
        } else {
            "nodes contradict"
        };
        let summary = format!("{count} {nodes} the tree in the kept fields");
        reasons.insert(0, summary);
        let command = doc! {
            "update": tree_store.collection(),
            "updates": statements,
            "ordered": false,
        };
        let mut step = tree_store.write_step(vec![command], String::new());
        step.reasons = reasons;
        steps.push(step);
    }
    steps.extend(after);
    Ok(Plan::new(tree_store.store().clone(), steps))
}

/// The update of a node whose fields differ from the expected ones.
pub(in crate::tree) fn statement(
    document: &RawDocumentBuf,
    expected: KeptFields,
) -> Result<Option<Document>> {
    let own = Document::try_from(&**document).map_err(Error::encode)?;
    let id = own.get("_id").cloned().unwrap_or(Bson::Null);
    let mut filter = doc! {"_id": equality(id)};
    let mut set = Document::new();
    for (field, value) in expected {
        let before = own.get(field);
        if before.is_some_and(|before| agrees(before, &value)) {
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

/// The line of a plan about a node: which fields it changes, and whether the node becomes a root.
fn reason(statement: &Document, fault: Option<&Misplaced>) -> String {
    let before = statement.get_document("q").ok();
    let (id, after) = written(statement).unzip();
    let operand = |field: &str, operator: &str| before?.get_document(field).ok()?.get(operator);
    let changes = after.into_iter().flatten().map(|(field, value)| {
        let before = operand(field, "$eq").map_or("missing".to_owned(), shell::value);
        format!("{field} {before} → {}", shell::value(value))
    });
    let changes = changes.collect::<Vec<_>>().join(", ");
    let root = match fault {
        None => String::new(),
        Some(Misplaced::Orphan(parent)) => {
            let parent = shell::value(parent);
            format!("; it becomes a root: there is no node {parent}")
        }
        Some(Misplaced::Circle) => "; it becomes a root: its parents lead back to it".to_owned(),
        Some(Misplaced::OtherScope(parent)) => {
            let parent = shell::value(parent);
            format!("; it becomes a root: its parent {parent} is in another tree")
        }
        Some(Misplaced::Unknown) => "; it becomes a root: no field names its parent".to_owned(),
    };
    format!(
        "{}: {changes}{root}",
        id.map(shell::value).unwrap_or_default()
    )
}

/// Kept fields with their values.
pub(in crate::tree) type KeptFields = Vec<(&'static str, Bson)>;

impl TreeStore<'_> {
    /// Refuses a plan by which a node would get a place that a unique index does not allow: applied, it would fail each time.
    async fn check_repaired(
        &mut self,
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
        self.check_placings(&placings, |id| !stay.contains(id))
            .await
            .map_err(|error| error.context("repairing the tree"))
    }

    /// The kept fields that each node should have, by the tree that their source describes.
    pub(in crate::tree) fn expected_fields(
        &self,
        nodes: &[Node],
        shape: &Shape,
    ) -> Result<Vec<KeptFields>> {
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
            self.own_fields(fields, &lineage, paths.last().and_then(Option::as_ref));
            lineage.push(node.id.clone());
            if has_families {
                let family = families.entry(visit.parent).or_default();
                family.push(visit.position);
            }
        }
        self.family_fields(nodes, &families, &mut expected)?;
        self.count_fields(&shape.counts(&visits), &mut expected);
        self.bound_fields(nodes, &visits, &mut expected);
        Ok(expected)
    }

    /// The fields that depend on the ancestors, the root first.
    fn own_fields(&self, fields: &mut KeptFields, lineage: &[Bson], path: Option<&String>) {
        let tree = self.tree;
        if let Some((field, root)) = tree.parent {
            let id = lineage.last().cloned();
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
            for (position, rank) in self.missing_ranks(nodes, &siblings)? {
                if let Some(fields) = expected.get_mut(position) {
                    fields.push((field, rank.into()));
                }
            }
        }
        Ok(())
    }

    fn count_fields(&self, counts: &[(i64, i64)], expected: &mut [KeptFields]) {
        let tree = self.tree;
        for (fields, (children, descendants)) in expected.iter_mut().zip(counts) {
            let kept = [
                (tree.child_count, children),
                (tree.descendant_count, descendants),
            ];
            let kept = kept.into_iter();
            fields.extend(kept.filter_map(|(field, count)| Some((field?, stored(*count)))));
        }
    }

    fn bound_fields(&self, nodes: &[Node], visits: &[Visit], expected: &mut [KeptFields]) {
        let Some((left, right)) = self.tree.bounds else {
            return;
        };
        let mut next: HashMap<Option<Vec<u8>>, i64> = HashMap::new();
        let mut open: Vec<&Visit> = Vec::new();
        let mut close =
            |next: &mut HashMap<Option<Vec<u8>>, i64>, visit: &Visit, field: &'static str| {
                let scope = nodes
                    .get(visit.position)
                    .and_then(|node| node.scope.as_ref());
                let number = next.entry(scope_key(scope)).or_insert(1);
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
            let mut listed = HashSet::new();
            for child in &node.children {
                let key = id_key(child)?;
                if exists.contains(&key) && listed.insert(key) {
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
