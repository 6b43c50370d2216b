//! Prints the query of a failed command in the form of mongod's error messages.

use bson::raw::{RawBsonRef, RawDocument};
use odm_language::error::ServerError;
use odm_language::matcher::Near;
use odm_language::value::raw;

use crate::catalog::namespace::Namespace;
use crate::command::args::Args;
use crate::cursor::query::NO_COLLECTION;

/// The line that mongod adds for updates and pipelines.
pub(crate) const SIMPLE: &str = "Collation: { locale: \"simple\" }\n";

/// Adds the command's query to an error about its hint, as mongod does.
pub(crate) fn explain_hint(
    error: ServerError,
    namespace: &Namespace,
    args: &Args<'_>,
) -> ServerError {
    let pictured = CanonicalQuery {
        namespace,
        filter: args.filled("filter").or_else(|| args.filled("query")),
        sort: args.document("sort"),
        projection: args
            .document("projection")
            .or_else(|| args.document("fields")),
        window: String::new(),
        collation: &given_collation(args),
    };
    pictured.explain_hint(error)
}

/// Like [`explain_hint`], for `find`: mongod also prints the batch size, limit and skip.
pub(crate) fn explain_find(
    error: ServerError,
    namespace: &Namespace,
    args: &Args<'_>,
) -> ServerError {
    let pictured = CanonicalQuery {
        namespace,
        filter: args.filled("filter"),
        sort: args.document("sort"),
        projection: args.document("projection"),
        window: window(args),
        collation: &given_collation(args),
    };
    pictured.explain_hint(error)
}

fn window(args: &Args<'_>) -> String {
    use std::fmt::Write as _;

    let mut window = String::new();
    for name in ["batchSize", "limit", "skip"] {
        match args.int(name) {
            Some(0) if name != "batchSize" => {}
            Some(count) => {
                // Writing to a String cannot fail.
                let _ = write!(window, " {name}={}", count.unsigned_abs());
            }
            None => {}
        }
    }
    window
}

fn given_collation(args: &Args<'_>) -> String {
    args.filled("collation")
        .map(|collation| {
            format!(
                "Collation: {}\n",
                odm_language::value::print::document(collation)
            )
        })
        .unwrap_or_default()
}

/// A query to print in an error message.
pub(crate) struct CanonicalQuery<'a> {
    pub(crate) namespace: &'a Namespace,
    pub(crate) filter: Option<&'a RawDocument>,
    pub(crate) sort: Option<&'a RawDocument>,
    pub(crate) projection: Option<&'a RawDocument>,
    /// The batch size, limit and skip as mongod prints them, such as ` limit=1`; empty if there are none.
    pub(crate) window: String,
    /// Empty, [`SIMPLE`], or the command's collation.
    pub(crate) collation: &'a str,
}

impl CanonicalQuery<'_> {
    /// Adds the query to an error about its hint.
    pub(crate) fn explain_hint(&self, error: ServerError) -> ServerError {
        if let Some(why) = error.message().strip_suffix(NO_COLLECTION) {
            let message = format!("{why} (no such collection '{}')", self.namespace);
            return ServerError::new(error.code(), message);
        }
        if !error.message().starts_with("planner returned error") {
            return error;
        }
        self.named(&error)
    }

    /// Adds the query to any error.
    pub(crate) fn named(&self, error: &ServerError) -> ServerError {
        let shown = |document: Option<&RawDocument>| {
            document.map_or_else(|| "{}".to_owned(), odm_language::value::print::document)
        };
        // mongod treats a `$natural` sort as a hint.
        let is_hint = |sort: &&RawDocument| raw::get(sort, "$natural").is_some();
        let tree = match self.filter {
            None => "$and\n".to_owned(),
            Some(filter) => tree(filter),
        };
        ServerError::new(
            error.code(),
            format!(
                "error processing query: ns={}{}Tree: {tree}Sort: {}\nProj: {}\n{} {}",
                self.namespace,
                self.window,
                shown(self.sort.filter(|sort| !is_hint(sort))),
                shown(self.projection),
                self.collation,
                error.message()
            ),
        )
    }
}

/// The filter as mongod prints it, one condition a line. Conditions other than comparisons and `$near` stand as
/// written.
fn tree(filter: &RawDocument) -> String {
    use std::fmt::Write as _;

    let near = raw::elements(filter).find_map(|(name, value)| match value {
        RawBsonRef::Document(operators) => near_line(name, operators),
        _ => None,
    });
    let mut lines: Vec<(usize, String)> = raw::elements(filter)
        .filter(|(name, value)| match value {
            RawBsonRef::Document(operators) => near_line(name, operators).is_none(),
            _ => true,
        })
        .flat_map(|(name, value)| condition_lines(name, value))
        .collect();
    lines.sort();
    let mut lines: Vec<String> = lines.into_iter().map(|(_, line)| line).collect();
    lines.extend(near);
    if lines.len() == 1 {
        return lines.pop().unwrap_or_default() + "\n";
    }
    lines.iter().fold("$and\n".to_owned(), |mut tree, line| {
        let _ = writeln!(tree, "    {line}");
        tree
    })
}

/// The comparisons, in the order in which mongod sorts conditions.
const COMPARISONS: &[&str] = &["$eq", "$lte", "$lt", "$gt", "$gte"];

/// The conditions on a field and their ranks in the sorted output: comparisons in mongod's form, others as written.
fn condition_lines(path: &str, value: RawBsonRef<'_>) -> Vec<(usize, String)> {
    let line = |name: &str, operand| {
        format!(
            "{path} {name} {}",
            odm_language::value::print::value(operand)
        )
    };
    match value {
        RawBsonRef::Document(operators) if has_operators(operators) => {
            let known: Option<Vec<_>> = raw::elements(operators)
                .map(|(name, operand)| {
                    let rank = COMPARISONS.iter().position(|known| *known == name)?;
                    Some((rank, line(name, operand)))
                })
                .collect();
            let whole = || odm_language::value::print::field(path, value);
            known.unwrap_or_else(|| vec![(COMPARISONS.len(), whole())])
        }
        value => vec![(0, line("$eq", value))],
    }
}

fn has_operators(document: &RawDocument) -> bool {
    let first = raw::elements(document).next();
    first.is_some_and(|(name, _)| name.starts_with('$'))
}

/// A `$near` as mongod prints it.
fn near_line(path: &str, operators: &RawDocument) -> Option<String> {
    let near = Near::parse(operators).ok()?;
    Some(format!(
        "GEONEAR  field={path} maxdist={} isNearSphere={}",
        odm_language::value::print::significant(near.most, 6),
        i32::from(near.by_sphere)
    ))
}
