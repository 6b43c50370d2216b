//! `$set`, `$setOnInsert`: `{a: 1}` `{$set: {a: 2}}` -> `{a: 2}`.

use bson::raw::{RawBson, RawBsonRef};
use odm_language::error::ServerError;

use crate::updater::node::{Node, identical};
use crate::updater::operator::{BlockedPath, Effect, Operator, OperatorContext};

#[derive(Debug)]
pub(super) struct Set {
    value: RawBson,
    only_on_insert: bool,
}

impl Set {
    pub(super) fn new(value: RawBsonRef<'_>) -> Self {
        Self {
            value: value.into(),
            only_on_insert: false,
        }
    }

    pub(super) fn on_insert(value: RawBsonRef<'_>) -> Self {
        Self {
            only_on_insert: true,
            ..Self::new(value)
        }
    }
}

impl Operator for Set {
    fn apply<'a>(
        &'a self,
        current: Option<&mut Node<'a>>,
        at: &OperatorContext<'_>,
    ) -> Result<Effect<'a>, ServerError> {
        if self.only_on_insert && !at.inserting {
            return Ok(Effect::Nothing);
        }
        let value = self.value.as_raw_bson_ref();
        Ok(match current {
            Some(node) if node.with(|old| identical(old, value)) => Effect::Nothing,
            _ => Effect::Put(Node::Raw(value)),
        })
    }

    fn blocked(&self, inserting: bool) -> BlockedPath {
        if self.only_on_insert && !inserting {
            BlockedPath::Ignore
        } else {
            BlockedPath::Create
        }
    }
}
