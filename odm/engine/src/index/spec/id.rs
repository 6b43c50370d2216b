//! The index on `_id`, which allows almost no options.

use bson::{Bson, Document};
use odm_language::error::{Code, ServerError};
use odm_language::value::collation::Collator;

use crate::index::spec::value::{number, show};

/// mongod's errors about the index on `_id` and about its name.
pub(super) fn refusal(given: &Document, key: &Document, name: &str) -> Option<ServerError> {
    let only_id = key.len() == 1 && key.contains_key("_id");
    let direction = key.get("_id").and_then(number);
    if !only_id || direction.is_none() {
        return (name == "_id_").then(|| {
            ServerError::new(
                Code::BAD_VALUE,
                format!(
                    "The index name '_id_' is reserved for the _id index, which must have key \
                     pattern {{_id: 1}}, found key: {}",
                    show(key)
                ),
            )
        });
    }
    let allowed = ["key", "name", "v", "ns", "collation", "_id"];
    let Some(field) = given.keys().find(|key| !allowed.contains(&key.as_str())) else {
        return (direction != Some(1.0)).then(|| {
            ServerError::new(
                Code::BAD_VALUE,
                format!(
                    "The field 'key' for an _id index must be {{_id: 1}}, but got {}",
                    show(key)
                ),
            )
        });
    };
    let mut shown = given.clone();
    shown.entry("v".to_owned()).or_insert(Bson::Int32(2));
    Some(ServerError::new(
        Code::INVALID_INDEX_SPECIFICATION_OPTION,
        format!(
            "The field '{field}' is not valid for an _id index specification. Specification: {}",
            show(&shown)
        ),
    ))
}

/// The error for an index on `_id` whose collation differs from the collection's.
pub(super) fn other_collation(
    asked: Option<&Collator>,
    inherited: Option<&Collator>,
) -> ServerError {
    let shown = |collation: Option<&Collator>| {
        show(&collation.map_or_else(|| bson::doc! { "locale": "simple" }, Collator::document))
    };
    ServerError::new(
        Code::BAD_VALUE,
        format!(
            "The _id index must have the same collation as the collection. Index collation: {}, collection collation: {}",
            shown(asked),
            shown(inherited)
        ),
    )
}
