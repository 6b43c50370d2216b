//! Countries and their subdivisions: references, and a join.

use odm::prelude::*;
use odm::relation::Resolved;

use crate::show::{self, Show, line};
use crate::source;

/// A country, by its two-letter code.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "countries")]
pub(crate) struct Country {
    #[serde(rename = "_id")]
    pub(crate) id: String,
    #[odm(unique)]
    pub(crate) alpha_3: String,
    pub(crate) name: String,
}

/// A part of a country, or of a larger part of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "subdivisions", index(kind, name))]
pub(crate) struct Subdivision {
    #[serde(rename = "_id")]
    pub(crate) id: String,
    pub(crate) name: String,
    #[serde(rename = "type")]
    pub(crate) kind: String,
    #[odm(index)]
    pub(crate) country: Ref<Country>,
    #[odm(index)]
    pub(crate) parent: Option<Ref<Subdivision>>,
}

/// Subdivisions with their countries: two commands, however many rows.
pub(crate) async fn join(db: &Db, show: &Show) -> odm::Result<()> {
    show.step("A join: two commands, however many rows");
    let (countries, subdivisions) = (db.collection::<Country>(), db.collection::<Subdivision>());
    let rows = source::subdivisions();
    show::stored("a subdivision", rows.first())?;
    countries.insert_many(source::countries()).await?;
    subdivisions.insert_many(&rows).await?;
    // Lost on purpose, so that something dangles.
    countries.delete_one(|country| country.id.eq("RS")).await?;
    show.commands();
    line("\nthe join:");
    let rows = subdivisions
        .find(|s| {
            s.kind.in_([
                "Autonomous province",
                "Autonomous republic",
                "Autonomous region",
            ])
        })
        .sort(|s| s.kind.asc().then(s.name.asc()))
        .join(|s| s.country)
        .all()
        .await?;
    show.commands();
    let lines: Vec<String> = rows
        .iter()
        .map(|row| {
            let country = match row.country() {
                Resolved::Found(country) => country.name.clone(),
                Resolved::Dangling(id) | Resolved::Excluded(id) => {
                    format!("no country {id}: the reference dangles")
                }
                Resolved::Absent => "no country".to_owned(),
            };
            format!("{:<6} {:<20} {:<26} {country}", row.id, row.kind, row.name)
        })
        .collect();
    show::answer(lines.join("\n"));
    line("");
    Ok(())
}
