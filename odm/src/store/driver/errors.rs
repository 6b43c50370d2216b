//! Converts the driver's errors.

use bson::doc;
use mongodb::error::{ErrorKind, WriteFailure};

use crate::error::{
    BulkError, Code, ConfigError, ConnectionError, Error, ServerError, UsageError, WriteError,
};
use crate::store::misuse;
use crate::store::reply::{self, WriteKind, Written};

/// Converts the kind, code, labels and details of a driver's error.
#[expect(
    clippy::needless_pass_by_value,
    reason = "it stands in `map_err`, which gives the error away"
)]
pub(crate) fn error(failure: mongodb::error::Error) -> Error {
    let labels = labels(&failure);
    // The reply contains fields that the driver's structs lack: `keyPattern`, `keyValue`, `errInfo`.
    if let Some(reply) = failure.server_response()
        && matches!(&*failure.kind, ErrorKind::Command(_) | ErrorKind::Write(_))
    {
        let found = match ServerError::of_reply(reply) {
            Some(error) => Some(error),
            None => match reply::write_errors(reply) {
                Ok((errors, concern)) => {
                    let first = errors.into_iter().next().map(WriteError::into_error);
                    first.or(concern)
                }
                Err(malformed) => return malformed,
            },
        };
        if let Some(error) = found {
            return labelled(error, labels).into();
        }
    }
    match &*failure.kind {
        ErrorKind::Command(command) => {
            let error = ServerError::new(Code::from(command.code), command.message.clone());
            labelled(error, labels).into()
        }
        ErrorKind::Write(WriteFailure::WriteError(write)) => labelled(
            described(write.code, &write.message, write.details.as_ref()),
            labels,
        )
        .into(),
        ErrorKind::Write(WriteFailure::WriteConcernError(concern)) => labelled(
            described(concern.code, &concern.message, concern.details.as_ref()),
            labels,
        )
        .into(),
        ErrorKind::InvalidArgument { message, .. } => Error::new(UsageError::new(message.clone())),
        ErrorKind::Transaction { message, .. } => Error::new(UsageError::new(misused(message))),
        ErrorKind::InvalidTlsConfig { message, .. } => {
            Error::new(ConfigError::new(format!("TLS: {message}")))
        }
        ErrorKind::Authentication { message, .. } => Error::new(ConfigError::new(format!(
            "the server does not accept the credentials: {message}"
        ))),
        ErrorKind::DnsResolve { message, .. } => connection(
            format!("the host name can't be resolved: {message}"),
            false,
            labels,
        ),
        ErrorKind::ServerSelection { message, .. } => connection(
            format!(
                "no usable server: check that one runs at the address in the connection string, \
                 and that TLS and the replica set's name match ({message})"
            ),
            true,
            labels,
        ),
        ErrorKind::ConnectionPoolCleared { message, .. } => {
            connection(message.clone(), false, labels)
        }
        ErrorKind::Io(io) => {
            let timeout = io.kind() == std::io::ErrorKind::TimedOut;
            let error = std::io::Error::new(io.kind(), io.to_string());
            Error::new(ConnectionError::new(
                format!("the connection broke: {io}"),
                timeout,
                labels,
                Some(Box::new(error)),
            ))
        }
        ErrorKind::Shutdown => connection("the client was shut down".to_owned(), false, labels),
        ErrorKind::SessionsNotSupported => {
            Error::unsupported("the server has no sessions: transactions need a replica set")
        }
        ErrorKind::IncompatibleServer { message, .. } => Error::unsupported(message.clone()),
        ErrorKind::Bson(bson) => Error::encode(bson.clone()),
        other => Error::malformed_reply(other),
    }
}

/// Replaces the driver's messages about misused sessions with those of the in-memory store.
fn misused(message: &str) -> &str {
    match message {
        "no transaction started" => misuse::NOTHING_STARTED,
        "transaction already in progress" => misuse::UNDER_WAY,
        "Cannot call commitTransaction after calling abortTransaction" => misuse::COMMIT_ABORTED,
        "Cannot call abortTransaction after calling commitTransaction" => misuse::ABORT_COMMITTED,
        "cannot call abortTransaction twice" => misuse::ABORT_TWICE,
        "read preference in a transaction must be primary" => misuse::NOT_FROM_PRIMARY,
        other => other,
    }
}

/// The error of an `insert_many`, with the index of each failure and the number of inserted documents.
pub(super) fn insert_many(
    failure: mongodb::error::Error,
    sent: usize,
    ordered: Option<bool>,
) -> Error {
    let ErrorKind::InsertMany(many) = &*failure.kind else {
        return error(failure);
    };
    let errors: Vec<WriteError> = many
        .write_errors
        .iter()
        .flatten()
        .map(|write| {
            WriteError::new(
                write.index,
                described(write.code, &write.message, write.details.as_ref()),
            )
        })
        .collect();
    let concern = many
        .write_concern_error
        .as_ref()
        .map(|concern| described(concern.code, &concern.message, concern.details.as_ref()));
    // An ordered insert stops at its first error; an unordered one attempts all documents.
    let inserted = match errors.first() {
        Some(first) if ordered != Some(false) => first.index(),
        _ => sent.saturating_sub(errors.len()),
    };
    let written = Written {
        n: inserted as u64,
        ..Written::default()
    };
    let result = written.into_result(WriteKind::Insert);
    Error::new(BulkError::new(result, errors, concern).with_labels(labels(&failure)))
}

fn described(code: i32, message: &str, details: Option<&bson::Document>) -> ServerError {
    let error = ServerError::new(Code::from(code), message);
    match details {
        Some(details) => error.with_details(doc! { "errInfo": details.clone() }),
        None => error,
    }
}

fn labels(failure: &mongodb::error::Error) -> Vec<String> {
    let mut labels: Vec<String> = failure.labels().iter().cloned().collect();
    labels.sort();
    labels
}

fn labelled(error: ServerError, labels: Vec<String>) -> ServerError {
    labels.into_iter().fold(error, |error, label| {
        if error.labels().contains(&label) {
            error
        } else {
            error.with_label(&label)
        }
    })
}

fn connection(message: String, timeout: bool, labels: Vec<String>) -> Error {
    Error::new(ConnectionError::new(message, timeout, labels, None))
}

#[cfg(test)]
mod tests {
    use bson::doc;

    use crate::store::Store;

    #[tokio::test]
    async fn unreachable_servers_are_reported() {
        // Nothing listens on port 1.
        let uri = "mongodb://u:hunter2@127.0.0.1:1/app?serverSelectionTimeoutMS=50";
        let store = Store::connect(uri).await.unwrap();
        let error = store.run_command(doc! { "ping": 1 }).await.unwrap_err();
        assert!(error.is_connection() && error.is_timeout(), "{error:?}");
        assert!(error.is_retryable() && error.code().is_none());
        assert!(
            !format!("{error} {error:?}").contains("hunter2"),
            "{error:?}"
        );
        assert!(!format!("{store:?}").contains("hunter2"), "{store:?}");
    }
}
