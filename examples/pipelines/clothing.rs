//! The page of `$unwind`: an inventory with lists of sizes, some of which are empty or absent.

use odm::bson::Decimal128;
use odm::output;
use odm::pipeline::{Pipeline, pipeline};
use odm::prelude::*;

use super::{decimal, owned, sync};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "inventory2")]
pub(crate) struct Article {
    #[serde(rename = "_id")]
    id: i32,
    item: String,
    price: Decimal128,
    sizes: Option<Vec<String>>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, Embedded)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Size {
    #[serde(rename = "_id")]
    size: Option<String>,
    average_price: Option<Decimal128>,
}

pub(crate) fn price_by_size() -> Pipeline<Article, Size> {
    pipeline::<Article>()
        .unwind_or_none(|a| a.sizes)
        .group_by(
            |(_, size)| size,
            |(a, _), size| {
                output!(Size {
                    size: size.key(),
                    average_price: size.avg(a.price),
                })
            },
        )
        .sort(|s| s.average_price.desc())
}

pub(crate) async fn store(db: &Db) -> odm::Result<()> {
    sync(db, models![Article]).await?;
    let article = |id, item: &str, price, sizes: Option<&[&str]>| Article {
        id,
        item: item.to_owned(),
        price: decimal(price),
        sizes: sizes.map(owned),
    };
    let articles = [
        article(1, "ABC", "80", Some(&["S", "M", "L"])),
        article(2, "EFG", "120", Some(&[])),
        article(3, "IJK", "160", Some(&["M"])),
        article(4, "XYZ", "70", None),
    ];
    db.collection::<Article>().insert_many(articles).await?;
    Ok(())
}
