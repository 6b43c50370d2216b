//! The fields that all commands share: those of sessions, transactions, concerns and the API version.

use bson::raw::{RawBsonRef, RawDocument};
use bson::spec::BinarySubtype;
use odm_language::error::{Code, ServerError};
use odm_language::value::raw;

use crate::command::args::type_name;
use crate::command::{api, concern};
use crate::txn::session::Mode;

/// Whether a command may run in a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InTransaction {
    Allowed,
    /// Allowed, but not as the transaction's first command.
    NotFirst,
    /// Refused with an error that names the command.
    Refused,
    /// Refused with the general error for commands that do not touch data.
    Never,
    /// Allowed, but not part of the transaction: its transaction fields are ignored.
    Beside,
    /// Ends the transaction.
    Ends,
}

/// The general fields that a command accepts beside its own.
#[derive(Debug, Clone, Copy)]
pub struct Rules {
    /// The name in error messages.
    pub name: &'static str,
    pub transaction: InTransaction,
    /// Whether a `txnNumber` outside of a transaction makes the command a retryable write.
    pub retryable: bool,
    /// Whether the command takes a write concern.
    pub writes: bool,
}

impl Rules {
    /// The rules of a command about the server, not about its data.
    pub const fn of_server(name: &'static str) -> Self {
        Self {
            name,
            transaction: InTransaction::Refused,
            retryable: false,
            writes: false,
        }
    }

    /// The same rules for a command that ignores sessions.
    #[must_use]
    pub const fn without_session(self) -> Self {
        Self {
            transaction: InTransaction::Never,
            ..self
        }
    }
}

/// Refuses general fields that the command does not accept, and returns the mode in which it runs.
pub(crate) fn check(
    rules: Rules,
    command: &RawDocument,
    database: &str,
) -> Result<Mode, ServerError> {
    api::check(rules.name, command)?;
    check_internal(command)?;
    let mode = match rules.transaction {
        InTransaction::Beside => Mode::Plain,
        _ => Mode::of(command)?,
    };
    check_mode(rules, &mode, command, database)?;
    concern::check(rules, command, &mode)?;
    Ok(mode)
}

/// Checks the fields that cluster members send to each other; the engine does not use their values.
fn check_internal(command: &RawDocument) -> Result<(), ServerError> {
    // Most commands hold none of these.
    for (name, value) in raw::elements(command).skip(1) {
        let (code, message) = match (name, value) {
            ("clientOperationKey", value) if !is_uuid(value) => (
                Code::INVALID_UUID,
                "uuid must be a 16-byte binary field with UUID (4) subtype".to_owned(),
            ),
            ("maxTimeMSOpOnly", _) => (
                Code::INVALID_OPTIONS,
                "Can not specify maxTimeMSOpOnly for non internal clients".to_owned(),
            ),
            ("mayBypassWriteBlocking", value) if !matches!(value, RawBsonRef::Boolean(_)) => (
                Code::location(13111),
                format!(
                    "wrong type for field (mayBypassWriteBlocking) {} != bool",
                    type_name(value.element_type())
                ),
            ),
            _ => continue,
        };
        return Err(ServerError::new(code, message));
    }
    Ok(())
}

fn is_uuid(value: RawBsonRef<'_>) -> bool {
    matches!(value, RawBsonRef::Binary(binary)
        if binary.subtype == BinarySubtype::Uuid && binary.bytes.len() == 16)
}

/// The error for a stage that cannot run in a transaction.
pub fn not_in_transaction(stage: &str) -> ServerError {
    ServerError::new(
        Code::OPERATION_NOT_SUPPORTED_IN_TRANSACTION,
        format!(
            "Operation not permitted in transaction :: caused by :: Aggregation stage {stage} cannot run within a \
             multi-document transaction."
        ),
    )
}

/// Refuses commands that cannot run in a transaction, or that are not retryable.
fn check_mode(
    rules: Rules,
    mode: &Mode,
    command: &RawDocument,
    database: &str,
) -> Result<(), ServerError> {
    let refuse = |message: String| {
        Err(ServerError::new(
            Code::OPERATION_NOT_SUPPORTED_IN_TRANSACTION,
            message,
        ))
    };
    match mode {
        Mode::Plain => Ok(()),
        Mode::Retryable { .. } if rules.retryable => Ok(()),
        Mode::Retryable { .. } if rules.transaction == InTransaction::Never => {
            Err(ServerError::new(
                Code::location(50889),
                "It is illegal to provide a txnNumber for this command",
            ))
        }
        Mode::Retryable { .. } => Err(ServerError::new(
            Code::NOT_A_RETRYABLE_WRITE_COMMAND,
            format!(
                "txnNumber may only be provided for multi-document transactions and retryable write commands. \
                 autocommit:false was not provided, and {} is not a retryable write command.",
                rules.name
            ),
        )),
        Mode::Transaction { start, .. } => match rules.transaction {
            InTransaction::Never => {
                refuse("This command is not supported in transactions".to_owned())
            }
            InTransaction::Refused if rules.name == "count" => refuse(
                "Cannot run 'count' in a multi-document transaction. Please see \
                 http://dochub.mongodb.org/core/transaction-count for a recommended alternative."
                    .to_owned(),
            ),
            InTransaction::Refused => refuse(format!(
                "Cannot run '{}' in a multi-document transaction.",
                rules.name
            )),
            InTransaction::Ends if *start => refuse(format!(
                "Cannot start a transaction with {}",
                if rules.name == "abortTransaction" {
                    "an abort"
                } else {
                    "a commit"
                }
            )),
            InTransaction::Ends | InTransaction::Beside => Ok(()),
            InTransaction::NotFirst if *start => refuse(format!(
                "Cannot run {} as the first operation in a multi-document transaction.",
                rules.name
            )),
            InTransaction::Allowed | InTransaction::NotFirst => {
                let namespace = || match raw::elements(command).next() {
                    Some((_, RawBsonRef::String(name))) => name,
                    _ => "",
                };
                match database {
                    "config" => refuse(
                        "Cannot run command against the config database in a transaction."
                            .to_owned(),
                    ),
                    "local" => refuse(
                        "Cannot run command against the 'local' database in a transaction."
                            .to_owned(),
                    ),
                    _ if namespace().starts_with("system.profile") => refuse(format!(
                        "Cannot run command against the '{database}.{}' collection in a transaction.",
                        namespace()
                    )),
                    _ if namespace() == "system.views" && !rules.writes => Err(ServerError::new(
                        Code::location(51071),
                        "Cannot query system.views within a transaction",
                    )),
                    _ if namespace().starts_with("system.") && rules.retryable => {
                        Err(ServerError::new(
                            Code::location(if rules.name == "findAndModify" {
                                50781
                            } else {
                                50791
                            }),
                            format!(
                                "Cannot write to system collection {database}.{} within a transaction.",
                                namespace()
                            ),
                        ))
                    }
                    _ => Ok(()),
                }
            }
        },
    }
}
