//! The subset pattern, which both models declare.

use odm::bson::doc;
use odm::model::{Document as _, InverseKind, RelationMeta};
use odm::prelude::*;

use super::relations::watched;
use crate::case::cases;

cases![
    a_subset_and_its_rest_are_one_write,
    a_subset_and_its_rest_share_an_id,
    a_rest_of_another_document_is_refused,
    joint_writes_in_sessions,
    both_sides_are_in_the_metadata,
];

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "movie", subset(details: MovieDetails, by = movie), subset(rights: Rights, by = movie))]
struct Movie {
    #[serde(rename = "_id")]
    id: i32,
    title: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "movie_details")]
struct MovieDetails {
    #[serde(rename = "_id")]
    id: i32,
    #[serde(rename = "movie_id")]
    #[odm(unique, rest_of = details)]
    movie: Ref<Movie>,
    fullplot: String,
}

/// Has the id of its movie.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "rights")]
struct Rights {
    #[serde(rename = "_id")]
    #[odm(rest_of = rights)]
    movie: Ref<Movie>,
    owner: String,
}

fn movie(id: i32) -> Movie {
    Movie {
        id,
        title: "The Arrival of a Train".to_owned(),
    }
}

fn details(id: i32, movie: i32) -> MovieDetails {
    MovieDetails {
        id,
        movie: Ref::from(movie),
        fullplot: "…".to_owned(),
    }
}

async fn cinema(db: &Db) -> Collection<Movie> {
    db.sync(models![Movie, MovieDetails, Rights])
        .plan()
        .await
        .unwrap()
        .apply(Allow::CREATE)
        .await
        .unwrap();
    db.collection::<Movie>()
}

async fn counts(db: &Db) -> (u64, u64) {
    let movies = db.collection::<Movie>().count_documents(|_| Filter::all());
    let details = db.collection::<MovieDetails>();
    let details = details.count_documents(|_| Filter::all());
    (movies.await.unwrap(), details.await.unwrap())
}

async fn a_subset_and_its_rest_are_one_write(db: &Db) {
    let movies = cinema(db).await;
    let done = movies
        .insert_with_rest(movie(1), |m| m.details, details(156, 1))
        .await
        .unwrap();
    assert_eq!((done.inserted_id, done.rest_id), (1, 156));
    // The rest is inserted first, so the duplicate movie undoes it.
    let error = movies
        .insert_with_rest(movie(1), |m| m.details, details(157, 1))
        .await
        .unwrap_err();
    assert!(error.is_duplicate_key(), "{error}");
    let rest = db.collection::<MovieDetails>();
    rest.delete_one(|d| d.id.eq(156)).await.unwrap();
    let error = movies
        .insert_with_rest(movie(1), |m| m.details, details(157, 1))
        .await
        .unwrap_err();
    assert!(error.is_duplicate_key(), "{error}");
    assert_eq!(error.model(), Some("Movie"));
    assert_eq!(counts(db).await, (1, 0));
    rest.insert_one(details(158, 1)).await.unwrap();
    let row = movies.get(&1).join(|m| m.details).await.unwrap().unwrap();
    assert_eq!(row.details().as_ref().map(|rest| rest.id), Some(158));
    let deleted = movies.delete_with_rest(&1, |m| m.details).await.unwrap();
    assert_eq!((deleted.deleted, deleted.deleted_rest), (1, 1));
    let deleted = movies.delete_with_rest(&1, |m| m.details).await.unwrap();
    assert_eq!((deleted.deleted, deleted.deleted_rest), (0, 0));
}

async fn a_subset_and_its_rest_share_an_id(db: &Db) {
    let movies = cinema(db).await;
    let rights = Rights {
        movie: Ref::from(7),
        owner: "Lumière".to_owned(),
    };
    let done = movies
        .insert_with_rest(movie(7), |m| m.rights, &rights)
        .await
        .unwrap();
    assert_eq!(done.rest_id, Ref::from(7));
    let (db, sent) = watched(db);
    let movies = db.collection::<Movie>();
    let row = movies.get(&7).join(|m| m.rights).await.unwrap().unwrap();
    assert_eq!(row.rights().as_deref(), Some(&rights));
    assert_eq!(
        sent.lock().unwrap()[1],
        doc! {"find": "rights", "filter": {"_id": {"$in": [7]}}}
    );
    let row = db
        .collection::<Rights>()
        .get(&Ref::<Movie>::from(7))
        .join(|r| r.movie)
        .await;
    assert_eq!(row.unwrap().unwrap().movie().found(), Some(&movie(7)));
    let deleted = movies.delete_with_rest(&7, |m| m.rights).await.unwrap();
    assert_eq!((deleted.deleted, deleted.deleted_rest), (1, 1));
}

async fn a_rest_of_another_document_is_refused(db: &Db) {
    let movies = cinema(db).await;
    let error = movies
        .insert_with_rest(movie(1), |m| m.details, details(156, 2))
        .non_atomic()
        .await
        .unwrap_err();
    assert!(error.is_usage(), "{error}");
    assert_eq!(
        (error.model(), error.path()),
        (Some("MovieDetails"), Some("movie_id"))
    );
    assert_eq!(counts(db).await, (0, 0));
}

async fn joint_writes_in_sessions(db: &Db) {
    let movies = cinema(db).await;
    let mut session = db.start_session().await.unwrap();
    let refused = movies
        .insert_with_rest(movie(1), |m| m.details, details(156, 1))
        .session(&mut session)
        .await
        .unwrap_err();
    assert!(
        refused.is_usage() && refused.to_string().contains("non_atomic"),
        "{refused}"
    );
    session.start_transaction().await.unwrap();
    movies
        .insert_with_rest(movie(1), |m| m.details, details(156, 1))
        .session(&mut session)
        .await
        .unwrap();
    assert_eq!(counts(db).await, (0, 0));
    session.abort_transaction().await.unwrap();
    assert_eq!(counts(db).await, (0, 0));
    movies
        .insert_with_rest(movie(1), |m| m.details, details(156, 1))
        .session(&mut session)
        .non_atomic()
        .await
        .unwrap();
    movies
        .insert_with_rest(movie(2), |m| m.details, details(157, 2))
        .non_atomic()
        .await
        .unwrap();
    movies.delete_one(|m| m.id.eq(1)).await.unwrap();
    let deleted = movies
        .delete_with_rest(&1, |m| m.details)
        .non_atomic()
        .await
        .unwrap();
    assert_eq!((deleted.deleted, deleted.deleted_rest), (0, 1));
    assert_eq!(counts(db).await, (1, 1));
}

async fn both_sides_are_in_the_metadata(_db: &Db) {
    let mut relations = Movie::model().relations().iter();
    let subset = relations.find_map(RelationMeta::as_inverse).unwrap();
    assert_eq!(subset.kind, InverseKind::Rest);
    assert_eq!((subset.by, subset.key), (&["movie"][..], &["id"][..]));
}
