//! The body of a request as a value.

use axum::Json;
use axum::extract::rejection::JsonRejection;
use axum::extract::{FromRequest, Request};
use odm::json::Plain;
use serde::de::DeserializeOwned;

use crate::error::ApiError;

/// Plain JSON in a request. axum's `Json<Plain<T>>` is an extractor, too; this one answers bad requests in JSON.
pub struct Body<T>(pub T);

impl<T, S> FromRequest<S> for Body<T>
where
    Plain<T>: DeserializeOwned,
    S: Send + Sync,
{
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Self, ApiError> {
        let read: Result<Json<Plain<T>>, JsonRejection> = Json::from_request(request, state).await;
        match read {
            Ok(Json(Plain(value))) => Ok(Self(value)),
            Err(rejection) => Err(ApiError::Refused(rejection.status(), rejection.body_text())),
        }
    }
}
