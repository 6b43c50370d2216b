//! The page of `$bucket`: artists by the decade of their birth.

use odm::output;
use odm::pipeline::{Pipeline, pipeline};
use odm::prelude::*;

use super::sync;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "artists")]
pub(crate) struct Artist {
    #[serde(rename = "_id")]
    id: i32,
    last_name: String,
    first_name: String,
    year_born: i32,
    year_died: i32,
    nationality: String,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, Embedded)]
#[odm(result)]
pub(crate) struct BornIn {
    #[serde(rename = "_id")]
    decade: Option<i32>,
    count: i64,
    pub(crate) artists: Vec<Born>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, Embedded)]
pub(crate) struct Born {
    name: String,
    year_born: i32,
}

pub(crate) fn artists_by_decade() -> Pipeline<Artist, BornIn> {
    pipeline::<Artist>()
        .bucket(
            |a| a.year_born,
            [1840, 1850, 1860, 1870, 1880],
            |a, decade| {
                let name = a.first_name.expr().concat(" ").concat(a.last_name);
                output!(BornIn {
                    decade: decade.key(),
                    count: decade.count(),
                    artists: decade.push(output!(Born {
                        name: name,
                        year_born: a.year_born,
                    })),
                })
            },
        )
        .match_(|d| d.count.gt(3))
}

pub(crate) async fn store(db: &Db) -> odm::Result<()> {
    sync(db, models![Artist]).await?;
    let artist = |id, last: &str, first: &str, (born, died), from: &str| Artist {
        id,
        last_name: last.to_owned(),
        first_name: first.to_owned(),
        year_born: born,
        year_died: died,
        nationality: from.to_owned(),
    };
    let artists = [
        artist(1, "Bernard", "Emil", (1868, 1941), "France"),
        artist(2, "Rippl-Ronai", "Joszef", (1861, 1927), "Hungary"),
        artist(3, "Ostroumova", "Anna", (1871, 1955), "Russia"),
        artist(4, "Van Gogh", "Vincent", (1853, 1890), "Holland"),
        artist(5, "Maurer", "Alfred", (1868, 1932), "USA"),
        artist(6, "Munch", "Edvard", (1863, 1944), "Norway"),
        artist(7, "Redon", "Odilon", (1840, 1916), "France"),
    ];
    db.collection::<Artist>().insert_many(artists).await?;
    Ok(())
}
