//! The page of `$unwind`: sales with lists of items, which have lists of tags.

use odm::bson::Decimal128;
use odm::output;
use odm::pipeline::{Pipeline, pipeline};
use odm::prelude::*;

use super::{decimal, owned, sync};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "sales")]
pub(crate) struct Sale {
    #[serde(rename = "_id")]
    id: String,
    #[odm(embed(few, max = 100))]
    items: Vec<Item>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
struct Item {
    name: String,
    tags: Vec<String>,
    price: Decimal128,
    quantity: i32,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, Embedded)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Tag {
    #[serde(rename = "_id")]
    tag: String,
    total_sales_amount: Decimal128,
}

pub(crate) fn sales_by_tag() -> Pipeline<Sale, Tag> {
    pipeline::<Sale>()
        .unwind(|sale| sale.items)
        .unwind(|(_, item)| item.tags)
        .group_by(
            |(_, tag)| tag,
            |((_, item), _), tag| {
                output!(Tag {
                    tag: tag.key(),
                    total_sales_amount: tag.sum(item.price * item.quantity),
                })
            },
        )
}

pub(crate) async fn store(db: &Db) -> odm::Result<()> {
    sync(db, models![Sale]).await?;
    let item = |name: &str, tags: &[&str], price, quantity| Item {
        name: name.to_owned(),
        tags: owned(tags),
        price: decimal(price),
        quantity,
    };
    let sale = |id: &str, items| Sale {
        id: id.to_owned(),
        items,
    };
    let pens = item("pens", &["writing", "office", "school"], "12.00", 5);
    let envelopes = item("envelopes", &["stationary", "office"], "19.95", 8);
    let laptop = item("laptop", &["office", "electronics"], "800.00", 1);
    let notepads = item("notepads", &["office", "school"], "8.00", 3);
    let sales = [
        sale("1", vec![pens, envelopes]),
        sale("2", vec![laptop, notepads]),
    ];
    db.collection::<Sale>().insert_many(sales).await?;
    Ok(())
}
