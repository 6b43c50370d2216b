//! A movie: whole, and split from its details by the subset pattern.

use odm::prelude::*;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "movie", subset(details: MovieDetails, by = movie))]
pub(crate) struct Movie {
    #[serde(rename = "_id")]
    id: i32,
    title: String,
    year: i32,
    runtime: i32,
    released: DateTime,
    #[serde(rename = "type")]
    kind: String,
    directors: Vec<String>,
    countries: Vec<String>,
    genres: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "movie_details")]
pub(crate) struct MovieDetails {
    #[serde(rename = "_id")]
    id: i32,
    #[serde(rename = "movie_id")]
    #[odm(unique, rest_of = details)]
    movie: Ref<Movie>,
    poster: String,
    plot: String,
    fullplot: String,
    lastupdated: DateTime,
    imdb: Imdb,
    tomatoes: Tomatoes,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
struct Imdb {
    rating: f64,
    votes: i32,
    id: i32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
#[serde(rename_all = "camelCase")]
struct Tomatoes {
    viewer: Viewer,
    last_updated: DateTime,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
#[serde(rename_all = "camelCase")]
struct Viewer {
    rating: f64,
    num_reviews: i32,
}

fn imdb() -> Imdb {
    Imdb {
        rating: 7.3,
        votes: 5043,
        id: 12,
    }
}

fn tomatoes(last_updated: &str) -> Tomatoes {
    Tomatoes {
        viewer: Viewer {
            rating: 3.7,
            num_reviews: 59,
        },
        last_updated: crate::examples::date(last_updated),
    }
}

pub(crate) async fn store(db: &Db) -> odm::Result<()> {
    crate::examples::sync(db, models![Movie, MovieDetails]).await?;
    let movie = Movie {
        id: 1,
        title: "The Arrival of a Train".to_owned(),
        year: 1896,
        runtime: 1,
        released: crate::examples::date("1896-01-25T00:00:00Z"),
        kind: "movie".to_owned(),
        directors: ["Auguste Lumière", "Louis Lumière"]
            .map(str::to_owned)
            .to_vec(),
        countries: vec!["France".to_owned()],
        genres: ["Documentary", "Short"].map(str::to_owned).to_vec(),
    };
    let details = MovieDetails {
        id: 156,
        movie: Ref::to(&movie),
        poster: "…".to_owned(),
        plot: "…".to_owned(),
        fullplot: "…".to_owned(),
        lastupdated: crate::examples::date("2015-08-15T10:06:53Z"),
        imdb: imdb(),
        tomatoes: tomatoes("2020-01-29T00:02:53Z"),
    };
    let movies = db.collection::<Movie>();
    movies
        .insert_with_rest(&movie, |m| m.details, &details)
        .await?;
    Ok(())
}

pub(super) async fn join(db: &Db) -> odm::Result<Vec<String>> {
    let mut lines = Vec::new();
    let movies = db.collection::<Movie>();
    if let Some(row) = movies.get(&1).join(|m| m.details).await? {
        let rating = row.details().as_ref().map_or(0.0, |rest| rest.imdb.rating);
        lines.push(format!("{} ({}) is rated {rating}", row.title, row.year));
    }
    let details = db.collection::<MovieDetails>();
    for row in details
        .find(|d| d.imdb.rating.gt(7.0))
        .join(|d| d.movie)
        .all()
        .await?
    {
        let title = row.movie().found().map_or("unknown", |movie| &movie.title);
        lines.push(format!("the details {} are those of {title}", row.id));
    }
    Ok(lines)
}

pub(crate) mod whole {
    use odm::prelude::*;

    use super::{Imdb, Tomatoes, imdb, tomatoes};

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[odm(collection = "movie")]
    struct Movie {
        #[serde(rename = "_id")]
        id: i32,
        title: String,
        year: i32,
        runtime: i32,
        released: DateTime,
        poster: String,
        plot: String,
        fullplot: String,
        lastupdated: DateTime,
        #[serde(rename = "type")]
        kind: String,
        directors: Vec<String>,
        imdb: Imdb,
        countries: Vec<String>,
        genres: Vec<String>,
        tomatoes: Tomatoes,
    }

    /// What an overview shows: mongod still reads the whole movie, but sends only this.
    #[derive(Debug, Clone, PartialEq, Deserialize, Projection)]
    #[odm(of = Movie)]
    struct Overview {
        title: String,
        year: i32,
    }

    pub(crate) async fn store(db: &Db) -> odm::Result<()> {
        crate::examples::sync(db, models![Movie]).await?;
        let movie = Movie {
            id: 1,
            title: "The Arrival of a Train".to_owned(),
            year: 1896,
            runtime: 1,
            released: crate::examples::date("1896-01-25T00:00:00Z"),
            poster: "…".to_owned(),
            plot: "…".to_owned(),
            fullplot: "…".to_owned(),
            lastupdated: crate::examples::date("2015-08-15T10:06:53Z"),
            kind: "movie".to_owned(),
            directors: ["Auguste Lumière", "Louis Lumière"]
                .map(str::to_owned)
                .to_vec(),
            imdb: imdb(),
            countries: vec!["France".to_owned()],
            genres: ["Documentary", "Short"].map(str::to_owned).to_vec(),
            tomatoes: tomatoes("2020-01-09T00:02:53Z"),
        };
        db.collection::<Movie>().insert_one(&movie).await?;
        Ok(())
    }

    pub(crate) async fn join(db: &Db) -> odm::Result<Vec<String>> {
        let mut lines = Vec::new();
        let movies = db.collection::<Movie>();
        for movie in movies.find_all().select::<Overview>().all().await? {
            lines.push(format!("{} ({})", movie.title, movie.year));
        }
        if let Some(movie) = movies.get(&1).await? {
            lines.push(format!("{} is rated {}", movie.title, movie.imdb.rating));
        }
        Ok(lines)
    }
}
