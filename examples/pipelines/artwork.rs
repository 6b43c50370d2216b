//! The page of `$facet`: works of art by tags, by prices and by years.

use odm::pipeline::{Bounds, Pipeline, ValueCount, pipeline};
use odm::prelude::*;
use odm::{facets, output};

use super::{owned, sync};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "artwork")]
pub(crate) struct Artwork {
    #[serde(rename = "_id")]
    id: i32,
    title: String,
    artist: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    year: Option<i32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    price: Option<f64>,
    tags: Vec<String>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, Embedded)]
#[odm(result)]
pub(crate) struct Categories {
    #[serde(rename = "categorizedByTags")]
    pub(crate) tags: Vec<ValueCount<String>>,
    #[serde(rename = "categorizedByPrice")]
    pub(crate) prices: Vec<Prices>,
    #[serde(rename = "categorizedByYears(Auto)")]
    years: Vec<Years>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, Embedded)]
pub(crate) struct Prices {
    #[serde(rename = "_id")]
    from: Option<f64>,
    count: i64,
    pub(crate) titles: Vec<String>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, Embedded)]
struct Years {
    #[serde(rename = "_id")]
    years: Bounds<Option<i32>>,
    count: i64,
}

pub(crate) fn artwork_by_categories() -> Pipeline<Artwork, Categories> {
    pipeline::<Artwork>().facet(|artwork| {
        facets!(Categories {
            tags: artwork.clone().unwind(|a| a.tags).count_by(|(_, tag)| tag),
            prices: artwork.clone().match_(|a| a.price.exists(true)).bucket(
                |a| a.price,
                [0, 150, 200, 300, 400],
                |a, price| {
                    output!(Prices {
                        from: price.key(),
                        count: price.count(),
                        titles: price.push(a.title),
                    })
                },
            ),
            years: artwork.bucket_auto(
                |a| a.year,
                4,
                |_, years| {
                    output!(Years {
                        years: years.key().expr(),
                        count: years.count(),
                    })
                },
            ),
        })
    })
}

pub(crate) async fn store(db: &Db) -> odm::Result<()> {
    sync(db, models![Artwork]).await?;
    let artwork = |id, title: &str, artist: &str, (year, price), tags: &[&str]| Artwork {
        id,
        title: title.to_owned(),
        artist: artist.to_owned(),
        year,
        price,
        tags: owned(tags),
    };
    let (pillars, melancholy) = ("The Pillars of Society", "Melancholy III");
    let (wave, memory) = ("The Great Wave off Kanagawa", "The Persistence of Memory");
    let (painting, oil) = ("painting", "oil");
    let works = [
        artwork(1, pillars, "Grosz", (Some(1926), Some(199.99)), &[painting]),
        artwork(
            2,
            melancholy,
            "Munch",
            (Some(1902), Some(280.0)),
            &["woodcut"],
        ),
        artwork(
            3,
            "Dancer",
            "Miro",
            (Some(1925), Some(76.04)),
            &[oil, painting],
        ),
        artwork(4, wave, "Hokusai", (None, Some(167.3)), &["woodblock"]),
        artwork(
            5,
            memory,
            "Dali",
            (Some(1931), Some(483.0)),
            &[painting, oil],
        ),
        artwork(
            6,
            "Composition VII",
            "Kandinsky",
            (Some(1913), Some(385.0)),
            &[oil],
        ),
        artwork(
            7,
            "The Scream",
            "Munch",
            (Some(1893), None),
            &[painting, oil],
        ),
        artwork(
            8,
            "Blue Flower",
            "O'Keefe",
            (Some(1918), Some(118.42)),
            &[painting],
        ),
    ];
    db.collection::<Artwork>().insert_many(works).await?;
    Ok(())
}
