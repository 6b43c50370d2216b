//! Reads the files in `examples/data`, and mends what is wrong with them.

use odm::prelude::*;
use serde::Deserialize;

use crate::films::{Film, Votes};
use crate::places::{Country, Subdivision};

/// A record of `films.json`, as it is.
#[derive(Deserialize)]
struct FilmRecord {
    /// Text, a number ("1776"), or nothing.
    #[serde(rename = "Title")]
    title: serde_json::Value,
    /// `Jun 12 1998`
    #[serde(rename = "Release Date")]
    released: String,
    #[serde(rename = "Director")]
    director: Option<String>,
    #[serde(rename = "MPAA Rating")]
    rating: Option<String>,
    #[serde(rename = "Running Time min")]
    minutes: Option<i32>,
    #[serde(rename = "US Gross")]
    gross: Option<i64>,
    #[serde(rename = "IMDB Rating")]
    imdb_rating: Option<f64>,
    #[serde(rename = "IMDB Votes")]
    imdb_votes: Option<i32>,
}

#[derive(Deserialize)]
struct SubdivisionRecord {
    code: String,
    name: String,
    #[serde(rename = "type")]
    kind: String,
    parent: Option<String>,
}

#[derive(Deserialize)]
struct CountryRecord {
    alpha_2: String,
    alpha_3: String,
    name: String,
}

/// The films that have a title.
pub(crate) fn films() -> Vec<Film> {
    all_films().filter(|film| !film.title.is_empty()).collect()
}

/// The one that has none.
pub(crate) fn film_without_title() -> Film {
    all_films()
        .find(|film| film.title.is_empty())
        .expect("films.json keeps it")
}

/// The countries.
pub(crate) fn countries() -> Vec<Country> {
    records::<CountryRecord>(include_str!("../data/countries.json"))
        .map(|record| Country {
            id: record.alpha_2,
            alpha_3: record.alpha_3,
            name: record.name,
        })
        .collect()
}

/// The subdivisions; a code begins with that of its country.
pub(crate) fn subdivisions() -> Vec<Subdivision> {
    records::<SubdivisionRecord>(include_str!("../data/subdivisions.json"))
        .map(|record| Subdivision {
            country: Ref::from(
                record
                    .code
                    .chars()
                    .take_while(|c| *c != '-')
                    .collect::<String>(),
            ),
            id: record.code,
            name: record.name,
            kind: record.kind,
            parent: record.parent.map(Ref::from),
        })
        .collect()
}

fn all_films() -> impl Iterator<Item = Film> {
    records(include_str!("../data/films.json"))
        .zip(2..)
        .map(|(record, line)| film(record, line))
}

fn film(record: FilmRecord, line: i32) -> Film {
    Film {
        id: line,
        title: match record.title {
            serde_json::Value::String(title) => title,
            serde_json::Value::Null => String::new(),
            number => number.to_string(),
        },
        released: date(&record.released),
        director: record.director,
        rating: record.rating,
        minutes: record.minutes,
        gross: record.gross,
        imdb: record
            .imdb_rating
            .zip(record.imdb_votes)
            .map(|(rating, count)| Votes { rating, count }),
    }
}

/// Midnight UTC of `Jun 12 1998`. The source once had two digits for a year, so dates after it was made,
/// in 2010, are a century late.
fn date(text: &str) -> DateTime {
    const MONTHS: [&str; 12] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ];
    let mut parts = text.split(' ');
    let mut part = || parts.next().unwrap_or_default();
    let (month, day, year) = (part(), part(), part());
    let month = MONTHS
        .iter()
        .zip(1..)
        .find(|(name, _)| **name == month)
        .map_or(1, |(_, at)| at);
    let year: i32 = year.parse().unwrap_or(1970);
    DateTime::builder()
        .year(if year > 2010 { year - 100 } else { year })
        .month(month)
        .day(day.parse().unwrap_or(1))
        .build()
        .expect("a day of the calendar")
}

fn records<R: for<'de> Deserialize<'de>>(json: &str) -> impl Iterator<Item = R> {
    serde_json::from_str::<Vec<R>>(json)
        .expect("the shipped files are well-formed")
        .into_iter()
}

#[cfg(test)]
mod tests {
    use super::{all_films, date, films, subdivisions};

    #[test]
    fn what_is_wrong_with_the_films_is_mended() {
        assert_eq!(all_films().count(), 300);
        assert_eq!(films().len(), 299);
        assert!(films().iter().any(|film| film.title == "1776"));
        assert!(
            films()
                .iter()
                .all(|film| film.released <= date("Dec 31 2010"))
        );
        assert_eq!(date("Feb 08 2015"), date("Feb 08 1915"));
    }

    #[test]
    fn a_code_names_its_country() {
        assert!(subdivisions().iter().all(|s| s.country.id().len() == 2));
    }
}
