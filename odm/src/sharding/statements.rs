//! The filters of a command.

use bson::{Bson, Document};

use super::reach::has_id;
use crate::schema::normal::integer;

/// A part of a command that reads or writes a collection by a filter.
#[derive(Debug)]
pub(super) struct Statement {
    pub(super) collection: String,
    pub(super) filter: Document,
    pub(super) kind: Kind,
    /// The position in a list of updates or deletes.
    pub(super) position: usize,
}

/// How many documents a statement is for, and what it asks of a cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Any number.
    Many,
    /// One document is written, which the shard key or the `_id` has to name.
    One {
        /// Whether the filter has one `_id`.
        has_id: bool,
    },
    /// One document is written, which the shard key has to name: upserts and `findAndModify`.
    Targeted,
}

/// The statements of a command; none of commands without a filter.
pub(super) fn statements(command: &Document) -> Vec<Statement> {
    let Some((verb, Bson::String(collection))) = command.iter().next() else {
        return Vec::new();
    };
    let filter = |name: &str| command.get_document(name).cloned().unwrap_or_default();
    let one = |filter, kind| {
        vec![Statement {
            collection: collection.clone(),
            filter,
            kind,
            position: 0,
        }]
    };
    match verb.as_str() {
        "find" => one(filter("filter"), Kind::Many),
        "count" | "distinct" => one(filter("query"), Kind::Many),
        "findAndModify" | "findandmodify" => one(filter("query"), Kind::Targeted),
        "update" => writes(collection, command, "updates", kind_of_update),
        "delete" => writes(collection, command, "deletes", kind_of_delete),
        "aggregate" => {
            let mut all = Vec::new();
            if let Ok(pipeline) = command.get_array("pipeline") {
                all.push(read(collection.clone(), leading_match(pipeline)));
                joined(pipeline, &mut all);
            }
            all
        }
        _ => Vec::new(),
    }
}

fn read(collection: String, filter: Document) -> Statement {
    Statement {
        collection,
        filter,
        kind: Kind::Many,
        position: 0,
    }
}

fn writes(
    collection: &str,
    command: &Document,
    list: &str,
    kind: impl Fn(&Document, &Document) -> Kind,
) -> Vec<Statement> {
    let Ok(list) = command.get_array(list) else {
        return Vec::new();
    };
    let writes = list.iter().filter_map(Bson::as_document).enumerate();
    let writes = writes.map(|(position, write)| {
        let filter = write.get_document("q").cloned().unwrap_or_default();
        Statement {
            collection: collection.to_owned(),
            kind: kind(write, &filter),
            filter,
            position,
        }
    });
    writes.collect()
}

fn kind_of_update(update: &Document, filter: &Document) -> Kind {
    let is = |name: &str| update.get_bool(name).unwrap_or(false);
    if is("upsert") {
        Kind::Targeted
    } else if is("multi") {
        Kind::Many
    } else {
        Kind::One {
            has_id: has_id(filter),
        }
    }
}

fn kind_of_delete(delete: &Document, filter: &Document) -> Kind {
    let limit = delete.get("limit").and_then(integer);
    if limit == Some(0) {
        Kind::Many
    } else {
        Kind::One {
            has_id: has_id(filter),
        }
    }
}

/// The conditions of the stages `$match` with which a pipeline begins.
fn leading_match(pipeline: &[Bson]) -> Document {
    let stages = pipeline.iter().map_while(|stage| {
        let (name, condition) = stage.as_document()?.iter().next()?;
        (name == "$match").then_some(condition.clone())
    });
    let conditions: Vec<Bson> = stages.collect();
    let mut all = Document::new();
    if !conditions.is_empty() {
        all.insert("$and", conditions);
    }
    all
}

/// The collections that stages of a pipeline join, with the conditions that each document gives.
fn joined(pipeline: &[Bson], all: &mut Vec<Statement>) {
    for stage in pipeline.iter().filter_map(Bson::as_document) {
        let Some((name, operand)) = stage.iter().next() else {
            continue;
        };
        match (name.as_str(), operand) {
            ("$lookup" | "$graphLookup", Bson::Document(lookup)) => {
                let inner = lookup.get_array("pipeline").map_or(&[][..], Vec::as_slice);
                let mut filter = leading_match(inner);
                let field = lookup
                    .get_str("foreignField")
                    .or(lookup.get_str("connectToField"));
                if let Ok(field) = field {
                    // One value for each document; which one does not matter.
                    filter.insert(field, 0);
                }
                if let Ok(from) = lookup.get_str("from") {
                    all.push(read(from.to_owned(), filter));
                }
                joined(inner, all);
            }
            ("$unionWith", Bson::String(from)) => all.push(read(from.clone(), Document::new())),
            ("$unionWith", Bson::Document(union)) => {
                let inner = union.get_array("pipeline").map_or(&[][..], Vec::as_slice);
                if let Ok(from) = union.get_str("coll") {
                    all.push(read(from.to_owned(), leading_match(inner)));
                }
                joined(inner, all);
            }
            ("$facet", Bson::Document(facets)) => {
                for inner in facets.values().filter_map(Bson::as_array) {
                    joined(inner, all);
                }
            }
            _ => {}
        }
    }
}
