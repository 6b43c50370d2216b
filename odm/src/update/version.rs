//! The version field of a model: every typed write increments it, so that `save` notices the write.

use bson::{Bson, Document, doc};

use super::operators::{Changes, OnField, Part, Stage};
use crate::model::Version;
use crate::query::deferred::Deferred;

impl Changes {
    /// Adds an increment of the version field to these changes; raw changes are sent as they are written.
    pub(crate) fn counting(self, version: &Version) -> Result<Self, Deferred> {
        let mut named = self.named()?;
        match &mut named {
            Self::Operators(parts) => {
                if !parts.iter().any(|part| matches!(part, Part::Field(_))) {
                    return Ok(named);
                }
                if parts.iter().any(|part| part.changes(version.name)) {
                    return Err(refused(version.name));
                }
                parts.push(Part::Field(OnField {
                    operator: "$inc",
                    path: version.name.to_owned(),
                    value: version.one.clone(),
                }));
            }
            Self::Pipeline(stages) => {
                if !stages
                    .iter()
                    .any(|stage| matches!(stage, Stage::Set { .. }))
                {
                    return Ok(named);
                }
                let sets = |stage: &Stage| matches!(stage, Stage::Set { path, .. } if is_in(path, version.name));
                if stages.iter().any(sets) {
                    return Err(refused(version.name));
                }
                stages.push(Stage::Set {
                    path: version.name.to_owned(),
                    expression: next(version),
                });
            }
        }
        Ok(named)
    }
}

/// The update that replaces a document with `replacement` and increments its version. A plain replacement
/// can't, because it does not see the stored version.
pub(crate) fn replacing(replacement: Document, version: &Version) -> Vec<Document> {
    let counted = doc! { version.name: next(version) };
    let merged = doc! { "$mergeObjects": [{ "$literal": replacement }, counted] };
    vec![doc! { "$replaceWith": merged }]
}

/// The expression of the version after this write.
fn next(version: &Version) -> Bson {
    let stored = format!("${}", version.name);
    doc! { "$add": [{ "$ifNull": [stored, 0] }, version.one.clone()] }.into()
}

impl Part {
    /// Whether the part changes the field with this stored name, or one inside it.
    pub(super) fn changes(&self, field: &str) -> bool {
        match self {
            Self::Field(change) => {
                is_in(&change.path, field)
                    || change.operator == "$rename"
                        && change.value.as_str().is_some_and(|to| is_in(to, field))
            }
            Self::Raw(operators) => operators
                .values()
                .filter_map(Bson::as_document)
                .any(|fields| fields.keys().any(|path| is_in(path, field))),
            Self::ArrayFilter(_) | Self::Elements(_) | Self::Unless(_) => false,
        }
    }
}

/// Whether a path names a field, or one inside it.
pub(super) fn is_in(path: &str, field: &str) -> bool {
    let rest = path.strip_prefix(field);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

fn refused(version: &str) -> Deferred {
    Deferred::usage(
        version,
        "each typed update counts the version field up, so that `save` notices it: leave the field \
         out, or write the whole update raw",
    )
}
