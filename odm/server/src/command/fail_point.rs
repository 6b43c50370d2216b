//! `configureFailPoint`, if the server accepts test commands.

use bson::raw::RawBsonRef;
use bson::{Document, doc};
use odm_language::error::{Code, ServerError};
use odm_language::value::raw;

use super::{Call, Command};

pub(super) const CONFIGURE_FAIL_POINT: Command = Command {
    name: "configureFailPoint",
    run: configure,
    is_open: true,
};

fn configure(call: &mut Call<'_>) -> Result<Document, ServerError> {
    if !call.state.options.test_commands {
        return Err(ServerError::new(
            Code::COMMAND_NOT_FOUND,
            "no such command: 'configureFailPoint'",
        ));
    }
    if raw::get(call.command, "$db") != Some(RawBsonRef::String("admin")) {
        return Err(ServerError::new(
            Code::UNAUTHORIZED,
            "configureFailPoint may only be run against the admin database.",
        ));
    }
    let name = raw::get(call.command, call.name).and_then(RawBsonRef::as_str);
    let Some(fail_point) = name.and_then(|name| call.state.fail_points.find(name)) else {
        return Err(ServerError::new(
            Code::FAIL_POINT_SET_FAILED,
            format!("{} not found", name.unwrap_or_default()),
        ));
    };
    let command = Document::try_from(call.command)
        .map_err(|e| ServerError::new(Code::INVALID_BSON, e.to_string()))?;
    let count = fail_point.configure(&command)?;
    Ok(doc! { "count": count })
}
