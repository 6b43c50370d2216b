//! The pages of `$setWindowFields` and `$rank`: sales of cakes.

use odm::output;
use odm::pipeline::{Pipeline, partition_by, pipeline};
use odm::prelude::*;

use super::{date, sync};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[serde(rename_all = "camelCase")]
#[odm(collection = "cakeSales")]
pub(crate) struct CakeSale {
    #[serde(rename = "_id")]
    id: i32,
    #[serde(rename = "type")]
    kind: String,
    order_date: DateTime,
    state: String,
    price: i32,
    quantity: i32,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, Embedded)]
#[serde(rename_all = "camelCase")]
pub(crate) struct InYear {
    #[serde(rename = "_id")]
    id: i32,
    order_date: DateTime,
    quantity: i32,
    cumulative_quantity_for_year: i64,
    maximum_quantity_for_year: Option<i32>,
}

pub(crate) fn quantities_in_years() -> Pipeline<CakeSale, InYear> {
    pipeline::<CakeSale>().set_window_fields(
        |s| partition_by(s.order_date.expr().year()).sort(s.order_date.asc()),
        |s, year| {
            output!(InYear {
                id: s.id,
                order_date: s.order_date,
                cumulative_quantity_for_year: year.documents(..=0).sum(&s.quantity),
                maximum_quantity_for_year: year.documents(..).max(&s.quantity),
                quantity: s.quantity,
            })
        },
    )
}

#[derive(Debug, PartialEq, Serialize, Deserialize, Embedded)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Ranked {
    #[serde(rename = "_id")]
    id: i32,
    state: String,
    quantity: i32,
    rank_quantity_for_state: i64,
}

pub(crate) fn ranks_in_states() -> Pipeline<CakeSale, Ranked> {
    pipeline::<CakeSale>().set_window_fields(
        |s| partition_by(s.state).sort(s.quantity.desc()),
        |s, state| {
            output!(Ranked {
                id: s.id,
                state: s.state,
                quantity: s.quantity,
                rank_quantity_for_state: state.rank(),
            })
        },
    )
}

pub(crate) async fn store(db: &Db) -> odm::Result<()> {
    sync(db, models![CakeSale]).await?;
    let sale = |id, kind: &str, at, state: &str, price, quantity| CakeSale {
        id,
        kind: kind.to_owned(),
        order_date: date(at),
        state: state.to_owned(),
        price,
        quantity,
    };
    let sales = [
        sale(0, "chocolate", "2020-05-18T14:10:30Z", "CA", 13, 120),
        sale(1, "chocolate", "2021-03-20T11:30:05Z", "WA", 14, 140),
        sale(2, "vanilla", "2021-01-11T06:31:15Z", "CA", 12, 145),
        sale(3, "vanilla", "2020-02-08T13:13:23Z", "WA", 13, 104),
        sale(4, "strawberry", "2019-05-18T16:09:01Z", "CA", 41, 162),
        sale(5, "strawberry", "2019-01-08T06:12:03Z", "WA", 43, 134),
    ];
    db.collection::<CakeSale>().insert_many(sales).await?;
    Ok(())
}
