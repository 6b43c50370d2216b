//! A small shop: amounts of money, times, database references, keywords and types of other crates, each beside what is
//! stored.
//!
//! ```sh
//! cargo run --example shop                                           # on the engine in this process
//! cargo run --example shop -- --uri mongodb://localhost/shop         # on a server
//! ```
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "the example shows what it stores and sends"
)]

#[path = "../tour/arguments.rs"]
mod arguments;
mod models;

use std::process::ExitCode;

use chrono::NaiveDate;
use odm::dbref::DbRef;
use odm::money::{AnyMoney, Money, PreciseMoney, Rounding, Usd};
use odm::prelude::*;
use odm::time::{Iso, LocalTime, day};
use uuid::Uuid;

use crate::arguments::{Arguments, USAGE};
use crate::models::{Order, Product, ProductJoined, Supplier};

type Outcome = Result<(), Box<dyn std::error::Error>>;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let arguments = match Arguments::parse(std::env::args().skip(1)) {
        Ok(arguments) => arguments,
        Err(message) => {
            eprintln!("{message}");
            return ExitCode::FAILURE;
        }
    };
    if arguments.help {
        println!("{}", USAGE.replace("tour", "shop"));
        return ExitCode::SUCCESS;
    }
    match run(arguments.uri.as_deref()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

async fn run(uri: Option<&str>) -> Outcome {
    let db = match uri {
        None => Db::memory(),
        Some(uri) => Db::connect(uri).await?,
    };
    // The example ends by dropping the database: never one that holds anything of yours.
    let names = doc! {"listCollections": 1, "nameOnly": true};
    if !db.run_command(names).all().await?.is_empty() {
        return Err(
            "the database is not empty; name one that the example may fill and drop".into(),
        );
    }
    let shown = show(&db).await;
    db.drop().await?;
    shown
}

async fn show(db: &Db) -> Outcome {
    let models = models![Supplier, Product, Order];
    db.sync(models).plan().await?.apply(Allow::CREATE).await?;
    println!("{}", models::SOURCE);
    stock(db).await?;
    prices(db).await?;
    search(db).await?;
    orders(db).await
}

/// Prints the documents of a collection as they are stored.
async fn stored<M: Document>(db: &Db) -> Outcome {
    let name = M::model().collection;
    println!("\nstored in {name}:");
    for document in db.run_command(doc! {"find": name}).all().await? {
        println!("    {document}");
    }
    Ok(())
}

async fn stock(db: &Db) -> Outcome {
    println!("\n## Products, with database references to their supplier");
    let supplier = Supplier {
        id: 7,
        name: "Pequod Books".to_owned(),
    };
    db.collection::<Supplier>().insert_one(&supplier).await?;
    let product =
        |id, title: &str, topics: &[&str], price: &str| -> Result<_, odm::money::MoneyError> {
            Ok(Product {
                id,
                title: title.to_owned(),
                topics: topics.iter().map(|topic| (*topic).to_owned()).collect(),
                words: Vec::new(),
                price: price.parse()?,
                weight_rate: "0.0000125 USD".parse()?,
                supplier: DbRef::to(&supplier),
                created_at: None,
                updated_at: None,
            })
        };
    let products = db.collection::<Product>();
    products
        .insert_many([
            product(1, "Moby-Dick", &["whaling", "novel", "Cape Cod"], "9.99")?,
            product(2, "Walden", &["essay", "Massachusetts"], "4.99")?,
            product(3, "Running with Whales", &["nautical"], "19.99")?,
        ])
        .await?;
    stored::<Product>(db).await?;
    let rows = products
        .find(|p| p.supplier.eq(&supplier))
        .join(|p| p.supplier);
    for row in rows.all().await? {
        let from = row
            .supplier()
            .found()
            .map(|supplier| supplier.name.as_str());
        println!("{} is from {}", row.title, from.unwrap_or("nobody"));
    }
    Ok(())
}

async fn prices(db: &Db) -> Outcome {
    println!("\n## Exact prices");
    let products = db.collection::<Product>();
    let cent = Money::<Usd>::from_minor(1);
    // `$inc` of an integer, and `updated_at` with it.
    let cheap = products.update_many(
        |p| p.price.lt(Money::from_minor(1_000)),
        |p| p.price.inc(cent),
    );
    println!("{} prices are one cent higher", cheap.await?.modified);
    let product = products.get(&1).await?.ok_or("no product 1")?;
    let tax = product.price.ratio(19, 100, Rounding::HalfEven)?;
    println!("{}: {} and {tax} of tax", product.title, product.price);
    let shares: Vec<_> = product
        .price
        .split(3)?
        .map(|share| share.to_string())
        .collect();
    println!("shared by three: {}", shares.join(", "));

    // The approximation finds candidates, and the exact values choose.
    let range = "0.00001 USD".parse::<PreciseMoney>()?..="0.0000125 USD".parse()?;
    let candidates = products.find(|p| p.weight_rate.candidates(range.clone()));
    let mut found = candidates.all().await?;
    found.retain(|product| range.contains(&product.weight_rate));
    println!("{} products have a rate in the range", found.len());
    Ok(())
}

async fn search(db: &Db) -> Outcome {
    println!("\n## Keywords");
    let products = db.collection::<Product>();
    let about = products.find(|p| p.topics.any().starts_with("Cape "));
    println!(
        "topics that begin with `Cape `, by {:?}:",
        about.explain().await?.indexes
    );
    let about = products.find(|p| p.topics.any().starts_with("Cape ")).all();
    for product in about.await? {
        println!("    {}", product.title);
    }
    println!("words of `a whale that runs`, stemmed:");
    let found = products.find(|p| p.words.search("a whale that runs")).all();
    for product in found.await? {
        println!("    {} {:?}", product.title, product.words);
    }
    Ok(())
}

async fn orders(db: &Db) -> Outcome {
    println!("\n## Orders, with the customer's own time");
    let orders = db.collection::<Order>();
    let order = |id, placed: &str, total: &str, due| -> Result<_, Box<dyn std::error::Error>> {
        let placed: LocalTime<Iso> = placed.parse()?;
        Ok(Order {
            id,
            product: DbRef::from(1),
            placed,
            total: total.parse()?,
            due: NaiveDate::from_ymd_opt(2026, 4, due).ok_or("no such day")?,
            parcel: Uuid::from_u128(0x5eed_0000 + u128::try_from(id)?),
        })
    };
    orders
        .insert_many([
            order(1, "2026-03-28T23:30:00-05:00", "20 USD", 3)?,
            order(2, "2026-03-29T23:30:00+02:00", "10 EUR", 2)?,
            order(3, "2026-03-30T00:30:00+02:00", "5 EUR", 1)?,
        ])
        .await?;
    stored::<Order>(db).await?;

    let sunday = day("2026-03-29")?;
    let berlin = sunday.in_zone("Europe/Berlin")?;
    let ids = |found: Vec<Order>| found.iter().map(|order| order.id).collect::<Vec<_>>();
    let found = orders
        .find(|o| o.placed.within(berlin))
        .sort(|o| o.placed.asc());
    println!(
        "on Sunday in Berlin, which has {} hours: {:?}",
        berlin.millis() / 3_600_000,
        ids(found.all().await?)
    );
    let found = orders.find(|o| o.placed.on_writers_day(sunday));
    println!("on Sunday of the customer: {:?}", ids(found.all().await?));
    let second = NaiveDate::from_ymd_opt(2026, 4, 2).ok_or("no such day")?;
    let found = orders.find(|o| o.due.lte(second)).sort(|o| o.due.asc());
    println!("due by {second}: {:?}", ids(found.all().await?));
    let parcel = Uuid::from_u128(0x5eed_0002);
    let found = orders.find(|o| o.parcel.eq(parcel));
    println!("in the parcel {parcel}: {:?}", ids(found.all().await?));
    let first = orders.get(&1).await?.ok_or("no order 1")?;
    let placed: LocalTime<Iso> = first.placed;
    println!(
        "the first at {:02}:{:02} there, {}",
        placed.hour(),
        placed.minute(),
        placed
    );

    let euro: AnyMoney = "1 EUR".parse()?;
    for id in [1, 2] {
        let result = orders
            .update_one(|o| o.id.eq(id), |o| o.total.inc(euro))
            .await?;
        println!(
            "a euro for order {id}: {} changed, in another currency: {}",
            result.modified,
            result.is_in_other_currency()
        );
    }
    Ok(())
}
