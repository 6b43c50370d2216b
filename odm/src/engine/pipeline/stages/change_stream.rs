//! `$changeStream`: the first stage, which the command opens a cursor for; anywhere else it is refused.

use bson::raw::RawBsonRef;

use crate::engine::expression::Globals;
use crate::engine::pipeline::stage::Stage;
use crate::error::{Code, ServerError};

pub(super) fn parse(
    _name: &str,
    _spec: RawBsonRef<'_>,
    _globals: &Globals,
) -> Result<Box<dyn Stage>, ServerError> {
    Err(ServerError::new(
        Code::location(40602),
        "$_internalChangeStreamOplogMatch is only valid as the first stage in a pipeline",
    ))
}
