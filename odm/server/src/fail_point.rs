//! Fail points make commands fail on demand, to test how clients handle errors.
//!
//! The rules match the behaviour of MongoDB 6.0.5 with test commands enabled.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bson::{Bson, Document};

use odm_engine::TRANSIENT;
use odm_language::error::{Code, ServerError};

/// Error codes after which a write may be retried.
const RETRYABLE: &[i32] = &[
    6, 7, 89, 91, 189, 262, 9001, 10107, 11600, 11602, 13435, 13436, 50915,
];

/// Error codes after which a whole transaction may be retried, even from its commit or abort.
const CONFLICTS: &[i32] = &[24, 63, 112, 150, 239, 246, 251, 267];

/// Error codes after which a change stream may be resumed.
const RESUMABLE: &[i32] = &[
    6, 7, 63, 89, 91, 133, 150, 189, 234, 262, 9001, 10107, 11600, 11602, 13388, 13435, 13436,
    50915,
];

/// Error codes after which a change stream can't be resumed.
const FATAL: &[i32] = &[280, 286];

const RETRYABLE_WRITE: &str = "RetryableWriteError";

/// The fail points, with their names in `configureFailPoint`.
#[derive(Debug, Default)]
pub(crate) struct FailPoints {
    /// `failCommand`
    pub(crate) command: FailPoint,
    /// `failGetMoreAfterCursorCheckout`
    pub(crate) get_more: FailPoint,
    /// `maxTimeAlwaysTimeOut`
    pub(crate) time_out: FailPoint,
    /// `onPrimaryTransactionalWrite`
    pub(crate) write: FailPoint,
}

impl FailPoints {
    pub(crate) fn find(&self, name: &str) -> Option<&FailPoint> {
        match name {
            "failCommand" => Some(&self.command),
            "failGetMoreAfterCursorCheckout" => Some(&self.get_more),
            "maxTimeAlwaysTimeOut" => Some(&self.time_out),
            "onPrimaryTransactionalWrite" => Some(&self.write),
            _ => None,
        }
    }
}

/// One fail point, with its settings and the number of its strikes.
#[derive(Debug, Default)]
pub(crate) struct FailPoint(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    mode: Mode,
    data: Document,
    struck: i64,
}

/// When it strikes.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
enum Mode {
    #[default]
    Off,
    AlwaysOn,
    Times(i64),
    Skip(i64),
    /// With this probability.
    Random(f64),
}

/// The command that a fail point may affect.
#[derive(Debug, Clone, Copy)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a fact of its own about the command"
)]
pub(crate) struct Candidate<'a> {
    pub(crate) command: &'a str,
    /// The database and the collection.
    pub(crate) namespace: &'a str,
    /// The client's `appName`.
    pub(crate) application: Option<&'a str>,
    /// It is a retryable write, or a commit or abort.
    pub(crate) is_retryable: bool,
    /// It is a statement of a transaction.
    pub(crate) in_transaction: bool,
    /// It commits or aborts a transaction.
    pub(crate) ends_transaction: bool,
    /// It opens a change stream.
    pub(crate) opens_stream: bool,
    /// The id of its connection.
    pub(crate) connection: i64,
}

/// The effect on the command.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Strike {
    /// The command waits for this long first.
    pub(crate) block: Option<Duration>,
    /// The connection is closed.
    pub(crate) close: bool,
    /// The command fails with this error and is not run.
    pub(crate) error: Option<ServerError>,
    /// The command is run, and its reply has this write concern error.
    pub(crate) write_concern_error: Option<Document>,
    /// The error labels in the reply of a command that is run.
    pub(crate) labels: Vec<Bson>,
}

impl Strike {
    /// Whether the command is not run.
    pub(crate) fn is_final(&self) -> bool {
        self.close || self.error.is_some()
    }
}

impl FailPoint {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets the fail point, and returns how often it has struck so far.
    pub(crate) fn configure(&self, command: &Document) -> Result<i64, ServerError> {
        let Some(mode) = command.get("mode") else {
            return Err(ServerError::new(
                Code::ILLEGAL_OPERATION,
                "When setting a failpoint, you must supply a 'mode'",
            ));
        };
        let mode = Mode::parse(mode)?;
        let data = match command.get("data") {
            Some(Bson::Document(data)) => data.clone(),
            None => Document::new(),
            Some(_) => {
                return Err(ServerError::new(
                    Code::TYPE_MISMATCH,
                    "'data' must be a JSON object",
                ));
            }
        };
        let mut state = self.state();
        state.mode = mode;
        state.data = data;
        Ok(state.struck)
    }

    /// For fail points that do not filter commands: the data, if it strikes. `random` is between 0 and 1.
    pub(crate) fn reach(&self, random: impl FnOnce() -> f64) -> Option<Document> {
        let mut state = self.state();
        if !state.mode.comes_up(random) {
            return None;
        }
        state.struck += 1;
        Some(state.data.clone())
    }

    /// The effect on a command, if the fail point strikes. `random` is between 0 and 1.
    pub(crate) fn strike(
        &self,
        target: Candidate<'_>,
        random: impl FnOnce() -> f64,
    ) -> Result<Option<Strike>, ServerError> {
        let mut state = self.state();
        if state.mode == Mode::Off || !state.is_meant(target) {
            return Ok(None);
        }
        let data = &state.data;
        let has_effect = flag(data, "closeConnection")
            || flag(data, "blockConnection")
            || number(data, "errorCode").is_some()
            || data.get_document("writeConcernError").is_ok();
        if !has_effect || !state.mode.comes_up(random) {
            return Ok(None);
        }
        state.struck += 1;
        state.effect(target).map(Some)
    }
}

impl Mode {
    fn parse(mode: &Bson) -> Result<Self, ServerError> {
        let bad = |message: String| Err(ServerError::new(Code::BAD_VALUE, message));
        match mode {
            Bson::String(mode) => match mode.as_str() {
                "off" => Ok(Self::Off),
                "alwaysOn" => Ok(Self::AlwaysOn),
                other => bad(format!("unknown mode: {other}")),
            },
            Bson::Document(mode) => {
                for (name, make) in [
                    ("times", Self::Times as fn(i64) -> Self),
                    ("skip", Self::Skip),
                ] {
                    let count = match mode.get(name) {
                        None => None,
                        Some(count) => match number(mode, name) {
                            Some(count) => Some(count),
                            None => {
                                return Err(ServerError::new(
                                    Code::TYPE_MISMATCH,
                                    format!(
                                        "Expected field \"{name}\" to have numeric type, but found {}",
                                        odm_language::value::bson_type::alias(count.element_type())
                                    ),
                                ));
                            }
                        },
                    };
                    match count {
                        Some(count) if count < 0 => {
                            return bad(format!("'{name}' option to 'mode' must be positive"));
                        }
                        Some(0) if name == "times" => return Ok(Self::Off),
                        Some(count) => return Ok(make(count)),
                        None => {}
                    }
                }
                let probability = match mode.get("activationProbability") {
                    Some(Bson::Int32(probability)) => Some(f64::from(*probability)),
                    Some(Bson::Int64(probability)) => {
                        i32::try_from(*probability).ok().map(f64::from)
                    }
                    Some(Bson::Double(probability)) => Some(*probability),
                    _ => None,
                };
                match mode.get("activationProbability") {
                    Some(_) if probability.is_some_and(|it| (0.0..=1.0).contains(&it)) => {
                        Ok(Self::Random(probability.unwrap_or_default()))
                    }
                    Some(_) => bad("activationProbability must be between 0.0 and 1.0".to_owned()),
                    None => bad(
                        "'mode' must be one of 'off', 'alwaysOn', '{times:n}', '{skip:n}' or \
                         '{activationProbability:p}'"
                            .to_owned(),
                    ),
                }
            }
            _ => Err(ServerError::new(
                Code::TYPE_MISMATCH,
                "'mode' must be a string or JSON object",
            )),
        }
    }

    /// Whether the mode lets it strike now. Counts `times` and `skip` down.
    fn comes_up(&mut self, random: impl FnOnce() -> f64) -> bool {
        match self {
            Self::Off => false,
            Self::Times(left) => {
                *left -= 1;
                if *left == 0 {
                    *self = Self::Off;
                }
                true
            }
            Self::AlwaysOn | Self::Skip(0) => true,
            Self::Skip(left) => {
                *left -= 1;
                false
            }
            Self::Random(probability) => random() < *probability,
        }
    }
}

impl State {
    fn is_meant(&self, target: Candidate<'_>) -> bool {
        let says = |name: &str, found: Option<&str>| match self.data.get_str(name) {
            Ok(wanted) => found == Some(wanted),
            Err(_) => true,
        };
        let is_named = match self.data.get_array("failCommands") {
            Ok(names) => names
                .iter()
                .filter_map(Bson::as_str)
                .any(|name| one_name(name) == one_name(target.command)),
            Err(_) => false,
        };
        target.command != "configureFailPoint"
            && (is_named || flag(&self.data, "failAllCommands"))
            && says("appName", target.application)
            && says("threadName", Some(&format!("conn{}", target.connection)))
            && says("namespace", Some(target.namespace))
    }

    fn effect(&self, target: Candidate<'_>) -> Result<Strike, ServerError> {
        let data = &self.data;
        let mut strike = Strike {
            close: flag(data, "closeConnection"),
            ..Strike::default()
        };
        if flag(data, "blockConnection") {
            let Some(millis) = number(data, "blockTimeMS") else {
                return Err(ServerError::new(
                    Code::INVALID_OPTIONS,
                    "must specify 'blockTimeMS' when 'blockConnection' is true",
                ));
            };
            strike.block = u64::try_from(millis).ok().map(Duration::from_millis);
        }
        let code = number(data, "errorCode").and_then(|code| i32::try_from(code).ok());
        let labels = data.get_array("errorLabels").ok();
        if let Some(code) = code.filter(|code| *code != 0) {
            let error = ServerError::new(
                Code::from(code),
                "Failing command via 'failCommand' failpoint",
            );
            strike.error = Some(Self::labelled(error, code, labels, target));
        } else if let Ok(error) = data.get_document("writeConcernError") {
            let code = error.get_i32("code").unwrap_or_default();
            strike.labels = match labels {
                Some(labels) => labels.clone(),
                None if target.is_retryable && RETRYABLE.contains(&code) => {
                    vec![RETRYABLE_WRITE.into()]
                }
                None => Vec::new(),
            };
            strike.write_concern_error = Some(error.clone());
        }
        Ok(strike)
    }

    /// The error with the configured labels, or otherwise with the usual labels of its code.
    fn labelled(
        mut error: ServerError,
        code: i32,
        labels: Option<&Vec<Bson>>,
        target: Candidate<'_>,
    ) -> ServerError {
        if let Some(labels) = labels {
            for label in labels.iter().filter_map(Bson::as_str) {
                error = error.with_label(label);
            }
            return error;
        }
        let is_retryable = RETRYABLE.contains(&code);
        if target.is_retryable && is_retryable {
            error = error.with_label(RETRYABLE_WRITE);
        }
        let is_conflict = CONFLICTS.contains(&code);
        if target.in_transaction && (is_conflict || is_retryable)
            || target.ends_transaction && is_conflict
        {
            error = error.with_label(TRANSIENT);
        }
        if FATAL.contains(&code) {
            return error.with_label("NonResumableChangeStreamError");
        }
        if target.opens_stream {
            error = streamed(error);
        }
        error
    }
}

/// Adds the label of a retryable write to an error that happened before the write.
pub(crate) fn retried(error: ServerError) -> ServerError {
    if RETRYABLE.contains(&error.code().number()) {
        error.with_label(RETRYABLE_WRITE)
    } else {
        error
    }
}

/// Adds the label of an error after which clients resume a change stream.
pub(crate) fn streamed(error: ServerError) -> ServerError {
    let code = error.code().number();
    if RESUMABLE.contains(&code) {
        error.with_label("ResumableChangeStreamError")
    } else if FATAL.contains(&code) {
        error.with_label("NonResumableChangeStreamError")
    } else {
        error
    }
}

/// The current name of a command that also has an older name.
fn one_name(name: &str) -> &str {
    match name {
        "buildinfo" => "buildInfo",
        "findandmodify" => "findAndModify",
        "ismaster" => "isMaster",
        name => name,
    }
}

fn flag(data: &Document, name: &str) -> bool {
    flag_or(data, name, false)
}

pub(crate) fn flag_or(data: &Document, name: &str, absent: bool) -> bool {
    data.get_bool(name).unwrap_or(absent)
}

pub(crate) fn number(data: &Document, name: &str) -> Option<i64> {
    match data.get(name)? {
        Bson::Int32(number) => Some(i64::from(*number)),
        Bson::Int64(number) => Some(*number),
        #[expect(clippy::cast_possible_truncation, reason = "a count or a code")]
        Bson::Double(number) => Some(*number as i64),
        _ => None,
    }
}
