//! A film as JSON stores it.

use odm::prelude::{Deserialize, Serialize};

use crate::film::{Awards, Film, Votes};

film! {
    /// As JSON stores it.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    FilmText, String, i64
}

impl From<&Film> for FilmText {
    fn from(film: &Film) -> Self {
        let film = film.clone();
        Self {
            id: film.id.to_hex(),
            title: film.title,
            rank: film.rank,
            plot: film.plot,
            genres: film.genres,
            directors: film.directors,
            writers: film.writers,
            cast: film.cast,
            countries: film.countries,
            languages: film.languages,
            released: film.released.timestamp_millis(),
            year: film.year,
            minutes: film.minutes,
            rated: film.rated,
            distributor: film.distributor,
            studio: film.studio.to_hex(),
            gross: film.gross,
            budget: film.budget,
            imdb: film.imdb,
            awards: film.awards,
            views: film.views,
            updated: film.updated.timestamp_millis(),
        }
    }
}
