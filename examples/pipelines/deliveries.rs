//! The page of `$dateDiff`: the days from orders to deliveries.

use odm::expr::Unit;
use odm::output;
use odm::pipeline::{Pipeline, pipeline};
use odm::prelude::*;

use super::{date, sync};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[serde(rename_all = "camelCase")]
#[odm(collection = "orders")]
pub(crate) struct Order {
    #[serde(rename = "_id")]
    id: i32,
    cust_id: i32,
    purchased: DateTime,
    delivered: DateTime,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, Embedded)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Elapsed {
    num_days: Option<f64>,
}

pub(crate) fn days_until_delivery() -> Pipeline<Order, Elapsed> {
    pipeline::<Order>().group_all(|o, orders| {
        let days = o.purchased.expr().until(o.delivered, Unit::Day);
        output!(Elapsed {
            num_days: orders.avg(days).trunc_number(1),
        })
    })
}

pub(crate) async fn store(db: &Db) -> odm::Result<()> {
    sync(db, models![Order]).await?;
    let order = |id, cust_id, purchased, delivered| Order {
        id,
        cust_id,
        purchased: date(purchased),
        delivered: date(delivered),
    };
    let orders = [
        order(1, 456, "2020-12-31T00:00:00Z", "2021-01-05T00:00:00Z"),
        order(2, 457, "2021-02-28T00:00:00Z", "2021-03-07T00:00:00Z"),
        order(3, 458, "2021-02-16T00:00:00Z", "2021-02-18T00:00:00Z"),
    ];
    db.collection::<Order>().insert_many(orders).await?;
    Ok(())
}
