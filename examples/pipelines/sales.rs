//! The page of `$group`: sales.

use odm::bson::Decimal128;
use odm::output;
use odm::pipeline::{Pipeline, pipeline};
use odm::prelude::*;

use super::{date, decimal, sync};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "sales")]
pub(crate) struct Sale {
    #[serde(rename = "_id")]
    id: i32,
    item: String,
    price: Decimal128,
    quantity: i32,
    date: DateTime,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, Embedded)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DaySales {
    #[serde(rename = "_id")]
    day: String,
    total_sale_amount: Decimal128,
    average_quantity: Option<f64>,
    count: i64,
}

pub(crate) fn sales_by_day() -> Pipeline<Sale, DaySales> {
    let (start, end) = (date("2014-01-01T00:00:00Z"), date("2015-01-01T00:00:00Z"));
    pipeline::<Sale>()
        .match_(|s| s.date.gte(start) & s.date.lt(end))
        .group_by(
            |s| s.date.expr().format("%Y-%m-%d"),
            |s, day| {
                output!(DaySales {
                    day: day.key(),
                    total_sale_amount: day.sum(s.price * &s.quantity),
                    average_quantity: day.avg(s.quantity),
                    count: day.count(),
                })
            },
        )
        .sort(|d| d.total_sale_amount.desc())
}

pub(crate) async fn store(db: &Db) -> odm::Result<()> {
    sync(db, models![Sale]).await?;
    let sale = |id, item: &str, price, quantity, at| Sale {
        id,
        item: item.to_owned(),
        price: decimal(price),
        quantity,
        date: date(at),
    };
    let sales = [
        sale(1, "abc", "10", 2, "2014-03-01T08:00:00Z"),
        sale(2, "jkl", "20", 1, "2014-03-01T09:00:00Z"),
        sale(3, "xyz", "5", 10, "2014-03-15T09:00:00Z"),
        sale(4, "xyz", "5", 20, "2014-04-04T11:21:39Z"),
        sale(5, "def", "7.5", 5, "2015-06-04T05:08:13Z"),
    ];
    db.collection::<Sale>().insert_many(sales).await?;
    Ok(())
}
