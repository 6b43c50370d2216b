//! The page of `$lookup`: orders and the inventory.

use odm::output;
use odm::pipeline::{Pipeline, pipeline};
use odm::prelude::*;

use super::sync;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "orders")]
pub(crate) struct Order {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(refers_to(Stock, by = sku))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) item: Option<String>,
    price: Option<i32>,
    quantity: Option<i32>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "inventory")]
pub(crate) struct Stock {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(unique(sparse))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sku: Option<String>,
    description: Option<String>,
    instock: Option<i32>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, Embedded)]
#[odm(result)]
pub(crate) struct OrderWithStock {
    #[serde(rename = "_id")]
    id: i32,
    pub(crate) item: Option<String>,
    price: Option<i32>,
    quantity: Option<i32>,
    pub(crate) inventory_docs: Vec<Stock>,
}

pub(crate) fn orders_with_stock() -> Pipeline<Order, OrderWithStock> {
    pipeline::<Order>()
        .lookup(|o| o.item)
        .project(|(o, inventory_docs)| {
            output!(OrderWithStock {
                id: o.id,
                item: o.item,
                price: o.price,
                quantity: o.quantity,
                inventory_docs: inventory_docs,
            })
        })
}

pub(crate) async fn store(db: &Db) -> odm::Result<()> {
    sync(db, models![Order, Stock]).await?;
    let order = |id, item: Option<&str>, price, quantity| Order {
        id,
        item: item.map(str::to_owned),
        price,
        quantity,
    };
    let orders = [
        order(1, Some("almonds"), Some(12), Some(2)),
        order(2, Some("pecans"), Some(20), Some(1)),
        order(3, None, None, None),
    ];
    let stock = |id, sku: Option<&str>, description: Option<&str>, instock| Stock {
        id,
        sku: sku.map(str::to_owned),
        description: description.map(str::to_owned),
        instock,
    };
    let inventory = [
        stock(1, Some("almonds"), Some("product 1"), Some(120)),
        stock(2, Some("bread"), Some("product 2"), Some(80)),
        stock(4, Some("pecans"), Some("product 4"), Some(70)),
        stock(6, None, None, None),
    ];
    db.collection::<Order>().insert_many(orders).await?;
    db.collection::<Stock>().insert_many(inventory).await?;
    Ok(())
}
