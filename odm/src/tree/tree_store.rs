//! The commands of tree operations, for one model; not generic, so that they are compiled once.

use bson::{Bson, Document, RawDocumentBuf, doc};

use super::node::{Node, id_key};
use super::places::Ways;
use crate::collection::equality;
use crate::error::{Error, Result, TreeError, TreeRefusal};
use crate::exec::Channel;
use crate::model::{ModelMeta, TreeMeta};
use crate::plan::Step;
use crate::query::text::escape;
use crate::store::options::{Chosen, Options};
use crate::store::{CollectionName, Operation, RawCursor, Session, Store};

/// The collection of a tree, and its declaration.
#[derive(Debug)]
pub(super) struct TreeStore<'s> {
    pub(super) channel: Channel<'s>,
    pub(super) model: &'static ModelMeta,
    pub(super) tree: &'static TreeMeta,
    pub(super) ways: Ways,
}

/// The result of a write.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TreeWrite {
    /// How many nodes were inserted.
    pub inserted: u64,
    /// How many documents the updates matched.
    pub matched: u64,
    /// How many documents the updates changed.
    pub modified: u64,
    /// How many nodes were deleted.
    pub deleted: u64,
}

impl TreeStore<'static> {
    pub(super) fn of(store: &Store, model: &'static ModelMeta, tree: &'static TreeMeta) -> Self {
        Self {
            channel: Channel::new(store.clone(), None),
            model,
            tree,
            ways: Ways::of(tree),
        }
    }
}

impl TreeStore<'_> {
    /// The error for a change that the tree does not take. It names the tree, if the model has several.
    pub(super) fn refused(&self, refusal: TreeRefusal, message: impl Into<String>) -> Error {
        let mut message = message.into();
        if !self.tree.name.is_empty() {
            message = format!("in the tree `{}`: {message}", self.tree.name);
        }
        Error::new(TreeError::new(refusal, message)).with_model(self.model.name)
    }

    /// The name of the collection of the nodes.
    pub(super) fn collection(&self) -> CollectionName {
        self.channel.collection(self.model)
    }

    /// A step of a plan that sends these commands to the collection.
    pub(super) fn write_step(&self, commands: Vec<Document>, reason: String) -> Step {
        Step::writes(self.model, &self.collection(), commands, reason)
    }

    pub(super) fn store(&self) -> &Store {
        self.channel.store()
    }

    /// The same tree in this session, or in none.
    pub(super) fn in_session<'b>(&self, session: Option<&'b mut Session>) -> TreeStore<'b> {
        TreeStore {
            channel: self.channel.in_session(session),
            model: self.model,
            tree: self.tree,
            ways: self.ways,
        }
    }

    /// The same tree, where the commands of this channel go.
    pub(super) fn on<'b>(&self, channel: &'b mut Channel<'_>) -> TreeStore<'b> {
        TreeStore {
            channel: channel.reborrow(),
            model: self.model,
            tree: self.tree,
            ways: self.ways,
        }
    }

    /// Another tree of the model, in the same session.
    pub(super) fn other(&mut self, tree: &'static TreeMeta) -> TreeStore<'_> {
        TreeStore {
            channel: self.channel.reborrow(),
            model: self.model,
            tree,
            ways: Ways::of(tree),
        }
    }

    /// Reads documents as they are stored.
    pub(super) async fn documents(
        &mut self,
        filter: Document,
        options: Options,
    ) -> Result<Vec<RawDocumentBuf>> {
        let operation = Operation::Find {
            filter: filter.into(),
            one: false,
        };
        let nodes = self.channel.of(self.model);
        nodes.documents(operation, options.into()).await
    }

    /// Reads the kept fields of nodes, a batch at a time.
    pub(super) async fn open(
        &self,
        filter: Document,
        sort: Option<Document>,
    ) -> Result<RawCursor<'static>> {
        let operation = Operation::Find {
            filter: filter.into(),
            one: false,
        };
        let options = Options {
            projection: Some(Node::projection(self.tree)),
            sort,
            ..Options::default()
        };
        let options = options.into();
        self.channel.cursor(self.model, operation, options).await
    }

    /// Reads the kept fields of nodes.
    pub(super) async fn nodes(
        &mut self,
        filter: Document,
        sort: Option<Document>,
        limit: Option<i64>,
    ) -> Result<Vec<Node>> {
        let options = Options {
            projection: Some(Node::projection(self.tree)),
            sort,
            limit,
            ..Options::default()
        };
        let documents = self.documents(filter, options).await?;
        documents
            .iter()
            .map(|document| Node::read(self.tree, document))
            .collect()
    }

    /// Runs a pipeline.
    pub(super) async fn aggregate(
        &mut self,
        pipeline: Vec<Document>,
    ) -> Result<Vec<RawDocumentBuf>> {
        let operation = Operation::Aggregate { pipeline };
        let nodes = self.channel.of(self.model);
        nodes.documents(operation, Chosen::default()).await
    }

    /// Counts the nodes that match.
    pub(super) async fn count(&mut self, filter: Document) -> Result<u64> {
        let operation = Operation::Count {
            filter: filter.into(),
        };
        let nodes = self.channel.of(self.model);
        nodes.count(operation, Chosen::default()).await
    }

    /// Reads the kept fields of a node.
    ///
    /// # Errors
    ///
    /// There is no such node.
    pub(super) async fn node(&mut self, id: &Bson) -> Result<Node> {
        let found = self
            .nodes(doc! {"_id": equality(id.clone())}, None, Some(1))
            .await?;
        found.into_iter().next().ok_or_else(|| self.missing(id))
    }

    /// Reads the kept fields of two nodes by one command.
    ///
    /// # Errors
    ///
    /// One of them does not exist.
    pub(super) async fn pair(&mut self, one: &Bson, other: &Bson) -> Result<(Node, Node)> {
        let ids = doc! {"_id": {"$in": [one.clone(), other.clone()]}};
        let found = self.nodes(ids, None, None).await?;
        let pick = |id: &Bson| {
            let wanted = id_key(id)?;
            for node in &found {
                if id_key(&node.id)? == wanted {
                    return Ok(node.clone());
                }
            }
            Err(self.missing(id))
        };
        Ok((pick(one)?, pick(other)?))
    }

    /// The error for an id that no node has.
    pub(super) fn missing(&self, id: &Bson) -> Error {
        let message = format!("there is no node with the id {id}");
        self.refused(TreeRefusal::NotFound, message)
    }

    /// Sends update statements in one command.
    pub(super) async fn update(
        &mut self,
        statements: Vec<Document>,
        done: &mut TreeWrite,
    ) -> Result<()> {
        if statements.is_empty() {
            return Ok(());
        }
        let written = self.channel.of(self.model).update(statements).await?;
        done.matched += written.matched();
        done.modified += written.modified;
        Ok(())
    }

    /// Deletes the nodes that match.
    pub(super) async fn delete(
        &mut self,
        filters: Vec<Document>,
        done: &mut TreeWrite,
    ) -> Result<()> {
        done.deleted += self.channel.of(self.model).delete(filters).await?;
        Ok(())
    }

    pub(super) async fn insert(
        &mut self,
        document: RawDocumentBuf,
        done: &mut TreeWrite,
    ) -> Result<()> {
        let operation = Operation::InsertOne { document };
        let nodes = self.channel.of(self.model);
        nodes.send(operation, Chosen::default()).await?.written()?;
        done.inserted += 1;
        Ok(())
    }

    /// Inserts encoded nodes in one command; returns how many it inserted.
    pub(super) async fn insert_many(&mut self, documents: Vec<RawDocumentBuf>) -> Result<u64> {
        self.channel.of(self.model).insert(documents).await
    }

    /// The filter, restricted to one tree.
    pub(super) fn in_scope(&self, scope: Option<&Bson>, filter: Document) -> Document {
        let mut scoped = Document::new();
        if let (Some(field), Some(scope)) = (self.tree.scope, scope) {
            scoped.insert(field, equality(scope.clone()));
        }
        scoped.extend(filter);
        scoped
    }
}

/// An anchored pattern for strings that start with `prefix`, which is literal text.
pub(super) fn starting_with(prefix: &str) -> Bson {
    doc! {"$regex": format!("^{}", escape(prefix))}.into()
}
