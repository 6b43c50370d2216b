//! `$changeStream`: the command handles it as the first stage; anywhere else it is an error.

use bson::raw::RawBsonRef;
use odm_language::error::{Code, ServerError};
use odm_language::expression::{Globals, compat::messages};

use crate::pipeline::outline::Place;
use crate::pipeline::stage::{CHANGE_STREAM, Stage, not_first};

pub(super) fn outline(spec: RawBsonRef<'_>, _place: Place<'_>) -> Result<(), ServerError> {
    if let RawBsonRef::Document(_) = spec {
        return Ok(());
    }
    Err(ServerError::new(
        Code::location(6_188_500),
        format!(
            "$changeStream must take a nested object but found: {}",
            messages::element("$changeStream", spec)
        ),
    ))
}

pub(super) fn parse(
    _name: &str,
    _spec: RawBsonRef<'_>,
    _globals: &Globals,
) -> Result<Box<dyn Stage>, ServerError> {
    Err(not_first(CHANGE_STREAM))
}
