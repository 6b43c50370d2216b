//! What an explained command does with the documents that its plan finds.

use bson::Document;
use bson::raw::{RawBsonRef, RawDocument};
use odm_language::expression::Globals;
use odm_language::value::raw;

use crate::command::args::truthy;
use crate::updater::Update;

/// The purpose of the records that the plan finds.
#[derive(Debug, Default)]
pub(crate) enum Goal {
    #[default]
    Read,
    Count {
        skip: u64,
        limit: Option<u64>,
    },
    Update {
        update: Box<Update>,
        globals: Box<Globals>,
        multi: bool,
        upsert: bool,
        /// Whether the reply includes the document, as that of `findAndModify` does.
        returns: bool,
    },
    Delete {
        multi: bool,
        returns: bool,
    },
}

/// The parts of the command around the query's own stages.
#[derive(Debug, Default)]
pub(crate) struct OuterStages<'a> {
    /// The projection of a `find`. Its sort follows.
    pub(crate) projection: Option<&'a RawDocument>,
    pub(crate) sort: Option<Document>,
    pub(crate) goal: Goal,
    /// Whether the command is a `distinct`, whose projection mongod does not show.
    pub(crate) is_distinct: bool,
    /// Whether the query answers a whole aggregation.
    pub(crate) is_pipeline: bool,
}

impl OuterStages<'_> {
    pub(crate) fn projected(&self) -> Document {
        self.projection
            .filter(|_| !self.is_distinct)
            .and_then(|projection| Document::try_from(projection).ok())
            .unwrap_or_default()
    }

    /// Whether the projection only includes top-level fields.
    pub(crate) fn is_simple(&self) -> bool {
        let is_flag = |value| {
            matches!(
                value,
                RawBsonRef::Boolean(_)
                    | RawBsonRef::Int32(_)
                    | RawBsonRef::Int64(_)
                    | RawBsonRef::Double(_)
            )
        };
        self.projection.is_some_and(|projection| {
            raw::elements(projection).all(|(name, value)| !name.contains('.') && is_flag(value))
                && raw::elements(projection).any(|(_, value)| truthy(value))
                // Only `_id` may be excluded beside included fields.
                && raw::elements(projection).all(|(name, value)| name == "_id" || truthy(value))
        })
    }
}
