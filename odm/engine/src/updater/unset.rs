//! `$unset`: `{a: 1, b: [1, 2]}` `{$unset: {a: "", "b.0": ""}}` -> `{b: [null, 2]}`.

use odm_language::error::ServerError;

use crate::updater::node::Node;
use crate::updater::operator::{BlockedPath, Effect, Operator, OperatorContext};

#[derive(Debug)]
pub(super) struct Unset;

impl Operator for Unset {
    fn apply<'a>(
        &'a self,
        current: Option<&mut Node<'a>>,
        _at: &OperatorContext<'_>,
    ) -> Result<Effect<'a>, ServerError> {
        Ok(if current.is_some() {
            Effect::Remove
        } else {
            Effect::Nothing
        })
    }

    fn blocked(&self, _inserting: bool) -> BlockedPath {
        BlockedPath::Ignore
    }
}
