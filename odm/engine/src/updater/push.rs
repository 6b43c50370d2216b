//! `$push`: `{a: [1]}` `{$push: {a: {$each: [3, 2], $sort: 1, $slice: -2}}}` -> `{a: [2, 3]}`.

use std::borrow::Cow;

use bson::raw::{RawBson, RawBsonRef};
use odm_language::error::ServerError;
use odm_language::expression::compat::messages;
use odm_language::expression::sort::ElementOrder;
use odm_language::value::collation::Collator;
use odm_language::value::raw::values;

use crate::updater::node::{Appended, Node, fields};
use crate::updater::operator::{Effect, Operator, OperatorContext, bad_value, integral};

#[derive(Debug)]
pub(super) struct Push {
    values: Vec<RawBson>,
    position: Option<i64>,
    sort: Option<ElementOrder>,
    slice: Option<i64>,
}

impl Push {
    pub(super) fn parse(value: RawBsonRef<'_>) -> Result<Self, ServerError> {
        let RawBsonRef::Document(document) = value else {
            return Ok(Self::one(value));
        };
        if !fields(document).any(|(name, _)| name == "$each") {
            return Ok(Self::one(value));
        }
        let mut push = Self {
            values: Vec::new(),
            position: None,
            sort: None,
            slice: None,
        };
        for (name, value) in fields(document) {
            match name {
                "$each" => {
                    let RawBsonRef::Array(each) = value else {
                        return Err(bad_value(format!(
                            "The argument to $each in $push must be an array but it was of type: {}",
                            messages::type_name(Some(value))
                        )));
                    };
                    push.values = values(each).map(RawBson::from).collect();
                }
                "$slice" => {
                    push.slice = Some(integral(value).ok_or_else(|| {
                        bad_value(format!(
                            "The value for $slice must be an integer value but was given type: {}",
                            messages::type_name(Some(value))
                        ))
                    })?);
                }
                "$sort" => push.sort = Some(ElementOrder::parse(value)?),
                "$position" => {
                    push.position = Some(integral(value).ok_or_else(|| {
                        bad_value(format!(
                            "The value for $position must be an integer value, not of type: {}",
                            messages::type_name(Some(value))
                        ))
                    })?);
                }
                other => {
                    return Err(bad_value(format!("Unrecognized clause in $push: {other}")));
                }
            }
        }
        Ok(push)
    }

    fn one(value: RawBsonRef<'_>) -> Self {
        Self {
            values: vec![value.into()],
            position: None,
            sort: None,
            slice: None,
        }
    }

    /// Whether the operator only appends values.
    fn only_appends(&self) -> bool {
        self.position.is_none() && self.sort.is_none() && self.slice.is_none()
    }

    /// The position of the new values among `length` elements.
    fn insertion(&self, length: usize) -> usize {
        match self.position {
            None => length,
            Some(from_end) if from_end < 0 => length
                .saturating_sub(usize::try_from(from_end.unsigned_abs()).unwrap_or(usize::MAX)),
            Some(index) => usize::try_from(index).unwrap_or(usize::MAX).min(length),
        }
    }

    fn cut(&self, elements: &mut Vec<Node<'_>>) -> bool {
        let Some(slice) = self.slice else {
            return false;
        };
        let keep = usize::try_from(slice.unsigned_abs()).unwrap_or(usize::MAX);
        let excess = elements.len().saturating_sub(keep);
        if slice < 0 {
            elements.drain(..excess);
        } else {
            elements.truncate(keep);
        }
        excess > 0
    }
}

impl Operator for Push {
    fn remakes(&self) -> bool {
        !self.values.is_empty() || self.sort.is_some()
    }

    fn adds(&self) -> bool {
        !self.values.is_empty()
    }

    fn appends(&self, before: usize, after: usize) -> bool {
        self.sort.is_none()
            && self.insertion(before) == before
            && before + self.values.len() == after
    }

    fn apply<'a>(
        &'a self,
        current: Option<&mut Node<'a>>,
        at: &OperatorContext<'_>,
    ) -> Result<Effect<'a>, ServerError> {
        if self.only_appends()
            && !self.values.is_empty()
            && let Some(Node::Raw(RawBsonRef::Array(array))) = &current
            && let Some(appended) = Appended::new(array, &self.values)
        {
            return Ok(Effect::Put(Node::Appended(appended)));
        }
        let mut fresh = Vec::new();
        let exists = current.is_some();
        let elements = Node::elements_or(current, &mut fresh, |kind| {
            bad_value(format!(
                "The field '{}' must be an array but is of type {kind} in document {{{}}}",
                at.path, at.document
            ))
        })?;
        let index = self.insertion(elements.len());
        elements.splice(
            index..index,
            self.values
                .iter()
                .map(|value| Node::Raw(value.as_raw_bson_ref())),
        );
        if let Some(order) = &self.sort {
            sort_by(order, elements, at.globals.collator(), Node::value);
        }
        let cut = self.cut(elements);
        Ok(if !exists {
            Effect::Put(Node::Array(fresh))
        } else if !self.values.is_empty() || cut {
            Effect::Edited
        } else if self.sort.is_none() {
            Effect::Nothing
        } else if elements.is_empty() {
            Effect::Resorted
        } else {
            Effect::Edited
        })
    }
}

/// Sorts items by their values; the sort is stable.
fn sort_by<T>(
    order: &ElementOrder,
    items: &mut Vec<T>,
    collator: Option<&Collator>,
    value: impl Fn(&T) -> Cow<'_, RawBson>,
) {
    let mut keyed: Vec<(RawBson, T)> = items
        .drain(..)
        .map(|item| (value(&item).into_owned(), item))
        .collect();
    keyed.sort_by(|(left, _), (right, _)| {
        order.compare(left.as_raw_bson_ref(), right.as_raw_bson_ref(), collator)
    });
    items.extend(keyed.into_iter().map(|(_, item)| item));
}
