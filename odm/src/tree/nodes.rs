//! Reads of nodes.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::marker::PhantomData;

use bson::raw::{RawDocument, RawDocumentBuf};
use bson::{Bson, Document as BsonDocument, doc};
use serde::de::DeserializeOwned;

use super::Tree;
use super::branch::Branch;
use super::forest::{Forest, within};
use super::node::{Node, id_key};
use super::select::{Extent, Selected, Selection};
use crate::collection::{Find, decode, decode_id, projection};
use crate::error::{Error, Result};
use crate::model::tree::{DeclaredTree, SingleParent};
use crate::model::{Document, Projection};
use crate::query::{Filter, FilterFn, FromRaw, Sort, SortFn, fields};
use crate::store::Session;
use crate::store::options::Options;

/// The documents of some nodes, about to be read.
///
/// A filter applies to the documents that are returned, never to the way to them. For joins, projections in the
/// shell's syntax and other options of a find, [`find`](Self::find) makes one.
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

    /// Returns each node before its children, and siblings in their order.
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
            session: self.session,
        }
    }

    /// Resolves the nodes, and returns the find that reads them, for joins and for all options of a find. It keeps the
    /// filter, the sort, the limit and the session; but no order that the client computes.
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
        let selected = self.selected().await?;
        let filter = self.matching(selected.filter)?;
        let mut find = self.tree.collection.find(|_| Filter::from_raw(filter));
        if let Some(sort) = self.sort.take() {
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
        let name = D::Model::model().name;
        let documents = if let Some((id, stages)) = self.lookup()? {
            self.looked_up(&id, stages).await?
        } else {
            let selected = self.selected().await?;
            self.documents(selected).await?
        };
        documents
            .into_iter()
            .map(|document| decode(&document, name))
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
        let documents = if let Some((id, stages)) = self.lookup()? {
            let kept = || Node::projection(D::TREE);
            let only_id = || doc! {"_id": 1};
            self.projection = Some(if self.pre_order { kept() } else { only_id() });
            self.looked_up(&id, stages).await?
        } else {
            let selected = self.selected().await?;
            if self.sort.is_none() && self.filter.to_document()?.is_empty() {
                let session = within!(self.session);
                let forest = self.tree.forest();
                if let Some(ids) = forest
                    .ids_in_order(session, &selected, self.pre_order)
                    .await?
                {
                    let ids = ids.into_iter().skip(count(self.skip, 0));
                    let ids = ids.take(count(self.limit, usize::MAX));
                    return ids.map(decode_id::<D::Model>).collect();
                }
            }
            self.projection = Some(doc! {"_id": 1});
            self.documents(selected).await?
        };
        documents
            .into_iter()
            .map(|document| {
                let id = document.get("_id").ok().flatten();
                let id = id.ok_or_else(|| Error::malformed_reply("an `_id`"))?;
                decode_id::<D::Model>(Bson::try_from(id).map_err(Error::encode)?)
            })
            .collect()
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
        let selected = self.selected().await?;
        let filter = self.matching(selected.filter)?;
        let forest = self.tree.forest();
        forest.count(within!(self.session), filter).await
    }

    /// Counts the nodes at each level of the tree, without loading them; a root is at level 0.
    ///
    /// Where nodes store their depth, their ancestors or their path, this is one aggregation; otherwise the client reads the
    /// kept fields of all nodes.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # #[derive(Debug, Serialize, Deserialize, Document)]
    /// # #[odm(collection = "categories", tree(array_of_ancestors))]
    /// # struct Category { #[serde(rename = "_id")] id: i32, ancestors: Ancestors<Category> }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> odm::Result<()> {
    /// # let db = Db::memory();
    /// # let tree = db.tree::<Category>();
    /// # let new = |id| Category { id, ancestors: Ancestors::default() };
    /// # tree.load_edges([(new(1), None), (new(2), Some(Ref::from(1))), (new(3), Some(Ref::from(1)))]).await?;
    /// let counts = tree.all().counts_by_depth().await?;
    /// assert_eq!(counts.into_iter().collect::<Vec<_>>(), [(0, 1), (1, 2)]);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn counts_by_depth(mut self) -> Result<BTreeMap<u32, u64>>
    where
        D: SingleParent,
    {
        let selected = self.selected().await?;
        let filter = self.matching(selected.filter)?;
        let forest = self.tree.forest();
        forest.counts_by_depth(within!(self.session), filter).await
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

    async fn selected(&mut self) -> Result<Selected> {
        let selection = std::mem::replace(&mut self.selection, Ok(Selection::All))?;
        let forest = self.tree.forest();
        if let Some((from, to)) = self.depths {
            return forest.select_depths(within!(self.session), from, to).await;
        }
        let session = within!(self.session);
        forest.select(session, &selection, self.extent).await
    }

    /// The filter of the selection and that of the caller.
    fn matching(&self, selected: BsonDocument) -> Result<BsonDocument> {
        let filter = self.filter.to_document()?;
        Ok(if filter.is_empty() {
            selected
        } else if selected.is_empty() {
            filter
        } else {
            doc! {"$and": [selected, filter]}
        })
    }

    /// The stages that read the documents in one command, if the pattern has them, and the id of the node.
    fn lookup(&self) -> Result<Option<(Bson, Vec<BsonDocument>)>> {
        let Ok(selection) = &self.selection else {
            return Ok(None);
        };
        // Some conditions may only come first in a pipeline.
        let is_whole = self.depths.is_none() && self.filter.to_document()?.is_empty();
        // The order needs the kept fields.
        let is_plain = !self.pre_order || self.sort.is_some() || self.projection.is_none();
        let forest = self.tree.forest();
        let lookup = forest.lookup_of(selection, self.extent);
        Ok(lookup.filter(|_| is_whole && is_plain))
    }

    async fn looked_up(
        mut self,
        id: &Bson,
        mut stages: Vec<BsonDocument>,
    ) -> Result<Vec<RawDocumentBuf>> {
        let forest = self.tree.forest();
        let in_pre_order = self.pre_order && self.sort.is_none();
        if let Some(sort) = self.sort.take() {
            stages.push(doc! {"$sort": sort.to_document()?});
        }
        if !in_pre_order {
            for (stage, count) in [("$skip", self.skip), ("$limit", self.limit)] {
                let count = count.filter(|count| *count > 0);
                let count = count.map(|count| i64::try_from(count).unwrap_or(i64::MAX));
                stages.extend(count.map(|count| doc! {stage: count}));
            }
        }
        stages.extend(
            self.projection
                .take()
                .map(|fields| doc! {"$project": fields}),
        );
        let documents = forest.aggregate(within!(self.session), stages).await?;
        if documents.is_empty() {
            // An error if there is no such node.
            forest.node(within!(self.session), id).await?;
        }
        if !in_pre_order {
            return Ok(documents);
        }
        let mut documents = in_order(&forest, documents)?;
        self.cut(&mut documents);
        Ok(documents)
    }

    /// Skips and limits documents in the order that the client computes.
    fn cut(&self, documents: &mut Vec<RawDocumentBuf>) {
        documents.drain(..count(self.skip, 0).min(documents.len()));
        documents.truncate(count(self.limit, usize::MAX));
    }

    async fn documents(mut self, selected: Selected) -> Result<Vec<RawDocumentBuf>> {
        let forest = self.tree.forest();
        let filter = self.matching(selected.filter.clone())?;
        let sort = match self.sort.take() {
            Some(sort) => Some(sort.to_document()?),
            None if self.pre_order => forest.pre_order_sort(),
            None => selected.sort.clone(),
        };
        let in_client = sort.is_none() && (self.pre_order || selected.order.is_some());
        let mut options = Options {
            sort,
            projection: self.projection.clone(),
            ..Options::default()
        };
        if !in_client {
            options.skip = self.skip;
            options.limit = self
                .limit
                .map(|limit| i64::try_from(limit).unwrap_or(i64::MAX));
            let session = within!(self.session);
            return forest.documents(session, filter, options).await;
        }
        let leaves_id_out =
            |projection: &&mut BsonDocument| projection.get("_id") == Some(&Bson::Int32(0));
        let leaves_id_out = options.projection.as_mut().filter(leaves_id_out);
        // The order is that of the ids.
        let leaves_id_out = leaves_id_out
            .map(|projection| projection.remove("_id"))
            .is_some();
        let has_structure = self.projection.is_none() && filter == selected.filter;
        let order = if has_structure && self.pre_order {
            None
        } else {
            let session = within!(self.session);
            forest
                .ids_in_order(session, &selected, self.pre_order)
                .await?
        };
        let documents = forest
            .documents(within!(self.session), filter, options)
            .await?;
        let mut documents = if let Some(order) = order {
            ordered(documents, &order)?
        } else {
            in_order(&forest, documents)?
        };
        self.cut(&mut documents);
        if leaves_id_out {
            for document in &mut documents {
                *document = without_id(document)?;
            }
        }
        Ok(documents)
    }
}

impl<D: SingleParent> Nodes<'_, D> {
    /// Reads the documents and arranges them: each in its parent, if that is among them, and siblings in their order.
    ///
    /// [`Branch`] prints them as text and as a Mermaid diagram, and serializes them nested.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # #[derive(Debug, Serialize, Deserialize, Document)]
    /// # #[odm(collection = "categories", tree(array_of_ancestors))]
    /// # struct Category { #[serde(rename = "_id")] id: i32, ancestors: Ancestors<Category> }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> odm::Result<()> {
    /// # let db = Db::memory();
    /// # let tree = db.tree::<Category>();
    /// # let new = |id| Category { id, ancestors: Ancestors::default() };
    /// # tree.load_edges([(new(1), None), (new(2), Some(Ref::from(1))), (new(3), Some(Ref::from(2)))]).await?;
    /// let below = tree.descendants(Ref::from(1)).branches().await?;
    /// assert_eq!(below[0].to_text(|category| category.id.to_string()), "2\n  3\n");
    /// # Ok(())
    /// # }
    /// ```
    pub async fn branches(mut self) -> Result<Vec<Branch<D::Model>>> {
        let selected = self.selected().await?;
        let tree = self.tree.clone();
        let documents = self.documents(selected).await?;
        tree.arrange_stored(&documents)
    }
}

/// A number of documents.
fn count(number: Option<u64>, default: usize) -> usize {
    number.map_or(default, |number| {
        usize::try_from(number).unwrap_or(usize::MAX)
    })
}

/// The documents in pre-order.
fn in_order(forest: &Forest, documents: Vec<RawDocumentBuf>) -> Result<Vec<RawDocumentBuf>> {
    let nodes = documents
        .iter()
        .map(|document| Node::read(forest.tree, document));
    let nodes = nodes.collect::<Result<Vec<_>>>()?;
    let mut slots: Vec<Option<RawDocumentBuf>> = documents.into_iter().map(Some).collect();
    let pre_order = forest.arrange(&nodes)?.pre_order().into_iter();
    let ordered = pre_order.filter_map(|(position, _)| slots.get_mut(position)?.take());
    Ok(ordered.collect())
}

/// The documents in the order of these ids; others follow.
fn ordered(documents: Vec<RawDocumentBuf>, order: &[Bson]) -> Result<Vec<RawDocumentBuf>> {
    let mut places = HashMap::with_capacity(order.len());
    for (place, id) in order.iter().enumerate() {
        places.entry(id_key(id)?).or_insert(place);
    }
    let mut keyed = Vec::with_capacity(documents.len());
    for document in documents {
        let id = document.get("_id").ok().flatten();
        let id = id.ok_or_else(|| Error::malformed_reply("an `_id`"))?;
        let id = Bson::try_from(id).map_err(Error::encode)?;
        let place = places.get(&id_key(&id)?).copied();
        keyed.push((place.unwrap_or(usize::MAX), document));
    }
    keyed.sort_by_key(|(place, _)| *place);
    Ok(keyed.into_iter().map(|(_, document)| document).collect())
}

fn without_id(document: &RawDocument) -> Result<RawDocumentBuf> {
    let mut without = RawDocumentBuf::new();
    for element in document {
        let (name, value) = element.map_err(Error::encode)?;
        if name != "_id" {
            without.append(name, value);
        }
    }
    Ok(without)
}

impl<D: DeclaredTree, T> fmt::Debug for Nodes<'_, D, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Nodes")
            .field("selection", &self.selection)
            .field("fields", &D::TREE.fields().collect::<Vec<_>>())
            .finish_non_exhaustive()
    }
}
