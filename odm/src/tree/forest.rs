//! The commands of tree operations, for one model; not generic, so that they are compiled once.

use bson::{Bson, Document, RawDocumentBuf, doc};

use super::node::{Node, id_key};
use crate::collection::equality;
use crate::error::{Error, Result, TreeError, TreeRefusal};
use crate::model::{ModelMeta, TreeMeta};
use crate::plan::Step;
use crate::query::text::escape;
use crate::store::options::{Chosen, Options};
use crate::store::{
    CollectionName, Operation, RawCursor, Request, Response, Session, Store, Written,
};

/// A session, or none, for a shorter time.
macro_rules! within {
    ($session:expr) => {
        $session.as_deref_mut()
    };
}

pub(super) use within;

/// The collection of a tree, and its declaration.
#[derive(Debug, Clone)]
pub(super) struct Forest {
    pub(super) store: Store,
    pub(super) model: &'static ModelMeta,
    pub(super) tree: &'static TreeMeta,
}

/// What a write did.
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

impl Forest {
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
        self.store.names().of(self.model.collection)
    }

    /// A step of a plan that sends these commands to the collection.
    pub(super) fn write_step(&self, commands: Vec<Document>, reason: String) -> Step {
        Step::writes(self.model, &self.collection(), commands, reason)
    }

    async fn exec<'s>(
        &self,
        session: Option<&'s mut Session>,
        operation: Operation,
        options: Chosen,
    ) -> Result<Response<'s>> {
        let mut request = Request::new(self.collection(), operation);
        request.options = options;
        let response = self.store.clone().exec(request, session).await;
        response.map_err(|error| crate::collection::refused(error, self.model))
    }

    /// Reads documents as they are stored.
    pub(super) async fn documents(
        &self,
        session: Option<&mut Session>,
        filter: Document,
        options: Options,
    ) -> Result<Vec<RawDocumentBuf>> {
        let operation = Operation::Find {
            filter: filter.into(),
            one: false,
        };
        self.read(session, operation, options.into()).await
    }

    async fn read(
        &self,
        session: Option<&mut Session>,
        operation: Operation,
        options: Chosen,
    ) -> Result<Vec<RawDocumentBuf>> {
        let mut cursor = self.exec(session, operation, options).await?.cursor()?;
        let mut documents = Vec::new();
        while let Some(next) = cursor.next().await {
            documents.push(
                next.map_err(|error| error.with_model(self.model.name))?
                    .to_owned(),
            );
        }
        Ok(documents)
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
        self.exec(None, operation, options.into()).await?.cursor()
    }

    /// Reads the kept fields of nodes.
    pub(super) async fn nodes(
        &self,
        session: Option<&mut Session>,
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
        let documents = self.documents(session, filter, options).await?;
        documents
            .iter()
            .map(|document| Node::read(self.tree, document))
            .collect()
    }

    /// Runs a pipeline.
    pub(super) async fn aggregate(
        &self,
        session: Option<&mut Session>,
        pipeline: Vec<Document>,
    ) -> Result<Vec<RawDocumentBuf>> {
        let operation = Operation::Aggregate { pipeline };
        self.read(session, operation, Chosen::default()).await
    }

    /// Counts the nodes that match.
    pub(super) async fn count(
        &self,
        session: Option<&mut Session>,
        filter: Document,
    ) -> Result<u64> {
        let operation = Operation::Count {
            filter: filter.into(),
        };
        self.exec(session, operation, Chosen::default())
            .await?
            .count()
    }

    /// Reads the kept fields of a node.
    ///
    /// # Errors
    ///
    /// There is no such node.
    pub(super) async fn node(&self, session: Option<&mut Session>, id: &Bson) -> Result<Node> {
        let found = self
            .nodes(session, doc! {"_id": equality(id.clone())}, None, Some(1))
            .await?;
        found.into_iter().next().ok_or_else(|| self.missing(id))
    }

    /// Reads the kept fields of two nodes by one command.
    ///
    /// # Errors
    ///
    /// One of them does not exist.
    pub(super) async fn pair(
        &self,
        session: Option<&mut Session>,
        one: &Bson,
        other: &Bson,
    ) -> Result<(Node, Node)> {
        let ids = doc! {"_id": {"$in": [one.clone(), other.clone()]}};
        let found = self.nodes(session, ids, None, None).await?;
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
        &self,
        session: Option<&mut Session>,
        statements: Vec<Document>,
        done: &mut TreeWrite,
    ) -> Result<()> {
        if statements.is_empty() {
            return Ok(());
        }
        let operation = Operation::Updates {
            statements: encoded(statements)?,
        };
        let written = self.written(session, operation).await?;
        done.matched += written.matched();
        done.modified += written.modified;
        Ok(())
    }

    /// Deletes the nodes that match.
    pub(super) async fn delete(
        &self,
        session: Option<&mut Session>,
        filters: Vec<Document>,
        done: &mut TreeWrite,
    ) -> Result<()> {
        let statements = filters
            .into_iter()
            .map(|filter| doc! {"q": filter, "limit": 0});
        let operation = Operation::Deletes {
            statements: encoded(statements.collect())?,
        };
        done.deleted += self.written(session, operation).await?.n;
        Ok(())
    }

    pub(super) async fn insert(
        &self,
        session: Option<&mut Session>,
        document: RawDocumentBuf,
        done: &mut TreeWrite,
    ) -> Result<()> {
        let operation = Operation::InsertOne { document };
        self.written(session, operation).await?;
        done.inserted += 1;
        Ok(())
    }

    /// Inserts encoded nodes in one command; returns how many it inserted.
    pub(super) async fn insert_many(
        &self,
        session: Option<&mut Session>,
        documents: Vec<RawDocumentBuf>,
    ) -> Result<u64> {
        let operation = Operation::InsertMany { documents };
        Ok(self.written(session, operation).await?.n)
    }

    async fn written(
        &self,
        session: Option<&mut Session>,
        operation: Operation,
    ) -> Result<Written> {
        self.exec(session, operation, Chosen::default())
            .await?
            .written()
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

pub(super) fn encoded(statements: Vec<Document>) -> Result<Vec<RawDocumentBuf>> {
    statements
        .into_iter()
        .map(|statement| RawDocumentBuf::try_from(statement).map_err(Error::encode))
        .collect()
}
