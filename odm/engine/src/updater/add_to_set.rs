//! `$addToSet`: `{a: [1, 2]}` `{$addToSet: {a: {$each: [2, 3]}}}` -> `{a: [1, 2, 3]}`.

use std::cmp::Ordering;

use bson::raw::{RawBson, RawBsonRef};
use odm_language::error::{Code, ServerError};
use odm_language::expression::compat::messages;
use odm_language::value::order;
use odm_language::value::raw::values;

use crate::updater::node::{Node, fields};
use crate::updater::operator::{Effect, Operator, OperatorContext, bad_value};

#[derive(Debug)]
pub(super) struct AddToSet {
    values: Vec<RawBson>,
}

impl AddToSet {
    pub(super) fn parse(value: RawBsonRef<'_>) -> Result<Self, ServerError> {
        if let RawBsonRef::Document(document) = value
            && let Some(("$each", each)) = fields(document).next()
        {
            let RawBsonRef::Array(each) = each else {
                return Err(ServerError::new(
                    Code::TYPE_MISMATCH,
                    format!(
                        "The argument to $each in $addToSet must be an array but it was of type {}",
                        messages::type_name(Some(each))
                    ),
                ));
            };
            if fields(document).nth(1).is_some() {
                return Err(bad_value(format!(
                    "Found unexpected fields after $each in $addToSet: {}",
                    messages::stored_document(document)
                )));
            }
            return Ok(Self {
                values: values(each).map(RawBson::from).collect(),
            });
        }
        Ok(Self {
            values: vec![value.into()],
        })
    }
}

impl Operator for AddToSet {
    fn adds(&self) -> bool {
        !self.values.is_empty()
    }

    fn apply<'a>(
        &'a self,
        current: Option<&mut Node<'a>>,
        at: &OperatorContext<'_>,
    ) -> Result<Effect<'a>, ServerError> {
        let mut fresh = Vec::new();
        let exists = current.is_some();
        let elements = Node::elements_or(current, &mut fresh, |kind| {
            bad_value(format!(
                "Cannot apply $addToSet to non-array field. Field named '{}' has non-array type {kind}",
                at.name()
            ))
        })?;
        let before = elements.len();
        for value in &self.values {
            let value = value.as_raw_bson_ref();
            let known = elements.iter().any(|element| {
                element.with(|element| order::compare(element, value, at.globals.collator()))
                    == Ordering::Equal
            });
            if !known {
                elements.push(Node::Raw(value));
            }
        }
        Ok(if !exists {
            Effect::Put(Node::Array(fresh))
        } else if elements.len() == before {
            Effect::Nothing
        } else {
            Effect::Edited
        })
    }
}
