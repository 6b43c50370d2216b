//! `findAndModify`.

use bson::raw::{RawBsonRef, RawDocument, RawDocumentBuf};
use bson::{Bson, Document, doc};
use odm_language::error::{Code, ServerError};
use odm_language::expression::meta;
use odm_language::matcher::Matcher;
use odm_language::value::collation::Collator;
use odm_language::value::{key, raw};

use crate::catalog::collection::document;
use crate::command::args::{Args, Field, GENERIC, Kind, field};
use crate::command::compat::explain::explained::Explained;
use crate::command::compat::explain::goal::{Goal, OuterStages};
use crate::command::compat::explain::report;
use crate::command::create::to_document;
use crate::command::invocation::Invocation;

use crate::command::compat::canonical_query::explain_hint;
use crate::command::declare::{Command, CommandTarget};
use crate::command::find::parse_projection;
use crate::command::find::projected::project;
use crate::command::generic_arguments::InTransaction;
use crate::command::modify::{self, CheckedUpdate, Outcome, Selection, UpdateSpec};
use crate::command::reply::reply;
use crate::command::retry::{Retry, STATEMENT_ID};
use crate::cursor::sort::Order;
use crate::pipeline::outline;
use crate::pipeline::projection::Projection;
use crate::planner::compat::exclusive_options;
use crate::txn::session::{Effect, Statement};
use crate::txn::writer::Writer;
use crate::updater::Update;

pub(crate) const FIELDS: &[Field] = &[
    field("query", Kind::Object),
    field("fields", Kind::Object),
    field("sort", Kind::Object),
    field("hint", Kind::Any),
    field("collation", Kind::Object),
    field("arrayFilters", Kind::Objects),
    field("remove", Kind::SafeBool),
    field("update", Kind::Any),
    field("upsert", Kind::SafeBool),
    field("new", Kind::SafeBool),
    field("bypassDocumentValidation", Kind::SafeBool),
    field("let", Kind::Object),
    // mongod accepts these two here and ignores them.
    field("batchSize", Kind::Int),
    field("singleBatch", Kind::Bool),
    STATEMENT_ID,
];

pub(crate) const FIND_AND_MODIFY: Command = Command {
    name: "findAndModify",
    idl: "findAndModify",
    fields: FIELDS,
    target: CommandTarget::Collection,
    transaction: InTransaction::Allowed,
    retryable: true,
    writes: true,
    run: find_and_modify,
    explain: Some(explain),
};

fn find_and_modify(call: &mut Invocation<'_>) -> Result<RawDocumentBuf, ServerError> {
    let namespace = call.namespace;
    namespace.check_write()?;
    check(&call.args)?;
    if let Some(RawBsonRef::Array(stages)) = call.args.get("update") {
        outline::check(stages, namespace.place())?;
    }
    call.locked.set(true);
    call.check_not_view(namespace)?;
    call.locked.set(false);
    // `look` holds no version of the collection: holding one would force the writer below to copy it.
    let collection = call.look(namespace, |it| it.options.collation.clone());
    let exists = collection.is_some();
    let parsed = FindAndModify::parse(call, collection.flatten())?;
    let projection = parsed.projection(call, exists)?;
    let mut retry = Retry::new(call.statements.take(), call.command, 0);
    if let Some(before) = retry.before(0) {
        return again(call, before, retry.retried());
    }
    call.locked.set(true);
    let outcome = parsed
        .write(call, &retry)
        .map_err(|error| with_hint(error, call, namespace))?;
    if outcome.is_none() {
        call.name_plan("EOF");
    }
    let outcome = outcome.unwrap_or_default();
    if let Some(profile) = call.profile {
        profile.changed(&outcome, parsed.removes);
    }
    let image = match (&outcome.before, &outcome.after) {
        (_, Some(after)) if parsed.returns_new => document(after),
        (Some(before), _) => document(before),
        _ => None,
    };
    let last = last(&outcome, parsed.removes);
    if let Some(effect) = effect(&outcome, parsed.removes).filter(|_| retry.is_on()) {
        let statement = Statement::FindAndModify {
            last: last.clone(),
            value: image.map(ToOwned::to_owned),
            effect,
        };
        retry.remember(vec![(0, statement)]);
    }
    let value = image
        .map(|document| parsed.project(projection.as_ref(), document))
        .transpose()
        .map_err(|error| with_hint(error, call, namespace))?;
    reply(fields(last, value))
}

/// A parsed `findAndModify`.
struct FindAndModify<'a> {
    target: Selection<'a>,
    /// `None` removes the document.
    change: Option<(UpdateSpec<'a>, CheckedUpdate)>,
    removes: bool,
    returns_new: bool,
    bypass: bool,
}

impl<'a> FindAndModify<'a> {
    /// Runs all checks that need no document, except those of the projection. `default` is the collection's collation.
    fn parse(call: &Invocation<'a>, default: Option<Collator>) -> Result<Self, ServerError> {
        let args = &call.args;
        let globals = call.globals_under(
            args.document("collation"),
            args.document("let"),
            default.as_ref(),
        )?;
        let query = args.document("query");
        let filter = query.unwrap_or_else(|| raw::empty_document());
        let target = Selection {
            sort: args.filled("sort").filter(|_| !is_of_one(args)),
            hint: args.get("hint"),
            returns: true,
            ..Selection::new(filter, globals, default, call.deadline())
        };
        let change = args.get("update").map(|update| UpdateSpec {
            update,
            array_filters: args.array("arrayFilters"),
            upsert: args.flag("upsert"),
        });
        let change = change
            .map(|change| change.check(&target).map(|checked| (change, checked)))
            .transpose()?;
        target.check_filter()?;
        // mongod includes the sort of a lookup by `_id` only if the update needs the position of the match.
        let has_position = change
            .as_ref()
            .is_some_and(|(_, checked)| checked.update.needs_position());
        let sort = args.filled("sort").filter(|_| has_position).or(target.sort);
        exclusive_options::check(&exclusive_options::Parts {
            filter: None,
            sort,
            hint: target.hint,
            tailable: false,
        })?;
        Order::parse(sort)?;
        Ok(Self {
            target,
            change,
            removes: args.flag("remove"),
            returns_new: args.flag("new"),
            bypass: args.flag("bypassDocumentValidation"),
        })
    }

    /// The projection of the returned document. `exists` states whether the collection does.
    fn projection(
        &self,
        call: &mut Invocation<'_>,
        exists: bool,
    ) -> Result<Option<Projection>, ServerError> {
        let projection = call
            .args
            .filled("fields")
            .map(|fields| returned(fields, &self.target, self.returns_new))
            .transpose();
        match projection {
            Err(error) if exists => Err(error),
            // An upsert creates the collection before mongod parses the projection.
            Err(error) if call.args.flag("upsert") => {
                call.write_ensured(call.namespace, self.bypass, |_| Ok(()))?;
                Err(error)
            }
            // An absent collection has no document to project.
            Err(_) => Ok(None),
            Ok(projection) => Ok(projection),
        }
    }

    /// Changes or removes the document; `None` if the collection does not exist.
    fn write(
        &self,
        call: &mut Invocation<'_>,
        retry: &Retry<'_>,
    ) -> Result<Option<Outcome>, ServerError> {
        let (context, namespace) = (call.context, call.namespace);
        let write = |writer: &mut Writer<'_, '_>| {
            let outcome = match &self.change {
                Some((change, checked)) => {
                    let new_id = || context.object_id();
                    modify::update(writer, &self.target, change, checked, new_id)?
                }
                None => modify::delete(writer, &self.target)?,
            };
            retry.pass(context, effect(&outcome, self.removes).as_slice())?;
            Ok(outcome)
        };
        if self
            .change
            .as_ref()
            .is_some_and(|(change, _)| change.upsert)
        {
            call.write_ensured(namespace, self.bypass, write).map(Some)
        } else {
            call.write(namespace, self.bypass, write)
        }
    }

    fn project(
        &self,
        projection: Option<&Projection>,
        document: &RawDocument,
    ) -> Result<RawDocumentBuf, ServerError> {
        let Some(projection) = projection else {
            return Ok(document.to_owned());
        };
        let globals = &self.target.globals;
        // The positional `$` refers to the match in the document before the change.
        let matcher = Matcher::parse_query(self.target.filter, globals)?.as_written();
        project(projection, Some(&matcher), document, globals)
    }
}

/// What a retry reports of the change, if there was one.
fn effect(outcome: &Outcome, remove: bool) -> Option<Effect> {
    match (&outcome.upserted, remove) {
        (Some(_), _) => Some(Effect::Inserted),
        (None, true) => (outcome.matched > 0).then_some(Effect::Deleted),
        (None, false) => (outcome.modified > 0).then_some(Effect::Updated),
    }
}

/// The projection of the returned document.
fn returned(
    fields: &RawDocument,
    target: &Selection<'_>,
    returns_new: bool,
) -> Result<Projection, ServerError> {
    if meta::mentions(RawBsonRef::Document(fields), Some("sortKey")) {
        return Err(ServerError::new(
            Code::BAD_VALUE,
            "Cannot use a $meta sortKey projection in findAndModify commands.",
        ));
    }
    let projection = parse_projection(fields, Some(target.filter), &target.globals)?;
    if returns_new && projection.needs_position() {
        return Err(ServerError::new(
            Code::BAD_VALUE,
            "cannot use a positional projection and return the new document",
        ));
    }
    Ok(projection)
}

/// The reply to a retried command. As on mongod, it holds the whole document, without the projection of `fields`.
fn again(
    call: &Invocation<'_>,
    before: Statement,
    id: Option<i32>,
) -> Result<RawDocumentBuf, ServerError> {
    let incompatible = |code, kind: &str| {
        ServerError::new(
            Code::location(code),
            format!(
                "findAndModify retry request: {} is not compatible with previous write in the transaction of type: {kind}",
                pictured(call.command)
            ),
        )
    };
    let (last, value, effect) = match before {
        Statement::FindAndModify {
            last,
            value,
            effect,
        } => (last, value, effect),
        Statement::Insert { .. } => return Err(incompatible(40608, "i")),
        Statement::Update { .. } => return Err(incompatible(40611, "u")),
        Statement::Delete { .. } => return Err(incompatible(40606, "d")),
    };
    match effect {
        Effect::Inserted if !call.args.flag("upsert") => return Err(incompatible(40608, "i")),
        Effect::Deleted if !call.args.flag("remove") => return Err(incompatible(40606, "d")),
        _ => {}
    }
    let mut fields = fields(last, value);
    if let Some(id) = id {
        fields.insert("retriedStmtId", id);
    }
    reply(fields)
}

/// Whether the query consists of one `_id` only, so that the sort has no effect.
fn is_of_one(args: &Args<'_>) -> bool {
    let mut query = args.document("query").into_iter().flat_map(raw::elements);
    let is_plain = match query.next() {
        Some(("_id", RawBsonRef::Document(id))) => {
            let first = raw::elements(id).next();
            first.is_none_or(|(name, _)| !name.starts_with('$'))
        }
        Some(("_id", id)) => !matches!(id, RawBsonRef::RegularExpression(_)),
        _ => false,
    };
    is_plain && query.next().is_none() && args.get("collation").is_none()
}

/// Prints the command without its general fields.
fn pictured(command: &RawDocument) -> String {
    let mut own = RawDocumentBuf::new();
    for (name, value) in command.iter().flatten() {
        if !GENERIC.contains(&name.as_str()) {
            own.append(name, value);
        }
    }
    odm_language::value::print::value(RawBsonRef::Document(&own))
}

/// `lastErrorObject`
fn last(outcome: &Outcome, remove: bool) -> Document {
    let n = i32::try_from(outcome.matched).unwrap_or(1) + i32::from(outcome.upserted.is_some());
    let mut last = doc! { "n": n };
    if !remove {
        last.insert("updatedExisting", outcome.matched > 0);
    }
    if let Some(id) = &outcome.upserted {
        last.insert("upserted", id.clone());
    }
    last
}

fn fields(last: Document, value: Option<RawDocumentBuf>) -> Document {
    let value = value
        .and_then(|value| Document::try_from(&value).ok())
        .map_or(Bson::Null, Bson::Document);
    doc! { "lastErrorObject": last, "value": value }
}

/// mongod puts the executor's name in front of errors that occur while the plan runs.
fn with_hint(
    error: ServerError,
    call: &Invocation<'_>,
    namespace: &crate::catalog::namespace::Namespace,
) -> ServerError {
    if error.message().starts_with("planner returned error") {
        return explain_hint(error, namespace, &call.args);
    }
    // These errors occur before mongod creates an executor.
    if error.message().starts_with("error processing query")
        || is_of_search(&error)
        || matches!(
            error.code(),
            Code::OPERATION_NOT_SUPPORTED_IN_TRANSACTION
                | Code::SNAPSHOT_UNAVAILABLE
                | key::TOO_MANY_PARTS
        )
    {
        return error;
    }
    let prefixed = ServerError::new(
        error.code(),
        format!(
            "Plan executor error during findAndModify :: caused by :: {}",
            error.message()
        ),
    );
    match error.details() {
        Some(details) => prefixed.with_details(details.clone()),
        None => prefixed,
    }
}

/// Whether the error is about `$text` or its scores.
fn is_of_search(error: &ServerError) -> bool {
    matches!(
        error.message(),
        "text index required for $text query"
            | "Too many text expressions"
            | "text expression not allowed in nor"
            | "text expression not allowed with $natural sort order"
            | "text and hint not allowed in same query"
            | "text and geoNear not allowed in same query"
            | "query requires text score metadata, but it is not available"
    ) || error.message().starts_with("unsupported language: ")
}

/// Refuses combinations of options that contradict each other.
pub(crate) fn check(args: &Args<'_>) -> Result<(), ServerError> {
    let fault = |message: &str| Err(ServerError::new(Code::FAILED_TO_PARSE, message));
    let update = args.get("update");
    if let Some(update) = update
        && !matches!(update, RawBsonRef::Document(_) | RawBsonRef::Array(_))
    {
        return fault("Update argument must be either an object or an array");
    }
    args.hint()?;
    if !args.flag("remove") {
        if update.is_none() {
            return fault("Either an update or remove=true must be specified");
        }
        if matches!(update, Some(RawBsonRef::Array(_))) && args.array("arrayFilters").is_some() {
            return fault("Cannot specify arrayFilters and a pipeline update");
        }
        return Ok(());
    }
    if update.is_some() {
        return fault("Cannot specify both an update and remove=true");
    }
    if args.flag("upsert") {
        return fault("Cannot specify both upsert=true and remove=true ");
    }
    if args.flag("new") {
        return fault(
            "Cannot specify both new=true and remove=true; 'remove' always returns the deleted document",
        );
    }
    if args.array("arrayFilters").is_some() {
        return fault("Cannot specify arrayFilters and remove=true");
    }
    Ok(())
}

fn explain(
    call: &mut Invocation<'_>,
    explained: &Explained<'_>,
) -> Result<RawDocumentBuf, ServerError> {
    let (namespace, args) = (explained.namespace, explained.args);
    check(args)?;
    if !call.root().has_database(call.database) {
        return Err(ServerError::new(
            Code::NAMESPACE_NOT_FOUND,
            format!("database {} does not exist", call.database),
        ));
    }
    call.check_not_view(namespace)?;
    let mut query = report::plain(
        call,
        namespace,
        args.document("query"),
        args.document("collation"),
    )?;
    query.sort = args.filled("sort");
    query.hint = args.get("hint");
    query.limit = Some(1);
    let goal = if args.flag("remove") {
        Goal::Delete {
            multi: false,
            returns: true,
        }
    } else {
        Goal::Update {
            update: Box::new(Update::parse(
                args.get("update").unwrap_or(RawBsonRef::Null),
                args.array("arrayFilters"),
                &query.globals,
            )?),
            globals: Box::new(query.globals.clone()),
            multi: false,
            upsert: args.flag("upsert"),
            returns: true,
        }
    };
    let around = OuterStages {
        sort: args.filled("sort").map(to_document).transpose()?,
        goal,
        ..OuterStages::default()
    };
    report::answer(call, explained, namespace, &query, &around)
}
