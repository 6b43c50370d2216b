//! Relations that both models declare: the subset pattern, and lists of the newest documents.

use odm::bson::Bson;
use odm::bson::doc;
use odm::model::{CounterpartKind, Document as _, InverseKind, RelationMeta};
use odm::prelude::*;

use super::relations::watched;
use crate::case::cases;

cases![
    a_subset_and_its_rest_are_one_write,
    a_subset_and_its_rest_share_an_id,
    a_rest_of_another_document_is_refused,
    joint_writes_in_sessions,
    lists_keep_the_newest,
    lists_of_several_parents,
    a_list_of_a_missing_document_is_counted,
    concurrent_inserts_keep_the_bound,
    lists_count_versions,
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

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "hosts", has_squillions(messages: LogMessage, by = host))]
struct Host {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(recent(LogMessage, max = 3, sort = time))]
    logmsgs: Vec<Line>,
    #[odm(recent(Alert, max = 2, sort = -level))]
    alerts: Vec<Summary>,
    #[odm(version)]
    version: i32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "logmsg")]
struct LogMessage {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(index, recent_in = logmsgs)]
    host: Ref<Host>,
    #[serde(rename = "t")]
    time: i32,
    message: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded, Projection)]
#[odm(of = LogMessage)]
struct Line {
    #[serde(rename = "t")]
    time: i32,
    message: String,
}

/// Has several hosts, or none.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "alerts")]
struct Alert {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(references(many, max = 10), recent_in = alerts)]
    hosts: Vec<Ref<Host>>,
    level: i32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded, Projection)]
#[odm(of = Alert, deny_undeclared)]
struct Summary {
    #[serde(rename = "_id")]
    id: i32,
    level: i32,
}

async fn hosts(db: &Db) -> (Collection<Host>, Collection<LogMessage>) {
    db.sync(models![Host, LogMessage, Alert])
        .plan()
        .await
        .unwrap()
        .apply(Allow::CREATE)
        .await
        .unwrap();
    let hosts = db.collection::<Host>();
    for id in [1, 2] {
        let host = Host {
            id,
            logmsgs: Vec::new(),
            alerts: Vec::new(),
            version: 0,
        };
        hosts.insert_one(host).await.unwrap();
    }
    (hosts, db.collection::<LogMessage>())
}

fn message(id: i32, host: i32, time: i32) -> LogMessage {
    LogMessage {
        id,
        host: Ref::from(host),
        time,
        message: format!("message {id}"),
    }
}

async fn times(hosts: &Collection<Host>, id: i32) -> Vec<i32> {
    let host = hosts.get(&id).await.unwrap().unwrap();
    host.logmsgs.iter().map(|line| line.time).collect()
}

async fn lists_keep_the_newest(db: &Db) {
    hosts(db).await;
    let (db, sent) = watched(db);
    let (hosts, messages) = (db.collection::<Host>(), db.collection::<LogMessage>());
    let done = messages
        .insert_one_with_recent(message(1, 1, 50))
        .await
        .unwrap();
    assert_eq!(
        (done.inserted_ids, done.lists, done.updated_lists),
        (vec![1], 1, 1)
    );
    let updates: Vec<_> = sent
        .lock()
        .unwrap()
        .iter()
        .filter_map(|command| command.get_array("updates").ok().cloned())
        .collect();
    assert_eq!(
        updates,
        [vec![Bson::Document(doc! {
            "q": {"_id": {"$eq": 1}},
            "u": {
                "$push": {"logmsgs": {
                    "$each": [{"t": 50, "message": "message 1"}],
                    "$sort": {"t": 1},
                    "$slice": -3,
                }},
                "$inc": {"version": 1},
            },
        })]]
    );
    for (id, time) in [(2, 20), (3, 70), (4, 60), (5, 10)] {
        messages
            .insert_one_with_recent(message(id, 1, time))
            .await
            .unwrap();
    }
    // The oldest message is stored, and does not enter the list.
    assert_eq!(times(&hosts, 1).await, [50, 60, 70]);
    assert_eq!(
        messages.count_documents(|_| Filter::all()).await.unwrap(),
        5
    );
    sent.lock().unwrap().clear();
    let many = (10..20).map(|id| message(id, 1 + id % 2, id * 10));
    let done = messages.insert_many_with_recent(many).await.unwrap();
    assert_eq!(
        (done.inserted_ids.len(), done.lists, done.updated_lists),
        (10, 2, 2)
    );
    assert_eq!(times(&hosts, 1).await, [140, 160, 180]);
    assert_eq!(times(&hosts, 2).await, [150, 170, 190]);
    let names: Vec<_> = sent
        .lock()
        .unwrap()
        .iter()
        .filter_map(|command| command.keys().next().cloned())
        .filter(|name| name != "commitTransaction")
        .collect();
    assert_eq!(names, ["insert", "update", "find", "find"]);
    let none: [LogMessage; 0] = [];
    let done = messages.insert_many_with_recent(none).await.unwrap();
    assert!(done.inserted_ids.is_empty());
}

async fn lists_of_several_parents(db: &Db) {
    let (hosts, _) = hosts(db).await;
    let alerts = db.collection::<Alert>();
    for (id, of, level) in [
        (1, vec![1, 2], 5),
        (2, vec![], 9),
        (3, vec![2], 7),
        (4, vec![2, 1], 1),
    ] {
        let hosts = of.into_iter().map(Ref::from).collect();
        let alert = Alert { id, hosts, level };
        alerts.insert_one_with_recent(alert).await.unwrap();
    }
    let mut found = Vec::new();
    for id in [1, 2] {
        let host = hosts.get(&id).await.unwrap().unwrap();
        found.push(
            host.alerts
                .iter()
                .map(|alert| (alert.id, alert.level))
                .collect::<Vec<_>>(),
        );
    }
    assert_eq!(found, [vec![(1, 5), (4, 1)], vec![(3, 7), (1, 5)]]);
}

async fn a_list_of_a_missing_document_is_counted(db: &Db) {
    let (_, messages) = hosts(db).await;
    let done = messages
        .insert_many_with_recent([message(1, 1, 1), message(2, 9, 1)])
        .await
        .unwrap();
    assert_eq!((done.lists, done.updated_lists), (2, 1));
    let error = messages
        .insert_one_with_recent(message(1, 1, 2))
        .await
        .unwrap_err();
    assert!(error.is_duplicate_key(), "{error}");
    assert_eq!(times(&db.collection::<Host>(), 1).await, [1]);
}

async fn concurrent_inserts_keep_the_bound(db: &Db) {
    let (hosts, messages) = hosts(db).await;
    let tasks: Vec<_> = (0..20)
        .map(|id| {
            let messages = messages.clone();
            tokio::spawn(async move { messages.insert_one_with_recent(message(id, 1, id)).await })
        })
        .collect();
    for task in tasks {
        task.await.unwrap().unwrap();
    }
    assert_eq!(times(&hosts, 1).await, [17, 18, 19]);
    assert_eq!(
        messages.count_documents(|_| Filter::all()).await.unwrap(),
        20
    );
}

async fn lists_count_versions(db: &Db) {
    let (hosts, messages) = hosts(db).await;
    let mut loaded = hosts.load(&1).await.unwrap().unwrap();
    messages
        .insert_one_with_recent(message(1, 1, 1))
        .non_atomic()
        .await
        .unwrap();
    loaded.alerts.push(Summary { id: 1, level: 1 });
    let stale = hosts.save(&mut loaded).await.unwrap_err();
    assert!(stale.is_stale(), "{stale}");
}

async fn both_sides_are_in_the_metadata(_db: &Db) {
    let mut relations = Movie::model().relations().iter();
    let subset = relations.find_map(RelationMeta::as_inverse).unwrap();
    assert_eq!(subset.kind, InverseKind::Rest);
    assert_eq!((subset.by, subset.key), (&["movie"][..], &["id"][..]));
    let mut relations = Host::model().relations().iter();
    let recent = relations.find_map(RelationMeta::as_recent).unwrap();
    assert_eq!(
        (recent.field, recent.max, recent.sort, recent.descending),
        ("logmsgs", 3, "time", false)
    );
    let copied: Vec<_> = recent.copied.iter().map(|field| field.name).collect();
    assert_eq!(copied, ["t", "message"]);
    assert_eq!((recent.source)().name, "LogMessage");
    let reference = LogMessage::model().relations()[0].as_reference().unwrap();
    let counterpart = reference.counterpart.unwrap();
    assert_eq!(
        (counterpart.kind, counterpart.name),
        (CounterpartKind::Recent, "logmsgs")
    );
    assert_eq!(reference.target.name, "Host");
}
