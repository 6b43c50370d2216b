//! Where in a pipeline `$text` may stand, and where what it found is still known.

use bson::raw::{RawArray, RawBsonRef, RawDocument};

use crate::engine::expression::{Globals, meta};
use crate::error::{Code, ServerError};
use crate::value::raw::{array_document, elements, values};

/// Stages that give each document on as they get it, one by one, or with what is known of it. Sorted.
const TRANSPARENT: &[&str] = &[
    "$addFields",
    "$limit",
    "$lookup",
    "$match",
    "$project",
    "$redact",
    "$replaceRoot",
    "$replaceWith",
    "$set",
    "$skip",
    "$sort",
    "$unset",
    "$unwind",
];

/// Refuses a `$text` that is not in a leading `$match`, and a `$meta` where nothing is known.
pub(super) fn check(stages: &RawArray, globals: &Globals) -> Result<(), ServerError> {
    let mut searched = false;
    let mut opaque = None;
    for (at, (name, spec)) in values(stages).filter_map(stage).enumerate() {
        if let ("$match", RawBsonRef::Document(filter)) = (name, spec)
            && has_text(filter)
        {
            if at > 0 {
                return Err(ServerError::new(
                    Code::location(17313),
                    "$match with $text is only allowed as the first pipeline stage",
                ));
            }
            if globals.is_inner_pipeline() {
                return Err(unsupported("$text inside another stage's pipeline"));
            }
            searched = true;
        }
        // A pipeline of its own asks for itself.
        let own = matches!(name, "$lookup" | "$unionWith");
        if !own && meta::mentions(spec, Some("textScore")) && !searched {
            return Err(meta::unavailable());
        }
        let transparent = TRANSPARENT.binary_search(&name).is_ok();
        if !own && meta::mentions(spec, None) {
            if let Some(opaque) = opaque {
                return Err(unsupported(&format!("$meta after {opaque}")));
            }
            if !transparent && name != "$group" {
                return Err(unsupported(&format!("$meta in {name}")));
            }
        }
        if !transparent {
            opaque = opaque.or(Some(name));
        }
    }
    Ok(())
}

/// Whether any stage asks for what is known of a document.
pub(super) fn is_asked(stages: &RawArray) -> bool {
    values(stages).any(|stage| meta::mentions(stage, None))
}

fn stage(stage: RawBsonRef<'_>) -> Option<(&str, RawBsonRef<'_>)> {
    match stage {
        RawBsonRef::Document(stage) => elements(stage).next(),
        _ => None,
    }
}

/// Whether the name is anywhere in the filter: as a server does, this does not ask what it means there.
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
    fn the_transparent_stages_are_sorted() {
        assert!(super::TRANSPARENT.is_sorted());
    }
}
