//! Inserts of nodes that are filled with what follows from other documents.

use std::fmt;

use bson::raw::RawDocumentBuf;
use bson::{Bson, doc};

use super::load::Branches;
use super::write::{InsertedNode, NodeInsert};
use super::{InsertBranches, InsertNode, TreeWrite};
use crate::collection::decode_document;
use crate::error::{Error, Result};
use crate::exec::Channel;
use crate::model::tree::DeclaredTree;
use crate::model::{Document, ModelMeta};
use crate::store::{Afterwards, Operation, Turn};
use crate::write::{Atomic, ChecksReferences, PropagatedInsert, WriteSeveral, expect_work};

/// The insert of a node that is filled with what follows from other documents, about to be sent: [`InsertNode::propagate`].
pub type InsertNodePropagated<'s, D> = Atomic<'s, PropagatedNodes<D, NodeInsert<D>>>;

/// A bulk load of nodes that are filled with what follows from other documents, about to run: [`InsertBranches::propagate`].
pub type InsertBranchesPropagated<'s, D> = Atomic<'s, PropagatedNodes<D, Branches<D>>>;

/// The writes of an [`InsertNodePropagated`] or [`InsertBranchesPropagated`].
pub struct PropagatedNodes<D: DeclaredTree, W> {
    insert: W,
    derived: PropagatedInsert<D::Model, ()>,
}

/// An insert of nodes that can be filled.
pub trait InsertNodes<M: Document>: WriteSeveral {
    /// Fills the nodes.
    fn derived(&self) -> Result<PropagatedInsert<M, ()>>;

    /// Inserts the filled nodes.
    fn write_filled(
        &self,
        channel: &mut Channel<'_>,
        nodes: Vec<RawDocumentBuf>,
    ) -> impl Future<Output = Result<Self::Done>> + Send;

    /// Takes over what was written to the nodes besides.
    fn read_again(
        &self,
        _channel: &mut Channel<'_>,
        done: Self::Done,
    ) -> impl Future<Output = Result<Self::Done>> + Send {
        std::future::ready(Ok(done))
    }
}

impl<'s, D: DeclaredTree> InsertNode<'s, D> {
    /// Also fills what follows from other documents in the node, as [`InsertOne::propagate`](crate::collection::InsertOne::propagate)
    /// does, in the transaction of the insert: copies of fields, summaries and lists of the newest.
    ///
    /// ```
    /// use odm::prelude::*;
    /// use odm::tree::prelude::*;
    ///
    /// #[derive(Debug, Serialize, Deserialize, Document)]
    /// #[odm(collection = "authors", has_many(comments: Comment, by = author))]
    /// struct Author {
    ///     #[serde(rename = "_id")]
    ///     id: i32,
    ///     name: String,
    /// }
    ///
    /// #[derive(Debug, Serialize, Deserialize, Document)]
    /// #[odm(collection = "comments", tree(parent_references))]
    /// struct Comment {
    ///     #[serde(rename = "_id")]
    ///     id: i32,
    ///     parent: Parent<Comment>,
    ///     #[odm(index)]
    ///     author: Ref<Author>,
    ///     #[odm(copy_of(author.name))]
    ///     author_name: String,
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> odm::Result<()> {
    /// # let db = Db::memory();
    /// db.collection::<Author>().insert_one(&Author { id: 1, name: "Ada".to_owned() }).await?;
    /// let comment = Comment { id: 1, parent: Parent::default(), author: Ref::from(1), author_name: String::new() };
    /// let tree = db.tree::<Comment>();
    /// let inserted = tree.insert(&comment, Position::root()).propagate().await?;
    /// assert_eq!(inserted.node.author_name, "Ada");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`Tree::insert`](crate::tree::Tree::insert) and of
    /// [`InsertOne::propagate`](crate::collection::InsertOne::propagate); or [`non_atomic`](Atomic::non_atomic).
    pub fn propagate(self) -> InsertNodePropagated<'s, D> {
        propagated(self)
    }
}

impl<'s, D: DeclaredTree> InsertBranches<'s, D> {
    /// Also fills what follows from other documents in the nodes, with one query for each relation; see
    /// [`InsertNode::propagate`]. The load is one transaction.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::tree::prelude::*;
    /// # #[derive(Debug, Serialize, Deserialize, Document)]
    /// # #[odm(collection = "authors", has_many(comments: Comment, by = author))]
    /// # struct Author { #[serde(rename = "_id")] id: i32, name: String }
    /// # #[derive(Debug, Serialize, Deserialize, Document)]
    /// # #[odm(collection = "comments", tree(parent_references))]
    /// # struct Comment {
    /// #     #[serde(rename = "_id")] id: i32,
    /// #     parent: Parent<Comment>,
    /// #     #[odm(index)] author: Ref<Author>,
    /// #     #[odm(copy_of(author.name))] author_name: String,
    /// # }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> odm::Result<()> {
    /// # let db = Db::memory();
    /// # db.collection::<Author>().insert_one(&Author { id: 1, name: "Ada".to_owned() }).await?;
    /// # let comment = |id| Comment { id, parent: Parent::default(), author: Ref::from(1), author_name: String::new() };
    /// let tree = db.tree::<Comment>();
    /// let edges = [(comment(1), None), (comment(2), Some(Ref::<Comment>::from(1)))];
    /// tree.insert_edges(edges).propagate().await?;
    /// assert_eq!(tree.collection().count_documents(|c| c.author_name.eq("Ada")).await?, 2);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`InsertNode::propagate`].
    pub fn propagate(self) -> InsertBranchesPropagated<'s, D> {
        propagated(self)
    }
}

fn propagated<D: DeclaredTree, W: InsertNodes<D::Model>>(
    insert: Atomic<'_, W>,
) -> Atomic<'_, PropagatedNodes<D, W>> {
    insert.and_then(|insert| {
        expect_work(D::Model::model())?;
        let derived = insert.derived()?;
        Ok(PropagatedNodes { insert, derived })
    })
}

impl<D: DeclaredTree> InsertNodes<D::Model> for NodeInsert<D> {
    fn derived(&self) -> Result<PropagatedInsert<D::Model, ()>> {
        let insert = self
            .collection
            .bypass_trees()
            .insert_encoded(vec![self.document.clone()], Vec::new());
        PropagatedInsert::new(insert.encoded(true)?.0, |_| Ok(()), false)
    }

    async fn write_filled(
        &self,
        channel: &mut Channel<'_>,
        nodes: Vec<RawDocumentBuf>,
    ) -> Result<InsertedNode<D::Model>> {
        let [node] = nodes.as_slice() else {
            return Err(Error::usage("one node is inserted at a time"));
        };
        self.insert(channel, node).await
    }

    async fn read_again(
        &self,
        channel: &mut Channel<'_>,
        done: InsertedNode<D::Model>,
    ) -> Result<InsertedNode<D::Model>> {
        let model = D::Model::model();
        let id = self.document.get("_id").map_err(Error::encode)?;
        let id = id.map(Bson::try_from).transpose().map_err(Error::encode)?;
        let find = Operation::Find {
            filter: doc! {"_id": {"$eq": id}}.into(),
            one: true,
        };
        let options = channel.current().into();
        let found = channel.of(model).documents(find, options).await?;
        let node = found.first().map(|found| decode_document(found));
        Ok(InsertedNode {
            node: node.transpose()?.unwrap_or(done.node),
            ..done
        })
    }
}

impl<D: DeclaredTree> InsertNodes<D::Model> for Branches<D> {
    fn derived(&self) -> Result<PropagatedInsert<D::Model, ()>> {
        let nodes = self.documents().to_vec();
        let insert = self
            .collection
            .bypass_trees()
            .insert_encoded(nodes, Vec::new());
        PropagatedInsert::new(insert.encoded(true)?.0, |_| Ok(()), false)
    }

    async fn write_filled(
        &self,
        channel: &mut Channel<'_>,
        nodes: Vec<RawDocumentBuf>,
    ) -> Result<TreeWrite> {
        self.insert(channel, nodes).await
    }
}

impl<D: DeclaredTree, W> ChecksReferences for PropagatedNodes<D, W> {
    fn check_references(&mut self) -> Result<()> {
        self.derived.check_references()
    }
}

impl<D: DeclaredTree, W: InsertNodes<D::Model>> WriteSeveral for PropagatedNodes<D, W> {
    type Done = W::Done;

    fn model(&self) -> &'static ModelMeta {
        self.insert.model()
    }

    fn channel(&self) -> Channel<'static> {
        self.insert.channel()
    }

    async fn done(&self, in_session: bool) -> Result<Option<W::Done>> {
        self.insert.done(in_session).await
    }

    async fn turn(&self) -> Result<Turn> {
        self.insert.turn().await
    }

    fn enter(&mut self, is_callers: bool) {
        self.derived.enter(is_callers);
    }

    async fn write(&self, channel: &mut Channel<'_>) -> Result<W::Done> {
        if !channel.is_in_transaction() {
            return Err(Error::usage(
                "the insert of a node propagates in a transaction: leave `non_atomic()` out",
            ));
        }
        let mut filled = self.derived.fill_all(channel).await?;
        let nodes = std::mem::take(&mut filled.documents);
        let done = self.insert.write_filled(channel, nodes).await?;
        self.derived.follow(channel, filled).await?;
        self.insert.read_again(channel, done).await
    }

    async fn settle(&self, done: W::Done) -> Result<W::Done> {
        self.derived.look_again().await?;
        Ok(done)
    }

    fn after_commit(&self) -> Option<Afterwards> {
        self.derived.after_commit()
    }

    fn explain(&self, error: Error) -> Error {
        self.insert.explain(error)
    }
}

impl<D: DeclaredTree, W> fmt::Debug for PropagatedNodes<D, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PropagatedNodes({:?})", self.derived)
    }
}
