//! The report of sales, which one aggregation computes.

use axum::Json;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use odm::error::Code;
use odm::facets;
use odm::json::Plain;
use odm::money::{Money, Usd};
use odm::output;
use odm::pipeline::{Pipeline, pipeline};
use odm::prelude::*;

use crate::error::ApiError;
use crate::models::{Order, Product};

/// `GET /reports/sales?since=2026-01-01T00:00:00Z&zone=Europe/Berlin`
#[derive(Debug, Deserialize, Embedded)]
#[serde(deny_unknown_fields)]
pub struct Wanted {
    since: Option<DateTime>,
    zone: Option<String>,
}

#[derive(Debug, Serialize, Deserialize, Embedded)]
#[odm(result)]
pub struct Sales {
    days: Vec<Day>,
    products: Vec<BestSeller>,
}

#[derive(Debug, Serialize, Deserialize, Embedded)]
struct DayAlone {
    date: String,
    orders: i64,
    #[serde(with = "odm::money::json::amount")]
    turnover: Money<Usd>,
}

/// The orders of one day in the time zone.
#[derive(Debug, Serialize, Deserialize, Embedded)]
struct Day {
    date: String,
    orders: i64,
    #[serde(with = "odm::money::json::amount")]
    turnover: Money<Usd>,
    /// The turnover since the first day of the report.
    #[serde(with = "odm::money::json::amount")]
    until_then: Money<Usd>,
}

#[derive(Debug, Serialize, Deserialize, Embedded)]
struct Sold {
    product: Ref<Product>,
    title: String,
    pieces: i64,
    #[serde(with = "odm::money::json::amount")]
    turnover: Money<Usd>,
}

#[derive(Debug, Serialize, Deserialize, Embedded)]
struct BestSeller {
    title: String,
    pieces: i64,
    #[serde(with = "odm::money::json::amount")]
    turnover: Money<Usd>,
    /// `None` if the product is sold no longer.
    stock: Option<i32>,
}

/// MongoDB's code for a time zone that it does not know.
const UNKNOWN_ZONE: Code = Code::location(40485);

pub async fn sales(
    State(db): State<Db>,
    Query(Plain(wanted)): Query<Plain<Wanted>>,
) -> Result<Json<Plain<Sales>>, ApiError> {
    let report = report(&wanted);
    let sales = db.collection::<Order>().aggregate(report).first().await;
    let sales = sales.map_err(|error| match error.code() {
        Some(UNKNOWN_ZONE) => {
            let message = "zone: expected a time zone, such as `Europe/Berlin`".to_owned();
            ApiError::Refused(StatusCode::UNPROCESSABLE_ENTITY, message)
        }
        _ => error.into(),
    })?;
    Ok(Json(Plain(sales.ok_or(ApiError::NotFound("report"))?)))
}

fn report(wanted: &Wanted) -> Pipeline<Order, Sales> {
    let zone = wanted.zone.as_deref().unwrap_or("UTC");
    pipeline::<Order>()
        .match_(|o| Filter::all_of([wanted.since.map(|time| o.placed_at.gte(time))]))
        .facet(|orders| {
            let days = orders
                .clone()
                .group_by(
                    |o| o.placed_at.expr().in_zone(zone).format("%Y-%m-%d"),
                    |o, day| {
                        output!(DayAlone {
                            date: day.key(),
                            orders: day.count(),
                            turnover: day.sum(o.total),
                        })
                    },
                )
                .set_window_fields(
                    |d| d.date.asc(),
                    |d, days| {
                        output!(Day {
                            date: d.date,
                            orders: d.orders,
                            until_then: days.documents(..=0).sum(&d.turnover),
                            turnover: d.turnover,
                        })
                    },
                )
                .sort(|d| d.date.asc());
            let products = orders
                .unwind(|o| o.lines)
                .group_by(
                    |(_, line)| line.product,
                    |(order, line), all| {
                        output!(Sold {
                            product: all.key(),
                            // Titles change, and each line has that of its time.
                            title: all.top(order.placed_at.desc(), line.title),
                            pieces: all.sum(&line.quantity),
                            turnover: all.sum(line.price * line.quantity),
                        })
                    },
                )
                .sort(|s| s.turnover.desc().then(s.title.asc()))
                .limit(10)
                .lookup_or_none(|s| s.product)
                .project(|(sold, product)| {
                    output!(BestSeller {
                        title: sold.title,
                        pieces: sold.pieces,
                        turnover: sold.turnover,
                        stock: product.stock,
                    })
                });
            facets!(Sales {
                days: days,
                products: products
            })
        })
}
