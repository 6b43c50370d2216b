//! Pipelines of MongoDB's manual: for each, the models, a few documents, and a function that builds it.
//!
//! Collections and fields have the names of the manual.

pub(crate) mod artists;
pub(crate) mod artwork;
pub(crate) mod books;
pub(crate) mod budgets;
pub(crate) mod cakes;
pub(crate) mod classes;
pub(crate) mod clothing;
pub(crate) mod deliveries;
pub(crate) mod employees;
pub(crate) mod grades;
pub(crate) mod inventory;
pub(crate) mod items;
pub(crate) mod people;
pub(crate) mod places;
pub(crate) mod restaurants;
pub(crate) mod sales;
pub(crate) mod stationery;
pub(crate) mod years;

use odm::bson::Decimal128;
use odm::prelude::*;

/// Creates the collections, the validators and the indexes of models.
async fn sync(
    db: &Db,
    models: impl IntoIterator<Item = &'static odm::model::ModelMeta>,
) -> odm::Result<()> {
    db.sync(models).plan().await?.apply(Allow::CREATE).await?;
    Ok(())
}

/// A date, as RFC 3339 writes it.
fn date(text: &str) -> DateTime {
    DateTime::parse_rfc3339_str(text).unwrap_or(DateTime::MIN)
}

/// A decimal, as JSON writes a number.
fn decimal(text: &str) -> Decimal128 {
    text.parse()
        .unwrap_or_else(|_| Decimal128::from_bytes([0; 16]))
}

fn owned(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}
