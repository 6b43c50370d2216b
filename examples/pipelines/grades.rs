//! The page of `$switch`: a summary of scores.

use odm::expr::cases;
use odm::output;
use odm::pipeline::{Pipeline, pipeline};
use odm::prelude::*;

use super::sync;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "grades")]
pub(crate) struct Grades {
    #[serde(rename = "_id")]
    id: i32,
    name: String,
    scores: Vec<i32>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, Embedded)]
pub(crate) struct Graded {
    #[serde(rename = "_id")]
    id: i32,
    name: String,
    summary: String,
}

pub(crate) fn summaries() -> Pipeline<Grades, Graded> {
    pipeline::<Grades>().project(|g| {
        let mean = || g.scores.expr().avg();
        let summary = cases(mean().gte(90), "Doing great!")
            .case(mean().gte(80) & mean().lt(90), "Doing pretty well.")
            .case(mean().lt(80), "Needs improvement.")
            .otherwise("No scores found.");
        output!(Graded {
            id: g.id,
            name: g.name,
            summary: summary,
        })
    })
}

pub(crate) async fn store(db: &Db) -> odm::Result<()> {
    sync(db, models![Grades]).await?;
    let grades = |id, name: &str, scores: [i32; 3]| Grades {
        id,
        name: name.to_owned(),
        scores: scores.to_vec(),
    };
    let all = [
        grades(1, "Susan Wilkes", [87, 86, 78]),
        grades(2, "Bob Hanna", [71, 64, 81]),
        grades(3, "James Torrelio", [91, 84, 97]),
    ];
    db.collection::<Grades>().insert_many(all).await?;
    Ok(())
}
