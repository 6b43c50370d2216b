//! Update operators, replacement documents and update pipelines, applied to one document.
//!
//! [`Update::parse`] checks everything that does not depend on a document; [`Update::apply`] makes the new one.
//! Each operator implements [`operator`] in a file of its own; [`walk`] walks the
//! paths.
//!
//! What this module is not: it finds no documents, keeps no records and generates no `_id`.

mod add_to_set;
mod arithmetic;
mod array_filters;
mod bit;
mod compare;
mod conflicts;
mod current_date;
mod delta;
mod describe;
mod immutable;
mod limits;
mod node;
mod operator;
mod operators;
mod pipeline;
mod pop;
mod pull;
mod push;
mod rename;
mod replacement;
mod set;
mod splice;
#[cfg(test)]
mod tests;
mod unset;
pub(crate) mod upsert;
mod walk;

use bson::raw::{RawArray, RawBsonRef, RawDocument, RawDocumentBuf};

use odm_language::error::{Code, ServerError};
use odm_language::expression::Globals;

pub(crate) use self::limits::{check_id, check_insert};
#[cfg(test)]
pub(crate) use self::operators::names as known_operators;

use self::array_filters::ArrayFilters;
use self::operators::Operators;
use self::pipeline::UpdatePipeline;
use self::replacement::Replacement;

/// A parsed update.
#[derive(Debug)]
pub(crate) struct Update(Kind);

#[derive(Debug)]
enum Kind {
    Operators(Operators),
    Replacement(Replacement),
    Pipeline(UpdatePipeline),
}

/// The result of applying an update to a document.
#[derive(Debug)]
pub(crate) struct Applied {
    pub(crate) document: RawDocumentBuf,
    /// False if nothing changed: the document is then the original.
    pub(crate) modified: bool,
    /// Whether the new document may be nested deeper than the original.
    nests: bool,
    /// The empty arrays that a sort applied to. They count as changed if an index may cover them.
    pub(crate) resorted: Vec<String>,
}

impl Update {
    /// Parses `u`: an operator document, a replacement document, or a pipeline.
    pub(crate) fn parse(
        update: RawBsonRef<'_>,
        array_filters: Option<&RawArray>,
        globals: &Globals,
    ) -> Result<Self, ServerError> {
        Ok(Self(match update {
            RawBsonRef::Document(document) => {
                let filters = match array_filters {
                    Some(filters) => ArrayFilters::parse(filters, globals)?,
                    None => ArrayFilters::default(),
                };
                let operators = node::fields(document)
                    .next()
                    .is_some_and(|(name, _)| name.starts_with('$'));
                if operators {
                    Kind::Operators(Operators::parse(document, filters, globals)?)
                } else {
                    Kind::Replacement(Replacement::new(document))
                }
            }
            RawBsonRef::Array(stages) => {
                // mongod parses the filters first, and accepts an empty list.
                if let Some(filters) = array_filters
                    && ArrayFilters::parse(filters, globals)?.has_any()
                {
                    return Err(ServerError::new(
                        Code::FAILED_TO_PARSE,
                        "arrayFilters may not be specified for pipeline-style updates",
                    ));
                }
                Kind::Pipeline(UpdatePipeline::parse(stages, globals)?)
            }
            _ => {
                return Err(ServerError::new(
                    Code::FAILED_TO_PARSE,
                    "Update argument must be either an object or an array",
                ));
            }
        }))
    }

    /// Whether the update replaces the whole document, which `multi: true` does not allow.
    pub(crate) fn is_replacement(&self) -> bool {
        matches!(self.0, Kind::Replacement(_))
    }

    /// Whether the filter has to provide the array position for the positional `$` (see `Matcher::match_position`).
    pub(crate) fn needs_position(&self) -> bool {
        match &self.0 {
            Kind::Operators(operators) => operators.needs_position(),
            Kind::Replacement(_) | Kind::Pipeline(_) => false,
        }
    }

    /// Describes the changes in the form of `updateDescription`; `None` if the update replaced the document.
    pub(crate) fn describe(
        &self,
        before: &RawDocument,
        after: &RawDocument,
        matched_index: Option<usize>,
    ) -> Result<Option<RawDocumentBuf>, ServerError> {
        Ok(match &self.0 {
            Kind::Operators(operators) => Some(operators.describe(before, after, matched_index)?),
            Kind::Replacement(_) => None,
            Kind::Pipeline(_) => delta::between(before, after, delta::SPARE)
                .as_ref()
                .map(delta::description),
        })
    }

    /// Returns the new document. `matched_index` is the array position that the filter matched, for the positional `$`;
    /// `inserting` is true for an upsert, whose `document` comes from [`upsert::seed`].
    pub(crate) fn apply(
        &self,
        document: &RawDocument,
        matched_index: Option<usize>,
        globals: &Globals,
        inserting: bool,
    ) -> Result<Applied, ServerError> {
        let applied = match &self.0 {
            Kind::Operators(operators) => {
                operators.apply(document, matched_index, globals, inserting)?
            }
            Kind::Replacement(replacement) => replacement.apply(document, globals, inserting)?,
            Kind::Pipeline(pipeline) => pipeline.apply(document, globals, inserting)?,
        };
        if !applied.modified && !inserting {
            return Ok(Applied {
                document: document.to_owned(),
                modified: false,
                nests: false,
                resorted: applied.resorted,
            });
        }
        let new = if inserting {
            limits::id_first(applied.document)
        } else {
            applied.document
        };
        limits::check(&new, inserting || applied.nests)?;
        Ok(Applied {
            document: new,
            modified: applied.modified,
            nests: applied.nests,
            resorted: applied.resorted,
        })
    }
}
