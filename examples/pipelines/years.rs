//! The page of `$unionWith`: sales, a collection for each year.

use odm::output;
use odm::pipeline::{Pipeline, pipeline};
use odm::prelude::*;

use super::sync;

macro_rules! years {
    ($($model:ident = $collection:literal;)*) => {$(
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
        #[odm(collection = $collection)]
        pub(crate) struct $model {
            #[serde(rename = "_id")]
            id: i32,
            store: String,
            item: String,
            quantity: i32,
        }

        impl $model {
            fn sold() -> Pipeline<Self, Sold> {
                pipeline::<Self>().project(|s| output!(Sold {
                    item: s.item,
                    quantity: s.quantity,
                }))
            }
        }
    )*};
}

years! {
    Sales2017 = "sales_2017";
    Sales2018 = "sales_2018";
    Sales2019 = "sales_2019";
    Sales2020 = "sales_2020";
}

#[derive(Debug, PartialEq, Serialize, Deserialize, Embedded)]
struct Sold {
    item: String,
    quantity: i32,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, Embedded)]
pub(crate) struct Total {
    #[serde(rename = "_id")]
    item: String,
    total: i64,
}

pub(crate) fn totals_of_all_years() -> Pipeline<Sales2017, Total> {
    Sales2017::sold()
        .union_with(Sales2018::sold())
        .union_with(Sales2019::sold())
        .union_with(Sales2020::sold())
        .group_by(
            |s| s.item,
            |s, item| {
                output!(Total {
                    item: item.key(),
                    total: item.sum(s.quantity),
                })
            },
        )
        .sort(|t| t.total.desc())
}

pub(crate) async fn store(db: &Db) -> odm::Result<()> {
    macro_rules! sales {
        ($($model:ident: $id:literal $store:literal $item:literal $quantity:literal;)*) => {$(
            let sale = $model {
                id: $id,
                store: $store.to_owned(),
                item: $item.to_owned(),
                quantity: $quantity,
            };
            db.collection::<$model>().insert_one(sale).await?;
        )*};
    }
    sync(db, models![Sales2017, Sales2018, Sales2019, Sales2020]).await?;
    sales! {
        Sales2017: 1 "General Store" "Chocolates" 150;
        Sales2017: 2 "ShopMart" "Chocolates" 50;
        Sales2017: 3 "General Store" "Cookies" 100;
        Sales2018: 1 "General Store" "Cheese" 30;
        Sales2018: 2 "ShopMart" "Chocolates" 50;
        Sales2019: 1 "General Store" "Cheese" 50;
        Sales2019: 2 "ShopMart" "Pie" 100;
        Sales2020: 1 "General Store" "Chocolates" 100;
        Sales2020: 2 "ShopMart" "Cookies" 260;
    }
    Ok(())
}
