//! Reads of nodes.

mod query;

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use bson::Document as BsonDocument;
use serde::de::DeserializeOwned;

use self::query::Query;
use super::Tree;
use super::at_once::{Reads, at_once};
use super::branch::Branch;
use super::places::{Extent, Selection};
use super::tree_store::TreeStore;
use crate::collection::versions::projected;
use crate::collection::{Find, ReadAs, decode_id, projection};
use crate::error::{Error, Result};
use crate::model::tree::{DeclaredTree, SingleParent};
use crate::model::{Document, Projection};
use crate::query::{Filter, FilterFn, FromRaw, Sort, SortFn, fields};
use crate::store::Session;

/// The documents of some nodes, about to be read.
///
/// A filter restricts the documents that are returned, not the traversal. For joins, projections in the
/// shell's syntax and other options of a find, [`find`](Self::find) makes one.
///
/// A read of several commands, in pre-order or by bounds runs in a transaction, so that all of it sees one state of the
/// tree while others change it. That is one more command, and such a read ends after the server's 60 seconds for
/// transactions. In a session, and on a standalone mongod, it sees what each of its commands sees: start a transaction in
/// the session for one state.
#[must_use = "nothing is read until it is awaited"]
pub struct Nodes<'s, D: DeclaredTree, T = <D as DeclaredTree>::Model> {
    tree: Tree<D>,
    selection: Result<Selection>,
    extent: Extent,
    depths: Option<(u32, Option<u32>)>,
    filter: Filter<D::Model>,
    sort: Option<Sort<D::Model>>,
    skip: Option<u64>,
    limit: Option<u64>,
    projection: Option<BsonDocument>,
    pre_order: bool,
    leaves: bool,
    session: Option<&'s mut Session>,
    of: PhantomData<fn() -> T>,
}

impl<D: DeclaredTree> Nodes<'_, D> {
    pub(super) fn new(tree: &Tree<D>, selection: Result<Selection>) -> Self {
        Self {
            tree: tree.clone(),
            selection,
            extent: Extent::default(),
            depths: None,
            filter: Filter::all(),
            sort: None,
            skip: None,
            limit: None,
            projection: None,
            pre_order: false,
            leaves: false,
            session: None,
            of: PhantomData,
        }
    }

    /// Reads only nodes at these levels; a root is at level 0.
    pub(super) fn between(mut self, from: u32, to: Option<u32>) -> Self {
        self.depths = Some((from, to));
        self
    }
}

impl<'s, D: DeclaredTree, T: DeserializeOwned + Send + Sync + 'static> Nodes<'s, D, T> {
    /// Also reads the node itself.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/categories.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = five_categories().await?;
    /// # let tree = db.tree::<Category>();
    /// let ids = tree.descendants(node("Programming")).with_self().pre_order().ids().await?;
    /// assert_eq!(ids, ["Programming", "Languages", "Databases"]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn with_self(mut self) -> Self {
        self.extent.with_self = true;
        self
    }

    /// Reads only nodes without children.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/categories.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = five_categories().await?;
    /// # let tree = db.tree::<Category>();
    /// let ids = tree.descendants(node("Programming")).leaves().pre_order().ids().await?;
    /// assert_eq!(ids, ["Languages", "Databases"]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn leaves(mut self) -> Self {
        self.leaves = true;
        self
    }

    /// Reads only nodes at most this many levels away from the node: 1 for its children or its parent.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/categories.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = five_categories().await?;
    /// # let tree = db.tree::<Category>();
    /// let ids = tree.descendants(node("Books")).max_depth(1).pre_order().ids().await?;
    /// assert_eq!(ids, ["Programming", "Fiction"]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn max_depth(mut self, levels: u32) -> Self {
        self.extent.max_depth = Some(levels);
        self
    }

    /// Reads only nodes that match; several filters must all match.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/categories.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = five_categories().await?;
    /// # let tree = db.tree::<Category>();
    /// let ids = tree.descendants(node("Books")).filter(|c| c.id.ne("Programming")).pre_order().ids().await?;
    /// assert_eq!(ids, ["Languages", "Databases", "Fiction"]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn filter(mut self, condition: impl FilterFn<D::Model>) -> Self {
        self.filter &= condition(fields::<D::Model>());
        self
    }

    /// Sorts the documents.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/categories.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = five_categories().await?;
    /// # let tree = db.tree::<Category>();
    /// let ids = tree.descendants(node("Books")).sort(|c| c.id.asc()).ids().await?;
    /// assert_eq!(ids, ["Databases", "Fiction", "Languages", "Programming"]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn sort(mut self, sort: impl SortFn<D::Model>) -> Self {
        self.sort = Some(sort(fields::<D::Model>()));
        self
    }

    /// Returns each node before its children, and siblings in their order. Where the tree declares no order, siblings come
    /// in any order, each with its subtree.
    ///
    /// Nested sets have this order in their index. For the other patterns the client computes it from all the nodes of
    /// the selection; a limit applies afterwards.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/categories.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = five_categories().await?;
    /// # let tree = db.tree::<Category>();
    /// let ids = tree.all().pre_order().ids().await?;
    /// assert_eq!(ids, ["Books", "Programming", "Languages", "Databases", "Fiction"]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn pre_order(mut self) -> Self {
        self.pre_order = true;
        self
    }

    /// Skips the first documents.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/categories.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = five_categories().await?;
    /// # let tree = db.tree::<Category>();
    /// let ids = tree.all().pre_order().skip(3).ids().await?;
    /// assert_eq!(ids, ["Databases", "Fiction"]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn skip(mut self, count: u64) -> Self {
        self.skip = Some(count);
        self
    }

    /// Returns at most this many documents; 0 is no limit.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/categories.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = five_categories().await?;
    /// # let tree = db.tree::<Category>();
    /// let ids = tree.all().pre_order().limit(2).ids().await?;
    /// assert_eq!(ids, ["Books", "Programming"]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn limit(mut self, count: u64) -> Self {
        self.limit = (count > 0).then_some(count);
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
    /// tree.delete(node("Fiction")).session(&mut session).await?;
    /// assert_eq!(tree.children(node("Books")).session(&mut session).count().await?, 1);
    /// session.abort_transaction().await?;
    /// assert_eq!(tree.children(node("Books")).count().await?, 2);
    /// # Ok(())
    /// # }
    /// ```
    pub fn session(mut self, session: &'s mut Session) -> Self {
        self.session = Some(session);
        self
    }

    /// Reads documents as `P`; the server sends only its fields.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/categories.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = five_categories().await?;
    /// # let tree = db.tree::<Category>();
    /// #[derive(Debug, PartialEq, Serialize, Deserialize, Projection)]
    /// #[odm(of = Category)]
    /// struct Place {
    ///     path: Materialized<Category>,
    /// }
    ///
    /// let places = tree.children(node("Programming")).select::<Place>().all().await?;
    /// assert_eq!(places[0].path.as_str(), Some(",Books,Programming,"));
    /// # Ok(())
    /// # }
    /// ```
    pub fn select<P: Projection<Of = D::Model> + 'static>(self) -> Nodes<'s, D, P> {
        Nodes {
            projection: Some(projection::<P>()),
            of: PhantomData,
            tree: self.tree,
            selection: self.selection,
            extent: self.extent,
            depths: self.depths,
            filter: self.filter,
            sort: self.sort,
            skip: self.skip,
            limit: self.limit,
            pre_order: self.pre_order,
            leaves: self.leaves,
            session: self.session,
        }
    }

    /// Resolves the nodes, and returns the find that reads them, for joins and for all options of a find. It keeps the
    /// filter, the sort, the limit and the session; `pre_order` only where the bounds of nested sets have it, and is refused elsewhere.
    ///
    /// The find runs after the nodes are resolved. If others change the tree, run both in the transaction of a session, so
    /// that it finds the nodes where they were.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/categories.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = five_categories().await?;
    /// # let tree = db.tree::<Category>();
    /// let found = tree.children(node("Books")).find().await?;
    /// let first = found.projection(doc! {"_id": 1}).with_type::<odm::bson::Document>().first().await?;
    /// assert_eq!(first, Some(doc! {"_id": "Programming"}));
    /// # Ok(())
    /// # }
    /// ```
    pub async fn find(mut self) -> Result<Find<'s, D::Model>> {
        let mut sort = self.sort.take();
        let (tree_store, query) = self.query()?;
        if self.pre_order && sort.is_none() {
            let by_bounds = tree_store.pre_order_sort().ok_or_else(|| {
                Error::usage("only bounds put a find in pre-order; for another pattern, read `ids()` in pre-order, and sort what the find returns by them")
                    .with_model(D::Model::model().name)
            })?;
            sort = Some(Sort::from_raw(by_bounds));
        }
        let is_torn = !query.is_one_command(&tree_store);
        let filter = at_once!(
            tree_store,
            self.session.as_deref_mut(),
            is_torn,
            |tree_store| query.matching(tree_store)
        )?;
        let mut find = self.tree.collection.find(|_| Filter::from_raw(filter));
        if let Some(sort) = sort {
            find = find.sort(|_| sort);
        }
        if let Some(skip) = self.skip {
            find = find.skip(skip);
        }
        if let Some(limit) = self.limit {
            find = find.limit(limit);
        }
        if let Some(session) = self.session {
            find = find.session(session);
        }
        Ok(find)
    }

    /// Reads the documents.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/categories.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = five_categories().await?;
    /// # let tree = db.tree::<Category>();
    /// let children = tree.children(node("Books")).all().await?;
    /// assert_eq!(children[1].id, "Fiction");
    /// # Ok(())
    /// # }
    /// ```
    pub async fn all(mut self) -> Result<Vec<T>> {
        let model = D::Model::model();
        let read_as = ReadAs::of_model(model, self.projection.as_ref());
        self.projection = self.projection.map(|it| projected(model, it));
        let (tree_store, query) = self.query()?;
        let documents = at_once!(
            tree_store,
            self.session,
            query.is_torn(&tree_store),
            |tree_store| query.documents(tree_store)
        )?;
        documents
            .into_iter()
            .map(|document| read_as.decode(&document))
            .collect()
    }

    /// Reads the first document.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/categories.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = five_categories().await?;
    /// # let tree = db.tree::<Category>();
    /// let first = tree.children(node("Books")).first().await?;
    /// assert_eq!(first.map(|category| category.id), Some("Programming".to_owned()));
    /// # Ok(())
    /// # }
    /// ```
    pub async fn first(mut self) -> Result<Option<T>> {
        self.limit = Some(1);
        Ok(self.all().await?.into_iter().next())
    }

    /// Reads the last document. Of ancestors, this is the nearest one that matches.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/categories.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = five_categories().await?;
    /// # let tree = db.tree::<Category>();
    /// let nearest = tree.ancestors(node("Languages")).filter(|c| c.id.ne("Programming")).last().await?;
    /// assert_eq!(nearest.map(|category| category.id), Some("Books".to_owned()));
    /// # Ok(())
    /// # }
    /// ```
    pub async fn last(self) -> Result<Option<T>> {
        Ok(self.all().await?.pop())
    }

    /// Reads the ids of the nodes, without their documents.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/categories.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = five_categories().await?;
    /// # let tree = db.tree::<Category>();
    /// let ids = tree.children(node("Programming")).ids().await?;
    /// assert_eq!(ids, ["Languages", "Databases"]);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn ids(mut self) -> Result<Vec<<D::Model as Document>::Id>> {
        let (tree_store, query) = self.query()?;
        let ids = at_once!(
            tree_store,
            self.session,
            query.is_torn(&tree_store),
            |tree_store| query.ids(tree_store)
        )?;
        ids.into_iter().map(decode_id::<D::Model>).collect()
    }

    /// Counts the nodes, without loading them.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/categories.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = five_categories().await?;
    /// # let tree = db.tree::<Category>();
    /// assert_eq!(tree.descendants(node("Books")).count().await?, 4);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn count(mut self) -> Result<u64> {
        let (tree_store, query) = self.query()?;
        at_once!(
            tree_store,
            self.session,
            query.is_torn(&tree_store),
            |tree_store| query.count(tree_store)
        )
    }

    /// Counts the nodes at each level of the tree, without loading them; a root is at level 0.
    ///
    /// Where nodes store their depth, their ancestors or their path, this is one aggregation; otherwise the client reads the
    /// kept fields of all nodes.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::tree::prelude::*;
    /// # #[derive(Debug, Serialize, Deserialize, Document)]
    /// # #[odm(collection = "categories", tree(array_of_ancestors))]
    /// # struct Category { #[serde(rename = "_id")] id: i32, ancestors: Ancestors<Category> }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> odm::Result<()> {
    /// # let db = Db::memory();
    /// # let tree = db.tree::<Category>();
    /// # let new = |id| Category { id, ancestors: Ancestors::default() };
    /// # tree.insert_edges([(new(1), None), (new(2), Some(Ref::from(1))), (new(3), Some(Ref::from(1)))]).await?;
    /// let counts = tree.all().counts_by_depth().await?;
    /// assert_eq!(counts.into_iter().collect::<Vec<_>>(), [(0, 1), (1, 2)]);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn counts_by_depth(mut self) -> Result<BTreeMap<u32, u64>>
    where
        D: SingleParent,
    {
        let (tree_store, query) = self.query()?;
        let is_torn = !tree_store.ways.depth.is_stored() || query.is_torn(&tree_store);
        at_once!(tree_store, self.session, is_torn, |tree_store| {
            query.counts_by_depth(tree_store)
        })
    }

    /// Whether there is such a node.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/categories.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = five_categories().await?;
    /// # let tree = db.tree::<Category>();
    /// assert!(!tree.children(node("Fiction")).exists().await?);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn exists(mut self) -> Result<bool> {
        self.limit = Some(1);
        self.pre_order = false;
        Ok(!self.ids().await?.is_empty())
    }

    /// The read, without its type.
    fn query(&mut self) -> Result<(TreeStore<'static>, Query)> {
        let query = Query {
            selection: std::mem::replace(&mut self.selection, Ok(Selection::All))?,
            extent: self.extent,
            depths: self.depths,
            filter: self.filter.to_document()?,
            sort: self
                .sort
                .take()
                .map(|sort| sort.to_document())
                .transpose()?,
            skip: self.skip,
            limit: self.limit,
            projection: self.projection.take(),
            pre_order: self.pre_order,
            leaves: self.leaves,
        };
        Ok((self.tree.tree_store(), query))
    }
}

impl<D: SingleParent> Nodes<'_, D> {
    /// Reads the documents and arranges them: each in its parent, if that is among them, and siblings in their order.
    ///
    /// [`Branch`] prints them as text and as a Mermaid diagram, and serializes them nested.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::tree::prelude::*;
    /// # #[derive(Debug, Serialize, Deserialize, Document)]
    /// # #[odm(collection = "categories", tree(array_of_ancestors))]
    /// # struct Category { #[serde(rename = "_id")] id: i32, ancestors: Ancestors<Category> }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> odm::Result<()> {
    /// # let db = Db::memory();
    /// # let tree = db.tree::<Category>();
    /// # let new = |id| Category { id, ancestors: Ancestors::default() };
    /// # tree.insert_edges([(new(1), None), (new(2), Some(Ref::from(1))), (new(3), Some(Ref::from(2)))]).await?;
    /// let below = tree.descendants(Ref::from(1)).branches().await?;
    /// assert_eq!(below[0].to_text(|category| category.id.to_string()), "2\n  3\n");
    /// # Ok(())
    /// # }
    /// ```
    pub async fn branches(mut self) -> Result<Vec<Branch<D::Model>>> {
        let (tree_store, query) = self.query()?;
        let (documents, top) = at_once!(tree_store, self.session, true, |tree_store| query
            .selected_documents(tree_store))?;
        self.tree.arrange_stored(&documents, top.as_deref())
    }
}

impl<D: DeclaredTree, T> fmt::Debug for Nodes<'_, D, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Nodes")
            .field("selection", &self.selection)
            .field("fields", &D::TREE.fields().collect::<Vec<_>>())
            .finish_non_exhaustive()
    }
}
