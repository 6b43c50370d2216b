//! What an explained command does with the documents that its plan finds.

use bson::Document;
use bson::raw::{RawBsonRef, RawDocument};
use odm_language::expression::Globals;
use odm_language::value::raw;

use crate::command::args::truthy;
use crate::updater::Update;

/// What the records are for.
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
        /// `findAndModify` answers with the document.
        returns: bool,
    },
    Delete {
        multi: bool,
        returns: bool,
    },
}

/// What is around the query's own stages.
#[derive(Debug, Default)]
pub(crate) struct Around<'a> {
    /// Of a `find`: its projection, its sort.
    pub(crate) projection: Option<&'a RawDocument>,
    pub(crate) sort: Option<Document>,
    pub(crate) goal: Goal,
    /// Of a `distinct`, whose projection a server doesn't show.
    pub(crate) is_distinct: bool,
}

impl Around<'_> {
    pub(crate) fn projected(&self) -> Document {
        self.projection
            .filter(|_| !self.is_distinct)
            .and_then(|projection| Document::try_from(projection).ok())
            .unwrap_or_default()
    }

    /// Names of top-level fields only, which are taken.
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
                // The one field that may be taken where others are left out.
                && raw::elements(projection).all(|(name, value)| name == "_id" || truthy(value))
        })
    }
}
