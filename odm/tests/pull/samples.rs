//! Models of existing collections, pulled by odm.

use odm::bson;
use odm::prelude::*;

/// A document of `countries`: 11 of 11 were read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "countries")]
pub struct Country {
    /// In none of the documents that were read.
    #[serde(rename = "_id")]
    pub id: Id<Country>,
    /// string 100 %.
    pub alpha_2: String,
    /// string 100 %.
    pub alpha_3: String,
    /// string 100 %.
    pub name: String,
}

/// A document of `films`: 300 of 300 were read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "films")]
pub struct Film {
    /// In none of the documents that were read.
    #[serde(rename = "_id")]
    pub id: Id<Film>,
    /// string 96.7 %, int 3 %, null 0.3 %.
    #[serde(rename = "Title")]
    pub title: bson::Bson,
    /// string 100 %.
    #[serde(rename = "Release Date")]
    pub release_date: String,
    /// string 92 %, null 8 %.
    #[serde(rename = "Director")]
    pub director: Option<String>,
    /// string 94.7 %, null 5.3 %.
    #[serde(rename = "Distributor")]
    pub distributor: Option<String>,
    /// string 93.7 %, null 6.3 %.
    #[serde(rename = "Major Genre")]
    pub major_genre: Option<MajorGenre>,
    /// string 81 %, null 19 %.
    #[serde(rename = "MPAA Rating")]
    pub mpaa_rating: Option<MpaaRating>,
    /// int 55 %, null 45 %.
    #[serde(rename = "Running Time min")]
    pub running_time_min: Option<i32>,
    /// int 97.7 %, null 2.3 %.
    #[serde(rename = "US Gross")]
    pub us_gross: Option<i32>,
    /// double 86.7 %, int 11.3 %, null 2 %.
    #[serde(rename = "IMDB Rating")]
    pub imdb_rating: Option<f64>,
    /// int 98 %, null 2 %.
    #[serde(rename = "IMDB Votes")]
    pub imdb_votes: Option<i32>,
}

/// A document of `subdivisions`: 326 of 326 were read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "subdivisions")]
pub struct Subdivision {
    /// In none of the documents that were read.
    #[serde(rename = "_id")]
    pub id: Id<Subdivision>,
    /// string 100 %.
    pub code: String,
    /// string 100 %.
    pub name: String,
    /// absent 60.7 %, string 39.3 %.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// string 100 %.
    pub r#type: String,
}

/// A string in `films.Major Genre`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, Embedded)]
pub enum MajorGenre {
    /// 24.2 % of the strings.
    Action,
    /// 17.4 % of the strings.
    Adventure,
    /// 2.1 % of the strings.
    #[serde(rename = "Black Comedy")]
    BlackComedy,
    /// 12.1 % of the strings.
    Comedy,
    /// 28.1 % of the strings.
    Drama,
    /// 4.3 % of the strings.
    Horror,
    /// 1.8 % of the strings.
    Musical,
    /// 1.8 % of the strings.
    #[serde(rename = "Romantic Comedy")]
    RomanticComedy,
    /// 7.8 % of the strings.
    #[serde(rename = "Thriller/Suspense")]
    ThrillerSuspense,
    /// 0.4 % of the strings.
    Western,
}

/// A string in `films.MPAA Rating`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, Embedded)]
pub enum MpaaRating {
    /// 3.3 % of the strings.
    G,
    /// 1.2 % of the strings.
    #[serde(rename = "Not Rated")]
    NotRated,
    /// 0.4 % of the strings.
    Open,
    /// 7.4 % of the strings.
    #[serde(rename = "PG")]
    Pg,
    /// 37.4 % of the strings.
    #[serde(rename = "PG-13")]
    Pg13,
    /// 50.2 % of the strings.
    R,
}
