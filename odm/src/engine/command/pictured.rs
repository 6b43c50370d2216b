//! The query that a refusal names, as the server pictures it.

use bson::raw::{RawBsonRef, RawDocument};

use crate::engine::catalog::namespace::Namespace;
use crate::engine::command::args::Args;
use crate::engine::cursor::query::NO_COLLECTION;
use crate::engine::matcher::Near;
use crate::error::ServerError;
use crate::value::raw;

/// Names the query in a refusal of its hint, as the server does.
pub(crate) fn explain_hint(
    error: ServerError,
    namespace: &Namespace,
    args: &Args<'_>,
) -> ServerError {
    let filter = args.filled("filter").or_else(|| args.filled("query"));
    let projection = args
        .document("projection")
        .or_else(|| args.document("fields"));
    name_query(
        error,
        namespace,
        filter,
        args.document("sort"),
        projection,
        "",
    )
}

/// What the server adds for updates and pipelines.
pub(crate) const SIMPLE: &str = "Collation: { locale: \"simple\" }\n";

/// The same for a statement that is no command of its own.
pub(crate) fn name_query(
    error: ServerError,
    namespace: &Namespace,
    filter: Option<&RawDocument>,
    sort: Option<&RawDocument>,
    projection: Option<&RawDocument>,
    collation: &str,
) -> ServerError {
    if let Some(why) = error.message().strip_suffix(NO_COLLECTION) {
        let message = format!("{why} (no such collection '{namespace}')");
        return ServerError::new(error.code(), message);
    }
    if !error.message().starts_with("planner returned error") {
        return error;
    }
    named(&error, namespace, filter, sort, projection, collation)
}

pub(crate) fn named(
    error: &ServerError,
    namespace: &Namespace,
    filter: Option<&RawDocument>,
    sort: Option<&RawDocument>,
    projection: Option<&RawDocument>,
    collation: &str,
) -> ServerError {
    let shown = |document: Option<&RawDocument>| {
        document.map_or_else(|| "{}".to_owned(), crate::value::print::document)
    };
    let tree = match filter {
        None => "$and\n".to_owned(),
        Some(filter) => tree(filter),
    };
    ServerError::new(
        error.code(),
        format!(
            "error processing query: ns={namespace}Tree: {tree}Sort: {}\nProj: {}\n{collation} {}",
            shown(sort),
            shown(projection),
            error.message()
        ),
    )
}

/// The server's picture of a filter of plain equalities; of others, the filter itself.
fn tree(filter: &RawDocument) -> String {
    use std::fmt::Write as _;

    let near = raw::elements(filter).find_map(|(name, value)| match value {
        RawBsonRef::Document(operators) => near_line(name, operators),
        _ => None,
    });
    let mut lines: Vec<String> = raw::elements(filter)
        .filter(|(name, value)| match value {
            RawBsonRef::Document(operators) => near_line(name, operators).is_none(),
            _ => true,
        })
        .map(|(name, value)| match value {
            RawBsonRef::Document(_) => crate::value::print::field(name, value),
            value => format!("{name} $eq {}", crate::value::print::value(value)),
        })
        .collect();
    lines.sort();
    lines.extend(near);
    if lines.len() == 1 {
        return lines.pop().unwrap_or_default() + "\n";
    }
    lines.iter().fold("$and\n".to_owned(), |mut tree, line| {
        let _ = writeln!(tree, "    {line}");
        tree
    })
}

/// A `$near` in the server's picture.
fn near_line(path: &str, operators: &RawDocument) -> Option<String> {
    let near = Near::parse(operators).ok()?;
    Some(format!(
        "GEONEAR  field={path} maxdist={} isNearSphere={}",
        crate::value::print::significant(near.most, 6),
        i32::from(near.sphere && !near.geo_json)
    ))
}
