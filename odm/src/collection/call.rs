//! The part that all actions share: the store, the request, the session, and the future that sends it.

use std::borrow::Cow;
use std::fmt;
use std::future::ready;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bson::raw::{RawDocumentBuf, cstr};
use bson::{Bson, Document, oid::ObjectId};
use futures_core::future::BoxFuture;
use odm_language::value::raw;
use serde::Serialize;

use super::guarded::Guards;
use super::pages::{Paging, settle};
use super::stale::Stale;
use super::versions::{self, ReadAs};
use crate::codec::encode::{self, Failure};
use crate::error::{Error, Result};
use crate::exec::explain::Explain;
use crate::exec::{Channel, Plans, Related, refused};
use crate::model::{Document as Model, ModelMeta};
use crate::query::deferred::Deferred;
use crate::query::encode::encode_field;
use crate::query::node::Node;
use crate::query::operators::Operators;
use crate::query::upserted::{check_id, upserted};
use crate::query::{FilterFn, fields};
use crate::store::options::{Options, ReadConcern, ReadPreference, WriteConcern};
use crate::store::{
    Answer, CollectionName, Condition, Modification, Operation, Request, Response, Session, Store,
    Update as Operands,
};
use crate::types::IntoId;
use crate::update::Changes;
use crate::update::maintain::{self, Replacement};

/// A collection handle's concerns and read preference, for actions that set none themselves.
#[derive(Debug, Clone, Default)]
pub(crate) struct Defaults {
    pub(crate) read_concern: Option<ReadConcern>,
    pub(crate) write_concern: Option<WriteConcern>,
    pub(crate) read_preference: Option<ReadPreference>,
    /// Whether inserts and deletes of nodes are sent as they are.
    pub(crate) bypasses_trees: bool,
}

impl Defaults {
    /// Fills in the options that the action did not set.
    fn complete(&self, request: &mut Request) {
        let operation = &request.operation;
        // A pipeline that ends in `$out` or `$merge` reads and writes.
        let (reads, writes) = (operation.reads(), !operation.is_read());
        if reads && request.options.read_concern.is_none() && self.read_concern.is_some() {
            request.options.read_concern = self.read_concern;
        }
        if reads && request.options.read_preference.is_none() && self.read_preference.is_some() {
            request
                .options
                .read_preference
                .clone_from(&self.read_preference);
        }
        if writes && request.options.write_concern.is_none() && self.write_concern.is_some() {
            request
                .options
                .write_concern
                .clone_from(&self.write_concern);
        }
    }
}

/// Refuses options that a transaction fixes when it starts.
fn in_transaction(options: &Options) -> Result<()> {
    if options.read_concern.is_some() || options.write_concern.is_some() {
        return Err(Error::usage(
            "a transaction has one read concern and one write concern: give them to \
             `TransactionOptions` where it starts",
        ));
    }
    match &options.read_preference {
        Some(preference) => preference.check_in_transaction(),
        None => Ok(()),
    }
}

/// An action under construction. Builder methods return no errors: the first error is kept, and returned on sending.
#[derive(Debug)]
pub(crate) struct Call<'s> {
    pub(crate) store: Store,
    pub(crate) model: &'static ModelMeta,
    pub(crate) request: Request,
    pub(crate) session: Option<&'s mut Session>,
    pub(crate) defaults: Option<Arc<Defaults>>,
    pub(crate) error: Option<Error>,
    /// The guards that may withhold an update; the filter has the conditions already.
    pub(crate) guards: Option<Box<Guards>>,
    /// How a query is cut into pages.
    pub(crate) paging: Option<Box<Paging>>,
    /// Conditions on, and an order by, documents of other collections.
    pub(crate) related: Option<Box<Related>>,
    /// Whether a delete leaves the documents that refer to deleted ones as they are.
    pub(crate) leaves_dangling: bool,
    /// Whether the write leaves what follows from it in other documents as it is.
    pub(crate) leaves_stale: bool,
    /// Whether the call reads or writes documents of any version of the schema as they are stored.
    pub(crate) any_version: bool,
}

impl<'s> Call<'s> {
    /// A call of this operation, or one that fails when it is sent if the builder failed.
    pub(crate) fn new(
        store: &Store,
        defaults: Option<&Arc<Defaults>>,
        model: &'static ModelMeta,
        collection: CollectionName,
        operation: Result<Operation>,
    ) -> Self {
        let (operation, error) = match operation {
            Ok(operation) => (operation, None),
            // Never sent.
            Err(error) => (Operation::EstimatedCount, Some(error)),
        };
        Self {
            store: store.clone(),
            model,
            request: Request::new(collection, operation),
            session: None,
            defaults: defaults.cloned(),
            error,
            guards: None,
            paging: None,
            related: None,
            leaves_dangling: false,
            leaves_stale: false,
            any_version: false,
        }
    }

    /// Whether the model has versions of its schema, and the call heeds them.
    #[inline]
    pub(super) fn has_versions(&self) -> bool {
        self.model.schema.is_some() && !self.any_version
    }

    /// The same write, to be sent more than once.
    pub(super) fn again(&mut self) -> Call<'_> {
        Call {
            store: self.store.clone(),
            model: self.model,
            request: self.request.clone(),
            session: self.session.as_deref_mut(),
            defaults: self.defaults.clone(),
            error: self.error.take(),
            guards: self.guards.clone(),
            paging: None,
            related: None,
            leaves_dangling: self.leaves_dangling,
            leaves_stale: self.leaves_stale,
            any_version: self.any_version,
        }
    }

    /// A channel for reads and writes beside this one.
    pub(super) fn channel(&mut self) -> Channel<'_> {
        Channel::new(self.store.clone(), self.session.as_deref_mut())
    }

    pub(crate) fn options(&mut self) -> &mut Options {
        &mut self.request.options
    }

    /// Keeps the first error for later, and returns a default value in place of the failed one.
    pub(crate) fn keep<T: Default>(&mut self, result: Result<T>) -> T {
        result.unwrap_or_else(|error| {
            self.error.get_or_insert(error);
            T::default()
        })
    }

    /// The command document that would be sent.
    pub(crate) fn command(self) -> Result<Document> {
        let name = self.model.name;
        let (_, request, _) = self.prepare()?;
        request.command().map_err(|error| error.with_model(name))
    }

    /// Returns the request with the collection's defaults, or the builder's error.
    pub(crate) fn prepare(mut self) -> Result<(Store, Request, Option<&'s mut Session>)> {
        self.complete()?;
        Ok((self.store, self.request, self.session))
    }

    /// Returns the request after the commands on whose results it depends: where a page begins, and which documents are
    /// related. Their plans are added to `plans`.
    pub(crate) async fn settled(
        mut self,
        plans: Option<&Plans>,
    ) -> Result<(Store, Request, Option<&'s mut Session>)> {
        let model = self.model.name;
        let related = self.related.take();
        let is_ordered = related.as_ref().is_some_and(|it| it.is_ordered());
        if is_ordered && self.paging.as_deref().is_some_and(Paging::is_keyset) {
            let message = "`after` continues a sort by the fields of the model: use `page` with `order_by_related`";
            self.error.get_or_insert(Error::usage(message));
        }
        settle(&mut self).await?;
        let (store, request, mut session) = self.prepare()?;
        let Some(related) = related else {
            return Ok((store, request, session));
        };
        let mut channel = Channel::new(store.clone(), session.as_deref_mut())
            .with_options(request.options.shared())
            .explained(plans);
        let request = related.apply(&mut channel, request).await;
        Ok((
            store,
            request.map_err(|error| error.with_model(model))?,
            session,
        ))
    }

    /// Sends `explain` for the call, with execution statistics; nothing is written.
    pub(super) async fn explain(self) -> Result<Explain> {
        let model = self.model;
        let plans = Plans::default();
        let (store, request, session) = self.settled(Some(&plans)).await?;
        let mut explain = Explain::of(&store, request, session, model).await?;
        explain.before = plans.into_list();
        Ok(explain)
    }

    /// Fills in the collection's defaults, or returns the builder's error.
    #[inline]
    pub(crate) fn complete(&mut self) -> Result<()> {
        if let Some(error) = self.error.take() {
            return Err(error.with_model(self.model.name));
        }
        if self.related.is_some() {
            let message = "conditions on related documents are looked up first, so that the command is known only when it is \
                           sent: use `explain`";
            return Err(Error::usage(message).with_model(self.model.name));
        }
        if !self.model.trees.is_empty() {
            let upsert = self.request.options.upsert;
            self.check_trees(&self.request.operation, upsert)
                .map_err(|error| error.with_model(self.model.name))?;
        }
        let operation = &self.request.operation;
        let is_delete = matches!(
            operation,
            Operation::Delete { .. } | Operation::FindAndDelete { .. }
        );
        if is_delete && !self.leaves_dangling {
            check_dependents(self.model, false)
                .map_err(|error| error.with_model(self.model.name))?;
        }
        if !self.leaves_stale {
            Stale::refuse(self.model, &self.request.operation)
                .map_err(|error| error.with_model(self.model.name))?;
        }
        if let Some(paging) = self.paging.take() {
            paging
                .complete(&mut self.request, self.model)
                .map_err(|error| error.with_model(self.model.name))?;
        }
        if let Some(guards) = &self.guards {
            guards
                .check(&self.request.options)
                .map_err(|error| error.with_model(self.model.name))?;
        }
        if self.model.timestamps.is_some() && self.request.options.upsert == Some(true) {
            self.request.operation.complete_upsert();
        }
        if self.request.options.upsert == Some(true) {
            upserting(&mut self.request.operation, self.model)
                .map_err(|error| error.with_model(self.model.name))?;
        }
        if let Some(schema) = self.model.schema
            && !self.any_version
        {
            versions::guard(&mut self.request.operation, schema);
            if self.request.options.projection.is_some()
                && let Some(projection) = &mut self.request.options.projection
            {
                versions::complete_projection(projection, schema);
            }
        }
        let transaction = self.session.as_ref().is_some_and(|it| it.in_transaction());
        if transaction {
            return in_transaction(&self.request.options)
                .map_err(|error| error.with_model(self.model.name));
        }
        if let Some(defaults) = &self.defaults {
            defaults.complete(&mut self.request);
        }
        Ok(())
    }

    /// Sends the request, when awaited.
    pub(crate) fn send(self) -> impl Future<Output = Result<Response<'s>>> + Send + use<'s> {
        let is_keyset = self.paging.as_deref().is_some_and(Paging::is_keyset);
        if !is_keyset && self.related.is_none() {
            return self.future(|response, ()| Ok(response));
        }
        ActionFuture::several(Box::pin(async move {
            let model = self.model;
            let (store, request, session) = self.settled(None).await?;
            let response = store.exec(request, session).await;
            response.map_err(|error| refused(error, model))
        }))
    }

    /// Sends the request, when awaited, and reads the response.
    #[inline]
    pub(crate) fn future<T>(self, read: fn(Response<'s>, ()) -> Result<T>) -> ActionFuture<'s, T> {
        self.future_with((), read)
    }

    /// Like [`future`](Self::future), and passes `kept` to `read` together with the response.
    #[inline]
    pub(crate) fn future_with<T, K>(
        mut self,
        kept: K,
        read: fn(Response<'s>, K) -> Result<T>,
    ) -> ActionFuture<'s, T, K> {
        let model = self.model;
        let answer = match self.complete() {
            Ok(()) => self.store.exec(self.request, self.session),
            Err(error) => Box::pin(ready(Err(error))),
        };
        ActionFuture(Steps::One {
            answer,
            model,
            read,
            kept,
        })
    }
}

impl ReadAs {
    /// How the documents that a call returns are read.
    pub(crate) fn of(call: &Call<'_>) -> Self {
        if call.any_version {
            return Self::Stored(call.model.name);
        }
        Self::of_model(call.model, call.request.options.projection.as_ref())
    }
}

/// The future of an action: waits for the store's response and converts it into the action's result.
///
/// `K` holds what the result needs beyond the response, such as the ids of inserted documents.
#[must_use = "nothing is sent until it is awaited"]
pub struct ActionFuture<'s, T, K = ()>(Steps<'s, T, K>);

enum Steps<'s, T, K> {
    /// One command.
    One {
        answer: Answer<'s>,
        model: &'static ModelMeta,
        read: fn(Response<'s>, K) -> Result<T>,
        kept: K,
    },
    /// An update whose result can need further commands.
    Several(BoxFuture<'s, Result<T>>),
}

impl<'s, T, K> ActionFuture<'s, T, K> {
    pub(super) fn several(steps: BoxFuture<'s, Result<T>>) -> Self {
        Self(Steps::Several(steps))
    }
}

/// The only fields that need pinning are boxed.
impl<T, K> Unpin for ActionFuture<'_, T, K> {}

impl<T, K: Default> Future for ActionFuture<'_, T, K> {
    type Output = Result<T>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<T>> {
        let (answer, model, read, kept) = match &mut self.0 {
            Steps::One {
                answer,
                model,
                read,
                kept,
            } => (answer, *model, *read, kept),
            Steps::Several(steps) => return steps.as_mut().poll(context),
        };
        let answer = std::task::ready!(answer.as_mut().poll(context));
        Poll::Ready(match answer {
            Ok(response) => read(response, std::mem::take(kept)),
            Err(error) => Err(refused(error, model)),
        })
    }
}

impl<T, K> fmt::Debug for ActionFuture<'_, T, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Steps::One { model, .. } => write!(f, "ActionFuture(on {})", model.collection),
            Steps::Several(_) => f.write_str("ActionFuture"),
        }
    }
}

/// Sends the filter of an upsert in a form of which MongoDB copies only what the model can read.
pub(crate) fn upserting(operation: &mut Operation, model: &'static ModelMeta) -> Result<()> {
    if let Operation::Update(update) | Operation::FindAndUpdate(update) = operation {
        let filter = std::mem::replace(&mut update.filter, Document::new().into());
        update.filter = upserted(filter, (model.embedded)())?;
        check_id(&update.filter, &update.modification, (model.embedded)())?;
    }
    Ok(())
}

/// The filter that a closure over the model's fields makes.
pub(crate) fn filter<M: Model>(condition: impl FilterFn<M>) -> Result<Condition> {
    condition(fields::<M>()).into_condition()
}

/// An update that can be sent.
#[derive(Debug)]
pub(crate) struct Ready {
    pub(crate) operands: Box<Operands>,
    pub(crate) guards: Option<Box<Guards>>,
}

/// Builds an update's operands from its filter and its changes; the fields that the library maintains are changed, and bounds are
/// checked or guarded. Not generic, so that it is compiled once.
pub(crate) fn operands(
    filter: Result<Node, Deferred>,
    change: Result<Changes, Deferred>,
    model: &'static ModelMeta,
    reach: Reach,
) -> Result<Ready> {
    let change = change.and_then(|change| maintain::updated(model, change));
    match (filter, change) {
        (Ok(filter), Ok((change, on_insert))) => {
            if reach == Reach::Many && filter == Node::All {
                return Err(everything("update_many", "update_all"));
            }
            let mut ready = write_operands(filter, change, model, reach != Reach::One)
                .map_err(|it| it.to_error())?;
            ready.operands.on_insert = on_insert;
            Ok(ready)
        }
        (Err(error), _) | (_, Err(error)) => Err(error.to_error()),
    }
}

/// The operation that replaces the first document that matches.
pub(crate) fn replace<M: Model>(filter: Condition, document: &M) -> Result<Operation> {
    Ok(match maintain::replaced(M::model(), encode(document)?)? {
        Replacement::Document(replacement) => Operation::Replace {
            filter,
            replacement,
        },
        Replacement::Pipeline(stages) => Operation::Update(by_pipeline(filter, stages)),
    })
}

/// The operation that replaces the first document that matches and returns it.
pub(crate) fn find_and_replace<M: Model>(filter: Condition, document: &M) -> Result<Operation> {
    Ok(match maintain::replaced(M::model(), encode(document)?)? {
        Replacement::Document(replacement) => Operation::FindAndReplace {
            filter,
            replacement,
        },
        Replacement::Pipeline(stages) => Operation::FindAndUpdate(by_pipeline(filter, stages)),
    })
}

fn by_pipeline(filter: Condition, stages: Vec<Document>) -> Box<Operands> {
    let mut operands = Box::new(Operands::new(filter));
    operands.modification = Modification::Pipeline(stages);
    operands.replaces = true;
    operands
}

fn write_operands(
    filter: Node,
    change: Changes,
    model: &'static ModelMeta,
    multi: bool,
) -> Result<Ready, Deferred> {
    let change = change.named()?;
    let guards = change.guards((model.embedded)())?;
    let (filter, guards) = Guards::add(guards, filter, model)?;
    let mut operands = Box::new(Operands::new(filter.into_condition()?));
    operands.multi = multi;
    change.write(&mut operands)?;
    Ok(Ready { operands, guards })
}

/// How many documents an update affects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    /// The first that matches.
    One,
    /// All that match; a filter that matches everything is refused.
    Many,
    /// Every document of the collection.
    All,
}

/// Returns the filter, or an error if it matches every document; `all` names the verb for that.
pub(crate) fn some(filter: Condition, verb: &str, all: &str) -> Result<Condition> {
    if filter.is_empty() {
        return Err(everything(verb, all));
    }
    Ok(filter)
}

/// The error for a filter that matches every document.
fn everything(verb: &str, all: &str) -> Error {
    Error::usage(format!(
        "the filter of `{verb}` matches every document; if that is meant, write `{all}`"
    ))
}

/// Encodes a document with the model's `Serialize` implementation.
pub(crate) fn encode<T: Serialize>(document: &T) -> Result<RawDocumentBuf> {
    encode::document(document).map_err(|failure| {
        let path = match &failure {
            Failure::Repeated(_) => None,
            Failure::TooDeep => encode::deepest_field(document),
            Failure::Bson(_) => encode::failing_path(document),
        };
        let error = failure.into_error();
        match path {
            Some(path) => error.with_path(path),
            None => error,
        }
    })
}

/// Encodes a document to be inserted, with its maintained fields; adds an `_id` if it has none, and returns the generated one.
pub(crate) fn encode_with_id<M: Model>(document: &M) -> Result<(RawDocumentBuf, Option<ObjectId>)> {
    let encoded = maintain::inserted(M::model(), encode(document)?)?;
    if raw::get(&encoded, "_id").is_some() {
        return Ok((encoded, None));
    }
    let id = ObjectId::new();
    let mut with_id = RawDocumentBuf::new();
    with_id.append(cstr!("_id"), id);
    for (key, value) in encoded.iter().flatten() {
        with_id.append(key, value);
    }
    Ok((with_id, Some(id)))
}

/// The id of a document as the model types it.
pub(crate) fn typed_id<M: Model>(document: &M, made_up: Option<ObjectId>) -> Result<M::Id> {
    match made_up {
        None => Ok(document.id().clone()),
        Some(id) => bson::deserialize_from_bson(Bson::ObjectId(id)).map_err(Error::encode),
    }
}

/// Refuses a delete that does not say what becomes of the documents that refer to the deleted ones. Within a bulk write, the
/// word that acts on them is another.
pub(crate) fn check_dependents(model: &'static ModelMeta, in_bulk: bool) -> Result<()> {
    let relation = model.dependents().next();
    if relation.is_none() && !model.derives()? {
        return Ok(());
    }
    let two_way = model.two_way()?.first();
    let counted = model.summarized()?.first();
    let listed = model.listed()?.first();
    let how = if in_bulk {
        "write `.propagate()` on the bulk write, which does what is declared, or `.leave_dangling()` on this delete"
    } else {
        "write `.with_dependents()`, which does what is declared, or `.leave_dangling()`"
    };
    let why = match (relation, two_way, counted, listed) {
        (Some(one), ..) => {
            format!(
                "other documents refer to the deleted ones, and `{}` declares `on_delete`",
                one.name
            )
        }
        (_, Some(one), ..) => {
            let (field, model) = (one.other.field, one.other.model.name);
            format!(
                "other documents refer to the deleted ones, and `{field}` of `{model}` refers back"
            )
        }
        (_, _, Some(one), _) => {
            format!(
                "`{}` has summaries of the deleted documents",
                one.model.name
            )
        }
        (.., Some(one)) => {
            format!(
                "`{}` of `{}` may list the deleted documents",
                one.recent.field, one.model.name
            )
        }
        (None, None, None, None) => return Ok(()),
    };
    Err(Error::usage(format!("{why}: {how}")))
}

/// The filter `{_id: id}`.
pub(crate) fn by_id<M: Model, By>(id: impl IntoId<M, By>) -> Result<Condition> {
    let id = encode_field(&id.into_id()).map_err(|error| error.with_path("_id"))?;
    // MongoDB could read a bare document or regular expression as an operator.
    Ok(Condition::One(Cow::Borrowed("_id"), equality(id)))
}

/// The operand of an equality condition: wraps values in `$eq` that MongoDB would read as operators.
pub(crate) fn equality(value: Bson) -> Bson {
    Operators::equal(value).into_value()
}
