//! `killOp`: ends the operation of another connection.

use bson::raw::RawBsonRef;
use bson::{Document, doc};
use odm_engine::args;
use odm_language::error::{Code, ServerError};
use odm_language::value::{bson_type, raw};

use super::{Call, Command, only_admin};

pub(super) const KILL_OP: Command = Command {
    name: "killOp",
    run: kill_op,
    is_open: false,
};

fn kill_op(call: &mut Call<'_>) -> Result<Document, ServerError> {
    only_admin(call)?;
    let number = number(raw::get(call.command, "op"))?;
    call.state.kill(number);
    // MongoDB's answer, whether or not the operation exists.
    Ok(doc! { "info": "attempting to kill op" })
}

fn number(value: Option<RawBsonRef<'_>>) -> Result<i64, ServerError> {
    let refuse = |code, message: String| Err(ServerError::new(code, message));
    let Some(value) = value else {
        return refuse(
            Code::NO_SUCH_KEY,
            "Missing expected field \"op\"".to_owned(),
        );
    };
    let Some(number) = args::whole(value) else {
        return refuse(
            Code::TYPE_MISMATCH,
            format!(
                "Expected field \"op\" to have numeric type, but found {}",
                bson_type::alias(value.element_type())
            ),
        );
    };
    if matches!(value, RawBsonRef::Double(exact) if exact.fract() != 0.0) {
        return refuse(
            Code::BAD_VALUE,
            format!(
                "Expected field \"op\" to have a value exactly representable as a 64-bit integer, but found {}",
                odm_language::value::print::field("op", value)
            ),
        );
    }
    if i32::try_from(number).is_err() && u32::try_from(number).is_err() {
        return refuse(
            Code::location(26823),
            format!("invalid op : {number}. Op ID cannot be represented with 32 bits"),
        );
    }
    Ok(number)
}
