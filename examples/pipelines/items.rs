//! The page of `$lookup`: orders with the fields of their items.

use odm::output;
use odm::pipeline::{Pipeline, pipeline};
use odm::prelude::*;

use super::sync;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "orders")]
pub(crate) struct Order {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(refers_to(Product, by = item))]
    item: String,
    price: i32,
    quantity: i32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "items")]
pub(crate) struct Product {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(unique)]
    item: String,
    description: String,
    instock: i32,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, Embedded)]
pub(crate) struct OrderedItem {
    #[serde(rename = "_id")]
    id: i32,
    item: String,
    description: Option<String>,
    instock: Option<i32>,
    price: i32,
    quantity: i32,
}

pub(crate) fn orders_with_items() -> Pipeline<Order, OrderedItem> {
    pipeline::<Order>()
        .lookup_or_none(|o| o.item)
        .project(|(o, item)| {
            output!(OrderedItem {
                id: o.id,
                item: o.item,
                description: item.description,
                instock: item.instock,
                price: o.price,
                quantity: o.quantity,
            })
        })
}

pub(crate) async fn store(db: &Db) -> odm::Result<()> {
    sync(db, models![Order, Product]).await?;
    let order = |id, item: &str, price, quantity| Order {
        id,
        item: item.to_owned(),
        price,
        quantity,
    };
    let item = |id, item: &str, description: &str, instock| Product {
        id,
        item: item.to_owned(),
        description: description.to_owned(),
        instock,
    };
    let orders = [
        order(1, "almonds", 12, 2),
        order(2, "pecans", 20, 1),
        order(3, "cashews", 15, 4),
    ];
    let items = [
        item(1, "almonds", "almond clusters", 120),
        item(2, "bread", "raisin and nut bread", 80),
        item(3, "pecans", "candied pecans", 60),
    ];
    db.collection::<Order>().insert_many(orders).await?;
    db.collection::<Product>().insert_many(items).await?;
    Ok(())
}
