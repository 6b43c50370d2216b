//! `profile`.

use bson::raw::{RawBsonRef, RawDocumentBuf};
use bson::{Bson, doc};
use odm_language::error::{Code, ServerError};
use odm_language::refusal;
use odm_language::value::number::Number;
use odm_language::value::raw;

use crate::catalog::collection::Collection;
use crate::catalog::namespace::Namespace;
use crate::catalog::options::Options;
use crate::command::args::{Kind, field, unsupported, whole, wrong_type};
use crate::command::declare::{Command, CommandTarget};
use crate::command::generic_arguments::InTransaction;
use crate::command::invocation::Invocation;
use crate::command::reply::reply;

pub(crate) const PROFILE: Command = Command {
    name: "profile",
    idl: "profile",
    fields: &[
        field("slowms", Kind::SafeInt),
        field("sampleRate", Kind::SafeInt),
        field("filter", Kind::Any),
    ],
    target: CommandTarget::Database,
    transaction: InTransaction::Never,
    retryable: false,
    writes: false,
    run: profile,
    explain: None,
};

/// The size of `system.profile` in bytes.
const SIZE: i32 = 1024 * 1024;

fn profile(call: &mut Invocation<'_>) -> Result<RawDocumentBuf, ServerError> {
    let level = match raw::optional(call.command, "profile") {
        None => {
            return Err(ServerError::new(
                Code::location(40414),
                "BSON field 'profile.profile' is missing but a required field",
            ));
        }
        Some(value) => whole(value).ok_or_else(|| {
            wrong_type(
                "profile.profile",
                value,
                "types '[long, int, decimal, double']",
            )
        })?,
    };
    match call.args.get("filter") {
        None | Some(RawBsonRef::String("unset")) => {}
        Some(RawBsonRef::Document(_)) => {
            let because = refusal::because("profile.filter");
            return Err(unsupported(&format!(
                "the option 'profile.filter'{because}"
            )));
        }
        Some(_) => {
            return Err(ServerError::new(
                Code::BAD_VALUE,
                "Expected an object, or the string 'unset'.",
            ));
        }
    }
    let rate = call
        .args
        .get("sampleRate")
        .and_then(Number::from_raw)
        .map(Number::to_f64);
    if rate.is_some_and(|rate| !(0.0..=1.0).contains(&rate)) {
        return Err(ServerError::new(
            Code::BAD_VALUE,
            "'sampleRate' must be between 0.0 and 1.0 inclusive",
        ));
    }
    let level = i32::try_from(level).ok().filter(|it| (0..=2).contains(it));
    if level.is_some_and(|level| level > 0) {
        ensure(call)?;
    }
    let profiler = &call.engine.profiler;
    let was = profiler.level(call.database);
    let before = {
        let mut settings = profiler.lock();
        let slow_ms =
            i32::try_from(settings.slow_ms).map_or(Bson::Int64(settings.slow_ms), Bson::Int32);
        let before = doc! { "was": was, "slowms": slow_ms, "sampleRate": settings.sample_rate };
        settings.slow_ms = call.args.int("slowms").unwrap_or(settings.slow_ms);
        settings.sample_rate = rate.unwrap_or(settings.sample_rate);
        before
    };
    if let Some(level) = level {
        profiler.set_level(call.database, level);
    }
    reply(before)
}

/// Creates `system.profile` unless it exists. Its documents have no `_id`, so it has no index.
fn ensure(call: &Invocation<'_>) -> Result<(), ServerError> {
    let namespace = Namespace::new(call.database, Namespace::PROFILE);
    let options = Options::compile(
        doc! { "capped": true, "size": SIZE },
        call.context.version(),
    )?;
    let made = Collection::new(namespace.clone(), call.uuid(), options, Vec::new());
    let mut root = call.engine.catalog.publish();
    match root.collection(&namespace) {
        Some(there) if there.options.capped.is_none() => Err(ServerError::new(
            Code::NAMESPACE_EXISTS,
            format!("{namespace} exists but isn't capped"),
        )),
        Some(_) => Ok(()),
        None => {
            root.check_case(call.database)?;
            root.put(made);
            Ok(())
        }
    }
}
