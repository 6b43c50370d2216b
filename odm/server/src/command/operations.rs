//! The running operations: `currentOp`, and the stage `$currentOp` behind it.

use bson::raw::{RawBsonRef, RawDocument, RawDocumentBuf};
use bson::{Document, doc, rawdoc};
use odm_engine::COMMON_FIELDS;
use odm_engine::args;
use odm_language::error::{Code, ServerError};
use odm_language::value::{bson_type, raw};

use super::document_stages::TemporaryEngine;
use super::stage;
use super::{Call, Command, only_admin};
use crate::current_op::{ConnectionEntry, Operation};

pub(super) const CURRENT_OP: Command = Command {
    name: "currentOp",
    run: current_op,
    is_open: false,
};

/// The options of `$currentOp`.
const NAMES: &[&str] = &[
    "allUsers",
    "backtrace",
    "idleConnections",
    "idleCursors",
    "idleSessions",
    "localOps",
    "truncateOps",
];

/// The operations to return.
#[derive(Debug, Default)]
struct OperationFilter {
    /// Include operations of other users.
    all_users: bool,
    /// Include connections that wait for a command.
    idle_connections: bool,
}

/// The documents of `$currentOp`.
pub(super) fn documents(call: &mut Call<'_>) -> Result<Vec<Document>, ServerError> {
    let options = match stage::first(call.command) {
        Some((_, RawBsonRef::Document(options))) => options,
        other => {
            let found = other.map_or(RawBsonRef::Null, |(_, value)| value);
            return Err(ServerError::new(
                Code::TYPE_MISMATCH,
                format!(
                    "$currentOp options must be specified in an object, but found: {}",
                    bson_type::alias(found.element_type())
                ),
            ));
        }
    };
    // MongoDB checks this option before the namespace.
    if let Some(all_users) = raw::get(options, "allUsers") {
        boolean("allUsers", all_users)?;
    }
    let target = raw::get(call.command, call.name);
    let is_for_collection = matches!(target, Some(RawBsonRef::String(_)) | None);
    if is_for_collection || raw::get(call.command, "$db") != Some(RawBsonRef::String("admin")) {
        return Err(ServerError::new(
            Code::INVALID_NAMESPACE,
            "$currentOp must be run against the 'admin' database with {aggregate: 1}",
        ));
    }
    let wanted = parse(options)?;
    Ok(operations(call, &wanted))
}

fn parse(options: &RawDocument) -> Result<OperationFilter, ServerError> {
    let mut wanted = OperationFilter::default();
    for (name, value) in raw::elements(options) {
        let is_known = NAMES.contains(&name);
        if !is_known {
            return Err(ServerError::new(
                Code::FAILED_TO_PARSE,
                format!("Unrecognized option '{name}' in $currentOp stage."),
            ));
        }
        let is_set = boolean(name, value)?;
        match name {
            "allUsers" => wanted.all_users = is_set,
            "idleConnections" => wanted.idle_connections = is_set,
            // These have no effect: there is only one server, and long commands are left out in any case.
            "localOps" | "truncateOps" => {}
            _ if is_set => {
                return Err(ServerError::new(
                    Code::COMMAND_NOT_SUPPORTED,
                    format!("$currentOp shows connections: '{name}' is not supported"),
                ));
            }
            _ => {}
        }
    }
    Ok(wanted)
}

fn boolean(name: &str, value: RawBsonRef<'_>) -> Result<bool, ServerError> {
    match value {
        RawBsonRef::Boolean(is_set) => Ok(is_set),
        other => Err(ServerError::new(
            match name {
                "allUsers" | "localOps" => Code::TYPE_MISMATCH,
                _ => Code::FAILED_TO_PARSE,
            },
            format!(
                "The '{name}' parameter of the $currentOp stage must be a boolean value, but found: {}",
                bson_type::alias(other.element_type())
            ),
        )),
    }
}

/// The command `currentOp`, whose other fields are a filter.
fn current_op(call: &mut Call<'_>) -> Result<Document, ServerError> {
    only_admin(call)?;
    let is_set = |name| raw::get(call.command, name).is_some_and(args::truthy);
    let wanted = OperationFilter {
        all_users: !is_set("$ownOps"),
        idle_connections: is_set("$all"),
    };
    let scratch = TemporaryEngine::of(&operations(call, &wanted))?;
    let mut filter = RawDocumentBuf::new();
    for (name, value) in raw::elements(call.command).skip(1) {
        let is_option = matches!(name, "$all" | "$ownOps" | "$truncateOps");
        if !is_option && !COMMON_FIELDS.contains(&name) {
            let name = bson::raw::CString::try_from(name.to_owned())
                .map_err(|error| ServerError::new(Code::INVALID_BSON, error.to_string()))?;
            filter.append(name, value);
        }
    }
    let mut stages = bson::raw::RawArrayBuf::new();
    stages.push(rawdoc! { "$match": filter });
    stages.push(rawdoc! { "$unset": "_id" });
    Ok(doc! { "inprog": scratch.aggregate(stages)? })
}

/// The connections' operations in MongoDB's format.
fn operations(call: &Call<'_>, wanted: &OperationFilter) -> Vec<Document> {
    let own = call.client.user.as_ref();
    let all = call.state.operations.all();
    all.into_iter()
        .filter(|(_, it)| wanted.idle_connections || it.running.is_some())
        .filter(|(_, it)| wanted.all_users || it.user.as_ref() == own)
        .map(|(entry, operation)| show(call, &entry, &operation))
        .collect()
}

fn show(call: &Call<'_>, entry: &ConnectionEntry, operation: &Operation) -> Document {
    let now = call.state.service.now();
    let now = now.try_to_rfc3339_string().unwrap_or_default();
    let mut shown = doc! {
        "type": if operation.running.is_some() { "op" } else { "idleConnection" },
        "host": call.state.address.to_string(),
        "desc": format!("conn{}", entry.connection),
        "connectionId": entry.connection,
        "client": entry.address.to_string(),
    };
    if let Some(client) = operation.client.as_deref()
        && let Ok(client) = Document::try_from(&**client)
    {
        let name = client.get_document("application").ok();
        if let Some(name) = name.and_then(|application| application.get("name")) {
            shown.insert("appName", name.clone());
        }
        shown.insert("clientMetadata", client);
    }
    if let Some(user) = &operation.user {
        shown.insert(
            "effectiveUsers",
            [doc! { "user": user, "db": "admin" }].to_vec(),
        );
    }
    shown.insert("active", operation.running.is_some());
    shown.insert("currentOpTime", now.replace('Z', "+00:00"));
    let Some(running) = operation.running else {
        return shown;
    };
    shown.insert("opid", operation.number);
    let micros = i64::try_from(running.as_micros()).unwrap_or(i64::MAX);
    shown.insert("secs_running", micros / 1_000_000);
    shown.insert("microsecs_running", micros);
    let Some(command) = &operation.command else {
        return shown;
    };
    let Some((name, target)) = raw::elements(command).next() else {
        return shown;
    };
    let text = |name: &str| raw::get(command, name).and_then(RawBsonRef::as_str);
    let collection = match target {
        RawBsonRef::String(collection) => collection,
        _ if name == "aggregate" => "$cmd.aggregate",
        _ => text("collection").unwrap_or("$cmd"),
    };
    let kind = match name {
        "find" => "query",
        "getMore" => "getmore",
        "delete" => "remove",
        "insert" | "update" => name,
        _ => "command",
    };
    shown.insert("op", kind);
    let database = text("$db").unwrap_or_default();
    shown.insert("ns", format!("{database}.{collection}"));
    // Authentication commands are secret.
    let is_secret = matches!(name, "saslStart" | "saslContinue")
        || raw::get(command, "speculativeAuthenticate").is_some();
    if !is_secret && let Ok(command) = Document::try_from(&**command) {
        if let Some(session) = command.get("lsid") {
            shown.insert("lsid", session.clone());
        }
        shown.insert("command", command);
    }
    shown
}
