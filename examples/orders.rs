//! Relations, embedded lists and a transaction: orders of customers, which take goods from a stock.

use odm::prelude::*;

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "customers")]
#[odm(has_many(orders: Order, by = customer, on_delete = restrict))]
struct Customer {
    #[serde(rename = "_id")]
    id: Id<Customer>,
    #[odm(unique)]
    email: String,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "products")]
struct Product {
    #[serde(rename = "_id")]
    id: String,
    #[odm(range(min = 0))]
    stock: i64,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "orders", index(customer, placed = desc))]
struct Order {
    #[serde(rename = "_id")]
    id: Id<Order>,
    customer: Ref<Customer>,
    placed: DateTime,
    state: State,
    #[odm(embed(few, max = 50))]
    lines: Vec<Line>,
}

#[derive(PartialEq, Serialize, Deserialize, Embedded)]
#[serde(rename_all = "lowercase")]
enum State {
    Open,
    Shipped,
}

#[derive(Serialize, Deserialize, Embedded)]
struct Line {
    product: Ref<Product>,
    count: i64,
}

/// Takes the goods from the stock and stores the order: both, or neither. `None` if too few are left.
async fn place(db: &Db, by: Id<Customer>, id: &str, count: i64) -> odm::Result<Option<Id<Order>>> {
    let (orders, products) = (db.collection::<Order>(), db.collection::<Product>());
    transaction!(db, |tx| {
        let enough = products.update_one(
            |p| p.id.eq(id) & p.stock.gte(count),
            |p| p.stock.inc(-count),
        );
        let taken = enough.session(tx).await?;
        if taken.matched == 0 {
            return Ok(None);
        }
        let order = Order {
            id: Id::new(),
            customer: Ref::from(by),
            placed: DateTime::now(),
            state: State::Open,
            lines: vec![Line {
                product: Ref::from(id),
                count,
            }],
        };
        orders.insert_one(&order).session(tx).await?;
        Ok(Some(order.id))
    })
    .await
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> odm::Result<()> {
    let db = Db::memory();
    let plan = db.sync(models![Customer, Product, Order]).plan().await?;
    plan.apply(Allow::CREATE).await?.require_complete()?;
    let (customers, orders) = (db.collection::<Customer>(), db.collection::<Order>());
    let products = db.collection::<Product>();

    let ada = Customer {
        id: Id::new(),
        email: "ada@example.com".into(),
    };
    customers.insert_one(&ada).await?;
    for (id, stock) in [("tea", 3), ("mug", 1)] {
        let id = id.to_owned();
        products.insert_one(&Product { id, stock }).await?;
    }

    let order = place(&db, ada.id, "tea", 2).await?.expect("enough tea");
    assert!(place(&db, ada.id, "tea", 2).await?.is_none());

    // Both directions, one more query each.
    let filter = orders.find(|o| o.lines.any().count.gte(2));
    for row in filter.join(|o| o.customer).all().await? {
        let customer = row.customer().found().map(|it| it.email.as_str());
        assert_eq!((row.id, customer), (order, Some("ada@example.com")));
    }
    let all = customers.find_all();
    let rows = all.join(|c| c.orders.sort(|o| o.placed.desc()).limit(10));
    for row in rows.all().await? {
        assert_eq!(row.orders().len(), 1);
    }

    // `save` sends the fields that the program has changed.
    let mut loaded = orders.load(&order).await?.expect("the order is stored");
    loaded.state = State::Shipped;
    orders.save(&mut loaded).await?;
    assert!(orders.find(|o| o.state.eq(State::Shipped)).exists().await?);

    // The relation says `restrict`: a customer with orders stays.
    let delete = customers.delete_by_id(&ada.id).with_dependents();
    assert!(delete.await.is_err());
    Ok(())
}
