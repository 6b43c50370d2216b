//! The page of `$graphLookup`: employees, each with the name of a superior.

use odm::output;
use odm::pipeline::{Pipeline, pipeline};
use odm::prelude::*;

use super::sync;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[serde(rename_all = "camelCase")]
#[odm(collection = "employees")]
pub(crate) struct Employee {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(unique)]
    name: String,
    #[odm(refers_to(Employee, by = name))]
    reports_to: Option<String>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, Embedded)]
#[serde(rename_all = "camelCase")]
#[odm(result)]
pub(crate) struct Superiors {
    #[serde(rename = "_id")]
    id: i32,
    name: String,
    pub(crate) reporting_hierarchy: Vec<Employee>,
}

pub(crate) fn reporting_hierarchies() -> Pipeline<Employee, Superiors> {
    pipeline::<Employee>()
        .graph_lookup(|e| e.reports_to)
        .project(|(e, superiors)| {
            output!(Superiors {
                id: e.id,
                name: e.name,
                reporting_hierarchy: superiors,
            })
        })
}

pub(crate) async fn store(db: &Db) -> odm::Result<()> {
    sync(db, models![Employee]).await?;
    let employee = |id, name: &str, reports_to: Option<&str>| Employee {
        id,
        name: name.to_owned(),
        reports_to: reports_to.map(str::to_owned),
    };
    let employees = [
        employee(1, "Dev", None),
        employee(2, "Eliot", Some("Dev")),
        employee(3, "Ron", Some("Eliot")),
        employee(4, "Andrew", Some("Eliot")),
        employee(5, "Asya", Some("Ron")),
        employee(6, "Dan", Some("Andrew")),
    ];
    db.collection::<Employee>().insert_many(employees).await?;
    Ok(())
}
