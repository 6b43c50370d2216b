//! The administrator's command of a shop: checks, repairs and describes a database.
//!
//! ```sh
//! cargo run --example admin -- check                                     # a damaged shop in this process
//! cargo run --example admin -- repair --answer Order.customer=set-null
//! cargo run --example admin -- plan --uri mongodb://localhost/shop       # on a server
//! ```

use std::process::ExitCode;

use odm::prelude::*;

#[derive(Debug, Serialize, Deserialize, Document)]
#[odm(collection = "customers", has_many(orders: Order, by = customer))]
struct Customer {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(length(max = 100))]
    name: String,
    #[odm(count_of(orders))]
    order_count: i64,
}

#[derive(Debug, Serialize, Deserialize, Document)]
#[odm(collection = "orders")]
struct Order {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(index)]
    customer: Option<Ref<Customer>>,
    #[odm(copy_of(customer.name))]
    customer_name: Option<String>,
}

#[tokio::main]
async fn main() -> ExitCode {
    let models = models![Customer, Order];
    let is_uri = |argument: String| argument.starts_with("--uri");
    if std::env::var_os("MONGODB_URI").is_some() || std::env::args().any(is_uri) {
        // This line is all that a program needs.
        return odm::admin::run(models).await;
    }
    match a_damaged_shop().await {
        Ok(db) => odm::admin::run_on(&db, models).await,
        Err(_) => ExitCode::FAILURE,
    }
}

/// A shop in memory, in which another program has written.
async fn a_damaged_shop() -> odm::Result<Db> {
    let db = Db::memory();
    let plan = db.sync(models![Customer, Order]).plan().await?;
    plan.apply(Allow::CREATE).await?;
    let customer = Customer {
        id: 1,
        name: "Ada".to_owned(),
        order_count: 0,
    };
    let customers = db.collection::<Customer>();
    customers.insert_one(&customer).await?;
    let order = |id| Order {
        id,
        customer: Some(Ref::from(1)),
        customer_name: None,
    };
    let orders = db.collection::<Order>();
    orders.insert_many((1..=3).map(order)).propagate().await?;
    let updates = vec![
        doc! {"q": {"_id": 1}, "u": {"$set": {"customer": 9}}},
        doc! {"q": {"_id": 2}, "u": {"$set": {"customer_name": "Adah", "colour": "red"}}},
    ];
    db.run_command(doc! {"update": "orders", "updates": updates})
        .await?;
    Ok(db)
}
