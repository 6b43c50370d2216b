//! Where `$text` may stand in a pipeline, and which stages can still use its metadata.

use bson::raw::{RawArray, RawBsonRef, RawDocument};

use odm_language::error::{Code, ServerError};
use odm_language::expression::{Globals, meta};
use odm_language::value::raw::{array_document, elements, values};

use crate::pipeline::stage::GEO_NEAR;

/// Stages that pass documents on one by one or with their metadata. Sorted.
const TRANSPARENT: &[&str] = &[
    "$addFields",
    "$geoNear",
    "$graphLookup",
    "$limit",
    "$lookup",
    "$match",
    "$project",
    "$redact",
    "$replaceRoot",
    "$replaceWith",
    "$sample",
    "$set",
    "$skip",
    "$sort",
    "$unset",
    "$unwind",
];

/// Stages that make documents without metadata, and can read that of their input. Sorted.
const FORGETTING: &[&str] = &[
    "$bucket",
    "$bucketAuto",
    "$count",
    "$facet",
    "$group",
    "$sortByCount",
];

/// Where a pipeline gets its documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    /// Its own stages find them.
    Own,
    /// The pipeline around a `$facet`, which was checked for the metadata that the facets read.
    Around,
}

/// Iterates over the stages, with their use of `$text` and metadata so far.
fn searched(stages: &RawArray, origin: Origin) -> impl Iterator<Item = StageMetadata<'_>> {
    let (mut is_searched, mut is_near) = match origin {
        Origin::Own => (false, false),
        Origin::Around => (true, true),
    };
    let each = values(stages).filter_map(stage).enumerate();
    each.map(move |(at, (name, spec))| {
        let has_text = match (name, spec) {
            ("$match", RawBsonRef::Document(filter)) => has_text(filter),
            _ => false,
        };
        is_searched |= has_text;
        is_near |= name == GEO_NEAR;
        // A nested pipeline checks its own use of metadata, and a computed document has none.
        let own = matches!(name, "$documents" | "$lookup" | "$unionWith");
        StageMetadata {
            name,
            is_first: at == 0,
            has_text,
            asks: !own && meta::mentions(spec, None),
            lacks_score: !own && !is_searched && meta::mentions(spec, Some("textScore")),
            // Filters know no distances.
            lacks_distance: meta::lacks_distance(spec)
                .filter(|_| !own && (!is_near || name == "$match")),
        }
    })
}

/// A stage's use of `$text` and metadata.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a question of its own about the stage"
)]
struct StageMetadata<'s> {
    name: &'s str,
    is_first: bool,
    has_text: bool,
    asks: bool,
    lacks_score: bool,
    lacks_distance: Option<ServerError>,
}

/// Returns an error for uses of `$text` and metadata that the engine does not support.
pub(super) fn check_support(
    stages: &RawArray,
    origin: Origin,
    globals: &Globals,
) -> Result<(), ServerError> {
    let mut opaque = None;
    for stage in searched(stages, origin) {
        let name = stage.name;
        if stage.has_text && stage.is_first && globals.is_inner_pipeline() {
            return Err(unsupported("$text inside another stage's pipeline"));
        }
        let is_supported = [TRANSPARENT, FORGETTING]
            .iter()
            .any(|names| names.binary_search(&name).is_ok());
        // A missing score is mongod's error, which `check` returns.
        if stage.asks && !stage.lacks_score && stage.lacks_distance.is_none() {
            if let Some(opaque) = opaque {
                return Err(unsupported(&format!("$meta after {opaque}")));
            }
            if !is_supported {
                return Err(unsupported(&format!("$meta in {name}")));
            }
        }
        if !is_supported {
            opaque = opaque.or(Some(name));
        }
    }
    Ok(())
}

/// Returns an error for a `$text` outside of a leading `$match`, and for a score without a `$text`.
pub(super) fn check(stages: &RawArray, origin: Origin) -> Result<(), ServerError> {
    for stage in searched(stages, origin) {
        if stage.has_text && !stage.is_first {
            return Err(ServerError::new(
                Code::location(17313),
                "$match with $text is only allowed as the first pipeline stage",
            ));
        }
        if stage.lacks_score {
            return Err(meta::unavailable());
        }
        if let Some(error) = stage.lacks_distance {
            return Err(error);
        }
    }
    Ok(())
}

/// Whether any stage uses document metadata.
pub(super) fn is_used(stages: &RawArray) -> bool {
    values(stages).any(|stage| meta::mentions(stage, None))
}

fn stage(stage: RawBsonRef<'_>) -> Option<(&str, RawBsonRef<'_>)> {
    match stage {
        RawBsonRef::Document(stage) => elements(stage).next(),
        _ => None,
    }
}

/// Whether the name occurs anywhere in the filter. Like mongod, this ignores its meaning there.
fn has_text(filter: &RawDocument) -> bool {
    elements(filter).any(|(name, value)| {
        name == "$text"
            || match value {
                RawBsonRef::Document(inner) => has_text(inner),
                RawBsonRef::Array(inner) => has_text(array_document(inner)),
                _ => false,
            }
    })
}

fn unsupported(what: &str) -> ServerError {
    ServerError::new(
        Code::COMMAND_NOT_SUPPORTED,
        format!("{what} is not supported by the in-memory engine"),
    )
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_stages_are_sorted() {
        assert!(super::TRANSPARENT.is_sorted());
        assert!(super::FORGETTING.is_sorted());
    }
}
