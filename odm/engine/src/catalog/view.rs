//! Views: names for pipelines over other collections.
//!
//! A view stores no documents. The engine itself writes the list of a database's views to `system.views`.

use std::collections::HashMap;
use std::sync::Arc;

use bson::raw::{RawArray, RawArrayBuf, RawBsonRef, RawDocument, RawDocumentBuf};
use bson::{Bson, Document, doc};
use odm_language::error::{Code, ServerError};
use odm_language::expression::Globals;
use odm_language::value::collation::Collator;
use odm_language::value::raw;

use crate::catalog::changes::LoggedChange;
use crate::catalog::collection::Collection;
use crate::catalog::namespace::Namespace;
use crate::catalog::options::Options;
use crate::catalog::{Catalog, Root};
use crate::index::Index;
use crate::index::spec::Spec;
use crate::pipeline::{DOCUMENTS, Pipeline, is_change_stream, outline};

/// The collection that lists the views of its database.
pub(crate) const LISTING: &str = "system.views";

/// The maximum depth of nested views.
const DEEPEST: usize = 20;

#[derive(Debug)]
pub struct View {
    pub namespace: Namespace,
    pub(crate) on: Namespace,
    pub(crate) pipeline: RawArrayBuf,
    pub(crate) collation: Option<Collator>,
    /// The other collections that its pipeline reads, and the depth of sub-pipelines at which it reads each.
    joined: Vec<(Namespace, Option<usize>)>,
}

/// A resolved view: a pipeline over a collection.
#[derive(Debug)]
pub(crate) struct Resolved {
    pub(crate) namespace: Namespace,
    pub(crate) stages: RawArrayBuf,
    pub(crate) collation: Option<Collator>,
}

impl Root {
    /// Copies the view of this name from `other`, or removes it if `other` has none. Returns the view's source.
    pub(crate) fn take_view<'r>(
        &mut self,
        other: &'r Self,
        namespace: &Namespace,
    ) -> Option<&'r Namespace> {
        let view = other.view(namespace);
        match view {
            Some(view) => self.views.insert(namespace.clone(), Arc::clone(view)),
            None => self.views.remove(namespace),
        };
        view.map(|view| &view.on)
    }
}

impl View {
    /// A view that passes all checks that do not involve other views.
    pub(crate) fn new(
        namespace: Namespace,
        on: &str,
        pipeline: &RawArray,
        collation: Option<Collator>,
        globals: Globals,
    ) -> Result<Self, ServerError> {
        if on.is_empty() {
            return Err(ServerError::new(
                Code::BAD_VALUE,
                "'viewOn' cannot be empty",
            ));
        }
        outline::check_readable(namespace.place().database, on)?;
        if on.contains('$') {
            return Err(ServerError::new(
                Code::INVALID_NAMESPACE,
                format!("invalid name for 'viewOn': {on}"),
            ));
        }
        outline::check(pipeline, namespace.place())?;
        let invalid =
            |error: ServerError| error.within(&format!("Invalid pipeline for view {namespace}"));
        check_writes(pipeline, &namespace).map_err(invalid)?;
        if raw::values(pipeline).any(|stage| has(stage, DOCUMENTS)) {
            return Err(invalid(ServerError::new(
                Code::INVALID_NAMESPACE,
                format!("'{DOCUMENTS}' cannot be used in a view definition"),
            )));
        }
        let globals = globals.with_collator(collation.clone());
        let parsed = Pipeline::parse(pipeline, &globals).map_err(|error| {
            let is_first = raw::values(pipeline)
                .next()
                .is_some_and(|stage| has(stage, "$changeStream"));
            invalid(if is_first && is_change_stream(&error) {
                ServerError::new(
                    Code::OPTION_NOT_SUPPORTED_ON_VIEW,
                    "$changeStream cannot be used in a view definition",
                )
            } else {
                error
            })
        })?;
        let joined = parsed
            .collections()
            .into_iter()
            .map(|other| {
                let database = other.database.as_deref().unwrap_or(&namespace.database);
                (Namespace::new(database, &other.collection), other.depth)
            })
            .collect();
        Ok(Self {
            on: Namespace::new(&namespace.database, on),
            namespace,
            pipeline: pipeline.to_owned(),
            collation,
            joined,
        })
    }

    /// Its options, as `listCollections` shows them.
    pub fn options(&self) -> Result<Document, ServerError> {
        let stages: Vec<Bson> = raw::values(&self.pipeline)
            .map(Bson::try_from)
            .collect::<Result<_, _>>()
            .map_err(|e| ServerError::new(Code::INVALID_BSON, e.to_string()))?;
        let mut options = doc! { "viewOn": &*self.on.collection, "pipeline": stages };
        if let Some(collation) = &self.collation {
            options.insert("collation", collation.document());
        }
        Ok(options)
    }

    /// Its document in `system.views`.
    pub(crate) fn row(&self) -> Result<RawDocumentBuf, ServerError> {
        let mut row = doc! { "_id": self.namespace.to_string() };
        row.extend(self.options()?);
        super::options::to_raw(&row)
    }

    fn reads(&self) -> impl Iterator<Item = &Namespace> {
        std::iter::once(&self.on).chain(self.joined.iter().map(|(read, _)| read))
    }

    /// Refuses cycles, too many nested views, and a collation that differs from that of the views it reads or that read
    /// it.
    pub(crate) fn check(&self, root: &Root) -> Result<(), ServerError> {
        let conflict = |what: &str, other: &Namespace| {
            Err(ServerError::new(
                Code::OPTION_NOT_SUPPORTED_ON_VIEW,
                format!("View {} has {what} view {other}", self.namespace),
            ))
        };
        for read in self.reads() {
            if let Some(view) = root.view(read)
                && view.collation != self.collation
            {
                return conflict("conflicting collation with", read);
            }
        }
        let below = self.below(root, &self.namespace, &mut vec![self.namespace.clone()])?;
        if below + above(root, &self.namespace, DEEPEST) > DEEPEST {
            return Err(ServerError::new(
                Code::VIEW_DEPTH_LIMIT_EXCEEDED,
                format!("View depth limit exceeded; maximum depth is {DEEPEST}"),
            ));
        }
        for reader in readers(root, &self.namespace) {
            if reader.collation != self.collation {
                return conflict(
                    "a collation that does not match the collation of",
                    &reader.namespace,
                );
            }
        }
        Ok(())
    }

    /// The depth of nested views from this one down. Fails if `start` is among the namespaces it reads.
    fn below(
        &self,
        root: &Root,
        start: &Namespace,
        path: &mut Vec<Namespace>,
    ) -> Result<usize, ServerError> {
        let mut deepest = 0;
        for read in self.reads() {
            path.push(read.clone());
            if read == start {
                let path: Vec<_> = path.iter().rev().map(ToString::to_string).collect();
                return Err(ServerError::new(
                    Code::GRAPH_CONTAINS_CYCLE,
                    format!("View cycle detected: {start} => {}", path.join(" => ")),
                ));
            }
            if let Some(inner) = root.view(read) {
                deepest = deepest.max(inner.below(root, start, path)?);
            }
            path.pop();
        }
        Ok(deepest + 1)
    }
}

/// The depth of nested views that read this name, up to `left`.
fn above(root: &Root, namespace: &Namespace, left: usize) -> usize {
    if left == 0 {
        return 0;
    }
    readers(root, namespace)
        .map(|reader| 1 + above(root, &reader.namespace, left - 1))
        .max()
        .unwrap_or(0)
}

fn readers<'r>(root: &'r Root, namespace: &'r Namespace) -> impl Iterator<Item = &'r Arc<View>> {
    root.views(&namespace.database).filter(move |view| {
        view.namespace != *namespace && view.reads().any(|read| read == namespace)
    })
}

fn check_writes(pipeline: &RawArray, namespace: &Namespace) -> Result<(), ServerError> {
    for (at, stage) in raw::values(pipeline).enumerate() {
        let RawBsonRef::Document(stage) = stage else {
            continue;
        };
        if let Some((name @ ("$out" | "$merge"), _)) = raw::elements(stage).next() {
            return Err(ServerError::new(
                Code::OPTION_NOT_SUPPORTED_ON_VIEW,
                format!(
                    "The aggregation stage {name} in location {at} of the pipeline cannot be used in the view \
                     definition of {namespace} because it writes to disk"
                ),
            ));
        }
    }
    Ok(())
}

/// Whether a stage has this name.
fn has(stage: RawBsonRef<'_>, name: &str) -> bool {
    stage
        .as_document()
        .is_some_and(|stage| raw::get(stage, name).is_some())
}

fn begins_with_statistics(pipeline: &RawArray) -> bool {
    let first = raw::values(pipeline).next();
    first.is_some_and(|stage| has(stage, "$collStats"))
}

impl Root {
    pub(crate) fn view(&self, namespace: &Namespace) -> Option<&Arc<View>> {
        self.views.get(namespace)
    }

    /// The views of a database, by name.
    pub fn views(&self, database: &str) -> impl Iterator<Item = &Arc<View>> {
        self.views.database(database)
    }

    /// Resolves a view to a pipeline over a collection; `None` if the name is not a view.
    pub(crate) fn resolve(&self, namespace: &Namespace) -> Result<Option<Resolved>, ServerError> {
        let Some(mut view) = self.view(namespace) else {
            return Ok(None);
        };
        let collation = view.collation.clone();
        let mut pipelines = vec![&view.pipeline];
        while let Some(next) = self.view(&view.on) {
            // `$collStats` reports on the view's source, even if that is a view.
            if begins_with_statistics(&view.pipeline) {
                break;
            }
            view = next;
            pipelines.push(&view.pipeline);
            if pipelines.len() >= DEEPEST {
                return Err(ServerError::new(
                    Code::VIEW_DEPTH_LIMIT_EXCEEDED,
                    format!(
                        "View depth too deep or view cycle detected; maximum depth is {DEEPEST}"
                    ),
                ));
            }
        }
        let mut stages = RawArrayBuf::new();
        for stage in pipelines
            .into_iter()
            .rev()
            .flat_map(|pipeline| raw::values(pipeline))
        {
            stages.push(stage);
        }
        Ok(Some(Resolved {
            namespace: view.on.clone(),
            stages,
            collation,
        }))
    }

    /// The depth of nested sub-pipelines in the resolved pipeline of a view. `known` caches the depths.
    pub(crate) fn pipelines_in<'r>(
        &'r self,
        namespace: &'r Namespace,
        known: &mut HashMap<&'r Namespace, usize>,
    ) -> usize {
        let Some(view) = self.view(namespace) else {
            return 0;
        };
        if let Some(depth) = known.get(namespace) {
            return *depth;
        }
        // Ends the recursion on a cycle, although views are checked for cycles.
        known.insert(namespace, 0);
        let mut deepest = self.pipelines_in(&view.on, known);
        for (read, depth) in &view.joined {
            if let Some(depth) = depth {
                deepest = deepest.max(depth + self.pipelines_in(read, known));
            }
        }
        known.insert(namespace, deepest);
        deepest
    }

    /// Puts a view's document into `system.views`, or removes it.
    fn list_view(
        &mut self,
        namespace: &Namespace,
        row: Option<&RawDocument>,
        uuid: [u8; 16],
    ) -> Result<(), ServerError> {
        let listing = Namespace::new(&namespace.database, LISTING);
        let mut listed = if let Some(listed) = self.collection(&listing) {
            (**listed).clone()
        } else {
            let id = Index::new(Arc::new(Spec::id(None)));
            Collection::new(listing, uuid, Options::none(), vec![id])
        };
        let name = namespace.to_string();
        let known = listed.all().map(|stored| stored.record).find(|record| {
            let id = listed
                .document(*record)
                .and_then(|row| raw::get(row, "_id"));
            matches!(id, Some(RawBsonRef::String(id)) if id == name)
        });
        if known.is_none() && row.is_none() {
            return Ok(());
        }
        let record = known.unwrap_or_else(|| listed.shared.next_record());
        let change = listed.change(record, listed.document(record), row)?;
        listed.apply(&change, row.map(RawDocument::as_bytes));
        self.put(listed);
        Ok(())
    }

    /// Adds a view, or replaces it. `uuid` is for `system.views`, if the database has none yet.
    pub(crate) fn put_view(&mut self, view: View, uuid: [u8; 16]) -> Result<(), ServerError> {
        self.list_view(&view.namespace, Some(&view.row()?), uuid)?;
        self.views.insert(view.namespace.clone(), Arc::new(view));
        Ok(())
    }

    pub(crate) fn remove_view(&mut self, namespace: &Namespace) -> Result<(), ServerError> {
        self.list_view(namespace, None, [0; 16])?;
        self.views.remove(namespace);
        Ok(())
    }
}

impl Catalog {
    /// Changes the views of a database atomically, and logs the event that `change` returns.
    pub(crate) fn change_views<T>(
        &self,
        database: &str,
        change: impl FnOnce(&mut Root) -> Result<(T, Option<LoggedChange>), ServerError>,
    ) -> Result<T, ServerError> {
        let listing = Namespace::new(database, LISTING);
        loop {
            // Like other data, the documents of `system.views` change under their collection's lock.
            let listed = self.collection(&listing);
            let locks = listed.as_ref().map(|listed| listed.shared.lock());
            let mut root = self.publish();
            let same = match (&listed, root.collection(&listing)) {
                (Some(then), Some(now)) => Arc::ptr_eq(&then.shared, &now.shared),
                (None, None) => true,
                _ => false,
            };
            if same {
                let result = change(&mut root).map(|(value, logged)| {
                    self.log(&root, || logged.into_iter().collect());
                    value
                });
                drop((root, locks));
                return result;
            }
        }
    }
}
