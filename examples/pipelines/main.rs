//! Pipelines of MongoDB's manual: the stages that the typed builder sends, and what they find.
//!
//! ```sh
//! cargo run --example pipelines                                       # on the engine in this process
//! cargo run --example pipelines -- mongodb://localhost/pipelines      # on a server: the same results
//! ```
#![expect(
    clippy::print_stdout,
    reason = "the example shows what it sends and finds"
)]

#[path = "manual.rs"]
mod manual;

use odm::bson::{Bson, Document as BsonDocument, serialize_to_bson};
use odm::geo::Point;
use odm::model::Document as Model;
use odm::pipeline::{Pipeline, Written};
use odm::prelude::*;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::manual::books::{self, Author};
use crate::manual::budgets::{self, Budget};
use crate::manual::{
    artists, artwork, cakes, classes, clothing, deliveries, employees, grades, inventory, items,
    people, places, restaurants, sales, stationery, years,
};

/// The width of the page.
const WIDTH: usize = 84;

type Shown = Result<(), Box<dyn std::error::Error>>;

/// Fills the database for each module, shows its pipelines, and empties the database.
macro_rules! show {
    ($db:expr; $($module:ident: $($name:ident($($argument:expr)?)),+;)*) => {$(
        $module::store($db).await?;
        $(show($db, stringify!($name), $module::$name($($argument)?)).await?;)+
        $db.drop().await?;
    )*};
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Shown {
    let db = match std::env::args().nth(1) {
        None => Db::memory(),
        Some(uri) => Db::connect(&uri).await?,
    };
    // The database is dropped again and again: never one that holds anything of yours.
    let names = doc! {"listCollections": 1, "nameOnly": true};
    if !db.run_command(names).all().await?.is_empty() {
        return Err("the database is not empty; name one that the example may drop".into());
    }
    let shown = show_all(&db).await;
    db.drop().await?;
    shown
}

async fn show_all(db: &Db) -> Shown {
    let here = Point::new(-73.99279, 40.719_296)?;
    show! { db;
        sales: sales_by_day();
        books: books_by_author();
        stationery: sales_by_tag();
        clothing: price_by_size();
        inventory: orders_with_stock();
        classes: classes_with_members();
        restaurants: orders_with_a_drink();
        items: orders_with_items();
        employees: reporting_hierarchies();
        people: friends_who_play_golf();
        artists: artists_by_decade();
        artwork: artwork_by_categories();
        cakes: quantities_in_years(), ranks_in_states();
        years: totals_of_all_years();
        places: parks_near(here);
        grades: summaries();
        deliveries: days_until_delivery();
    }
    books::store(db).await?;
    show_written::<_, Author>(db, "write_authors", books::write_authors()).await?;
    db.drop().await?;
    budgets::store(db).await?;
    show_written::<_, Budget>(db, "write_budgets", budgets::write_budgets()).await
}

/// Shows the stages of a pipeline and its results.
async fn show<M, R>(db: &Db, name: &str, pipeline: Pipeline<M, R>) -> Shown
where
    M: Model,
    R: Embedded + Serialize + DeserializeOwned + 'static,
{
    println!("{name}\n{}", stages(pipeline.to_stages()?));
    for result in db.collection::<M>().aggregate(pipeline).all().await? {
        println!("  {}", line(&json(serialize_to_bson(&result)?)));
    }
    println!();
    Ok(())
}

/// Shows the stages of a pipeline and the documents that it writes.
async fn show_written<M, N>(db: &Db, name: &str, pipeline: Written<M>) -> Shown
where
    M: Model,
    N: Model + Serialize + DeserializeOwned + 'static,
{
    println!("{name}\n{}", stages(pipeline.to_stages()?));
    db.collection::<M>().aggregate(pipeline).all().await?;
    for document in db.collection::<N>().find_all().all().await? {
        println!("  {}", line(&json(serialize_to_bson(&document)?)));
    }
    println!();
    Ok(())
}

fn json(value: Bson) -> Value {
    value.into_relaxed_extjson()
}

fn stages(stages: Vec<BsonDocument>) -> String {
    page(&json(Bson::from(stages)), 0, 0)
}

/// The JSON of a value in one line: `{"$sort": {"total": -1}}`.
fn line(value: &Value) -> String {
    match value {
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(line).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Object(fields) => {
            let fields = fields.iter();
            let fields = fields.map(|(name, value)| format!("\"{name}\": {}", line(value)));
            let fields: Vec<String> = fields.collect();
            format!("{{{}}}", fields.join(", "))
        }
        value => value.to_string(),
    }
}

/// The JSON of a value that begins at this column, with a line for each part of what is too long for one.
fn page(value: &Value, column: usize, indent: usize) -> String {
    let whole = line(value);
    // A comma may follow.
    if column + whole.chars().count() < WIDTH {
        return whole;
    }
    let space = " ".repeat(indent + 2);
    let (open, parts, close): (_, Vec<String>, _) = match value {
        Value::Array(items) => {
            let items = items.iter();
            let items = items.map(|item| page(item, indent + 2, indent + 2));
            ('[', items.collect(), ']')
        }
        Value::Object(fields) => {
            let fields = fields.iter();
            let fields = fields.map(|(name, value)| {
                let name = format!("\"{name}\": ");
                let value = page(value, indent + 2 + name.len(), indent + 2);
                format!("{name}{value}")
            });
            ('{', fields.collect(), '}')
        }
        _ => return whole,
    };
    let parts = parts.join(&format!(",\n{space}"));
    format!("{open}\n{space}{parts}\n{}{close}", " ".repeat(indent))
}
