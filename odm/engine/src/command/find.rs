//! `find`.

pub(crate) mod projected;

use std::sync::atomic::Ordering;

use bson::raw::{RawBsonRef, RawDocument, RawDocumentBuf, cstr};
use odm_language::error::{Code, ServerError};
use odm_language::expression::Globals;
use odm_language::expression::meta;
use odm_language::matcher::Matcher;
use odm_language::value::raw;

use crate::catalog::collection::{Collection, Version};
use crate::catalog::namespace::Namespace;
use crate::command::args::unsupported;
use crate::command::args::{Args, Field, Kind, field, whole};
use crate::command::batch::{first_batch, session_of, transaction_of};
use crate::command::compat::explain::explained::Explained;
use crate::command::compat::explain::goal::OuterStages;
use crate::command::compat::explain::{aggregation, report};
use crate::command::create::to_document;
use crate::command::find::projected::{Fields, Form, Projected, sort_keys};
use crate::command::invocation::Invocation;

use crate::command::compat::canonical_query::{self, CanonicalQuery};
use crate::command::declare::{Command, CommandTarget};
use crate::command::generic_arguments::InTransaction;
use crate::command::reply::{Batch, Page};
use crate::command::view;
use crate::cursor::point::{self, Direct, Equality};
use crate::cursor::query::{Query, QueryOutput, check_distance};
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
        collection: Option<&Collection>,
    ) -> Result<Self, ServerError> {
        let mut globals: Globals =
            call.globals(args.document("collation"), args.document("let"), collection)?;
        if !args.allows_disk_use() {
            globals = globals.without_disk_use();
        }
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
                made_of: None,
                sorted: None,
                distinct: None,
                min,
                max,
                keyed: args.flag("returnKey"),
                tailable: args.flag("tailable"),
            },
        };
        let projection = projection_document
            .map(|projection| {
                check_score(projection, &query)?;
                parse_projection(projection, query.filter, &sees_sort)
            })
            .transpose()
            .or_else(|error| {
                let matcher = query.matcher(collection);
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
pub(crate) fn parse_projection(
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

/// How a `find` gets its documents.
enum Route {
    /// The matches of one equality, which an index has found already.
    Batch(Batch),
    /// The matches of one `$in`, likewise.
    Listed(Box<dyn Results>),
    View,
    /// The matches that a plan finds.
    Plan,
}

impl Route {
    fn choose(call: &Invocation<'_>, collection: Option<&Version>) -> Self {
        match collection {
            Some(collection) => Self::without_plan(call, collection).unwrap_or(Self::Plan),
            None if call.find_view(call.namespace).is_some() => Self::View,
            None => Self::Plan,
        }
    }

    fn without_plan(call: &Invocation<'_>, collection: &Version) -> Option<Self> {
        let args = &call.args;
        // Profiled commands always run a plan, because the shortcuts count nothing for the profiler.
        if call.profile.is_some()
            || !args.has_only(&["filter", "projection", "limit", "singleBatch", "batchSize"])
        {
            return None;
        }
        let fields = match args.filled("projection") {
            Some(projection) => Some(Fields::parse(call, projection)?),
            None => None,
        };
        let limit = args.natural("limit").ok()?.filter(|limit| *limit > 0);
        let shuffles = call.context.shuffle().is_some();
        match Direct::of(args.document("filter")?)? {
            Direct::Equality(equality) if args.get("batchSize").is_none() => {
                let most = if shuffles { 1 } else { LONGEST_BATCH };
                let batch = short(collection, &equality, limit, most)?;
                match fields {
                    Some(fields) => batch.map(|item| fields.of(&item)).ok(),
                    None => Some(batch),
                }
                .map(Self::Batch)
            }
            Direct::In(one_of)
                if !shuffles
                    && collection.options.collation.is_none()
                    && !call.deadline().is_some() =>
            {
                args.natural("batchSize").ok()?;
                let listed = one_of.by_index(collection, limit)?;
                Some(Self::Listed(match fields {
                    Some(fields) => Box::new(fields.of_each(listed)),
                    None => Box::new(listed),
                }))
            }
            _ => None,
        }
    }
}

/// Runs a `find` and returns the first batch.
pub(crate) fn run(call: &mut Invocation<'_>) -> Result<Page, ServerError> {
    let collection = call.find_collection(call.namespace);
    match (Route::choose(call, collection.as_ref()), collection) {
        (Route::Batch(batch), _) => {
            let page = batch.of(0, call.namespace());
            Ok(page.at(call.read_time()))
        }
        (Route::Listed(listed), Some(collection)) => {
            let cursor = cursor(call, collection.uuid, listed, Tail::No);
            first(call, cursor, batch_size(call)?)
        }
        (Route::View, _) => {
            check(call)?;
            let batch_size = batch_size(call)?;
            let aggregate = view::find(call, call.namespace(), &call.args)?;
            aggregate.open(call, Some(batch_size))
        }
        (_, collection) => {
            let tail = check(call)?;
            run_plan(call, collection, tail)
        }
    }
}

/// Runs the checks of the namespace and of single options, and returns the kind of tail that the options request.
fn check(call: &Invocation<'_>) -> Result<Tail, ServerError> {
    call.namespace.check_read()?;
    if call.transaction.is_some() && call.args.flag("readOnce") {
        return Err(ServerError::new(
            Code::OPERATION_NOT_SUPPORTED_IN_TRANSACTION,
            "The 'readOnce' option is not supported within a transaction.",
        ));
    }
    tail(&call.args)
}

fn run_plan(
    call: &Invocation<'_>,
    collection: Option<Version>,
    tail: Tail,
) -> Result<Page, ServerError> {
    let find = Find::parse(call, call.namespace, &call.args, collection.as_deref())?;
    let batch_size = batch_size(call)?;
    let mut prepared = find
        .query
        .prepare(collection.as_deref())
        .map_err(|error| canonical_query::explain_find(error, call.namespace, &call.args))?;
    if tail != Tail::No {
        if call.transaction.is_some() {
            return Err(ServerError::new(
                Code::INVALID_OPTIONS,
                "It is illegal to open a tailable cursor in a transaction",
            ));
        }
        if let Some(collection) = &collection {
            check_capped(collection, call, &find)?;
            let scans = &collection.shared.scans;
            scans.tailable.fetch_add(1, Ordering::Relaxed);
        }
        // A tailable cursor reads in natural order, whatever the filter and the hint.
        prepared.use_no_index();
    }
    let Some(collection) = collection else {
        call.name_plan("EOF");
        return Ok(Batch::default().of(0, call.namespace()));
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
    let reads_metadata = asks_for_metadata(find.projection_document);
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
        form: match find.query.shape.made_of() {
            Some(_) => Form::Inclusion,
            None => Form::Other,
        },
        projection: find.projection,
        matcher,
        reads_metadata,
        globals: find.query.globals,
        tailable: tail != Tail::No,
    };
    let cursor = cursor(call, uuid, Box::new(results), tail);
    first(call, cursor, batch_size).map_err(while_running)
}

fn batch_size(call: &Invocation<'_>) -> Result<u64, ServerError> {
    Ok(call.args.natural("batchSize")?.unwrap_or(FIRST_BATCH))
}

/// A new cursor on the collection with this UUID.
fn cursor(
    call: &Invocation<'_>,
    collection: [u8; 16],
    results: Box<dyn Results>,
    tail: Tail,
) -> Cursor {
    Cursor {
        namespace: call.namespace(),
        results,
        held: None,
        collection: Some(collection),
        base: None,
        session: session_of(call),
        transaction: transaction_of(&call.mode),
        time: call.read_time(),
        no_timeout: call.args.flag("noCursorTimeout"),
        limited: call.deadline().is_some(),
        tail,
        used: call.now.timestamp_millis(),
        tally: None,
    }
}

/// The first batch of a cursor.
fn first(call: &Invocation<'_>, cursor: Cursor, batch_size: u64) -> Result<Page, ServerError> {
    let single = call.args.flag("singleBatch");
    first_batch(call, cursor, Some(batch_size), single)
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

fn explain(
    call: &mut Invocation<'_>,
    explained: &Explained<'_>,
) -> Result<RawDocumentBuf, ServerError> {
    let (namespace, args) = (explained.namespace, explained.args);
    if call.find_view(namespace).is_some() {
        let aggregate = view::find(call, namespace.clone(), args)?;
        return aggregation::report(call, explained, &aggregate);
    }
    let collection = call.find_collection(namespace);
    let find = Find::parse(call, namespace, args, collection.as_deref())?;
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
