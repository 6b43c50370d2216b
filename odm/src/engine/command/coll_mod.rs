//! `collMod`.

mod index;

use std::sync::Arc;

use bson::raw::RawDocumentBuf;
use bson::{Bson, Document};

pub(crate) use self::index::FIELDS as INDEX_FIELDS;
use crate::engine::catalog::Edit;
use crate::engine::catalog::changes::Change;
use crate::engine::catalog::changes::definition::{self, Definition};
use crate::engine::catalog::collection::Collection;
use crate::engine::catalog::namespace::Namespace;
use crate::engine::catalog::options::Options;
use crate::engine::catalog::view::View;
use crate::engine::command::args::{Args, Field, Kind, field};
use crate::engine::command::call::Call;
use crate::engine::command::coll_mod::index::Wanted;
use crate::engine::command::create::{
    IMAGES, VALIDATION, capped_max, capped_size, check_stages, check_validator_place, check_word,
    int, keeps_images, to_document,
};
use crate::engine::command::reply::reply;
use crate::engine::command::table::{Command, InTransaction, Target};
use crate::error::{Code, ServerError};

const FIELDS: &[Field] = &[
    field("index", Kind::Object),
    field("validator", Kind::Object),
    field("validationLevel", Kind::Str),
    field("validationAction", Kind::Str),
    field("viewOn", Kind::Str),
    field("pipeline", Kind::Array),
    field("expireAfterSeconds", Kind::Any),
    field("timeseries", Kind::Object),
    field("changeStreamPreAndPostImages", Kind::Object),
    field("recordPreImages", Kind::Unsupported),
    field("cappedSize", Kind::SafeInt),
    field("cappedMax", Kind::SafeInt),
    field("dryRun", Kind::SafeBool),
];

/// What is kept of a validation, in a server's order, and what it is where nothing was said.
const KEPT: [(&str, Option<&str>); 3] = [
    ("validator", None),
    ("validationLevel", Some("strict")),
    ("validationAction", Some("error")),
];

/// A collection's options with all that is kept of a validation, in front of the options that come behind it.
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

/// A collection's options with `changeStreamPreAndPostImages`, if it is there, in its place.
fn with_images(mut options: Document) -> Document {
    let Some(images) = options.remove(IMAGES) else {
        return options;
    };
    let is_behind =
        |name: &str| name == "collation" || KEPT.iter().any(|(known, _)| *known == name);
    let (after, before): (Vec<_>, Vec<_>) =
        options.into_iter().partition(|(name, _)| is_behind(name));
    let images = [(IMAGES.to_owned(), images)];
    before.into_iter().chain(images).chain(after).collect()
}

pub(crate) const COLL_MOD: Command = Command {
    name: "collMod",
    idl: "collMod",
    fields: FIELDS,
    target: Target::Collection,
    transaction: InTransaction::Refused,
    retryable: false,
    writes: true,
    run: coll_mod,
};

pub(super) fn invalid(message: impl Into<String>) -> ServerError {
    ServerError::new(Code::INVALID_OPTIONS, message)
}

fn coll_mod(call: &mut Call<'_>) -> Result<RawDocumentBuf, ServerError> {
    let namespace = call.namespace();
    let changes = options(&call.args)?;
    let index = call.args.document("index").map(Wanted::parse).transpose()?;
    let described = described(&call.args)?;
    let dry_run = call.args.flag("dryRun");
    if dry_run {
        match &index {
            None => {
                return Err(invalid(
                    "dry run mode requires an valid index modification.",
                ));
            }
            Some(index) if !index.makes_unique() => {
                return Err(invalid(
                    "dry run mode requires an index modification with unique: true.",
                ));
            }
            Some(_) => {}
        }
    }
    if call.find_view(&namespace).is_some() {
        return change_view(call, namespace);
    }
    let expires = call.args.get("expireAfterSeconds").is_some();
    let series = call.args.get("timeseries").is_some();
    let viewed = ["pipeline", "viewOn"]
        .into_iter()
        .find(|name| call.args.get(name).is_some());
    let now = call.now;
    let fields = call.alter(&namespace, |collection| {
        if let Some(name) = viewed {
            return Err(invalid(format!("option only supported on a view: {name}")));
        }
        if series {
            return Err(invalid(
                "option only supported on a time-series collection: isTimeseriesNamespace",
            ));
        }
        if expires {
            return Err(invalid(
                "'expireAfterSeconds' option is only supported on collections clustered by _id",
            ));
        }
        if changes.contains_key("validator") {
            check_validator_place(&collection.namespace, collection.uuid)?;
        }
        let mut document = collection.options.document.clone();
        let capped = ["size", "max"]
            .iter()
            .any(|name| changes.contains_key(*name));
        if capped && collection.options.capped.is_none() {
            return Err(invalid("Collection must be capped."));
        }
        for (name, value) in &changes {
            match value {
                Bson::Document(empty) if empty.is_empty() => document.remove(name),
                value => document.insert(name, value),
            };
        }
        if KEPT.iter().any(|(name, _)| changes.contains_key(*name)) {
            document = with_validation(&document);
        }
        if changes.contains_key(IMAGES) {
            document = with_images(document);
        }
        let was = collection.clone();
        let mut reply = Document::new();
        if let Some(index) = &index {
            let alone = changes
                .keys()
                .all(|name| matches!(name.as_str(), "size" | "max"));
            index.change(collection, dry_run, alone, &mut reply)?;
            for index in &collection.indexes {
                index.spec.uses.begin(now);
            }
            if dry_run {
                return Ok(Edit::Unchanged(reply));
            }
        }
        let options = Options::compile(document).map_err(|error| {
            ServerError::new(
                error.code(),
                format!(
                    "Parsing of collection validator failed :: caused by :: {}",
                    error.message()
                ),
            )
        })?;
        collection.options = Arc::new(options);
        let told = told(&was, index.as_ref(), &described, &reply);
        Ok(Edit::Publish(reply, vec![told]))
    })?;
    match fields {
        Some(fields) => reply(fields),
        None => Err(ServerError::new(
            Code::NAMESPACE_NOT_FOUND,
            "ns does not exist",
        )),
    }
}

/// The options to change, by the names under which they are kept; `{}` takes a validator away.
fn options(args: &Args<'_>) -> Result<Document, ServerError> {
    let mut changes = Document::new();
    if let Some(validator) = args.document("validator") {
        changes.insert("validator", to_document(validator)?);
    }
    for (name, values) in VALIDATION {
        if let Some(value) = args.str(name) {
            check_word("collMod", name, value, values)?;
            changes.insert(*name, value);
        }
    }
    if let Some(images) = args.document(IMAGES) {
        let kept = keeps_images("collMod", images)?;
        // An empty one takes away what is there.
        let images = if kept {
            to_document(images)?
        } else {
            Document::new()
        };
        changes.insert(IMAGES, images);
    }
    if let Some(size) = args.int("cappedSize") {
        changes.insert("size", int(capped_size("cappedSize", size)?));
    }
    if let Some(max) = args.int("cappedMax") {
        changes.insert("max", int(capped_max("cappedMax", max)?));
    }
    Ok(changes)
}

/// The options to change, as those are told who watch.
fn described(args: &Args<'_>) -> Result<Document, ServerError> {
    let mut described = Document::new();
    for name in ["validator", IMAGES] {
        if let Some(value) = args.document(name) {
            described.insert(name, to_document(value)?);
        }
        if name == "validator" {
            for (name, _) in VALIDATION {
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

/// What those who watch are told: `reply` has what changed of the index.
fn told(
    was: &Collection,
    index: Option<&Wanted>,
    described: &Document,
    reply: &Document,
) -> Change {
    let changed = index.and_then(|index| index.changed(was, reply));
    let (index, before) = changed.unzip();
    let mut description = Document::new();
    if let Some(index) = index {
        description.insert("index", index);
    }
    description.extend(described.clone());
    definition::modified(was, &description, before)
}

/// Gives a view another source, another pipeline, or both.
fn change_view(call: &Call<'_>, namespace: Namespace) -> Result<RawDocumentBuf, ServerError> {
    let other = FIELDS
        .iter()
        .map(|field| field.name)
        .filter(|name| !matches!(*name, "viewOn" | "pipeline"))
        .find(|name| call.args.get(name).is_some());
    if let Some(name) = other {
        return Err(invalid(format!("option not supported on a view: {name}")));
    }
    let (on, stages) = (call.args.str("viewOn"), call.args.array("pipeline"));
    check_stages("collMod", stages)?;
    let uuid = call.uuid();
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
            stages.unwrap_or(&before.pipeline),
            before.collation.clone(),
            call.now,
        )?;
        view.check(root)?;
        let told = definition::viewed(&view, Definition::Modify);
        root.put_view(view, uuid)?;
        Ok(((), Some(told)))
    })?;
    reply(Document::new())
}
