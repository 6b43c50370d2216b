//! `find`.

use std::sync::atomic::Ordering;

use bson::raw::{CString, RawBsonRef, RawDocument, RawDocumentBuf, cstr};
use odm_language::error::{Code, ServerError};
use odm_language::expression::Globals;
use odm_language::expression::meta::{self, Known};
use odm_language::matcher::Matcher;
use odm_language::value::raw;

use crate::catalog::collection::{Collection, Version};
use crate::catalog::namespace::Namespace;
use crate::command::aggregate;
use crate::command::args::unsupported;
use crate::command::args::{Args, Field, Kind, field, whole};
use crate::command::batch::{first_batch, session_of, transaction_of};
use crate::command::compat::explain::explained::Explained;
use crate::command::compat::explain::goal::OuterStages;
use crate::command::compat::explain::{aggregation, report};
use crate::command::create::to_document;
use crate::command::invocation::Invocation;

use crate::command::compat::canonical_query::{self, CanonicalQuery};
use crate::command::declare::{Command, CommandTarget};
use crate::command::generic_arguments::InTransaction;
use crate::command::reply::{Batch, Page};
use crate::command::view;
use crate::cursor::exec::Row;
use crate::cursor::point::{self, Equality, Listed};
use crate::cursor::query::{Found, Query, QueryOutput, check_distance};
use crate::cursor::registry::{Cursor, Item, Results, Tail};
use crate::cursor::sort::Order;
use crate::index::RecordId;
use crate::pipeline::projection::Projection;

/// How many documents the first batch holds if the command sets no batch size.
const FIRST_BATCH: u64 = 101;

/// The largest batch that is not full: a full batch keeps its cursor open.
pub(crate) const LONGEST_BATCH: usize = 100;

pub(crate) const FIELDS: &[Field] = &[
    field("filter", Kind::FindObject),
    field("projection", Kind::FindObject),
    field("sort", Kind::FindObject),
    field("hint", Kind::Any),
    field("collation", Kind::FindObject),
    field("skip", Kind::SafeInt),
    field("limit", Kind::SafeInt),
    field("batchSize", Kind::SafeInt),
    field("singleBatch", Kind::FindBool),
    field("let", Kind::Object),
    field("noCursorTimeout", Kind::FindBool),
    // These two have no effect, because the engine has neither a disk nor shards.
    field("allowDiskUse", Kind::FindBool),
    field("allowPartialResults", Kind::FindBool),
    field("min", Kind::FindObject),
    field("max", Kind::FindObject),
    field("returnKey", Kind::FindBool),
    field("showRecordId", Kind::FindBool),
    field("tailable", Kind::FindBool),
    field("awaitData", Kind::FindBool),
    // mongod accepts these too, without a visible effect.
    field("oplogReplay", Kind::FindBool),
    field("readOnce", Kind::FindBool),
    field("allowSpeculativeMajorityRead", Kind::FindBool),
    field("options", Kind::Object),
    field("$queryOptions", Kind::FindObject),
    field("ntoreturn", Kind::SafeInt).checked(is_no_count),
];

/// Refuses `ntoreturn`, the older `limit`, with any value.
fn is_no_count(_name: &str, value: RawBsonRef<'_>) -> Result<(), ServerError> {
    let count = whole(value).unwrap_or_default();
    Err(if count < 0 {
        ServerError::new(
            Code::location(51024),
            format!("BSON field 'ntoreturn' value must be >= 0, actual value '{count}'"),
        )
    } else {
        ServerError::new(
            Code::location(5_746_102),
            "the ntoreturn find command parameter is not supported when FCV >= 5.1",
        )
    })
}

pub(crate) const FIND: Command = Command {
    name: "find",
    idl: "FindCommandRequest",
    fields: FIELDS,
    target: CommandTarget::Collection,
    transaction: InTransaction::Allowed,
    retryable: false,
    writes: false,
    run: find,
    explain: Some(explain),
};

/// A parsed `find`, to run or to explain.
#[derive(Debug)]
pub(crate) struct Find<'a> {
    pub(crate) query: Query<'a>,
    pub(crate) projection: Option<Projection>,
    pub(crate) projection_document: Option<&'a RawDocument>,
    pub(crate) sort: Option<&'a RawDocument>,
    /// Whether the projection shows the sort key.
    pub(crate) shows_sort: bool,
}

impl<'a> Find<'a> {
    pub(crate) fn parse(
        call: &Invocation<'_>,
        namespace: &Namespace,
        args: &Args<'a>,
    ) -> Result<Self, ServerError> {
        let collection = call.find_collection(namespace);
        let globals: Globals = call.globals(
            args.document("collation"),
            args.document("let"),
            collection.as_deref(),
        )?;
        let hint = args.hint()?;
        let projection_document = args.filled("projection");
        let sort = args.filled("sort");
        let shows_sort = projection_document.is_some_and(|projection| {
            meta::mentions(RawBsonRef::Document(projection), Some("sortKey"))
        });
        // Sort keys under a collation depend on the version of its data, and mongod uses another version.
        let sees_sort = if globals.collator().is_none() {
            globals.clone().with_sort_keys()
        } else {
            globals.clone()
        };
        let (min, max) = (args.filled("min"), args.filled("max"));
        let query = Query {
            filter: args.document("filter"),
            sort,
            hint,
            skip: args.natural("skip")?.unwrap_or(0),
            limit: args.natural("limit")?.filter(|limit| *limit > 0),
            globals,
            shape: QueryOutput {
                scored: asks_for_metadata(projection_document),
                projection: projection_document,
                counts: false,
                min,
                max,
                keyed: args.flag("returnKey"),
                tailable: args.flag("tailable"),
            },
        };
        let projection = projection_document
            .map(|projection| {
                check_score(projection, &query)?;
                projected(projection, query.filter, &sees_sort)
            })
            .transpose()
            .or_else(|error| {
                let matcher = query.matcher(collection.as_deref());
                matcher
                    .map_err(|error| canonical_query::explain_find(error, namespace, args))
                    .and(Err(error))
            })?;
        if shows_sort && sort.is_none() {
            return Err(ServerError::new(
                Code::BAD_VALUE,
                "cannot use sortKey $meta projection without a sort",
            ));
        }
        if let (Some(min), Some(max)) = (min, max)
            && !raw::elements(min)
                .map(|(name, _)| name)
                .eq(raw::elements(max).map(|(name, _)| name))
        {
            return Err(ServerError::new(
                Code::location(51176),
                "min and max must have the same field names",
            ));
        }
        Ok(Self {
            query,
            projection,
            projection_document,
            sort,
            shows_sort,
        })
    }
}

/// Whether a projection reads a document's metadata.
pub(crate) fn asks_for_metadata(projection: Option<&RawDocument>) -> bool {
    projection.is_some_and(|projection| meta::mentions(RawBsonRef::Document(projection), None))
}

/// Refuses a projection of the text score if the query has no `$text`, and of a distance if it has no `$near`.
fn check_score(projection: &RawDocument, query: &Query<'_>) -> Result<(), ServerError> {
    let filter = query.filter.unwrap_or_else(|| raw::empty_document());
    if meta::lacks_distance(RawBsonRef::Document(projection)).is_some() {
        let matcher = Matcher::parse_query(filter, &query.globals)?;
        check_distance(projection, Some(&matcher))?;
    }
    if !meta::mentions(RawBsonRef::Document(projection), Some("textScore")) {
        return Ok(());
    }
    match Matcher::parse_query(filter, &query.globals)?.text() {
        Some(_) => Ok(()),
        None => Err(meta::unavailable()),
    }
}

/// Parses a projection. Errors in the filter are reported before errors in the projection.
pub(crate) fn projected(
    projection: &RawDocument,
    filter: Option<&RawDocument>,
    globals: &Globals,
) -> Result<Projection, ServerError> {
    let filter = || Matcher::parse_query(filter.unwrap_or_else(|| raw::empty_document()), globals);
    let check = || filter()?.refuse_whole_document_operators();
    Projection::parse(projection, globals, &check)
        .and_then(|parsed| parsed.check_constants(globals).map(|()| parsed))
}

fn find(call: &mut Invocation<'_>) -> Result<RawDocumentBuf, ServerError> {
    Ok(run(call)?.to_reply(cstr!("firstBatch")))
}

/// Runs a `find` and returns the first batch.
pub(crate) fn run(call: &mut Invocation<'_>) -> Result<Page, ServerError> {
    // Profiled commands always run a plan, because the shortcuts count nothing for the profiler.
    let is_profiled = call.profile.is_some();
    let shuffles = call.context.shuffle().is_some();
    if !is_profiled
        && call.args.has_only(&["filter", "limit", "singleBatch"])
        && let Some(filter) = call.args.document("filter")
        && let Ok(limit) = call.args.natural("limit")
        && let Some(equality) = Equality::of(filter)
        && let Some(collection) = call.find_collection(call.namespace)
        && let Some(batch) = short(
            &collection,
            &equality,
            limit.filter(|limit| *limit > 0),
            if shuffles { 1 } else { LONGEST_BATCH },
        )
    {
        let page = batch.of(0, collection.namespace.clone());
        return Ok(page.at(call.read_time()));
    }
    if !is_profiled
        && !shuffles
        && let Some(page) = listed(call)
    {
        return page;
    }
    let namespace = call.namespace();
    namespace.check_read()?;
    if call.transaction.is_some() && call.args.flag("readOnce") {
        return Err(ServerError::new(
            Code::OPERATION_NOT_SUPPORTED_IN_TRANSACTION,
            "The 'readOnce' option is not supported within a transaction.",
        ));
    }
    let tail = tail(&call.args)?;
    if call.find_view(&namespace).is_some() {
        let batch_size = call.args.natural("batchSize")?.unwrap_or(FIRST_BATCH);
        let aggregate = view::find(call, namespace, &call.args)?;
        let documents = aggregate.run(call)?;
        return aggregate::open(call, aggregate.namespace, documents, Some(batch_size));
    }
    let find = Find::parse(call, &namespace, &call.args)?;
    let batch_size = call.args.natural("batchSize")?.unwrap_or(FIRST_BATCH);
    let single = call.args.flag("singleBatch");
    let collection = call.find_collection(&namespace);
    let mut prepared = find
        .query
        .prepare(collection.as_deref())
        .map_err(|error| canonical_query::explain_find(error, &namespace, &call.args))?;
    if tail != Tail::No {
        if call.transaction.is_some() {
            return Err(ServerError::new(
                Code::INVALID_OPTIONS,
                "It is illegal to open a tailable cursor in a transaction",
            ));
        }
        if let Some(collection) = &collection {
            check_capped(collection, call, &find)?;
        }
        // A tailable cursor reads in natural order, whatever the filter and the hint.
        prepared.use_no_index();
        if let Some(collection) = &collection {
            let scans = &collection.shared.scans;
            scans.tailable.fetch_add(1, Ordering::Relaxed);
        }
    }
    let Some(collection) = collection else {
        call.name_plan("EOF");
        return Ok(Batch::default().of(0, namespace));
    };
    let uuid = collection.uuid;
    let has_position = find
        .projection
        .as_ref()
        .is_some_and(Projection::needs_position);
    let matcher = prepared
        .matcher
        .as_ref()
        .filter(|_| has_position)
        .map(|matcher| matcher.as_written());
    let while_running = |error: ServerError| error.within("Executor error during find command");
    let tells = asks_for_metadata(find.projection_document);
    let found = prepared
        .run(collection, call.deadline())
        .map_err(while_running)?;
    let shows_sort = find.shows_sort.then(|| Order::parse(find.sort));
    let results = Projected {
        found,
        sort: shows_sort.transpose()?,
        numbered: call.args.flag("showRecordId"),
        keyed: call
            .args
            .flag("returnKey")
            .then(|| sort_keys(find.projection_document)),
        projection: find.projection,
        matcher,
        tells,
        globals: find.query.globals,
        tailable: tail != Tail::No,
    };
    let cursor = Cursor {
        namespace,
        results: Box::new(results),
        held: None,
        collection: Some(uuid),
        session: session_of(call),
        transaction: transaction_of(&call.mode),
        time: call.read_time(),
        no_timeout: call.args.flag("noCursorTimeout"),
        limited: call.deadline().is_some(),
        tail,
        used: call.now.timestamp_millis(),
        tally: None,
    };
    first_batch(call, cursor, Some(batch_size), single).map_err(while_running)
}

/// The batch for a filter that compares one field with one value, read directly. Returns `None` if the command needs a
/// plan.
pub(crate) fn short(
    collection: &Collection,
    equality: &Equality<'_>,
    limit: Option<u64>,
    most: usize,
) -> Option<Batch> {
    if collection.options.collation.is_some() {
        return None;
    }
    let mut batch = Batch::default();
    let mut push = |record: RecordId| {
        if let Some(stored) = collection.stored(record) {
            batch.push(Item::Stored(stored.keep()));
        }
    };
    match equality.by_id(collection) {
        Some(point::Found::Record(found)) => push(found.record),
        Some(point::Found::Nothing) => {}
        None => {
            let limit = limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(most));
            let records = equality.by_index(collection, most)?;
            records.into_iter().take(limit).for_each(push);
        }
    }
    Some(batch)
}

/// The page for a filter that compares one field with a few values, read directly. Returns `None` if the command needs
/// a plan.
fn listed(call: &Invocation<'_>) -> Option<Result<Page, ServerError>> {
    let options = ["filter", "limit", "singleBatch", "batchSize"];
    if !call.args.has_only(&options) || call.deadline().is_some() {
        return None;
    }
    let collection = call.find_collection(call.namespace)?;
    if collection.options.collation.is_some() {
        return None;
    }
    let limit = call.args.natural("limit").ok()?.filter(|limit| *limit > 0);
    let batch_size = call.args.natural("batchSize").ok()?.unwrap_or(FIRST_BATCH);
    let results = Listed::of(call.args.document("filter")?, &collection, limit)?;
    let cursor = Cursor {
        namespace: collection.namespace.clone(),
        results: Box::new(results),
        held: None,
        collection: Some(collection.uuid),
        session: session_of(call),
        transaction: transaction_of(&call.mode),
        time: call.read_time(),
        no_timeout: false,
        limited: false,
        tail: Tail::No,
        used: call.now.timestamp_millis(),
        tally: None,
    };
    let single = call.args.flag("singleBatch");
    Some(first_batch(call, cursor, Some(batch_size), single))
}

/// The kind of tail that the options of a `find` request.
fn tail(args: &Args<'_>) -> Result<Tail, ServerError> {
    let refuse = |message| Err(ServerError::new(Code::BAD_VALUE, message));
    match (args.flag("tailable"), args.flag("awaitData")) {
        (false, false) => return Ok(Tail::No),
        (false, true) => {
            return Err(ServerError::new(
                Code::FAILED_TO_PARSE,
                "Cannot set 'awaitData' without also setting 'tailable'",
            ));
        }
        (true, _) => {}
    }
    if let Some(sort) = args.filled("sort") {
        let natural = raw::get(sort, "$natural").and_then(whole) == Some(1);
        if !natural || raw::elements(sort).count() > 1 {
            return refuse("cannot use tailable option with a sort other than {$natural: 1}");
        }
    }
    if args.flag("singleBatch") {
        return refuse("cannot use tailable option with the 'singleBatch' option");
    }
    Ok(if args.flag("awaitData") {
        Tail::AwaitData
    } else {
        Tail::Tailable
    })
}

/// Refuses a tailable cursor on a collection that is not capped.
fn check_capped(
    collection: &Collection,
    call: &Invocation<'_>,
    find: &Find<'_>,
) -> Result<(), ServerError> {
    if collection.options.capped.is_some() {
        return Ok(());
    }
    let error = ServerError::new(
        Code::BAD_VALUE,
        "tailable cursor requested on non capped collection",
    );
    let pictured = CanonicalQuery {
        namespace: &call.namespace(),
        filter: call.args.filled("filter"),
        sort: find.sort,
        projection: find.projection_document,
        window: String::new(),
        collation: "",
    };
    Err(pictured.named(&error))
}

/// A projected document. The filter determines which element the positional `$` stands for.
pub(crate) fn project(
    projection: &Projection,
    matcher: Option<&Matcher>,
    document: &RawDocument,
    globals: &Globals,
) -> Result<RawDocumentBuf, ServerError> {
    let index = match matcher {
        Some(matcher) if projection.needs_position() => matcher
            .match_position(document)?
            .and_then(|found| found.array_index),
        _ => None,
    };
    projection.apply(document, index, globals)
}

/// The documents of a query, projected.
struct Projected {
    found: Found,
    projection: Option<Projection>,
    /// Set if the projection has a positional `$`.
    matcher: Option<Matcher>,
    globals: Globals,
    /// Whether the projection reads metadata.
    tells: bool,
    /// The sort order, if the projection shows the sort key.
    sort: Option<Order>,
    /// Whether each document gets its record id as `$recordId`.
    numbered: bool,
    /// With `returnKey`, only the index keys are shown, and the sort keys under these names.
    keyed: Option<Vec<String>>,
    tailable: bool,
}

/// The fields of a projection that show the sort key.
fn sort_keys(projection: Option<&RawDocument>) -> Vec<String> {
    let fields = projection.into_iter().flat_map(raw::elements);
    let wanted = |value| matches!(value, RawBsonRef::Document(meta) if raw::get(meta, "$meta") == Some(RawBsonRef::String("sortKey")));
    fields
        .filter(|(_, value)| wanted(*value))
        .map(|(name, _)| name.to_owned())
        .collect()
}

impl Projected {
    fn with_sort_keys(&self, mut key: RawDocumentBuf, names: &[String]) -> Item {
        for name in names {
            if let (Some(values), Ok(name)) =
                (self.globals.known().sort_key, CString::try_from(&**name))
            {
                key.append(name, values);
            }
        }
        Item::Made(key)
    }

    /// The result document for a record.
    fn shown(&self, row: Row) -> Result<Item, ServerError> {
        let record = i64::try_from(row.0).ok();
        let known = self.tells.then(|| self.found.known(&row));
        let key = match &self.keyed {
            Some(_) => self.found.key_of(&row)?.unwrap_or_default(),
            None => RawDocumentBuf::new(),
        };
        let item = Item::Stored(row.1);
        if let Some(known) = known {
            let sort_key = self.sort.as_ref();
            self.globals.set_known(Known {
                sort_key: sort_key
                    .map(|sort| sort.values(item.document(), &known))
                    .transpose()?,
                ..known
            });
        }
        if let Some(names) = &self.keyed {
            return Ok(self.with_sort_keys(key, names));
        }
        let item = match &self.projection {
            None => item,
            Some(projection) => Item::Made(project(
                projection,
                self.matcher.as_ref(),
                item.document(),
                &self.globals,
            )?),
        };
        Ok(match record {
            Some(record) if self.numbered => {
                let mut numbered = item.document().to_owned();
                numbered.append(cstr!("$recordId"), record);
                Item::Made(numbered)
            }
            _ => item,
        })
    }
}

impl Results for Projected {
    fn next(&mut self) -> Option<Result<Item, ServerError>> {
        Some(self.found.next()?.and_then(|row| self.shown(row)))
    }

    fn is_at_end(&self) -> bool {
        !self.tailable && self.found.is_at_end()
    }

    fn resume(&mut self, collection: Version) -> Result<(), ServerError> {
        self.found.resume(collection)
    }

    fn has_place(&self) -> bool {
        self.found.has_place()
    }

    fn postpone(&mut self, millis: i64) {
        self.found.execution.deadline.postpone(millis);
    }
}

fn explain(
    call: &mut Invocation<'_>,
    explained: &Explained<'_>,
) -> Result<RawDocumentBuf, ServerError> {
    let (namespace, args) = (explained.namespace, explained.args);
    if call.find_view(namespace).is_some() {
        let aggregate = view::find(call, namespace.clone(), args)?;
        return aggregation::report(call, explained, &aggregate);
    }
    let find = Find::parse(call, namespace, args)?;
    if args.flag("returnKey") {
        return Err(unsupported("an `explain` of returnKey"));
    }
    let around = OuterStages {
        projection: find.projection_document,
        sort: find.sort.map(to_document).transpose()?,
        ..OuterStages::default()
    };
    report::answer(call, explained, namespace, &find.query, &around)
}
