//! The parts of the engine that a pipeline uses beyond its input: other collections, and the targets of `$out` and
//! `$merge`.

use std::borrow::Cow;
use std::cell::RefCell;
use std::sync::Arc;

use bson::oid::ObjectId;
use bson::raw::{RawBsonRef, RawDocument, RawDocumentBuf};
use odm_language::error::{Code, ServerError};
use odm_language::expression::Globals;
use odm_language::matcher::Matcher;
use odm_language::value::collation::Collator;
use odm_language::value::raw;

use crate::catalog::collection::Version;
use crate::catalog::namespace::Namespace;
use crate::catalog::view::Resolved;
use crate::catalog::{Edit, Root};
use crate::command::compat::canonical_query::{CanonicalQuery, SIMPLE};
use crate::command::insert::{Times, prepare};
use crate::command::invocation::Invocation;
use crate::command::join_indexes::JoinIndexes;
use crate::command::modify;
use crate::command::stats_stages::StatsContext;
use crate::context::Context;
use crate::cursor::query::{Deadline, Found, Prepared, Query, QueryOutput, owned};
use crate::pipeline::{
    Cx, Documents, GEO_NEAR, Located, MergeWrite, Merging, Pipeline, PipelineDocument, Reads,
    Source, Statistics, WriteTarget, not_first,
};
use crate::planner::geo::only_field;
use crate::txn::writer::Writer;

/// The cost of starting a read, in the units of a deadline.
const READ: u64 = 16;

/// One aggregation's view of the rest of the engine: it reads one snapshot, and writes through the call.
#[derive(Debug)]
pub(crate) struct CallSource<'c, 'a> {
    root: Root,
    database: &'a str,
    call: RefCell<&'c mut Invocation<'a>>,
    /// All reads of the aggregation share one deadline, so that many short reads count as much as one long read.
    deadline: RefCell<Deadline>,
    /// The namespace whose statistics the aggregation's first stage requests. A view here reports its own statistics,
    /// not those of its source.
    requested: Option<&'c Namespace>,
    /// The same for the first stage of a view that is being read.
    requested_within: RefCell<Option<Namespace>>,
    /// The hint of the aggregation, for its first stage.
    hint: Option<RawBsonRef<'c>>,
    joins: RefCell<JoinIndexes>,
    /// The reads of the stages of an explained aggregation.
    reads: Option<RefCell<Reads>>,
}

impl<'c, 'a> CallSource<'c, 'a> {
    pub(crate) fn new(call: &'c mut Invocation<'a>, requested: Option<&'c Namespace>) -> Self {
        Self {
            root: call.root(),
            database: call.database,
            deadline: RefCell::new(call.deadline()),
            call: RefCell::new(call),
            requested,
            requested_within: RefCell::default(),
            hint: None,
            joins: RefCell::default(),
            reads: None,
        }
    }

    /// This source for an aggregation that is explained.
    pub(crate) fn counting(mut self) -> Self {
        self.reads = Some(RefCell::default());
        self
    }

    /// Counts the collection scans with which mongod would join the documents, and what they examine.
    fn count_scan(&self, collection: &Version) {
        if let Some(reads) = &self.reads {
            let mut reads = reads.borrow_mut();
            // mongod counts one scan for the plan and one for its run.
            reads.scans += 2;
            reads.documents += u64::try_from(collection.len()).unwrap_or(u64::MAX);
        }
    }

    /// This source for an aggregation with a hint.
    pub(crate) fn hinted(mut self, hint: Option<RawBsonRef<'c>>) -> Self {
        self.hint = hint;
        self
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
        let (now, random, shuffle) = {
            let call = self.call.borrow();
            let context = call.context;
            (call.now, context.randomness(), context.shuffle())
        };
        let mut inner = Globals::new(now)
            .with_version(globals.version())
            .with_collator(view.collation.clone())
            .with_random(random)
            .with_shuffle(shuffle)
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
        let around = self
            .requested_within
            .replace(pipeline.begins().map(|_| view.namespace.clone()));
        // The first stage reads its statistics when it starts, so `requested_within` is only needed here.
        let documents = pipeline.run_within(input, cx);
        self.requested_within.replace(around);
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
        self.deadline.borrow_mut().check(READ)?;
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
        let deadline = self.deadline.borrow().clone();
        let mut joins = self.joins.borrow_mut();
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
            self.deadline.borrow_mut().check(length)?;
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
            let mut reads = reads.borrow_mut();
            let (keys, documents) = found.execution.examined();
            reads.keys += keys;
            reads.documents += documents;
            reads.indexes.extend(indexes);
        }
        Ok(rows.iter().map(|(_, bytes)| owned(bytes)).collect())
    }

    /// The catalog in which to read a namespace.
    fn root(&self, namespace: &Namespace) -> Result<Cow<'_, Root>, ServerError> {
        let mut call = self.call.borrow_mut();
        if call.transaction.is_none() {
            return Ok(Cow::Borrowed(&self.root));
        }
        call.follow(namespace)?;
        Ok(Cow::Owned(call.root()))
    }

    fn namespace(&self, database: Option<&str>, collection: &str) -> Namespace {
        Namespace::new(database.unwrap_or(self.database), collection)
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

/// The collection that a `$merge` writes into.
struct MergeInto<'w, 'a, 'b> {
    writer: &'w mut Writer<'a, 'b>,
    collator: Option<Collator>,
    context: &'w Context,
    times: Times<'w>,
    deadline: Deadline,
}

impl Merging for MergeInto<'_, '_, '_> {
    fn write(&mut self, write: &MergeWrite<'_>, globals: &Globals) -> Result<bool, ServerError> {
        let (filter, update, upsert, otherwise) = match write {
            MergeWrite::Insert(document) => {
                self.insert(document)?;
                return Ok(true);
            }
            MergeWrite::Update {
                filter,
                update,
                upsert,
                otherwise,
            } => (filter, *update, *upsert, otherwise),
        };
        let wanted = modify::Selection::new(
            filter,
            globals.clone().with_collator(self.collator.clone()),
            self.collator.clone(),
            self.deadline.clone(),
        );
        let change = modify::UpdateSpec {
            update,
            array_filters: None,
            upsert,
        };
        let checked = change.check(&wanted)?;
        let new_id = || self.context.object_id();
        let outcome = modify::update(self.writer, &wanted, &change, &checked, new_id)?;
        let was_there = outcome.matched > 0 || outcome.upserted.is_some();
        if let (false, Some(document)) = (was_there, otherwise) {
            self.insert(document)?;
            return Ok(true);
        }
        Ok(was_there)
    }
}

impl MergeInto<'_, '_, '_> {
    fn insert(&mut self, document: &RawDocument) -> Result<(), ServerError> {
        let context = self.context;
        let stored = prepare(document, || context.object_id(), Some(self.times))?;
        self.writer.insert(&stored)?;
        Ok(())
    }
}

/// The target of a `$merge` that must not create its missing collection.
struct MissingTarget;

impl Merging for MissingTarget {
    fn write(&mut self, _write: &MergeWrite<'_>, _globals: &Globals) -> Result<bool, ServerError> {
        Ok(false)
    }
}

impl Source for CallSource<'_, '_> {
    fn find<'s>(
        &'s self,
        depth: usize,
        collection: &str,
        joined_by: Option<&str>,
        filter: &RawDocument,
        globals: &Globals,
    ) -> Result<Documents<'s>, ServerError> {
        let namespace = self.namespace(None, collection);
        self.read(&namespace, depth, joined_by, filter, globals)
    }

    fn nearest(
        &self,
        collection: &str,
        field: Option<&str>,
        filter: &dyn Fn(&str) -> Result<RawDocumentBuf, ServerError>,
        globals: &Globals,
    ) -> Result<Located, ServerError> {
        self.deadline.borrow_mut().check(READ)?;
        let mut namespace = self.namespace(None, collection);
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
            hint: self.hint.filter(|_| !globals.is_inner_pipeline()),
            skip: 0,
            limit: None,
            globals: globals.clone(),
            shape: QueryOutput::default(),
        };
        let deadline = self.deadline.borrow().clone();
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
        self.deadline.borrow_mut().check(1)
    }

    fn statistics(
        &self,
        collection: &str,
        asked: &Statistics,
    ) -> Result<Vec<RawDocumentBuf>, ServerError> {
        let call = self.call.borrow();
        let asker = StatsContext {
            root: &self.root,
            context: call.context,
            now: call.now,
        };
        let namespace = self.namespace(None, collection);
        let within = self.requested_within.borrow();
        let is_requested =
            self.requested == Some(&namespace) || within.as_ref() == Some(&namespace);
        match self.root.resolve(&namespace)? {
            Some(view) if !is_requested => asker.ask(&view.namespace, asked),
            _ => asker.ask(&namespace, asked),
        }
    }

    fn exchange_reads(&self, reads: Reads) -> Reads {
        match &self.reads {
            Some(counted) => counted.replace(reads),
            None => reads,
        }
    }

    fn random(&self) -> u64 {
        self.call.borrow().context.random()
    }

    fn object_id(&self) -> ObjectId {
        self.call.borrow().context.object_id()
    }

    fn merge(
        &self,
        target: WriteTarget<'_>,
        creates: bool,
        write: &mut dyn FnMut(&mut dyn Merging) -> Result<(), ServerError>,
    ) -> Result<(), ServerError> {
        let namespace = self.namespace(target.database, target.collection);
        let mut call = self.call.borrow_mut();
        call.locked.set(true);
        let bypass = call.args.flag("bypassDocumentValidation");
        if creates {
            call.ensure(&namespace)?;
        }
        // Like an update without a collation, `$merge` matches with the collation of its target.
        let collator = modify::collation_of(call.find_collection(&namespace).as_deref());
        let (context, deadline) = (call.context.clone(), call.deadline());
        let (clock, now) = (Arc::clone(&call.engine.catalog.clock), call.now);
        let mut each = |writer: &mut Writer<'_, '_>| {
            let mut merging = MergeInto {
                writer,
                collator: collator.clone(),
                context: &context,
                times: Times { clock: &clock, now },
                deadline: deadline.clone(),
            };
            match write(&mut merging) {
                // A write conflict undoes all writes, so that the command can run again. Other errors keep the writes
                // made before them.
                Err(error) if error.code() == Code::WRITE_CONFLICT => Err(error),
                done => Ok(done),
            }
        };
        let done = if creates {
            Some(call.write_ensured(&namespace, bypass, each)?)
        } else {
            call.write(&namespace, bypass, &mut each)?
        };
        done.unwrap_or_else(|| write(&mut MissingTarget))
    }

    fn name_of(&self, collection: &str) -> String {
        self.namespace(None, collection).to_string()
    }

    fn check_replaced(&self, database: Option<&str>, collection: &str) -> Result<(), ServerError> {
        let namespace = self.namespace(database, collection);
        let call = self.call.borrow();
        call.check_not_view(&namespace)?;
        let is_capped = call
            .find_collection(&namespace)
            .is_some_and(|collection| collection.options.capped.is_some());
        if is_capped {
            return Err(ServerError::new(
                Code::location(17152),
                format!("namespace '{namespace}' is capped so it can't be used for $out"),
            ));
        }
        Ok(())
    }

    fn replace_all(
        &self,
        database: Option<&str>,
        collection: &str,
        mut documents: Vec<RawDocumentBuf>,
    ) -> Result<(), ServerError> {
        let namespace = self.namespace(database, collection);
        let mut call = self.call.borrow_mut();
        call.locked.set(true);
        let was_there = call.find_collection(&namespace).is_some();
        let created = call.ensure_quietly(&namespace).map_err(|error| {
            if error.code() != Code::INVALID_NAMESPACE {
                return error;
            }
            // mongod renames a temporary collection to this name, and so reports the name as illegal.
            ServerError::new(
                Code::ILLEGAL_OPERATION,
                format!("error with target namespace: {}", error.message()),
            )
        })?;
        let created = created
            .then(|| {
                call.find_collection(&namespace)
                    .map(|collection| collection.uuid)
            })
            .flatten();
        let bypass = call.args.flag("bypassDocumentValidation");
        let context = call.context.clone();
        let (clock, now) = (Arc::clone(&call.engine.catalog.clock), call.now);
        // All or nothing: an error leaves the collection as it was.
        let written = call.write_ensured(&namespace, bypass, |writer| {
            let records: Vec<_> = writer
                .collection()
                .all()
                .map(|stored| stored.record)
                .collect();
            for record in records {
                writer.remove(record)?;
            }
            for document in std::mem::take(&mut documents) {
                let times = Times { clock: &clock, now };
                writer.insert(&prepare(&document, || context.object_id(), Some(times))?)?;
            }
            if writer.is_watched() {
                let from = writer.collection().made_as("agg_out");
                writer.tell_as_moved(&from, was_there);
            }
            Ok(())
        });
        if let Some(uuid) = created.filter(|_| written.is_err()) {
            // Another client may have replaced the collection; its writes then stay.
            // The error of the write is the one to report.
            let _ = call.alter(&namespace, |collection| {
                Ok(if collection.uuid == uuid && collection.len() == 0 {
                    Edit::Drop(())
                } else {
                    Edit::Unchanged(())
                })
            });
        }
        written
    }
}
