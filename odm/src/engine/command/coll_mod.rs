//! `collMod`.

use std::sync::Arc;

use bson::raw::{RawDocument, RawDocumentBuf};
use bson::{Bson, Document};

use crate::engine::catalog::Edit;
use crate::engine::catalog::collection::Collection;
use crate::engine::catalog::options::Options;
use crate::engine::command::args::{Args, Field, Kind, field};
use crate::engine::command::call::Call;
use crate::engine::command::create::{VALIDATION, check_validator_place, check_word, to_document};
use crate::engine::command::reply::reply;
use crate::engine::command::table::{Command, InTransaction, Target};
use crate::engine::index::spec::{same_key, show};
use crate::error::{Code, ServerError};

const FIELDS: &[Field] = &[
    field("index", Kind::Object),
    field("validator", Kind::Object),
    field("validationLevel", Kind::Str),
    field("validationAction", Kind::Str),
    field("viewOn", Kind::Unsupported),
    field("pipeline", Kind::Unsupported),
    field("expireAfterSeconds", Kind::Unsupported),
    field("timeseries", Kind::Unsupported),
    field("changeStreamPreAndPostImages", Kind::Unsupported),
    field("recordPreImages", Kind::Unsupported),
    field("cappedSize", Kind::SafeInt),
    field("cappedMax", Kind::SafeInt),
    field("dryRun", Kind::Unsupported),
];

const INDEX_FIELDS: &[Field] = &[
    field("name", Kind::Str),
    field("keyPattern", Kind::Object),
    field("expireAfterSeconds", Kind::SafeInt),
    field("hidden", Kind::SafeBool),
    field("unique", Kind::SafeBool),
    field("prepareUnique", Kind::Unsupported),
];

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

fn invalid(message: &str) -> ServerError {
    ServerError::new(Code::INVALID_OPTIONS, message)
}

fn coll_mod(call: &mut Call<'_>) -> Result<RawDocumentBuf, ServerError> {
    let namespace = call.namespace();
    let changes = options(&call.args)?;
    let index = call.args.document("index");
    let fields = call.alter(&namespace, |collection| {
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
        let mut reply = Document::new();
        if let Some(index) = index {
            change_index(collection, index, &mut reply)?;
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
        while collection.is_overfull() {
            let Some(oldest) = collection.oldest() else {
                break;
            };
            let change = collection.change(collection.document(oldest), None)?;
            collection.apply(&change, oldest, None);
        }
        Ok(Edit::Publish(reply))
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
    if let Some(size) = args.int("cappedSize") {
        if size < 1 {
            return Err(invalid("Capped collection size must be greater than zero"));
        }
        let rounded = (size.saturating_add(255) / 256) * 256;
        changes.insert("size", rounded);
    }
    if let Some(max) = args.int("cappedMax") {
        changes.insert("max", max.max(0));
    }
    Ok(changes)
}

fn change_index(
    collection: &mut Collection,
    index: &RawDocument,
    reply: &mut Document,
) -> Result<(), ServerError> {
    let args = Args::of_statement(index, "collMod.index", INDEX_FIELDS)?;
    let (name, key) = (args.str("name"), args.document("keyPattern"));
    let seconds = args.int("expireAfterSeconds");
    let hidden = args.bool("hidden");
    match (name, key) {
        (None, None) => return Err(invalid("Must specify either index name or key pattern.")),
        (Some(_), Some(_)) => return Err(invalid("Cannot specify both key pattern and name.")),
        _ => {}
    }
    if args.flag("unique") {
        return Err(invalid(
            "Cannot make index unique with 'prepareUnique=false'. Run collMod to set it first.",
        ));
    }
    if seconds.is_none() && hidden.is_none() {
        return Err(invalid(
            "no expireAfterSeconds, hidden, unique, or prepareUnique field",
        ));
    }
    if seconds.is_some_and(|seconds| seconds < 0) {
        return Err(invalid(
            "TTL index 'expireAfterSeconds' option cannot be less than 0",
        ));
    }
    let key = key.map(to_document).transpose()?;
    let found = collection.indexes.iter_mut().find(|index| match &key {
        Some(key) => same_key(&index.spec.key, key),
        None => Some(index.spec.name.as_str()) == name,
    });
    let Some(index) = found else {
        let shown = key.map_or_else(|| name.unwrap_or_default().to_owned(), |key| show(&key));
        return Err(ServerError::new(
            Code::INDEX_NOT_FOUND,
            format!("cannot find index {shown} for ns {}", collection.namespace),
        ));
    };
    if index.spec.is_id() {
        return Err(ServerError::new(
            Code::BAD_VALUE,
            if hidden.is_some() {
                "can't hide _id index"
            } else {
                "the _id field does not support TTL indexes"
            },
        ));
    }
    if let Some(seconds) = seconds {
        if let Some(before) = index.spec.ttl {
            reply.insert("expireAfterSeconds_old", before);
        } else if index.spec.paths.len() != 1 {
            return Err(invalid(
                "TTL indexes are single-field indexes, compound indexes do not support TTL",
            ));
        }
        reply.insert("expireAfterSeconds_new", seconds);
        let value = i32::try_from(seconds).map_err(|_| {
            invalid("TTL index 'expireAfterSeconds' option must be within an acceptable range, try a lower number")
        })?;
        let spec = index
            .spec
            .with_option("expireAfterSeconds", Bson::Int32(value))?;
        *index = index.with_spec(spec);
    }
    if let Some(hidden) = hidden
        && hidden != index.spec.hidden
    {
        reply.insert("hidden_old", index.spec.hidden);
        reply.insert("hidden_new", hidden);
        let spec = index.spec.with_option("hidden", Bson::Boolean(hidden))?;
        *index = index.with_spec(spec);
    }
    Ok(())
}
