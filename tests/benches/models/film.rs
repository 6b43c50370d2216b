//! A realistic document: a film of 22 fields and about 1 KB, with an `ObjectId`, dates, arrays and documents.
//!
//! What is known of a film comes from `examples/data/films.json`; the rest is made up from its number, so that every
//! run stores the same bytes.

use odm::prelude::*;

/// The fields of a film. The identifier and the dates are parameters: JSON has no words of its own for either.
macro_rules! film {
    ($(#[$attribute:meta])* $film:ident, $id:ty, $date:ty) => {
        $(#[$attribute])*
        pub(crate) struct $film {
            #[serde(rename = "_id")]
            pub(crate) id: $id,
            pub(crate) title: String,
            pub(crate) rank: i32,
            pub(crate) plot: String,
            pub(crate) genres: Vec<String>,
            pub(crate) directors: Vec<String>,
            pub(crate) writers: Vec<String>,
            pub(crate) cast: Vec<String>,
            pub(crate) countries: Vec<String>,
            pub(crate) languages: Vec<String>,
            pub(crate) released: $date,
            pub(crate) year: i32,
            pub(crate) minutes: Option<i32>,
            pub(crate) rated: Option<String>,
            pub(crate) distributor: Option<String>,
            pub(crate) studio: $id,
            pub(crate) gross: i64,
            pub(crate) budget: f64,
            pub(crate) imdb: Votes,
            pub(crate) awards: Awards,
            pub(crate) views: i32,
            pub(crate) updated: $date,
        }
    };
}

film! {
    /// As MongoDB stores it.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[odm(collection = "films", index(rank))]
    Film, ObjectId, DateTime
}

/// What the public thought of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub(crate) struct Votes {
    #[odm(range(min = 0, max = 10))]
    pub(crate) rating: f64,
    #[odm(range(min = 0))]
    pub(crate) count: i32,
}

/// What the juries thought of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub(crate) struct Awards {
    pub(crate) wins: i32,
    pub(crate) nominations: i32,
    #[odm(length(max = 200))]
    pub(crate) text: String,
}

/// What films are made of: a record of `films.json`.
#[derive(Deserialize)]
struct Known {
    #[serde(rename = "Title")]
    title: serde_json::Value,
    #[serde(rename = "Release Date")]
    released: String,
    #[serde(rename = "Director")]
    director: Option<String>,
    #[serde(rename = "Distributor")]
    distributor: Option<String>,
    #[serde(rename = "Major Genre")]
    genre: Option<String>,
    #[serde(rename = "MPAA Rating")]
    rated: Option<String>,
    #[serde(rename = "Running Time min")]
    minutes: Option<i32>,
    #[serde(rename = "US Gross")]
    gross: Option<i64>,
    #[serde(rename = "IMDB Rating")]
    rating: Option<f64>,
    #[serde(rename = "IMDB Votes")]
    votes: Option<i32>,
}

/// The source of films.
pub(crate) struct Films {
    known: Vec<Known>,
    people: Vec<String>,
}

impl Films {
    pub(crate) fn new() -> Self {
        let text = include_str!("../../../examples/data/films.json");
        let known: Vec<Known> = serde_json::from_str(text).unwrap();
        let people = known.iter().filter_map(|film| film.director.clone());
        let people = people.collect();
        Self { known, people }
    }

    fn person(&self, number: i64) -> String {
        let at = usize::try_from(number).unwrap() % self.people.len();
        self.people[at].clone()
    }

    fn people(&self, from: i64, count: i64) -> Vec<String> {
        (0..count).map(|n| self.person(from * 31 + n * 7)).collect()
    }

    /// The film of a number, of which there are about `count`. Ranks are a permutation of the numbers below `count`.
    pub(crate) fn film(&self, number: i64, count: i64) -> Film {
        const DAY: i64 = 86_400_000;
        let known = &self.known[usize::try_from(number).unwrap() % self.known.len()];
        let title = match &known.title {
            serde_json::Value::String(title) => title.clone(),
            other => other.to_string(),
        };
        let year = known.released.rsplit(' ').next();
        let year = year.and_then(|year| year.parse().ok()).unwrap_or(2000);
        let director = known.director.clone();
        let genre = known.genre.clone().unwrap_or_else(|| "Drama".to_owned());
        let rank = if number < count {
            number * 7919 % count
        } else {
            number
        };
        let plot = "Two strangers meet where they least expect it, and what one of them hides changes what both believe. ";
        Film {
            id: object_id(number),
            title,
            rank: i32::try_from(rank).unwrap(),
            plot: plot.repeat(3),
            genres: vec![genre, "Feature".to_owned()],
            directors: director.into_iter().collect(),
            writers: self.people(number, 2),
            cast: self.people(number + 5, 4),
            countries: vec!["USA".to_owned()],
            languages: vec!["English".to_owned(), "French".to_owned()],
            released: DateTime::from_millis(i64::from(year - 1970) * 365 * DAY),
            year,
            minutes: known.minutes,
            rated: known.rated.clone(),
            distributor: known.distributor.clone(),
            studio: object_id(number % 97),
            gross: known.gross.unwrap_or_default(),
            budget: f64::from(i32::try_from(number * 31_337 % 1_000_003).unwrap()) / 10.0,
            imdb: Votes {
                rating: known.rating.unwrap_or(5.0),
                count: known.votes.unwrap_or_default(),
            },
            awards: Awards {
                wins: 2,
                nominations: 5,
                text: "2 wins & 5 nominations.".to_owned(),
            },
            views: 10,
            updated: DateTime::from_millis(1_700_000_000_000 + number),
        }
    }
}

/// The identifier of a number.
pub(crate) fn object_id(number: i64) -> ObjectId {
    let mut bytes = [0x65; 12];
    bytes[4..].copy_from_slice(&number.to_be_bytes());
    ObjectId::from_bytes(bytes)
}
