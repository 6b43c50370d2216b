//! `collMod`.

mod index;

use std::sync::Arc;

use bson::raw::{RawArrayBuf, RawDocumentBuf};
use bson::{Bson, Document};
use odm_language::error::{Code, ServerError};

pub(crate) use self::index::FIELDS as INDEX_FIELDS;
use crate::catalog::Edit;
use crate::catalog::changes::LoggedChange;
use crate::catalog::changes::definition::{self, Definition};
use crate::catalog::collection::Collection;
use crate::catalog::namespace::Namespace;
use crate::catalog::options::Options;
use crate::catalog::view::View;
use crate::command::args::{Args, Field, Kind, field, objects};
use crate::command::coll_mod::index::IndexRequest;
use crate::command::create::checks::{
    are_images, is_action, is_capped_max, is_capped_size, is_expiry, is_level, is_view_source,
};
use crate::command::create::{
    IMAGES, RECORDED, VALIDATION, check_images, check_validator_place, filled, int, keeps_images,
    rounded, to_document,
};
use crate::command::declare::{Command, CommandTarget};
use crate::command::generic_arguments::InTransaction;
use crate::command::invocation::Invocation;
use crate::command::reply::reply;

const FIELDS: &[Field] = &[
    field("index", Kind::Object).checked(index::is_change),
    field("validator", Kind::Object),
    field("validationLevel", Kind::Str).checked(is_level),
    field("validationAction", Kind::Str).checked(is_action),
    field("viewOn", Kind::Str).checked(is_view_source),
    field("pipeline", Kind::Objects),
    field("expireAfterSeconds", Kind::Any).checked(is_expiry),
    field("timeseries", Kind::Object),
    field("changeStreamPreAndPostImages", Kind::Object).checked(are_images),
    field(RECORDED, Kind::SafeBool),
    field("cappedSize", Kind::SafeInt).checked(is_capped_size),
    field("cappedMax", Kind::SafeInt).checked(is_capped_max),
    field("dryRun", Kind::SafeBool),
];

/// The stored options of validation, in MongoDB's order, with their defaults.
const KEPT: [(&str, Option<&str>); 3] = [
    ("validator", None),
    ("validationLevel", Some("strict")),
    ("validationAction", Some("error")),
];

/// A collection's options with the validation options and their defaults, placed as MongoDB stores them.
fn with_validation(options: &Document) -> Document {
    let behind = ["viewOn", "pipeline", "collation"];
    let (after, before): (Vec<_>, Vec<_>) = options
        .iter()
        .filter(|(name, _)| !KEPT.iter().any(|(known, _)| known == name))
        .partition(|(name, _)| behind.contains(&name.as_str()));
    let kept = KEPT.iter().filter_map(|(name, default)| {
        let value = options.get(name).cloned();
        Some(((*name).to_owned(), value.or(default.map(Bson::from))?))
    });
    let cloned = |(name, value): (&String, &Bson)| (name.clone(), value.clone());
    let before = before.into_iter().map(cloned);
    before
        .chain(kept)
        .chain(after.into_iter().map(cloned))
        .collect()
}

/// A collection's options with the options of pre-images moved to where MongoDB stores them.
fn with_images(mut options: Document) -> Document {
    let kept = [RECORDED, IMAGES].map(|name| Some((name.to_owned(), options.remove(name)?)));
    let is_behind =
        |name: &str| name == "collation" || KEPT.iter().any(|(known, _)| *known == name);
    let (after, before): (Vec<_>, Vec<_>) =
        options.into_iter().partition(|(name, _)| is_behind(name));
    let images = kept.into_iter().flatten();
    before.into_iter().chain(images).chain(after).collect()
}

pub(crate) const COLL_MOD: Command = Command {
    name: "collMod",
    idl: "collMod",
    fields: FIELDS,
    target: CommandTarget::Collection,
    transaction: InTransaction::Refused,
    retryable: false,
    writes: true,
    run: coll_mod,
    explain: None,
};

pub(super) fn invalid(message: impl Into<String>) -> ServerError {
    ServerError::new(Code::INVALID_OPTIONS, message)
}

fn coll_mod(call: &mut Invocation<'_>) -> Result<RawDocumentBuf, ServerError> {
    let namespace = call.namespace();
    call.locked.set(true);
    let changes = options(&call.args)?;
    let index = call.args.document("index");
    let described = described(&call.args)?;
    let dry_run = call.args.flag("dryRun");
    if dry_run {
        index::check_dry(index)?;
    }
    if call.find_view(&namespace).is_some() {
        if index.is_some_and(index::makes_unique) {
            call.check_not_view(&namespace)?;
        }
        return change_view(call, namespace);
    }
    check_images(&call.args)?;
    let records = call.args.flag(RECORDED);
    let says_records = call.args.get(RECORDED).is_some();
    let elsewhere = elsewhere(&call.args);
    let (now, version) = (call.now, call.context.version());
    let fields = call.alter(&namespace, |collection| {
        let capped = ["size", "max"]
            .iter()
            .any(|name| changes.contains_key(*name));
        if capped && collection.options.capped.is_none() {
            return Err(invalid("Collection must be capped."));
        }
        let index = match index {
            Some(index) => Some(IndexRequest::parse(index)?.found_in(collection)?),
            None => None,
        };
        if changes.contains_key("validator") {
            check_validator_place(&collection.namespace, collection.uuid)?;
        }
        let mut document = collection.options.document.clone();
        for (name, value) in &changes {
            match value {
                Bson::Document(empty) if empty.is_empty() => document.remove(name),
                value => document.insert(name, value),
            };
        }
        if KEPT.iter().any(|(name, _)| changes.contains_key(*name)) {
            document = with_validation(&document);
        }
        // Every `collMod` turns `recordPreImages` off unless it sets the option.
        document.remove(RECORDED);
        if records {
            document.remove(IMAGES);
            document.insert(RECORDED, true);
        }
        if records || changes.contains_key(IMAGES) {
            document = with_images(document);
        }
        let options = Options::compile(document, version).map_err(|error| {
            ServerError::new(
                error.code(),
                format!(
                    "Parsing of collection validator failed :: caused by :: {}",
                    error.message()
                ),
            )
        })?;
        if let Some(what) = elsewhere {
            return Err(invalid(what));
        }
        let was = collection.clone();
        let mut reply = Document::new();
        if let Some(index) = &index {
            let mut others = changes.keys();
            let alone = !says_records && others.all(|name| matches!(name.as_str(), "size" | "max"));
            index.make(collection, dry_run, alone, &mut reply)?;
            for index in &collection.indexes {
                index.spec.uses.begin(now);
            }
            if dry_run {
                return Ok(Edit::Unchanged(reply));
            }
        }
        collection.options = Arc::new(options);
        let event = change_event(&was, index.as_ref(), &described, &reply);
        Ok(Edit::Publish(reply, vec![event]))
    })?;
    match fields {
        Some(fields) => reply(fields),
        None => Err(no_collection(&call.args, &call.namespace())),
    }
}

/// The error for a missing collection. For a `dryRun`, mongod reports it as a view.
fn no_collection(args: &Args<'_>, namespace: &Namespace) -> ServerError {
    if args.flag("dryRun") {
        return invalid("option not supported on a view: index");
    }
    let converts = args.document("index").is_some_and(index::makes_unique);
    ServerError::new(
        Code::NAMESPACE_NOT_FOUND,
        if converts {
            format!("ns does not exist for unique index conversion: {namespace}")
        } else {
            "ns does not exist".to_owned()
        },
    )
}

/// The error for an option that a plain collection does not have.
fn elsewhere(args: &Args<'_>) -> Option<&'static str> {
    let reasons = [
        ("pipeline", "option only supported on a view: pipeline"),
        ("viewOn", "option only supported on a view: viewOn"),
        (
            "expireAfterSeconds",
            "'expireAfterSeconds' option is only supported on collections clustered by _id",
        ),
        (
            "timeseries",
            "option only supported on a time-series collection: isTimeseriesNamespace",
        ),
    ];
    let (_, reason) = reasons
        .into_iter()
        .find(|(name, _)| args.get(name).is_some())?;
    Some(reason)
}

/// The options to change, by their stored names; `{}` removes a validator.
fn options(args: &Args<'_>) -> Result<Document, ServerError> {
    let mut changes = Document::new();
    if let Some(validator) = args.document("validator") {
        changes.insert("validator", to_document(validator)?);
    }
    for name in VALIDATION {
        if let Some(value) = args.str(name) {
            changes.insert(*name, value);
        }
    }
    if let Some(images) = args.document(IMAGES) {
        let kept = keeps_images(images);
        // An empty document removes the stored option.
        let images = if kept {
            to_document(images)?
        } else {
            Document::new()
        };
        changes.insert(IMAGES, images);
    }
    if let Some(size) = args.int("cappedSize") {
        changes.insert("size", int(rounded(size)));
    }
    if let Some(max) = args.int("cappedMax") {
        changes.insert("max", int(filled(max)));
    }
    Ok(changes)
}

/// The options to change, as change streams show them.
fn described(args: &Args<'_>) -> Result<Document, ServerError> {
    let mut described = Document::new();
    for name in ["validator", IMAGES] {
        if let Some(value) = args.document(name) {
            described.insert(name, to_document(value)?);
        }
        if name == "validator" {
            for name in VALIDATION {
                if let Some(value) = args.str(name) {
                    described.insert(*name, value);
                }
            }
        }
    }
    for name in ["cappedSize", "cappedMax"] {
        if let Some(value) = args.int(name) {
            described.insert(name, value);
        }
    }
    Ok(described)
}

/// The change event of a `collMod`: `reply` has what changed of the index.
fn change_event(
    was: &Collection,
    index: Option<&index::IndexModification>,
    described: &Document,
    reply: &Document,
) -> LoggedChange {
    let changed = index.and_then(|index| index.changed(was, reply));
    let (index, before) = changed.unzip();
    let mut description = Document::new();
    if let Some(index) = index {
        description.insert("index", index);
    }
    description.extend(described.clone());
    definition::modified(was, &description, before)
}

/// Changes the source of a view, its pipeline, or both.
fn change_view(call: &Invocation<'_>, namespace: Namespace) -> Result<RawDocumentBuf, ServerError> {
    let other = FIELDS
        .iter()
        .map(|field| field.name)
        .filter(|name| !matches!(*name, "viewOn" | "pipeline"))
        .find(|name| call.args.get(name).is_some());
    if let Some(name) = other {
        return Err(invalid(format!("option not supported on a view: {name}")));
    }
    let on = call.args.str("viewOn");
    let stages = call
        .args
        .array("pipeline")
        .map(|stages| objects(stages).collect::<RawArrayBuf>());
    let uuid = call.uuid();
    let globals = call.simple_globals();
    call.engine.catalog.change_views(call.database, |root| {
        let Some(before) = root.view(&namespace).cloned() else {
            return Err(ServerError::new(
                Code::NAMESPACE_NOT_FOUND,
                "ns does not exist",
            ));
        };
        let view = View::new(
            namespace,
            on.unwrap_or(&before.on.collection),
            stages.as_deref().unwrap_or(&before.pipeline),
            before.collation.clone(),
            globals.clone(),
        )?;
        view.check(root)?;
        let event = definition::viewed(&view, Definition::Modify);
        root.put_view(view, uuid)?;
        Ok(((), Some(event)))
    })?;
    reply(Document::new())
}
