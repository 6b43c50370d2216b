//! `$min`, `$max`: `{a: 5}` `{$min: {a: 3}}` -> `{a: 3}`.

use std::cmp::Ordering;

use bson::raw::{RawBson, RawBsonRef};
use odm_language::error::ServerError;
use odm_language::value::order;

use crate::updater::node::Node;
use crate::updater::operator::{Effect, Operator, OperatorContext};

#[derive(Debug)]
pub(super) struct Compare {
    value: RawBson,
    /// The order of the operand relative to the stored value that makes the operand replace it.
    wins: Ordering,
}

impl Compare {
    pub(super) fn min(value: RawBsonRef<'_>) -> Self {
        Self {
            value: value.into(),
            wins: Ordering::Less,
        }
    }

    pub(super) fn max(value: RawBsonRef<'_>) -> Self {
        Self {
            value: value.into(),
            wins: Ordering::Greater,
        }
    }
}

impl Operator for Compare {
    fn apply<'a>(
        &'a self,
        current: Option<&mut Node<'a>>,
        at: &OperatorContext<'_>,
    ) -> Result<Effect<'a>, ServerError> {
        let value = self.value.as_raw_bson_ref();
        Ok(match current {
            Some(node)
                if node.with(|old| order::compare(value, old, at.globals.collator()))
                    != self.wins =>
            {
                Effect::Nothing
            }
            _ => Effect::Put(Node::Raw(value)),
        })
    }
}
