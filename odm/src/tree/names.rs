//! Paths of names: a root's name, then that of its child, and so on.

use std::fmt;
use std::marker::PhantomData;

use bson::raw::RawDocumentBuf;
use bson::{Bson, Document as BsonDocument, doc};
use futures_core::future::BoxFuture;

use super::at_once::{Reads, at_once};
use super::load::Loading;
use super::node::{Node, id_key};
use super::places::ChildrenBy;
use super::position::Target;
use super::queue::TurnOf;
use super::tree_store::{TreeStore, TreeWrite};
use super::write::InsertedNode;
use super::{NodeId, Tree};
use crate::collection::{decode_document, encode_with_id};
use crate::error::{Error, Result};
use crate::exec::Channel;
use crate::model::tree::{DeclaredTree, SingleParent};
use crate::model::{Document, Embedded, ModelMeta};
use crate::query::encode::Encode;
use crate::query::{Field, Filter, FilterFn, IntoValue, fields};
use crate::store::options::Options;
use crate::store::{Session, Turn};
use crate::write::{Atomic, WriteSeveral};

/// A search for the node with a path of names, about to run: [`Tree::find_by_names`].
#[must_use = "nothing is read until it is awaited"]
pub struct FindByNames<'s, D: DeclaredTree> {
    tree_store: TreeStore<'static>,
    walk: Result<Walk>,
    filter: Filter<D::Model>,
    session: Option<&'s mut Session>,
}

/// A search for the node with a path of names that inserts the nodes that are missing, about to run:
/// [`Tree::find_or_insert_by_names`]. It runs as [`ChangeTree`](super::ChangeTree) does.
pub type FindOrInsertByNames<'s, D> = Atomic<'s, MissingNodes<D>>;

/// The writes of a [`FindOrInsertByNames`].
pub struct MissingNodes<D> {
    tree_store: TreeStore<'static>,
    walk: Walk,
    documents: Vec<RawDocumentBuf>,
    scope: Option<Bson>,
    of: PhantomData<fn() -> D>,
}

/// A path of names, from the roots or from a node.
#[derive(Debug)]
struct Walk {
    below: Option<Bson>,
    /// A filter for each name.
    names: Vec<BsonDocument>,
}

/// How far a path of names leads.
struct Found {
    /// How many of the names were found.
    names: usize,
    /// The node with the last name that was found.
    last: Option<Node>,
}

impl<D: SingleParent> Tree<D> {
    /// Finds the node to which a path of names leads: the first is the name of a root, each other one that of a child.
    ///
    /// It sends a query for each name; on patterns that store neither the parent nor the children, and for the roots of
    /// child references, one more for each node with that name. If several siblings have the same name, the search follows
    /// all of them.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::tree::prelude::*;
    /// #[derive(Debug, Clone, Serialize, Deserialize, Document)]
    /// #[odm(collection = "categories", tree(parent_references, unique_among_siblings(name)))]
    /// struct Category {
    ///     #[serde(rename = "_id")]
    ///     id: Id<Category>,
    ///     parent: Parent<Category>,
    ///     name: String,
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> odm::Result<()> {
    /// # let db = Db::memory();
    /// let tree = db.tree::<Category>();
    /// let new = |name: &&str| Category { id: Id::new(), parent: Parent::default(), name: (*name).to_owned() };
    /// let names = ["Books", "Programming", "Databases"];
    /// let databases = tree.find_or_insert_by_names(|c| c.name, names, new).await?;
    /// assert_eq!(databases.written.inserted, 3);
    ///
    /// let found = tree.find_by_names(|c| c.name, names).await?;
    /// assert_eq!(found.unwrap().id, databases.node.id);
    /// assert!(tree.find_by_names(|c| c.name, ["Databases"]).await?.is_none());
    /// # Ok(())
    /// # }
    /// ```
    pub fn find_by_names<'s, T, E: Encode<T>, N: IntoValue<T>>(
        &self,
        field: impl FnOnce(<D::Model as Embedded>::Fields<D::Model>) -> Field<D::Model, T, E>,
        names: impl IntoIterator<Item = N>,
    ) -> FindByNames<'s, D> {
        let field = field(fields::<D::Model>());
        let names = names.into_iter();
        let names = names.map(|name| field.eq(name).into_document());
        FindByNames {
            tree_store: self.tree_store(),
            walk: names
                .collect::<Result<_>>()
                .map(|names| Walk { below: None, names }),
            filter: Filter::all(),
            session: None,
        }
    }

    /// Finds the node to which a path of names leads, as [`find_by_names`](Self::find_by_names) does, and inserts the nodes
    /// that are missing on the way. `new` makes the document for a name; the tree writes the fields that it keeps.
    ///
    /// If the whole path exists, nothing is written. Otherwise it runs again in a transaction behind the tree's fence, so
    /// concurrent calls insert each node once. [`InsertedNode::written`] says how many nodes were inserted.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/categories.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = five_categories().await?;
    /// # let tree = db.tree::<Category>();
    /// let names = ["Books", "Music", "Scores"];
    /// let scores = tree.find_or_insert_by_names(|c| c.id, names, |name| new(name)).await?;
    /// assert_eq!(scores.written.inserted, 2);
    /// assert_eq!(scores.node.path.as_str(), Some(",Books,Music,"));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The path has no names. [`tree_refusal`](Error::tree_refusal): a node is too deep, or in another tree.
    pub fn find_or_insert_by_names<'s, T, E: Encode<T>, N: IntoValue<T> + Clone>(
        &self,
        field: impl FnOnce(<D::Model as Embedded>::Fields<D::Model>) -> Field<D::Model, T, E>,
        names: impl IntoIterator<Item = N>,
        mut new: impl FnMut(&N) -> D::Model,
    ) -> FindOrInsertByNames<'s, D> {
        let names: Vec<N> = names.into_iter().collect();
        let documents = names.iter().map(|name| {
            let (document, _) = encode_with_id(&new(name))?;
            Ok(document)
        });
        let documents: Result<Vec<_>> = documents.collect();
        let find = self.find_by_names(field, names);
        let writes = documents.and_then(|documents| {
            let first = documents.first();
            let first = first.ok_or_else(|| Error::usage("a path of names needs a name"))?;
            Ok(MissingNodes {
                scope: find.tree_store.scope_of(first)?,
                tree_store: find.tree_store,
                walk: find.walk?,
                documents,
                of: PhantomData,
            })
        });
        Atomic::new(writes, D::Model::model())
    }
}

impl<'s, D: DeclaredTree> FindByNames<'s, D> {
    /// Starts at a node instead of the roots: the first name is that of one of its children.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/categories.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = five_categories().await?;
    /// # let tree = db.tree::<Category>();
    /// let found = tree.find_by_names(|c| c.id, ["Languages"]).below(node("Programming")).await?;
    /// assert_eq!(found.map(|category| category.id), Some("Languages".to_owned()));
    /// # Ok(())
    /// # }
    /// ```
    pub fn below(mut self, node: impl NodeId<D::Model>) -> Self {
        self.walk = self.walk.and_then(|walk| walk.below(node.stored_id()));
        self
    }

    /// Follows only nodes that match: those of one scope, for example.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::tree::prelude::*;
    /// # #[derive(Debug, Serialize, Deserialize, Document)]
    /// # #[odm(collection = "folders", tree(materialized_path, scope = disk))]
    /// # struct Folder {
    /// #     #[serde(rename = "_id")] id: i32,
    /// #     path: Materialized<Folder>,
    /// #     disk: String,
    /// #     name: String,
    /// # }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let tree = Db::memory().tree::<Folder>();
    /// # let folder = |id, disk: &str| {
    /// #     let (disk, name) = (disk.to_owned(), "usr".to_owned());
    /// #     Folder { id, path: Materialized::default(), disk, name }
    /// # };
    /// tree.insert(folder(1, "c"), Position::root()).await?;
    /// tree.insert(folder(2, "d"), Position::root()).await?;
    /// let found = tree.find_by_names(|f| f.name, ["usr"]).filter(|f| f.disk.eq("d")).await?;
    /// assert_eq!(found.map(|folder| folder.id), Some(2));
    /// # Ok(())
    /// # }
    /// ```
    pub fn filter(mut self, condition: impl FilterFn<D::Model>) -> Self {
        self.filter &= condition(fields::<D::Model>());
        self
    }

    /// Reads in this session.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/categories.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = five_categories().await?;
    /// # let tree = db.tree::<Category>();
    /// let mut session = db.start_session().await?;
    /// session.start_transaction().await?;
    /// tree.insert(new("Music"), Position::root()).session(&mut session).await?;
    /// let found = tree.find_by_names(|c| c.id, ["Music"]).session(&mut session).await?;
    /// assert!(found.is_some());
    /// # Ok(())
    /// # }
    /// ```
    pub fn session(mut self, session: &'s mut Session) -> Self {
        self.session = Some(session);
        self
    }

    async fn run(self) -> Result<Option<D::Model>> {
        let name = self.tree_store.model.name;
        let walk = self.walk.map_err(|error| error.with_model(name))?;
        let filter = self.filter.to_document()?;
        let tree_store = self.tree_store;
        let document = at_once!(tree_store, self.session, true, |tree_store| tree_store
            .named_document(&walk, None, &filter))?;
        document
            .map(|document| decode_document(&document))
            .transpose()
    }
}

impl<D: DeclaredTree> FindOrInsertByNames<'_, D> {
    /// Starts at a node instead of the roots: the first name is that of one of its children.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/categories.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = five_categories().await?;
    /// # let tree = db.tree::<Category>();
    /// let find = tree.find_or_insert_by_names(|c| c.id, ["Poems"], |name| new(name));
    /// let poems = find.below(node("Fiction")).await?;
    /// assert_eq!(poems.node.path.as_str(), Some(",Books,Fiction,"));
    /// # Ok(())
    /// # }
    /// ```
    pub fn below(mut self, node: impl NodeId<D::Model>) -> Self {
        let below = node.stored_id();
        let below = below.map_err(|error| error.with_model(D::Model::model().name));
        self.writes = self.writes.and_then(|writes| {
            Ok(MissingNodes {
                walk: writes.walk.below(below)?,
                ..writes
            })
        });
        self
    }
}

impl Walk {
    fn below(self, node: Result<Bson>) -> Result<Self> {
        Ok(Self {
            below: Some(node?),
            ..self
        })
    }
}

impl<D: DeclaredTree> WriteSeveral for MissingNodes<D> {
    type Done = InsertedNode<D::Model>;

    fn model(&self) -> &'static ModelMeta {
        self.tree_store.model
    }

    fn channel(&self) -> Channel<'static> {
        self.tree_store.channel.in_session(None)
    }

    async fn done(&self, in_session: bool) -> Result<Option<InsertedNode<D::Model>>> {
        if in_session {
            return Ok(None);
        }
        let (walk, scope, any) = (&self.walk, self.scope.as_ref(), BsonDocument::new());
        let found = at_once!(self.tree_store, None, true, |tree_store| tree_store
            .named_document(walk, scope, &any))?;
        let Some(document) = found else {
            return Ok(None);
        };
        Ok(Some(InsertedNode {
            node: decode_document(&document)?,
            written: TreeWrite::default(),
        }))
    }

    async fn turn(&self) -> Result<Turn> {
        let of = TurnOf::Scope(self.scope.clone());
        self.tree_store.in_session(None).turn(of).await
    }

    async fn write(&self, channel: &mut Channel<'_>) -> Result<InsertedNode<D::Model>> {
        let mut tree_store = self.tree_store.on(channel);
        let inserted = tree_store.insert_missing(&self.walk, self.scope.as_ref(), &self.documents);
        let (document, written) = inserted.await?;
        let node = decode_document(&document)?;
        Ok(InsertedNode { node, written })
    }
}

impl TreeStore<'_> {
    /// Follows a path of names. The other filter and the scope restrict the nodes on the way.
    async fn walk(
        &mut self,
        walk: &Walk,
        scope: Option<&Bson>,
        filter: &BsonDocument,
    ) -> Result<Found> {
        let mut above = match &walk.below {
            Some(id) => vec![self.node(id).await?],
            None => Vec::new(),
        };
        let mut found = Found {
            names: 0,
            last: above.first().cloned(),
        };
        for name in &walk.names {
            let mut named = vec![name.clone()];
            if !filter.is_empty() {
                named.push(filter.clone());
            }
            let mut nodes = Vec::new();
            if found.names == 0 && walk.below.is_none() {
                nodes = self.named_roots(scope, named).await?;
            } else {
                for parent in &above {
                    let children = self.named_children(parent, named.clone());
                    nodes.extend(children.await?);
                }
            }
            let Some(first) = nodes.first() else {
                break;
            };
            found.last = Some(first.clone());
            found.names += 1;
            above = nodes;
        }
        Ok(found)
    }

    /// The roots that match all of these filters.
    async fn named_roots(
        &mut self,
        scope: Option<&Bson>,
        mut named: Vec<BsonDocument>,
    ) -> Result<Vec<Node>> {
        if self.ways.roots.is_stored() {
            named.push(self.roots(scope).await?);
            return self.nodes_of_all(named).await;
        }
        named.push(self.in_scope(scope, BsonDocument::new()));
        let candidates = self.nodes_of_all(named).await?;
        self.with_parent(candidates, None).await
    }

    /// The children of a node that match all of these filters.
    async fn named_children(
        &mut self,
        parent: &Node,
        mut named: Vec<BsonDocument>,
    ) -> Result<Vec<Node>> {
        if !matches!(self.ways.children, ChildrenBy::Bounds(_)) {
            named.push(self.children(parent).await?);
            return self.nodes_of_all(named).await;
        }
        named.push(self.descendants(parent).await?);
        let candidates = self.nodes_of_all(named).await?;
        self.with_parent(candidates, Some(&parent.id)).await
    }

    /// Siblings that match all of these filters, in their order.
    async fn nodes_of_all(&mut self, mut filters: Vec<BsonDocument>) -> Result<Vec<Node>> {
        filters.retain(|filter| !filter.is_empty());
        self.nodes(doc! {"$and": filters}, self.sibling_sort(), None)
            .await
    }

    /// The nodes with this parent.
    async fn with_parent(&mut self, nodes: Vec<Node>, parent: Option<&Bson>) -> Result<Vec<Node>> {
        let wanted = parent.map(id_key).transpose()?;
        let mut kept = Vec::new();
        for node in nodes {
            let own = self.parent_of(&node).await?;
            if own.as_ref().map(id_key).transpose()? == wanted {
                kept.push(node);
            }
        }
        Ok(kept)
    }

    /// A document with all its fields.
    async fn whole(&mut self, id: &Bson) -> Result<Option<RawDocumentBuf>> {
        let options = Options {
            limit: Some(1),
            ..Options::default()
        };
        let found = self.documents(Self::by_id(id), options).await?;
        Ok(found.into_iter().next())
    }

    /// The document that a path of names leads to.
    async fn named_document(
        &mut self,
        walk: &Walk,
        scope: Option<&Bson>,
        filter: &BsonDocument,
    ) -> Result<Option<RawDocumentBuf>> {
        let found = self.walk(walk, scope, filter).await?;
        match found.last.filter(|_| found.names == walk.names.len()) {
            Some(node) => self.whole(&node.id).await,
            None => Ok(None),
        }
    }

    /// Inserts the nodes that are missing on a path of names, behind the fence; returns the last node of the path.
    async fn insert_missing(
        &mut self,
        walk: &Walk,
        scope: Option<&Bson>,
        documents: &[RawDocumentBuf],
    ) -> Result<(RawDocumentBuf, TreeWrite)> {
        let fence = self.fence(scope).await?;
        let found = self.walk(walk, scope, &BsonDocument::new()).await?;
        let mut done = TreeWrite::default();
        let missing = documents.get(found.names..).unwrap_or_default();
        let mut last = found.last.as_ref().map(|node| node.id.clone());
        if !missing.is_empty() {
            let target = Target::Under {
                parent: last,
                first: false,
            };
            let chain = Loading::chain(missing);
            last = chain.last_id()?;
            done = chain.insert(self, fence, &target).await?;
        }
        let id = last.unwrap_or(Bson::Null);
        let document = self.whole(&id).await?;
        Ok((
            document.ok_or_else(|| Error::malformed_reply("a node"))?,
            done,
        ))
    }
}

impl<'s, D: DeclaredTree> IntoFuture for FindByNames<'s, D> {
    type Output = Result<Option<D::Model>>;
    type IntoFuture = BoxFuture<'s, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.run())
    }
}

impl<D: DeclaredTree> fmt::Debug for FindByNames<'_, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FindByNames")
            .field("walk", &self.walk)
            .finish_non_exhaustive()
    }
}

impl<D> fmt::Debug for MissingNodes<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FindOrInsertByNames")
            .field("walk", &self.walk)
            .finish_non_exhaustive()
    }
}
