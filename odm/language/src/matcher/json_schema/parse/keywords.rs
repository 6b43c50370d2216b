//! The keywords of schemas, and which of them are supported.

use bson::RawDocument;

use super::{Parsed, failed};
use crate::error::{Code, ServerError};
use crate::refusal;
use crate::value::raw;

/// Whether a keyword is supported, and if not, by which side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Support {
    Yes,
    /// mongod refuses it as well.
    NotByServers,
    /// mongod supports it, the in-memory engine does not: client-side encryption.
    NotHere,
}

/// Sorted by name.
const KEYWORDS: &[(&str, Support)] = &[
    ("$ref", Support::NotByServers),
    ("$schema", Support::NotByServers),
    ("additionalItems", Support::Yes),
    ("additionalProperties", Support::Yes),
    ("allOf", Support::Yes),
    ("anyOf", Support::Yes),
    ("bsonType", Support::Yes),
    ("default", Support::NotByServers),
    ("definitions", Support::NotByServers),
    ("dependencies", Support::Yes),
    ("description", Support::Yes),
    ("encrypt", Support::NotHere),
    ("encryptMetadata", Support::NotHere),
    ("enum", Support::Yes),
    ("exclusiveMaximum", Support::Yes),
    ("exclusiveMinimum", Support::Yes),
    ("format", Support::NotByServers),
    ("id", Support::NotByServers),
    ("items", Support::Yes),
    ("maxItems", Support::Yes),
    ("maxLength", Support::Yes),
    ("maxProperties", Support::Yes),
    ("maximum", Support::Yes),
    ("minItems", Support::Yes),
    ("minLength", Support::Yes),
    ("minProperties", Support::Yes),
    ("minimum", Support::Yes),
    ("multipleOf", Support::Yes),
    ("not", Support::Yes),
    ("oneOf", Support::Yes),
    ("pattern", Support::Yes),
    ("patternProperties", Support::Yes),
    ("properties", Support::Yes),
    ("required", Support::Yes),
    ("title", Support::Yes),
    ("type", Support::Yes),
    ("uniqueItems", Support::Yes),
];

/// Refuses a keyword that is unknown or not supported.
pub(super) fn check_known(schema: &RawDocument) -> Parsed<()> {
    for (name, _) in raw::elements(schema) {
        let row = KEYWORDS.binary_search_by_key(&name, |(known, _)| known);
        match row.ok().and_then(|index| KEYWORDS.get(index)) {
            Some((_, Support::Yes)) => {}
            Some((_, Support::NotByServers)) => {
                return Err(failed(format!(
                    "$jsonSchema keyword '{name}' is not currently supported"
                )));
            }
            Some((_, Support::NotHere)) => {
                return Err(ServerError::new(
                    Code::NOT_IMPLEMENTED,
                    format!(
                        "$jsonSchema keyword '{name}' is not supported by the in-memory engine{}",
                        refusal::because(name)
                    ),
                ));
            }
            None => return Err(failed(format!("Unknown $jsonSchema keyword: {name}"))),
        }
    }
    Ok(())
}

/// The keywords that mongod accepts, and whether each is supported here.
pub fn known() -> Vec<(&'static str, bool)> {
    KEYWORDS
        .iter()
        .filter(|(_, support)| *support != Support::NotByServers)
        .map(|(name, support)| (*name, *support == Support::Yes))
        .collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_table_is_sorted() {
        assert!(super::KEYWORDS.is_sorted_by_key(|(name, _)| *name));
    }
}
