//! The routes of orders.

use axum::Json;
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::response::IntoResponse;
use odm::json::Plain;
use odm::money::Money;
use odm::prelude::*;

use crate::body::Body;
use crate::error::ApiError;
use crate::models::{Line, NewOrder, Order, OrderFilter, Product};

/// Takes the stock of every line and stores the order, or does neither.
pub async fn place(
    State(db): State<Db>,
    Body(new): Body<NewOrder>,
) -> Result<(StatusCode, Json<Plain<Order>>), ApiError> {
    if new.lines.is_empty() || new.lines.iter().any(|line| line.quantity < 1) {
        let message = "lines: expected at least one, each with a quantity of at least 1";
        return Err(ApiError::Refused(
            StatusCode::UNPROCESSABLE_ENTITY,
            message.to_owned(),
        ));
    }
    let products = db.collection::<Product>();
    let orders = db.collection::<Order>();
    let order = odm::transaction!(db, |tx| -> Result<Order, ApiError> {
        let mut order = Order {
            id: Id::new(),
            lines: Vec::new(),
            total: Money::from_minor(0),
            placed_at: DateTime::now(),
        };
        for line in &new.lines {
            let (id, quantity) = (*line.product.id(), line.quantity);
            let taken = products
                .find_one_and_update(
                    |p| p.id.eq(id) & p.stock.gte(quantity),
                    |p| p.stock.inc(-quantity),
                )
                .session(tx)
                .await?;
            let Some(product) = taken else {
                // An error aborts the transaction, and returns the stock of the lines before.
                return Err(ApiError::Conflict(format!("{id}: not in stock")));
            };
            let price = product.price.try_mul(quantity.into());
            let total = price.and_then(|price| order.total.try_add(price));
            order.total = total.map_err(|error| ApiError::Conflict(error.to_string()))?;
            order.lines.push(Line {
                product: Ref::to(&product),
                title: product.title,
                price: product.price,
                quantity,
            });
        }
        orders.insert_one(&order).session(tx).await?;
        Ok(order)
    })
    .await?;
    Ok((StatusCode::CREATED, Json(Plain(order))))
}

pub async fn show(
    State(db): State<Db>,
    Path(id): Path<Id<Order>>,
) -> Result<Json<Plain<Order>>, ApiError> {
    let order = db.collection::<Order>().get(&id).await?;
    Ok(Json(Plain(order.ok_or(ApiError::NotFound("order"))?)))
}

/// `GET /orders?product=67f7d7a1c2d5a8b3e4f50617&since=2026-01-01T00:00:00Z`: each order with its products.
pub async fn list(
    State(db): State<Db>,
    Query(Plain(wanted)): Query<Plain<OrderFilter>>,
) -> Result<impl IntoResponse, ApiError> {
    let orders = db.collection::<Order>().find(|o| {
        let product = wanted.product.map(|id| o.lines.any().product.eq(id));
        Filter::all_of([product, wanted.since.map(|time| o.placed_at.gte(time))])
    });
    let newest = orders.sort(|o| o.placed_at.desc()).limit(50);
    let rows = newest.join(|o| o.lines.each(|line| line.product));
    Ok(Json(Plain(rows.all().await?)))
}
