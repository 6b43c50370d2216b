//! `$unset`: `{a: 1, b: [1, 2]}` `{$unset: {a: "", "b.0": ""}}` -> `{b: [null, 2]}`.

use odm_language::error::ServerError;

use crate::updater::node::Node;
use crate::updater::operator::{At, Behaviour, Blocked, Change};

#[derive(Debug)]
pub(super) struct Unset;

impl Behaviour for Unset {
    fn apply<'a>(
        &'a self,
        current: Option<&mut Node<'a>>,
        _at: &At<'_>,
    ) -> Result<Change<'a>, ServerError> {
        Ok(if current.is_some() {
            Change::Remove
        } else {
            Change::Nothing
        })
    }

    fn blocked(&self, _inserting: bool) -> Blocked {
        Blocked::Ignore
    }
}
