//! Errors as responses.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::json;

/// Why a request failed.
#[derive(Debug)]
pub enum ApiError {
    /// No document has the id.
    NotFound(&'static str),
    /// The request can't be parsed, or a value in it is invalid.
    Refused(StatusCode, String),
    /// The request contradicts what is stored.
    Conflict(String),
    /// An operation failed.
    Odm(odm::Error),
}

impl From<odm::Error> for ApiError {
    fn from(error: odm::Error) -> Self {
        Self::Odm(error)
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let (status, message) = match self {
            Self::NotFound(what) => (StatusCode::NOT_FOUND, format!("no such {what}")),
            Self::Refused(status, message) => (status, message),
            Self::Conflict(message) => (StatusCode::CONFLICT, message),
            Self::Odm(error) if error.is_duplicate_key() => {
                let field = error.path().unwrap_or("a unique field");
                (
                    StatusCode::CONFLICT,
                    format!("{field}: another document has this value"),
                )
            }
            Self::Odm(error) if error.is_page_token() => (
                StatusCode::BAD_REQUEST,
                "expected the `next` of a page of this list".to_owned(),
            ),
            Self::Odm(error) if error.is_retryable() || error.is_timeout() => (
                StatusCode::SERVICE_UNAVAILABLE,
                "try again later".to_owned(),
            ),
            Self::Odm(error) => match error.validation_failure() {
                Some(failure) => (StatusCode::UNPROCESSABLE_ENTITY, broken_rules(failure)),
                None => {
                    // The client learns nothing about the database; the log does.
                    eprintln!("{error}");
                    let message = "something went wrong".to_owned();
                    (StatusCode::INTERNAL_SERVER_ERROR, message)
                }
            },
        };
        (status, Json(json!({"error": message}))).into_response()
    }
}

/// The broken rules of a validator, such as `price: …`.
pub fn broken_rules(failure: &odm::ValidationFailure) -> String {
    let rules: Vec<_> = failure
        .violations()
        .iter()
        .map(ToString::to_string)
        .collect();
    rules.join("; ")
}
