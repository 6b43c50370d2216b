//! `$pull`, `$pullAll`: `{a: [1, 2, 3]}` `{$pull: {a: {$gte: 2}}}` -> `{a: [1]}`.

use std::cmp::Ordering;

use bson::raw::{RawBson, RawBsonRef, RawDocumentBuf};
use odm_language::error::ServerError;
use odm_language::expression::{Globals, compat::messages};
use odm_language::matcher::Matcher;
use odm_language::value::order;
use odm_language::value::raw::values;

use crate::updater::node::{Node, append, fields};
use crate::updater::operator::{BlockedPath, Effect, Operator, OperatorContext, bad_value};

/// The elements to remove.
#[derive(Debug)]
pub(super) enum Pull {
    /// Elements equal to one of these values.
    Equal(Vec<RawBson>),
    /// Elements that match as the value of a field with an empty name.
    Value(Matcher),
    /// Documents that match.
    Document(Matcher),
}

impl Pull {
    pub(super) fn parse(value: RawBsonRef<'_>, globals: &Globals) -> Result<Self, ServerError> {
        match value {
            RawBsonRef::Document(condition) => {
                let on_value = fields(condition)
                    .next()
                    .is_some_and(|(name, _)| ON_VALUES.binary_search(&name).is_ok());
                if on_value {
                    Ok(Self::Value(Matcher::parse(&wrapped(value), globals)?))
                } else {
                    Ok(Self::Document(Matcher::parse_condition(
                        condition, globals,
                    )?))
                }
            }
            RawBsonRef::RegularExpression(_) => {
                Ok(Self::Value(Matcher::parse(&wrapped(value), globals)?))
            }
            other => Ok(Self::Equal(vec![other.into()])),
        }
    }

    pub(super) fn parse_all(value: RawBsonRef<'_>) -> Result<Self, ServerError> {
        match value {
            RawBsonRef::Array(all) => Ok(Self::Equal(values(all).map(RawBson::from).collect())),
            other => Err(bad_value(format!(
                "$pullAll requires an array argument but was given a {}",
                messages::type_name(Some(other))
            ))),
        }
    }

    fn takes(&self, element: RawBsonRef<'_>, globals: &Globals) -> Result<bool, ServerError> {
        match (self, element) {
            (Self::Equal(values), element) => Ok(values.iter().any(|value| {
                order::compare(value.as_raw_bson_ref(), element, globals.collator())
                    == Ordering::Equal
            })),
            (Self::Value(matcher), element) => matcher.matches(&wrapped(element)),
            (Self::Document(matcher), RawBsonRef::Document(element)) => matcher.matches(element),
            (Self::Document(_), _) => Ok(false),
        }
    }
}

/// The operators that apply to the element itself if a condition starts with one of them. Sorted.
const ON_VALUES: &[&str] = &[
    "$all",
    "$bitsAllClear",
    "$bitsAllSet",
    "$bitsAnyClear",
    "$bitsAnySet",
    "$elemMatch",
    "$eq",
    "$exists",
    "$geoIntersects",
    "$geoNear",
    "$geoWithin",
    "$gt",
    "$gte",
    "$in",
    "$lt",
    "$lte",
    "$mod",
    "$ne",
    "$near",
    "$nearSphere",
    "$nin",
    "$options",
    "$regex",
    "$size",
    "$type",
    "$within",
];

fn wrapped(value: RawBsonRef<'_>) -> RawDocumentBuf {
    let mut document = RawDocumentBuf::new();
    append(&mut document, "", value);
    document
}

impl Operator for Pull {
    fn apply<'a>(
        &'a self,
        current: Option<&mut Node<'a>>,
        at: &OperatorContext<'_>,
    ) -> Result<Effect<'a>, ServerError> {
        let Some(node) = current else {
            return Ok(Effect::Nothing);
        };
        let Some(elements) = node.elements() else {
            return Err(bad_value("Cannot apply $pull to a non-array value"));
        };
        let before = elements.len();
        let mut failure = None;
        elements.retain(
            |element| match element.with(|element| self.takes(element, at.globals)) {
                Ok(takes) => !takes,
                Err(error) => {
                    failure.get_or_insert(error);
                    true
                }
            },
        );
        match failure {
            Some(error) => Err(error),
            None if elements.len() == before => Ok(Effect::Nothing),
            None => Ok(Effect::Edited),
        }
    }

    fn blocked(&self, _inserting: bool) -> BlockedPath {
        BlockedPath::Traverse
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_table_is_sorted() {
        assert!(super::ON_VALUES.is_sorted());
    }
}
