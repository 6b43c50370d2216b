//! The page of `$merge`: the sums of salaries, kept as a collection.

use odm::output;
use odm::pipeline::{WhenMatched, WhenNotMatched, Written, pipeline};
use odm::prelude::*;

use super::sync;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "salaries")]
pub(crate) struct Payment {
    #[serde(rename = "_id")]
    id: i32,
    employee: String,
    dept: String,
    /// The sum of `i32`s is an `i32`, which the validator of `Budget` refuses.
    salary: i64,
    fiscal_year: i32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "budgets")]
pub(crate) struct Budget {
    #[serde(rename = "_id")]
    of: BudgetOf,
    salaries: i64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub(crate) struct BudgetOf {
    fiscal_year: i32,
    dept: String,
}

pub(crate) fn write_budgets() -> Written<Payment> {
    pipeline::<Payment>()
        .group_by(
            |s| {
                output!(BudgetOf {
                    fiscal_year: s.fiscal_year,
                    dept: s.dept,
                })
            },
            |s, budget| {
                output!(Budget {
                    of: budget.key().expr(),
                    salaries: budget.sum(s.salary),
                })
            },
        )
        .merge(WhenMatched::Replace(WhenNotMatched::Insert))
}

pub(crate) async fn store(db: &Db) -> odm::Result<()> {
    sync(db, models![Payment, Budget]).await?;
    let salary = |id, employee: &str, dept: &str, salary, fiscal_year| Payment {
        id,
        employee: employee.to_owned(),
        dept: dept.to_owned(),
        salary,
        fiscal_year,
    };
    let salaries = [
        salary(1, "Ant", "A", 100_000, 2017),
        salary(2, "Bee", "A", 120_000, 2017),
        salary(3, "Cat", "Z", 115_000, 2017),
        salary(4, "Ant", "A", 115_000, 2018),
        salary(5, "Bee", "Z", 145_000, 2018),
        salary(6, "Cat", "Z", 125_000, 2018),
    ];
    db.collection::<Payment>().insert_many(salaries).await?;
    Ok(())
}
