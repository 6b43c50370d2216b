//! The commands for cached plans and index filters. The engine has neither, so there is nothing to clear or list.

use bson::raw::{RawBsonRef, RawDocumentBuf, cstr};
use bson::{Bson, Document, doc};
use odm_engine::Namespace;
use odm_language::error::{Code, ServerError};
use odm_language::value::{bson_type, raw};

use super::{Call, Command};

pub(super) const CLEAR: Command = Command {
    name: "planCacheClear",
    run: clear,
    is_open: false,
};

pub(super) const CLEAR_FILTERS: Command = Command {
    name: "planCacheClearFilters",
    run: clear,
    is_open: false,
};

pub(super) const LIST_FILTERS: Command = Command {
    name: "planCacheListFilters",
    run: |call| {
        collection(call)?;
        Ok(doc! { "filters": Bson::Array(Vec::new()) })
    },
    is_open: false,
};

/// The collection, which must not be a view.
fn collection<'a>(call: &Call<'a>) -> Result<&'a str, ServerError> {
    let refuse = |message: String| Err(ServerError::new(Code::INVALID_NAMESPACE, message));
    let database = raw::get(call.command, "$db");
    let database = database.and_then(RawBsonRef::as_str).unwrap_or_default();
    match raw::get(call.command, call.name) {
        Some(RawBsonRef::String("")) => {
            refuse(format!("Invalid namespace specified '{database}.'"))
        }
        Some(RawBsonRef::String(name))
            if call.state.service.has_view(&Namespace::new(database, name)) =>
        {
            Err(ServerError::new(
                Code::COMMAND_NOT_SUPPORTED_ON_VIEW,
                format!("Namespace {database}.{name} is a view, not a collection"),
            ))
        }
        Some(RawBsonRef::String(name)) => Ok(name),
        other => {
            let found = other.unwrap_or(RawBsonRef::Null).element_type();
            refuse(format!(
                "collection name has invalid type {}",
                bson_type::alias(found)
            ))
        }
    }
}

/// The other fields of a query shape.
const SHAPE: &[&str] = &["projection", "sort", "collation"];

fn clear(call: &mut Call<'_>) -> Result<Document, ServerError> {
    let refuse = |message: String| Err(ServerError::new(Code::BAD_VALUE, message));
    let collection = collection(call)?;
    let filter = match raw::get(call.command, "query") {
        None if SHAPE
            .iter()
            .any(|name| raw::get(call.command, name).is_some()) =>
        {
            return refuse("sort, projection, or collation provided without query".to_owned());
        }
        None => return Ok(doc! {}),
        Some(RawBsonRef::Document(filter)) => filter,
        Some(_) => return refuse("required field query must be an object".to_owned()),
    };
    // Explains the query to report its errors.
    let mut find = RawDocumentBuf::new();
    find.append(cstr!("find"), collection);
    find.append(cstr!("filter"), filter);
    for (name, key) in [
        ("projection", cstr!("projection")),
        ("sort", cstr!("sort")),
        ("collation", cstr!("collation")),
    ] {
        match raw::get(call.command, name) {
            Some(RawBsonRef::Document(part)) => find.append(key, part),
            None | Some(RawBsonRef::Array(_)) => {}
            Some(_) => return refuse(format!("optional field {name} must be an object")),
        }
    }
    let mut explain = RawDocumentBuf::new();
    explain.append(cstr!("explain"), find);
    explain.append(cstr!("verbosity"), "queryPlanner");
    if let Some(RawBsonRef::String(database)) = raw::get(call.command, "$db") {
        explain.append(cstr!("$db"), database);
    }
    call.state.service.try_run(&explain)?;
    Ok(doc! {})
}
