//! The parts of the engine that a pipeline reads beyond its input, such as other collections.

use std::borrow::Cow;
use std::sync::{Mutex, MutexGuard, PoisonError};

use bson::DateTime;
use bson::oid::ObjectId;
use bson::raw::{RawBson, RawBsonRef, RawDocument, RawDocumentBuf};
use odm_language::error::{Code, ServerError};
use odm_language::expression::Globals;
use odm_language::matcher::Matcher;
use odm_language::value::raw;

use crate::catalog::collection::Version;
use crate::catalog::namespace::Namespace;
use crate::catalog::view::Resolved;
use crate::catalog::{Catalog, Root};
use crate::command::compat::canonical_query::{CanonicalQuery, SIMPLE};
use crate::command::invocation::Invocation;
use crate::command::join_indexes::JoinIndexes;
use crate::command::stats_stages::StatsContext;
use crate::context::Context;
use crate::cursor::query::{Deadline, Found, Prepared, Query, QueryOutput, owned};
use crate::pipeline::{
    Cx, Documents, GEO_NEAR, Located, Pipeline, PipelineDocument, Reads, Source, Statistics,
    not_first,
};
use crate::planner::geo::only_field;
use crate::txn::transaction::Transaction;

/// The cost of starting a read, in the units of a deadline.
const READ: u64 = 16;

/// One aggregation's view of the rest of the engine: it reads one snapshot. A cursor keeps it between commands, unless it
/// belongs to a transaction.
#[derive(Debug)]
pub(crate) struct CommandSource<'t> {
    root: Root,
    following: Option<Mutex<Following<'t>>>,
    database: Box<str>,
    context: Context,
    now: DateTime,
    /// All reads of the aggregation share one deadline, so that many short reads count as much as one long read.
    deadline: Mutex<Deadline>,
    /// The namespace whose statistics the aggregation's first stage requests. A view here reports its own statistics,
    /// not those of its source.
    requested: Option<Namespace>,
    /// The same for the first stage of a view that is being read.
    requested_within: Mutex<Option<Namespace>>,
    /// The hint of the aggregation, for its first stage.
    hint: Option<RawBson>,
    joins: Mutex<JoinIndexes>,
    /// The reads of the stages of an explained aggregation.
    reads: Option<Mutex<Reads>>,
}

/// A transaction, which begins to use a namespace when it first reads it.
#[derive(Debug)]
struct Following<'t> {
    transaction: &'t mut Transaction,
    began: Option<&'t Root>,
    catalog: &'t Catalog,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<'t> CommandSource<'t> {
    /// The view of a command outside of transactions.
    pub(crate) fn new(call: &Invocation<'_>, deadline: Deadline) -> Self {
        Self {
            root: call.root(),
            following: None,
            database: call.database.into(),
            context: call.context.clone(),
            now: call.now,
            deadline: Mutex::new(deadline),
            requested: None,
            requested_within: Mutex::default(),
            hint: None,
            joins: Mutex::default(),
            reads: None,
        }
    }

    /// The view of a command that may be in a transaction.
    pub(crate) fn following(call: &'t mut Invocation<'_>, deadline: Deadline) -> Self {
        let mut source = Self::new(call, deadline);
        let engine = call.engine;
        let began = call.began.as_ref();
        source.following = call.transaction.as_deref_mut().map(|transaction| {
            Mutex::new(Following {
                transaction,
                began,
                catalog: &engine.catalog,
            })
        });
        source
    }

    /// This source for an aggregation whose first stage requests statistics.
    pub(crate) fn requesting(mut self, requested: Option<&Namespace>) -> Self {
        self.requested = requested.cloned();
        self
    }

    /// This source for an aggregation that is explained.
    pub(crate) fn counting(mut self) -> Self {
        self.reads = Some(Mutex::default());
        self
    }

    /// This source for an aggregation with a hint.
    pub(crate) fn hinted(mut self, hint: Option<RawBsonRef<'_>>) -> Self {
        self.hint = hint.map(RawBson::from);
        self
    }

    /// Moves the time limit by the milliseconds that nobody worked.
    pub(crate) fn postpone(&self, millis: i64) {
        lock(&self.deadline).postpone(millis);
    }

    /// Counts the collection scans with which mongod would join the documents, and what they examine.
    fn count_scan(&self, collection: &Version) {
        if let Some(reads) = &self.reads {
            let mut reads = lock(reads);
            // mongod counts one scan for the plan and one for its run.
            reads.scans += 2;
            reads.documents += u64::try_from(collection.len()).unwrap_or(u64::MAX);
        }
    }

    /// The documents of a view that match a filter. The view's pipeline runs with the view's collation and without the
    /// caller's variables.
    fn read_view(
        &self,
        view: &Resolved,
        depth: usize,
        filter: &RawDocument,
        globals: &Globals,
    ) -> Result<Vec<RawDocumentBuf>, ServerError> {
        let mut inner = Globals::new(self.now)
            .with_version(globals.version())
            .with_collator(view.collation.clone())
            .with_random(self.context.randomness())
            .with_shuffle(self.context.shuffle())
            .at_pipeline_depth(depth);
        if !globals.allows_disk_use() {
            inner = inner.without_disk_use();
        }
        let pipeline = Pipeline::parse(&view.stages, &inner)?.optimized(&inner)?;
        let leading = pipeline.leading();
        let base = leading.filter.as_deref();
        let input: Documents<'_> = match pipeline.begins() {
            Some(_) => Box::new(std::iter::empty()),
            None => self.read(
                &view.namespace,
                depth,
                None,
                base.unwrap_or_else(|| raw::empty_document()),
                &inner,
            )?,
        };
        let matcher = Matcher::parse(filter, globals)?;
        let mut found = Vec::new();
        let cx = Cx {
            source: self,
            collection: &view.namespace.collection,
            globals: &inner,
            counts: None,
        };
        let begins = pipeline.begins().map(|_| view.namespace.clone());
        let around = std::mem::replace(&mut *lock(&self.requested_within), begins);
        // The first stage reads its statistics when it starts, so `requested_within` is only needed here.
        let documents = pipeline.run_within(input, cx);
        *lock(&self.requested_within) = around;
        for document in documents? {
            let document = document?;
            self.check_deadline()?;
            if matcher.matches(&document)? {
                found.push(document.into_owned());
            }
        }
        Ok(found)
    }

    /// The documents of a collection or a view that match a filter.
    fn read<'s>(
        &'s self,
        namespace: &Namespace,
        depth: usize,
        joined_by: Option<&str>,
        filter: &RawDocument,
        globals: &Globals,
    ) -> Result<Documents<'s>, ServerError> {
        let listed = |documents: Vec<RawDocumentBuf>| -> Documents<'s> {
            Box::new(documents.into_iter().map(|document| Ok(document.into())))
        };
        lock(&self.deadline).check(READ)?;
        let root = self.root(namespace)?;
        if let Some(view) = root.resolve(namespace)? {
            return self.read_view(&view, depth, filter, globals).map(listed);
        }
        let Some(collection) = root.collection(namespace).cloned() else {
            return Ok(listed(Vec::new()));
        };
        let query = Query {
            filter: Some(filter),
            sort: None,
            hint: None,
            skip: 0,
            limit: None,
            globals: globals.clone(),
            shape: QueryOutput::default(),
        };
        let deadline = lock(&self.deadline).clone();
        let mut joins = lock(&self.joins);
        let join = joined_by.and_then(|path| joins.join(namespace, path, globals.collator()));
        if let Some(indexed) = join.as_ref().and_then(|join| join.indexed()) {
            self.count_scan(&collection);
            return joined(&query, indexed, deadline).map(listed);
        }
        let prepared = query.prepare(Some(&collection))?;
        if let Some(join) = join
            && prepared.is_scan()
            && join.scanned()
        {
            let length = u64::try_from(collection.len()).unwrap_or(u64::MAX);
            lock(&self.deadline).check(length)?;
            join.build(&collection);
            if let Some(tally) = deadline.tally() {
                tally.add((0, length));
            }
        }
        if self.reads.is_some() {
            return self
                .read_counted(&prepared, &collection, &deadline)
                .map(listed);
        }
        let found = prepared.run(collection, deadline)?;
        Ok(Box::new(found.map(|row| {
            row.map(|(_, bytes)| PipelineDocument::stored(bytes))
        })))
    }

    /// The documents of a query, for a stage of an explained aggregation.
    fn read_counted(
        &self,
        prepared: &Prepared,
        collection: &Version,
        deadline: &Deadline,
    ) -> Result<Vec<RawDocumentBuf>, ServerError> {
        let Some(winner) = prepared.decide(collection, deadline)?.into_iter().next() else {
            return Ok(Vec::new());
        };
        let indexes = winner.node.indexes();
        let mut found = Found::from(winner);
        let rows = found.by_ref().collect::<Result<Vec<_>, _>>()?;
        if indexes.is_empty() {
            self.count_scan(collection);
        } else if let Some(reads) = &self.reads {
            let mut reads = lock(reads);
            let (keys, documents) = found.execution.examined();
            reads.keys += keys;
            reads.documents += documents;
            reads.indexes.extend(indexes);
        }
        Ok(rows.iter().map(|(_, bytes)| owned(bytes)).collect())
    }

    /// The catalog in which to read a namespace.
    fn root(&self, namespace: &Namespace) -> Result<Cow<'_, Root>, ServerError> {
        let Some(following) = &self.following else {
            return Ok(Cow::Borrowed(&self.root));
        };
        let mut following = lock(following);
        let now;
        let began = if let Some(began) = following.began {
            began
        } else {
            now = following.catalog.root();
            &now
        };
        following.transaction.follow(began, namespace)?;
        Ok(Cow::Owned(following.transaction.root().clone()))
    }

    fn namespace(&self, collection: &str) -> Namespace {
        Namespace::new(&self.database, collection)
    }
}

/// The documents that a query finds by the index of a join, in the order of a scan. The profiler counts the documents, and no
/// keys of an index that the collection does not have.
fn joined(
    query: &Query<'_>,
    indexed: &Version,
    deadline: Deadline,
) -> Result<Vec<RawDocumentBuf>, ServerError> {
    let tally = deadline.tally().cloned();
    let found = query
        .prepare(Some(indexed))?
        .run(Version::clone(indexed), deadline.tallied(None))?;
    let mut rows = found.collect::<Result<Vec<_>, _>>()?;
    if let Some(tally) = tally {
        tally.add((0, u64::try_from(rows.len()).unwrap_or(u64::MAX)));
    }
    if query.globals.shuffle().is_none() {
        rows.sort_by_key(|(record, _)| *record);
    }
    Ok(rows.iter().map(|(_, bytes)| owned(bytes)).collect())
}

/// The error of a `$geoNear` whose collection does not exist.
pub(crate) fn lacks_collection(namespace: &Namespace) -> ServerError {
    ServerError::new(
        Code::NAMESPACE_NOT_FOUND,
        format!("$geoNear requires a geo index to run, but {namespace} does not exist"),
    )
}

impl Source for CommandSource<'_> {
    fn find<'s>(
        &'s self,
        depth: usize,
        collection: &str,
        joined_by: Option<&str>,
        filter: &RawDocument,
        globals: &Globals,
    ) -> Result<Documents<'s>, ServerError> {
        let namespace = self.namespace(collection);
        self.read(&namespace, depth, joined_by, filter, globals)
    }

    fn nearest(
        &self,
        collection: &str,
        field: Option<&str>,
        filter: &dyn Fn(&str) -> Result<RawDocumentBuf, ServerError>,
        globals: &Globals,
    ) -> Result<Located, ServerError> {
        lock(&self.deadline).check(READ)?;
        let mut namespace = self.namespace(collection);
        let root = self.root(&namespace)?;
        if let Some(view) = root.resolve(&namespace)? {
            if !view.stages.is_empty() {
                return Err(not_first(GEO_NEAR));
            }
            namespace = view.namespace;
        }
        let Some(collection) = root.collection(&namespace).cloned() else {
            return Err(lacks_collection(&namespace));
        };
        let field = match field {
            Some(field) => field,
            None => only_field(&collection.indexes, &namespace)?,
        };
        let filter = filter(field)?;
        let query = Query {
            filter: Some(&filter),
            sort: None,
            hint: match &self.hint {
                Some(hint) if !globals.is_inner_pipeline() => Some(hint.as_raw_bson_ref()),
                _ => None,
            },
            skip: 0,
            limit: None,
            globals: globals.clone(),
            shape: QueryOutput::default(),
        };
        let deadline = lock(&self.deadline).clone();
        let prepared = query.prepare(Some(&collection)).map_err(|error| {
            let pictured = CanonicalQuery {
                namespace: &namespace,
                filter: Some(&filter),
                sort: None,
                projection: None,
                window: String::new(),
                collation: SIMPLE,
            };
            pictured.explain_hint(error)
        })?;
        let mut found = prepared.run(collection, deadline)?;
        Ok(Box::new(std::iter::from_fn(move || {
            let row = found.next()?;
            Some(row.map(|row| (owned(&row.1), found.known(&row))))
        })))
    }

    fn check_deadline(&self) -> Result<(), ServerError> {
        lock(&self.deadline).check(1)
    }

    fn statistics(
        &self,
        collection: &str,
        asked: &Statistics,
    ) -> Result<Vec<RawDocumentBuf>, ServerError> {
        let asker = StatsContext {
            root: &self.root,
            context: &self.context,
            now: self.now,
        };
        let namespace = self.namespace(collection);
        let is_requested = self.requested.as_ref() == Some(&namespace)
            || lock(&self.requested_within).as_ref() == Some(&namespace);
        match self.root.resolve(&namespace)? {
            Some(view) if !is_requested => asker.ask(&view.namespace, asked),
            _ => asker.ask(&namespace, asked),
        }
    }

    fn exchange_reads(&self, reads: Reads) -> Reads {
        match &self.reads {
            Some(counted) => std::mem::replace(&mut *lock(counted), reads),
            None => reads,
        }
    }

    fn random(&self) -> u64 {
        self.context.random()
    }

    fn object_id(&self) -> ObjectId {
        self.context.object_id()
    }

    fn name_of(&self, collection: &str) -> String {
        self.namespace(collection).to_string()
    }
}
