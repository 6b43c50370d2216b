//! `$currentDate`: `{$currentDate: {a: true}}` -> `{a: <now>}`.

use bson::raw::{RawBson, RawBsonRef};
use odm_language::error::ServerError;
use odm_language::expression::compat::messages;

use crate::updater::node::{Node, fields};
use crate::updater::operator::{Effect, Operator, OperatorContext, bad_value};

#[derive(Debug)]
pub(super) enum CurrentDate {
    Date,
    Timestamp,
}

impl CurrentDate {
    pub(super) fn parse(value: RawBsonRef<'_>) -> Result<Self, ServerError> {
        match value {
            RawBsonRef::Boolean(_) => Ok(Self::Date),
            RawBsonRef::Document(document) => {
                let mut kind = None;
                for (name, value) in fields(document) {
                    if name != "$type" {
                        return Err(bad_value(format!(
                            "Unrecognized $currentDate option: {name}"
                        )));
                    }
                    kind = match value {
                        RawBsonRef::String("date") => Some(Self::Date),
                        RawBsonRef::String("timestamp") => Some(Self::Timestamp),
                        _ => None,
                    };
                }
                kind.ok_or_else(|| {
                    bad_value(
                        "The '$type' string field is required to be 'date' or 'timestamp': {$currentDate: {field : {$type: 'date'}}}",
                    )
                })
            }
            other => Err(bad_value(format!(
                "{} is not valid type for $currentDate. Please use a boolean ('true') or a $type expression ({{$type: 'timestamp/date'}}).",
                messages::type_name(Some(other))
            ))),
        }
    }
}

impl Operator for CurrentDate {
    fn apply<'a>(
        &'a self,
        _current: Option<&mut Node<'a>>,
        at: &OperatorContext<'_>,
    ) -> Result<Effect<'a>, ServerError> {
        Ok(Effect::Put(Node::Owned(match self {
            Self::Date => RawBson::DateTime(at.globals.now()),
            Self::Timestamp => RawBson::Timestamp(at.globals.unique_timestamp()),
        })))
    }
}
