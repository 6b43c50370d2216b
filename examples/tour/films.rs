//! Films: a plan, a bulk load, queries and a refusal.

use futures::TryStreamExt;
use indicatif::{ProgressBar, ProgressStyle};
use odm::plan::Plan;
use odm::prelude::*;

use crate::library::Book;
use crate::places::{Country, Subdivision};
use crate::show::{self, Show};
use crate::source;

/// A film as it is stored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(
    collection = "films",
    index(director, released = desc),
    index(imdb.rating = desc, title)
)]
pub(crate) struct Film {
    /// The line of the source file: its records have no id of their own.
    #[serde(rename = "_id")]
    pub(crate) id: i32,
    #[odm(length(min = 1))]
    pub(crate) title: String,
    pub(crate) released: DateTime,
    pub(crate) director: Option<String>,
    #[odm(one_of("G", "PG", "PG-13", "R", "NC-17", "Not Rated", "Open"))]
    pub(crate) rating: Option<String>,
    #[odm(range(min = 1))]
    pub(crate) minutes: Option<i32>,
    #[serde(rename = "grossUSD")]
    pub(crate) gross: Option<i64>,
    pub(crate) imdb: Option<Votes>,
}

/// What the public thought of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub(crate) struct Votes {
    #[odm(range(min = 0, max = 10))]
    pub(crate) rating: f64,
    #[odm(range(min = 1))]
    pub(crate) count: i32,
}

/// The part of a film that a list shows; its fields are checked against [`Film`]'s.
#[derive(Debug, Deserialize, Projection)]
#[odm(of = Film)]
struct Row {
    title: String,
    released: DateTime,
}

/// What is missing is shown, then made.
pub(crate) async fn plan_and_apply(db: &Db, show: &Show) -> odm::Result<()> {
    show.step("Plan and apply: collections, validators and indexes, from the structs");
    let sync = || db.sync(models![Film, Book, Country, Subdivision]);
    // What is shown must not depend on the database's name.
    let text = |plan: &Plan| {
        plan.to_string()
            .replacen(&format!("database {}", db.name()), "the database", 1)
    };
    let plan = sync().plan().await?;
    show.commands();
    show::answer(text(&plan));
    let applied = plan.apply(Allow::CREATE).await?;
    show.commands();
    show::answer(format!("{} steps done", applied.done().len()));
    let again = sync().plan().await?;
    show.commands();
    show::answer(format!("planned again: {}", text(&again)));
    Ok(())
}

/// The films are written in batches, under a progress bar.
pub(crate) async fn load(db: &Db, show: &Show) -> odm::Result<()> {
    const BATCH: usize = 100;
    show.step("A bulk load");
    let films = source::films();
    show::stored("a film", films.first())?;
    let bar = ProgressBar::new(films.len() as u64).with_style(
        ProgressStyle::with_template("{bar:40} {pos}/{len} films")
            .unwrap_or_else(|_| ProgressStyle::default_bar()),
    );
    let mut inserted = 0;
    for batch in films.chunks(BATCH) {
        inserted += db
            .collection::<Film>()
            .insert_many(batch)
            .ordered(false)
            .await?
            .inserted_ids
            .len();
        bar.inc(batch.len() as u64);
    }
    bar.finish_and_clear();
    show.commands();
    show::answer(format!("{inserted} films inserted"));
    Ok(())
}

/// Filters, sorts and projections name fields of the struct; the server says which index served them.
pub(crate) async fn query(db: &Db, show: &Show) -> odm::Result<()> {
    let films = db.collection::<Film>();

    show.step("A typed query: the newest films of a director");
    let newest = || {
        films
            .find(|film| film.director.eq("Steven Spielberg"))
            .sort(|film| film.released.desc())
            .limit(3)
    };
    let found = newest().all().await?;
    show.commands();
    for film in found {
        show::stored("a film that came back", &film)?;
    }
    let plan = newest().explain().await?;
    show.commands();
    show::answer(plan);

    show.step("Nested fields, into a struct of just what is needed");
    let film = films.get(&2).await?;
    show.commands();
    show::stored("a film", film)?;
    let best = || {
        films
            .find(|film| film.imdb.rating.gte(8.8) & film.imdb.count.gt(100_000))
            .sort(|film| film.imdb.rating.desc().then(film.title.asc()))
            .select::<Row>()
    };
    let mut rows = best().await?;
    let mut lines = Vec::new();
    while let Some(row) = rows.try_next().await? {
        let released = row.released.try_to_rfc3339_string().unwrap_or_default();
        lines.push(format!("{released} {}", row.title));
    }
    show.commands();
    show::answer(lines.join("\n"));
    let plan = best().explain().await?;
    show.commands();
    show::answer(plan);
    Ok(())
}

/// One record of the source has no title: the rule on the struct refuses it, on the server.
pub(crate) async fn refusal(db: &Db, show: &Show) -> odm::Result<()> {
    show.step("A validator's refusal: the film whose title is missing");
    let film = source::film_without_title();
    show::stored("the film", &film)?;
    match db.collection::<Film>().insert_one(&film).await {
        Ok(_) => show::answer("it was stored, which is wrong"),
        Err(error) => {
            show.commands();
            show::answer(&error);
        }
    }
    Ok(())
}
