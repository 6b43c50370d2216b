//! Conversions of a collection from one tree to another.

use bson::raw::{RawDocument, RawDocumentBuf};
use bson::{Bson, Document, doc};

use super::Tree;
use super::check::statement;
use super::node::{Node, same_scope};
use super::places::Shape;
use super::tree_store::TreeStore;
use crate::collection::equality;
use crate::error::{Error, Result, TreeRefusal};
use crate::model::TreeMeta;
use crate::model::tree::SingleParent;
use crate::plan::{Plan, Step};
use crate::store::options::Options;

impl<D: SingleParent> Tree<D> {
    /// Plans the writes that store the tree `old` in the fields of this one: print the plan, then apply it.
    ///
    /// Both are trees of the same collection: usually of two models, the one that the collection was written with and its
    /// successor with another pattern. The fields of `old` stay, so programs that use it go on meanwhile, and a conversion
    /// that was interrupted is resumed by another plan, which holds only what is left. Siblings keep their order; where
    /// `old` has none, they come in the order of their ids.
    ///
    /// Each write matches the values that were read. If the old tree changes in the meantime, the next plan holds the
    /// difference: plan again until the plan is empty. Then deploy the new model, and remove the old fields with
    /// [`remove_fields_of`](Self::remove_fields_of).
    ///
    /// The kept fields of all nodes are in memory meanwhile.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::tree::prelude::*;
    /// #[derive(Debug, Serialize, Deserialize, Document)]
    /// #[odm(collection = "categories", tree(parent_references))]
    /// struct ByParent {
    ///     #[serde(rename = "_id")]
    ///     id: String,
    ///     parent: Parent<ByParent>,
    /// }
    ///
    /// #[derive(Debug, Serialize, Deserialize, Document)]
    /// #[odm(collection = "categories", tree(materialized_path))]
    /// struct ByPath {
    ///     #[serde(rename = "_id")]
    ///     id: String,
    ///     path: Materialized<ByPath>,
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> odm::Result<()> {
    /// # let db = Db::memory();
    /// let (old, new) = (db.tree::<ByParent>(), db.tree::<ByPath>());
    /// # let node = |id: &str| ByParent { id: id.to_owned(), parent: Parent::default() };
    /// # old.insert_edges([(node("Books"), None), (node("Fiction"), Some(Ref::from("Books")))]).await?;
    /// let plan = new.convert_from(&old).await?;
    /// println!("{plan}");
    /// plan.apply(Allow::WRITE).await?;
    /// assert!(new.convert_from(&old).await?.is_empty());
    ///
    /// new.remove_fields_of(&old).await?.apply(Allow::WRITE).await?;
    /// let below: Vec<ByPath> = new.descendants(Ref::from("Books")).all().await?;
    /// assert_eq!(below[0].path.as_str(), Some(",Books,"));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The trees are in different collections, or a field means different things in them.
    /// [`tree_refusal`](Error::tree_refusal): [`check`](Self::check) finds damage in the old tree, a node is too deep for
    /// the new one, its id can't be part of a path, or a parent and its child have different scopes.
    pub async fn convert_from<O: SingleParent>(&self, old: &Tree<O>) -> Result<Plan> {
        let new = self.tree_store();
        let statements = new.conversion(old).await?;
        let mut steps = Vec::new();
        if !statements.is_empty() {
            let reason = format!(
                "{} nodes are stored as the old tree alone has them",
                statements.len()
            );
            steps.push(updates(&new, statements, reason));
        }
        Ok(Plan::new(new.store().clone(), steps))
    }

    /// Plans the removal of the fields that only the tree `old` keeps, after [`convert_from`](Self::convert_from). Fields
    /// that the model of this tree declares stay. A removal that was interrupted is resumed by another plan.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::tree::prelude::*;
    /// # #[derive(Debug, Serialize, Deserialize, Document)]
    /// # #[odm(collection = "categories", tree(parent_references))]
    /// # struct ByParent { #[serde(rename = "_id")] id: String, parent: Parent<ByParent> }
    /// # #[derive(Debug, Serialize, Deserialize, Document)]
    /// # #[odm(collection = "categories", tree(materialized_path))]
    /// # struct ByPath { #[serde(rename = "_id")] id: String, path: Materialized<ByPath> }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = Db::memory();
    /// # let (old, new) = (db.tree::<ByParent>(), db.tree::<ByPath>());
    /// # let books = ByParent { id: "Books".to_owned(), parent: Parent::default() };
    /// # old.insert(books, Position::root()).await?;
    /// new.convert_from(&old).await?.apply(Allow::WRITE).await?;
    /// let plan = new.remove_fields_of(&old).await?;
    /// println!("{plan}");
    /// plan.apply(Allow::WRITE).await?;
    /// assert!(new.remove_fields_of(&old).await?.is_empty());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`tree_refusal`](Error::tree_refusal): the conversion is not complete. Nodes lack fields of this tree, or the trees
    /// differ.
    pub async fn remove_fields_of<O: SingleParent>(&self, old: &Tree<O>) -> Result<Plan> {
        let new = self.tree_store();
        comparable(&old.tree_store(), &new)?;
        let declared = (new.model.embedded)().fields;
        let is_declared = |field: &str| declared.iter().any(|one| one.name == field);
        let fields = O::TREE.fields().filter(|field| !is_declared(field));
        let fields: Vec<&str> = fields.collect();
        let documents = both(&mut old.tree_store(), &new).await?;
        for document in &documents {
            if let Some(field) = new.tree.fields().find(|field| !has(document, field)) {
                return Err(incomplete(&new, document, field));
            }
        }
        let has_begun = documents
            .iter()
            .any(|document| fields.iter().any(|field| !has(document, field)));
        if !has_begun && !new.conversion(old).await?.is_empty() {
            return Err(new.refused(
                TreeRefusal::Damaged,
                "the old tree differs from the new one: plan `convert_from` again, and apply it",
            ));
        }
        let mut statements = Vec::new();
        for document in &documents {
            let mut unset = Document::new();
            for field in fields.iter().filter(|field| has(document, field)) {
                unset.insert(*field, "");
            }
            if !unset.is_empty() {
                let filter = doc! {"_id": equality(id_of(document)?)};
                statements.push(doc! {"q": filter, "u": {"$unset": unset}});
            }
        }
        let mut steps = Vec::new();
        if !statements.is_empty() {
            let reason = format!("only the old tree keeps {}", fields.join(", "));
            steps.push(updates(&new, statements, reason));
        }
        Ok(Plan::new(new.store().clone(), steps))
    }
}

impl TreeStore<'_> {
    /// The update statements that store another tree of the collection in the fields of this one.
    async fn conversion<O: SingleParent>(&self, old: &Tree<O>) -> Result<Vec<Document>> {
        comparable(&old.tree_store(), self)?;
        let documents = both(&mut old.tree_store(), self).await?;
        for document in &documents {
            if let Some(field) = O::TREE.fields().find(|field| !has(document, field)) {
                return Err(incomplete(&old.tree_store(), document, field));
            }
        }
        let report = old.check().await?;
        if let Some(damage) = report.listed.first() {
            return Err(self.refused(
                TreeRefusal::Damaged,
                format!(
                    "the old tree is damaged, repair it first: {damage}; {} in all",
                    report.damages
                ),
            ));
        }
        let old = &old.tree_store();
        let source = old.ways.parent.fields();
        let mut before = Vec::with_capacity(documents.len());
        let mut nodes = Vec::with_capacity(documents.len());
        for document in &documents {
            before.push(Node::read(old.tree, document)?);
            let node = Node::read(self.tree, document)?;
            self.check_id(&node.id)?;
            nodes.push(Node {
                parent: None,
                ..node
            });
        }
        let shape = old.arrange(&before)?;
        self.check_shape(&nodes, &shape)?;
        let expected = self.expected_fields(&nodes, &shape)?;
        let mut statements = Vec::new();
        for (document, expected) in documents.iter().zip(expected) {
            let Some(mut update) = statement(document, expected)? else {
                continue;
            };
            // A node that has moved in the old tree since is left to the next plan.
            if let Ok(filter) = update.get_document_mut("q") {
                for field in &source {
                    if !filter.contains_key(field) {
                        let value = document.get(field).map_err(Error::encode)?;
                        let value = value.map(Bson::try_from).transpose();
                        let value = value.map_err(Error::encode)?.unwrap_or(Bson::Null);
                        filter.insert(*field, doc! {"$eq": value});
                    }
                }
            }
            statements.push(update);
        }
        Ok(statements)
    }

    /// Refuses shapes that this tree does not take.
    fn check_shape(&self, nodes: &[Node], shape: &Shape) -> Result<()> {
        for visit in shape.visits() {
            self.check_level(visit.level)?;
            let parent = visit.parent.and_then(|parent| nodes.get(parent));
            if let (Some(node), Some(parent)) = (nodes.get(visit.position), parent)
                && !same_scope(node.scope.as_ref(), parent.scope.as_ref())
            {
                return Err(self.refused(
                    TreeRefusal::OtherTree,
                    format!(
                        "the node {} and its parent {} would be in different trees: their `{}` differs",
                        node.id,
                        parent.id,
                        self.tree.scope.unwrap_or_default()
                    ),
                ));
            }
        }
        Ok(())
    }
}

/// Refuses trees of different collections, and trees that can't both be stored while one becomes the other.
fn comparable(old: &TreeStore<'_>, new: &TreeStore<'_>) -> Result<()> {
    let refused = |message: String| Err(Error::usage(message).with_model(new.model.name));
    if old.collection() != new.collection() {
        return refused(format!(
            "the trees are in the collections `{}` and `{}`: to copy a tree, read its documents and pass them to `insert_edges`",
            old.collection(),
            new.collection()
        ));
    }
    let (before, after) = (roles(old.tree), roles(new.tree));
    for (field, role) in &before {
        if let Some((_, other)) = after.iter().find(|(name, _)| name == field)
            && role != other
        {
            return refused(format!(
                "`{field}` is {role} in the old tree and {other} in the new one: give the new one another name"
            ));
        }
    }
    let shared = old.tree.bounds.is_some() && old.tree.bounds == new.tree.bounds;
    if shared && old.tree.scope != new.tree.scope {
        return refused(
            "bounds are counted within a scope, and the two trees have different scopes: give the new bounds other names"
                .to_owned(),
        );
    }
    Ok(())
}

/// The content of each kept field.
fn roles(tree: &TreeMeta) -> Vec<(&'static str, String)> {
    let named = |field: Option<&'static str>, role: &str| field.map(|field| (field, role.into()));
    let parent = tree.parent.map(|(field, root)| {
        let role = format!("the parent, {} at roots", root.value());
        (field, role)
    });
    let (left, right) = tree.bounds.unzip();
    [
        parent,
        named(tree.children, "the list of children"),
        named(tree.ancestors, "the array of ancestors"),
        named(tree.path.map(|(field, _)| field), "the path"),
        named(left, "the left bound"),
        named(right, "the right bound"),
        named(tree.depth, "the depth"),
        named(tree.order, "the rank"),
        named(tree.child_count, "the number of children"),
        named(tree.descendant_count, "the number of descendants"),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// The kept fields of both trees, of all nodes.
async fn both(old: &mut TreeStore<'_>, new: &TreeStore<'_>) -> Result<Vec<RawDocumentBuf>> {
    let mut projection = Node::projection(old.tree);
    projection.extend(Node::projection(new.tree));
    let options = Options {
        projection: Some(projection),
        sort: Some(old.pre_order_sort().unwrap_or_else(|| doc! {"_id": 1})),
        ..Options::default()
    };
    old.documents(Document::new(), options).await
}

fn has(document: &RawDocument, field: &str) -> bool {
    document.get(field).is_ok_and(|value| value.is_some())
}

fn id_of(document: &RawDocument) -> Result<Bson> {
    let id = document.get("_id").ok().flatten();
    let id = id.ok_or_else(|| Error::malformed_reply("an `_id`"))?;
    Bson::try_from(id).map_err(Error::encode)
}

fn incomplete(tree_store: &TreeStore<'_>, document: &RawDocument, field: &str) -> Error {
    let id = id_of(document).unwrap_or(Bson::Null);
    tree_store.refused(
        TreeRefusal::Damaged,
        format!(
            "the node {id} lacks `{field}`: `repair` adds it; if the fields of this tree are being removed after a conversion, complete that with `remove_fields_of`"
        ),
    )
}

fn updates(tree_store: &TreeStore<'_>, statements: Vec<Document>, reason: String) -> Step {
    let command = doc! {
        "update": tree_store.collection(),
        "updates": statements,
        "ordered": false,
    };
    tree_store.write_step(vec![command], reason)
}
