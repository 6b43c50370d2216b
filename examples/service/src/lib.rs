//! A web service for a shop: products and orders over HTTP, in plain JSON.
//!
//! ```sh
//! cargo run --manifest-path examples/service/Cargo.toml                                        # in memory
//! cargo run --manifest-path examples/service/Cargo.toml -- --uri mongodb://localhost/shop      # on a server
//! cargo test --manifest-path examples/service/Cargo.toml
//! ```

mod body;
mod error;
mod models;
mod orders;
mod products;
mod reports;

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::{get, post};
use odm::prelude::*;

use crate::error::ApiError;
pub use crate::models::{Order, Product};

/// Creates what is missing in the database (collections with their validators, and indexes), and fails where that is not
/// enough.
pub async fn prepare(db: &Db) -> odm::Result<()> {
    db.sync(models![Product, Order])
        .plan()
        .await?
        .apply(Allow::CREATE)
        .await?
        .require_complete()?;
    Ok(())
}

/// The routes. A `Db` is a handle: clones share its connections.
pub fn router(db: Db) -> Router {
    Router::new()
        .route("/health", get(health))
        .route("/products", get(products::list).post(products::create))
        .route("/products/search", get(products::search))
        .route("/products/changes", get(products::changes))
        .route("/products/import", post(products::import))
        .route(
            "/products/{id}",
            get(products::show)
                .patch(products::change)
                .delete(products::remove),
        )
        .route("/orders", get(orders::list).post(orders::place))
        .route("/orders/{id}", get(orders::show))
        .route("/reports/sales", get(reports::sales))
        .with_state(db)
}

/// For the probes of a load balancer: 204 if the database answers, else 503.
async fn health(State(db): State<Db>) -> Result<StatusCode, ApiError> {
    db.ping().await?;
    Ok(StatusCode::NO_CONTENT)
}
