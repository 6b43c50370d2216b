//! The routes of products.

use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::{BoxError, Json};
use futures_util::{Stream, StreamExt};
use odm::collection::{FullDocument, Operation, ReturnDocument};
use odm::json::Plain;
use odm::prelude::*;
use odm::query::Sort;
use odm::query::fields;
use serde_json::{Value, json};

use crate::body::Body;
use crate::error::{ApiError, broken_rules};
use crate::models::{NewProduct, Product, ProductChange};

type Response<T> = Result<T, ApiError>;

pub async fn create(
    State(db): State<Db>,
    Body(new): Body<NewProduct>,
) -> Response<(StatusCode, Json<Plain<Product>>)> {
    let products = db.collection::<Product>();
    let product = Product::from(new);
    products.insert_one(&product).await?;
    // With `created_at`, which the insert has set.
    let stored = products.get(&product.id).await?;
    let stored = stored.ok_or(ApiError::NotFound("product"))?;
    Ok((StatusCode::CREATED, Json(Plain(stored))))
}

pub async fn show(
    State(db): State<Db>,
    Path(id): Path<Id<Product>>,
) -> Response<Json<Plain<Product>>> {
    let product = db.collection::<Product>().get(&id).await?;
    Ok(Json(Plain(product.ok_or(ApiError::NotFound("product"))?)))
}

/// Sends what is stored or deleted from now on, as server-sent events, until the client goes away.
pub async fn changes(
    State(db): State<Db>,
) -> Response<Sse<impl Stream<Item = Result<Event, BoxError>>>> {
    let watch = db.collection::<Product>().watch();
    let changes = watch.full_document(FullDocument::UpdateLookup).await?;
    let events = changes.map(|change| {
        Ok(match change?.operation {
            Operation::Insert {
                full_document: product,
                ..
            }
            | Operation::Replace {
                full_document: product,
                ..
            }
            | Operation::Update {
                full_document: Some(product),
                ..
            } => Event::default().event("stored").json_data(Plain(product))?,
            Operation::Delete { id, .. } => Event::default().event("deleted").data(id.to_string()),
            // Such as an update of a product that was deleted meanwhile.
            _ => Event::default().comment("nothing to show"),
        })
    });
    Ok(Sse::new(events).keep_alive(KeepAlive::default()))
}

#[derive(Debug, Deserialize)]
pub struct Page {
    #[serde(default = "one")]
    page: u32,
    #[serde(default = "twenty")]
    size: u32,
}

fn one() -> u32 {
    1
}

fn twenty() -> u32 {
    20
}

#[derive(Debug, Serialize)]
pub struct Products {
    items: Vec<Product>,
    total: u64,
}

/// `GET /products?page=1&size=20`
pub async fn list(
    State(db): State<Db>,
    Query(page): Query<Page>,
) -> Response<Json<Plain<Products>>> {
    if page.page == 0 || !(1..=100).contains(&page.size) {
        return Err(ApiError::Refused(
            StatusCode::BAD_REQUEST,
            "expected a page from 1, and a size from 1 to 100".to_owned(),
        ));
    }
    let products = db.collection::<Product>();
    let sorted = products.find_all().sort(|p| p.sku.asc());
    let items = sorted
        .page(page.page.into(), page.size.into())
        .all()
        .await?;
    let total = products.find_all().count().await?;
    Ok(Json(Plain(Products { items, total })))
}

#[derive(Debug, Deserialize)]
pub struct Search {
    q: String,
}

/// `GET /products/search?q=whale`, by the text index.
pub async fn search(
    State(db): State<Db>,
    Query(search): Query<Search>,
) -> Response<Json<Plain<Vec<Product>>>> {
    let found = db
        .collection::<Product>()
        .find(|_| Filter::text(search.q))
        .sort(|_| Sort::by_text_score())
        .limit(50)
        .all()
        .await?;
    Ok(Json(Plain(found)))
}

pub async fn change(
    State(db): State<Db>,
    Path(id): Path<Id<Product>>,
    Body(change): Body<ProductChange>,
) -> Response<Json<Plain<Product>>> {
    if change.price.is_none() && change.stock.is_none() {
        let message = "expected a `price` or a `stock`".to_owned();
        return Err(ApiError::Refused(StatusCode::UNPROCESSABLE_ENTITY, message));
    }
    let p = fields::<Product>();
    let update = Update::all_of([
        change.price.map(|price| p.price.set(price)),
        change.stock.map(|stock| p.stock.set(stock)),
    ]);
    let products = db.collection::<Product>();
    let changed = products.find_one_and_update(|p| p.id.eq(id), |_| update);
    let product = changed.return_document(ReturnDocument::After).await?;
    Ok(Json(Plain(product.ok_or(ApiError::NotFound("product"))?)))
}

pub async fn remove(State(db): State<Db>, Path(id): Path<Id<Product>>) -> Response<StatusCode> {
    let result = db.collection::<Product>().delete_by_id(&id).await?;
    match result.deleted {
        0 => Err(ApiError::NotFound("product")),
        _ => Ok(StatusCode::NO_CONTENT),
    }
}

/// Inserts what can be inserted, and lists what could not with its position.
pub async fn import(
    State(db): State<Db>,
    Body(new): Body<Vec<NewProduct>>,
) -> Response<Json<Value>> {
    let all: Vec<Product> = new.into_iter().map(Product::from).collect();
    let insert = db.collection::<Product>().insert_many(&all).ordered(false);
    match insert.await {
        Ok(_) => Ok(Json(json!({"inserted": all.len(), "failed": []}))),
        Err(error) if error.is_bulk() => {
            let failed: Vec<Value> = error
                .write_errors()
                .iter()
                .map(|one| {
                    let reason = match one.validation_failure() {
                        Some(failure) => broken_rules(&failure),
                        None if one.is_duplicate_key() => "another product has this sku".to_owned(),
                        None => "something went wrong".to_owned(),
                    };
                    json!({"index": one.index(), "error": reason})
                })
                .collect();
            let inserted = error.partial_result().map_or(0, |result| result.inserted);
            Ok(Json(json!({"inserted": inserted, "failed": failed})))
        }
        Err(error) => Err(error.into()),
    }
}
