//! `$lookup` and `$graphLookup` of a typed pipeline, by declared relations.

use bson::{Bson, Document, doc};

use super::link::IntoLink;
use crate::error::{Error, Result};
use crate::exec::Link;
use crate::expr::Expr;
use crate::model::{Document as Model, Embedded, FieldType, Path, Segment};
use crate::pipeline::{
    GraphLookup, Input, Lookup, OUTER, Pipeline, Stage, With, pipeline, unwound,
};
use crate::query::deferred::Deferred;
use crate::query::{Filter, FilterFn, fields};

impl<M, S: Input> Pipeline<M, S> {
    /// Looks up the documents that a relation leads to, which closures then receive as a list beside the document: `$lookup`.
    ///
    /// The relation is a reference, or an inverse relation that the model declares; both ends of it are known. A model that
    /// shares its collection with others gets its own documents only.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/authors.rs"));
    /// # use odm::output;
    /// # use odm::pipeline::pipeline;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> odm::Result<()> {
    /// # let (authors, books) = two_authors().await?;
    /// #[derive(Debug, PartialEq, Serialize, Deserialize, Embedded)]
    /// struct Shelf {
    ///     name: String,
    ///     books: i32,
    /// }
    ///
    /// let shelves = pipeline::<Author>()
    ///     .sort(|a| a.name.asc())
    ///     .lookup(|a| a.books)
    ///     .project(|(a, books)| output!(Shelf { name: a.name, books: books.expr().size() }));
    /// assert_eq!(
    ///     shelves.to_stages()?[1],
    ///     doc! {"$lookup": {
    ///         "from": "books", "localField": "_id", "foreignField": "author", "as": "__books",
    ///     }},
    /// );
    /// let shelves = authors.aggregate(shelves).all().await?;
    /// assert_eq!(shelves[0], Shelf { name: "Austen".into(), books: 2 });
    /// # Ok(())
    /// # }
    /// ```
    pub fn lookup<L>(
        self,
        relation: impl FnOnce(S::Handles<S>) -> L,
    ) -> Pipeline<M, With<S, Vec<L::Target>>>
    where
        L: IntoLink<S, Target: FieldType>,
    {
        self.lookup_with(relation, |found| found)
    }

    /// Looks up documents as [`lookup`](Self::lookup) does, and runs a pipeline over those that were found for each document.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/authors.rs"));
    /// # use odm::output;
    /// # use odm::pipeline::pipeline;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> odm::Result<()> {
    /// # let (authors, books) = two_authors().await?;
    /// #[derive(Debug, PartialEq, Serialize, Deserialize, Embedded)]
    /// struct Newest {
    ///     name: String,
    ///     title: Option<String>,
    /// }
    ///
    /// let newest = pipeline::<Author>()
    ///     .lookup_with(|a| a.books, |books| books.sort(|b| b.year.desc()).limit(1))
    ///     .project(|(a, books)| output!(Newest {
    ///         name: a.name,
    ///         title: books.expr().map(|b| b.title).first_item(),
    ///     }))
    ///     .sort(|n| n.name.asc());
    /// let newest = authors.aggregate(newest).all().await?;
    /// assert_eq!(newest[0].title.as_deref(), Some("Persuasion"));
    /// # Ok(())
    /// # }
    /// ```
    pub fn lookup_with<L, R>(
        mut self,
        relation: impl FnOnce(S::Handles<S>) -> L,
        then: impl FnOnce(Pipeline<L::Target>) -> Pipeline<L::Target, R>,
    ) -> Pipeline<M, With<S, Vec<R>>>
    where
        L: IntoLink<S>,
        R: Embedded + FieldType,
    {
        let link = relation(self.handles()).into_link();
        let stages = then(pipeline::<L::Target>()).into_stages();
        let (to, lookup) = self.look_up(link, stages);
        self.add_stages(lookup.map(|lookup| vec![Stage::Lookup(lookup)]));
        self.with_value(to)
    }

    /// Looks up, of the documents that a relation leads to, those for which a condition holds, which can compare them with the
    /// document itself: `$lookup` with `let`, since MongoDB 5.0 beside two fields.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/authors.rs"));
    /// # use odm::output;
    /// # use odm::pipeline::pipeline;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> odm::Result<()> {
    /// # let (authors, books) = two_authors().await?;
    /// #[derive(Debug, PartialEq, Serialize, Deserialize, Embedded)]
    /// struct Early {
    ///     name: String,
    ///     books: i32,
    /// }
    ///
    /// let early = pipeline::<Author>()
    ///     .lookup_where(|a| a.books, |a, b| b.year.expr().lt(a.born + 41))
    ///     .project(|(a, books)| output!(Early { name: a.name, books: books.expr().size() }))
    ///     .sort(|e| e.name.asc());
    /// assert_eq!(
    ///     early.to_stages()?[0],
    ///     doc! {"$lookup": {
    ///         "from": "books",
    ///         "localField": "_id",
    ///         "foreignField": "author",
    ///         "let": {"document": "$$ROOT"},
    ///         "pipeline": [
    ///             {"$match": {"$expr": {"$lt": ["$year", {"$add": ["$$document.born", 41]}]}}},
    ///         ],
    ///         "as": "__books",
    ///     }},
    /// );
    /// let early = authors.aggregate(early).all().await?;
    /// assert_eq!(early[0], Early { name: "Austen".into(), books: 1 });
    /// # Ok(())
    /// # }
    /// ```
    pub fn lookup_where<L>(
        mut self,
        relation: impl FnOnce(S::Handles<S>) -> L,
        condition: impl FnOnce(
            S::Fields<L::Target>,
            <L::Target as Embedded>::Fields<L::Target>,
        ) -> Expr<L::Target, bool>,
    ) -> Pipeline<M, With<S, Vec<L::Target>>>
    where
        S: Embedded,
        L: IntoLink<S, Target: FieldType>,
    {
        let link = relation(self.handles()).into_link();
        let outer = Path::root().then(Segment::Name(format!("$${OUTER}").into()));
        let condition = condition(S::fields(outer), fields::<L::Target>()).into_bson();
        let (to, lookup) = self.look_up(link, condition.map(of_condition));
        let lookup = lookup.map(|lookup| Lookup {
            outer: true,
            ..lookup
        });
        self.add_stages(lookup.map(|lookup| vec![Stage::Lookup(lookup)]));
        self.with_value(to)
    }

    /// Looks up the one document that a relation leads to, which closures then receive beside the document: `$lookup` and
    /// `$unwind`. A document that finds none is left out; one that finds several is repeated for each.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/authors.rs"));
    /// # use odm::output;
    /// # use odm::pipeline::pipeline;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> odm::Result<()> {
    /// # let (authors, books) = two_authors().await?;
    /// #[derive(Debug, PartialEq, Serialize, Deserialize, Embedded)]
    /// struct Age {
    ///     title: String,
    ///     age: i32,
    /// }
    ///
    /// let ages = pipeline::<Book>()
    ///     .lookup_one(|b| b.author)
    ///     .match_(|(_, author)| author.name.eq("Joyce"))
    ///     .project(|(b, author)| output!(Age { title: b.title, age: b.year - author.born }));
    /// let ages = books.aggregate(ages).all().await?;
    /// assert_eq!(ages, [Age { title: "Ulysses".into(), age: 40 }]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn lookup_one<L>(
        mut self,
        relation: impl FnOnce(S::Handles<S>) -> L,
    ) -> Pipeline<M, With<S, L::Target>>
    where
        L: IntoLink<S, Target: FieldType>,
    {
        let link = relation(self.handles()).into_link();
        let (to, lookup) = self.look_up(link, Ok(Vec::new()));
        let unwind = doc! {"$unwind": format!("${to}")};
        self.add_stages(lookup.map(|lookup| vec![Stage::Lookup(lookup), Stage::Plain(unwind)]));
        self.with_value(to)
    }

    /// Looks up a document as [`lookup_one`](Self::lookup_one) does, and keeps the documents for which there is none, without
    /// a value beside them.
    ///
    /// Where no document is found, its fields are missing: an output refuses them for a field that can't be null. See
    /// [`Expr::optional`](crate::expr::Expr::optional).
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/authors.rs"));
    /// # use odm::pipeline::pipeline;
    /// # fn main() -> odm::Result<()> {
    /// let dangling = pipeline::<Book>()
    ///     .lookup_or_none(|b| b.author)
    ///     .match_(|(_, author)| author.id.exists(false));
    /// assert_eq!(dangling.to_stages()?[2], doc! {"$match": {"__author._id": {"$exists": false}}});
    /// # Ok(())
    /// # }
    /// ```
    pub fn lookup_or_none<L>(
        mut self,
        relation: impl FnOnce(S::Handles<S>) -> L,
    ) -> Pipeline<M, With<S, Option<L::Target>>>
    where
        L: IntoLink<S, Target: FieldType>,
    {
        let link = relation(self.handles()).into_link();
        let (to, lookup) = self.look_up(link, Ok(Vec::new()));
        let unwind = unwound(&to.to_string());
        self.add_stages(lookup.map(|lookup| vec![Stage::Lookup(lookup), Stage::Plain(unwind)]));
        self.with_value(to)
    }

    fn look_up(
        &mut self,
        link: Result<Link>,
        stages: Result<Vec<Stage>, Deferred>,
    ) -> (Path, Result<Lookup, Deferred>) {
        let name = link.as_ref().map_or("found", |link| &link.name);
        let to = self.new_field(name);
        let lookup = look_up(link, stages, &to);
        (to, lookup)
    }
}

fn look_up(
    link: Result<Link>,
    stages: Result<Vec<Stage>, Deferred>,
    to: &Path,
) -> Result<Lookup, Deferred> {
    let link = link.map_err(|error| deferred(&error))?;
    Ok(Lookup {
        model: link.target,
        local: link.local.to_string(),
        optional: link.optional_key().is_some(),
        foreign: link.foreign,
        outer: false,
        stages: stages?,
        to: to.to_string(),
    })
}

fn of_condition(condition: Bson) -> Vec<Stage> {
    vec![Stage::Plain(doc! {"$match": {"$expr": condition}})]
}

fn deferred(error: &Error) -> Deferred {
    Deferred::encode("", error)
}

impl<M, S: Model + FieldType + Input> Pipeline<M, S> {
    /// Follows a relation of a model to itself, from document to document, and puts all that are reached beside the document it
    /// started from, in no certain order: `$graphLookup`.
    ///
    /// By a reference to the parent, those are the ancestors; by the inverse relation, the whole subtree. A
    /// [tree](crate::tree) answers both without a pipeline, and keeps an order.
    ///
    /// ```
    /// use odm::output;
    /// use odm::pipeline::pipeline;
    /// use odm::prelude::*;
    ///
    /// #[derive(Serialize, Deserialize, Document)]
    /// #[odm(collection = "units", has_many(parts: Unit, by = parent))]
    /// struct Unit {
    ///     #[serde(rename = "_id")]
    ///     id: String,
    ///     #[odm(index)]
    ///     parent: Option<Ref<Unit>>,
    /// }
    ///
    /// #[derive(Debug, PartialEq, Serialize, Deserialize, Embedded)]
    /// struct Size {
    ///     #[serde(rename = "_id")]
    ///     id: String,
    ///     units: i32,
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> odm::Result<()> {
    /// # let db = Db::memory();
    /// let units = db.collection::<Unit>();
    /// let unit = |id: &str, parent: Option<&str>| {
    ///     Unit { id: id.to_owned(), parent: parent.map(|id| Ref::from(id.to_owned())) }
    /// };
    /// units.insert_many([unit("a", None), unit("b", Some("a")), unit("c", Some("b"))]).await?;
    ///
    /// let sizes = pipeline::<Unit>()
    ///     .graph_lookup(|u| u.parts)
    ///     .project(|(u, below)| output!(Size { id: u.id, units: below.expr().size() }))
    ///     .sort(|s| s.units.desc());
    /// let sizes = units.aggregate(sizes).all().await?;
    /// assert_eq!(sizes[0], Size { id: "a".into(), units: 2 });
    /// # Ok(())
    /// # }
    /// ```
    pub fn graph_lookup<L>(
        self,
        relation: impl FnOnce(S::Handles<S>) -> L,
    ) -> Pipeline<M, With<S, Vec<S>>>
    where
        L: IntoLink<S, Target = S>,
    {
        self.reach(relation, None, Ok(Document::new()))
    }

    /// Follows a relation as [`graph_lookup`](Self::graph_lookup) does, at most `max_depth` steps after the first one, and
    /// only through documents that match.
    ///
    /// ```
    /// # use odm::pipeline::pipeline;
    /// # use odm::prelude::*;
    /// # #[derive(Serialize, Deserialize, Document)]
    /// # #[odm(collection = "units")]
    /// # struct Unit { #[serde(rename = "_id")] id: i32, parent: Option<Ref<Unit>>, closed: bool }
    /// let near = pipeline::<Unit>().graph_lookup_within(|u| u.parent, 1, |u| u.closed.eq(false));
    /// assert_eq!(
    ///     near.to_stages()?,
    ///     [doc! {"$graphLookup": {
    ///         "from": "units",
    ///         "startWith": "$parent",
    ///         "connectFromField": "parent",
    ///         "connectToField": "_id",
    ///         "as": "__parent",
    ///         "maxDepth": 1_i64,
    ///         "restrictSearchWithMatch": {"closed": false},
    ///     }}],
    /// );
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn graph_lookup_within<L>(
        self,
        relation: impl FnOnce(S::Handles<S>) -> L,
        max_depth: u32,
        through: impl FilterFn<S>,
    ) -> Pipeline<M, With<S, Vec<S>>>
    where
        L: IntoLink<S, Target = S>,
    {
        let through: Filter<S> = through(fields::<S>());
        let through = through.into_node();
        let through = through.and_then(crate::query::node::Node::into_document);
        self.reach(relation, Some(max_depth), through)
    }

    fn reach<L>(
        mut self,
        relation: impl FnOnce(S::Handles<S>) -> L,
        max_depth: Option<u32>,
        through: Result<Document, Deferred>,
    ) -> Pipeline<M, With<S, Vec<S>>>
    where
        L: IntoLink<S, Target = S>,
    {
        let link = relation(self.handles()).into_link();
        let name = link.as_ref().map_or("found", |link| &link.name);
        let to = self.new_field(name);
        let stage = reach(link, max_depth, through, &to);
        self.add_stages(stage.map(|stage| vec![stage]));
        self.with_value(to)
    }
}

fn reach(
    link: Result<Link>,
    max_depth: Option<u32>,
    through: Result<Document, Deferred>,
    to: &Path,
) -> Result<Stage, Deferred> {
    let link = link.map_err(|error| deferred(&error))?;
    let local = link.local.to_string();
    let mut filter = through?;
    // MongoDB compares a missing key as null, which other documents without one equal.
    if link.optional_key().is_some() {
        let refers = doc! {&link.foreign: {"$ne": null}};
        filter = if filter.is_empty() {
            refers
        } else {
            doc! {"$and": [filter, refers]}
        };
    }
    Ok(Stage::GraphLookup(GraphLookup {
        model: link.target,
        start: local.clone(),
        from: local,
        to: link.foreign,
        found: to.to_string(),
        depth: None,
        max_depth,
        filter,
    }))
}
