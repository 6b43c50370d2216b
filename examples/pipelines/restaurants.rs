//! The page of `$lookup`: orders of restaurants.

use odm::output;
use odm::pipeline::{Pipeline, pipeline};
use odm::prelude::*;

use super::{owned, sync};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "orders")]
pub(crate) struct Order {
    #[serde(rename = "_id")]
    id: i32,
    item: String,
    #[odm(refers_to(Restaurant, by = name))]
    restaurant_name: String,
    drink: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "restaurants")]
pub(crate) struct Restaurant {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(unique)]
    name: String,
    food: Vec<String>,
    beverages: Vec<String>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, Embedded)]
#[odm(result)]
pub(crate) struct Served {
    #[serde(rename = "_id")]
    pub(crate) id: i32,
    pub(crate) item: String,
    pub(crate) matches: Restaurant,
}

pub(crate) fn orders_with_a_drink() -> Pipeline<Order, Served> {
    pipeline::<Order>()
        .lookup_one(|o| o.restaurant_name)
        .match_(|(o, r)| Filter::expr(r.beverages.expr().contains(o.drink)))
        .project(|(o, r)| {
            output!(Served {
                id: o.id,
                item: o.item,
                matches: r.expr(),
            })
        })
}

pub(crate) async fn store(db: &Db) -> odm::Result<()> {
    sync(db, models![Order, Restaurant]).await?;
    let order = |id, item: &str, restaurant_name: &str, drink: Option<&str>| Order {
        id,
        item: item.to_owned(),
        restaurant_name: restaurant_name.to_owned(),
        drink: drink.map(str::to_owned),
    };
    let orders = [
        order(1, "filet", "American Steak House", None),
        order(2, "cheese pizza", "Honest John Pizza", Some("lemonade")),
        order(3, "cheese pizza", "Honest John Pizza", Some("soda")),
    ];
    let restaurant = |id, name: &str, food: &[&str], beverages: &[&str]| Restaurant {
        id,
        name: name.to_owned(),
        food: owned(food),
        beverages: owned(beverages),
    };
    let restaurants = [
        restaurant(
            1,
            "American Steak House",
            &["filet", "sirloin"],
            &["beer", "wine"],
        ),
        restaurant(2, "Honest John Pizza", &["cheese pizza"], &["soda"]),
    ];
    db.collection::<Order>().insert_many(orders).await?;
    db.collection::<Restaurant>()
        .insert_many(restaurants)
        .await?;
    Ok(())
}
