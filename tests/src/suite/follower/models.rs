//! Models with every kind of derived data, and what other programs do to them.

use std::fmt::Write as _;
use std::time::Duration;

use odm::bson::{Bson, Document as BsonDocument, doc};
use odm::prelude::*;
use odm::write::{FollowedBatch, Follower};

/// Its tasks are copied to, counted and referred back to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(
    collection = "people",
    has_many(owned: Task, by = owner),
    change_stream_images
)]
pub(super) struct Person {
    #[serde(rename = "_id")]
    pub(super) id: i32,
    pub(super) name: String,
    #[odm(count_of(owned))]
    pub(super) task_count: i64,
    #[odm(sum_of(owned.hours))]
    pub(super) hours: i64,
    #[odm(references(many, max = 50), two_way = owner)]
    pub(super) todo: Vec<Ref<Task>>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "tasks", change_stream_images)]
pub(super) struct Task {
    #[serde(rename = "_id")]
    pub(super) id: i32,
    #[odm(index, two_way = todo)]
    pub(super) owner: Option<Ref<Person>>,
    #[odm(copy_of(owner.name))]
    pub(super) owner_name: Option<String>,
    pub(super) hours: i64,
}

/// Its list of notes is settled, and has their `_id`s.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "boards", has_squillions(notes: Note, by = board))]
pub(super) struct Board {
    #[serde(rename = "_id")]
    pub(super) id: i32,
    #[odm(recent(Note, max = 2, sort = rank))]
    pub(super) newest: Vec<Line>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "notes", index(board, rank = desc))]
pub(super) struct Note {
    #[serde(rename = "_id")]
    pub(super) id: i32,
    #[odm(recent_in = newest)]
    pub(super) board: Ref<Board>,
    pub(super) rank: i32,
    pub(super) text: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded, Projection)]
#[odm(of = Note)]
pub(super) struct Line {
    #[serde(rename = "_id")]
    pub(super) id: i32,
    pub(super) rank: i32,
    pub(super) text: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "movies", change_stream_images)]
pub(super) struct Movie {
    #[serde(rename = "_id")]
    pub(super) id: i32,
    #[odm(references(many, max = 100), two_way = movies)]
    pub(super) cast: Vec<Ref<Actor>>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "actors", change_stream_images)]
pub(super) struct Actor {
    #[serde(rename = "_id")]
    pub(super) id: i32,
    #[odm(references(many, max = 100), two_way = cast)]
    pub(super) movies: Vec<Ref<Movie>>,
    #[odm(two_way = partner)]
    pub(super) partner: Option<Ref<Actor>>,
    #[odm(references(many, max = 100), two_way = friends)]
    pub(super) friends: Vec<Ref<Actor>>,
}

pub(super) fn person(id: i32) -> BsonDocument {
    doc! {"_id": id, "name": format!("p{id}"), "task_count": 0_i64, "hours": 0_i64, "todo": []}
}

pub(super) fn task(id: i32, owner: impl Into<Option<i32>>) -> BsonDocument {
    let owner = owner.into();
    doc! {"_id": id, "owner": owner, "owner_name": null, "hours": i64::from(id)}
}

pub(super) fn note(id: i32, board: i32, rank: i32) -> BsonDocument {
    doc! {"_id": id, "board": board, "rank": rank, "text": format!("note {id}")}
}

pub(super) fn actor(id: i32) -> BsonDocument {
    doc! {"_id": id, "movies": [], "partner": null, "friends": []}
}

/// The collections without documents.
pub(super) async fn create(db: &Db) {
    let models = models![Person, Task, Board, Note, Movie, Actor];
    let plan = db.sync(models).plan().await.unwrap();
    plan.apply(Allow::CREATE).await.unwrap();
}

/// Some documents of each model, as another program inserts them: nothing is derived.
pub(super) async fn fill(db: &Db) {
    create(db).await;
    insert(db, "people", [person(1), person(2)]).await;
    insert(
        db,
        "tasks",
        [task(1, 1), task(2, 1), task(3, 2), task(4, None)],
    )
    .await;
    insert(
        db,
        "boards",
        [1, 2].map(|id| doc! {"_id": id, "newest": []}),
    )
    .await;
    insert(
        db,
        "notes",
        [note(1, 1, 10), note(2, 1, 20), note(3, 1, 30)],
    )
    .await;
    insert(db, "movies", [1, 2].map(|id| doc! {"_id": id, "cast": []})).await;
    insert(db, "actors", [1, 2, 3].map(actor)).await;
}

/// Writes that no validator sees, as those of a program that knows nothing of the models.
pub(super) async fn insert(
    db: &Db,
    collection: &str,
    documents: impl IntoIterator<Item = BsonDocument>,
) {
    let documents: Vec<Bson> = documents.into_iter().map(Bson::from).collect();
    send(
        db,
        doc! {"insert": collection, "documents": documents, "bypassDocumentValidation": true},
    )
    .await;
}

pub(super) async fn update(db: &Db, collection: &str, id: i32, change: impl Into<Bson>) {
    let statement = doc! {"q": {"_id": id}, "u": change.into()};
    send(
        db,
        doc! {"update": collection, "updates": [statement], "bypassDocumentValidation": true},
    )
    .await;
}

pub(super) async fn delete(db: &Db, collection: &str, id: i32) {
    let statement = doc! {"q": {"_id": id}, "limit": 1};
    send(db, doc! {"delete": collection, "deletes": [statement]}).await;
}

/// Another task may have inserted the document.
async fn send(db: &Db, command: BsonDocument) {
    loop {
        match db.run_command(command.clone()).await {
            Ok(_) => return,
            Err(error) if error.is_duplicate_key() => return,
            Err(error) if error.is_retryable() => {}
            Err(error) => panic!("{error}"),
        }
    }
}

pub(super) async fn follow(db: &Db) -> Follower {
    let models = models![Person, Task, Board, Note, Movie, Actor];
    db.follow(models).name("derived-data").await.unwrap()
}

/// What the checks find.
pub(super) async fn damages(db: &Db) -> String {
    let mut text = String::new();
    let tasks = db.collection::<Task>();
    let people = db.collection::<Person>();
    let actors = db.collection::<Actor>();
    let copies = tasks.check_copies().await.unwrap();
    let summaries = people.check_summaries().await.unwrap();
    let recent = db.collection::<Board>().check_recent().await.unwrap();
    let two_way = [
        people.check_two_way().await.unwrap(),
        tasks.check_two_way().await.unwrap(),
        db.collection::<Movie>().check_two_way().await.unwrap(),
        actors.check_two_way().await.unwrap(),
    ];
    for damage in copies.listed {
        writeln!(text, "task {damage}").unwrap();
    }
    for damage in summaries.listed {
        writeln!(text, "person {damage}").unwrap();
    }
    for damage in recent.listed {
        writeln!(text, "board {damage}").unwrap();
    }
    for damage in two_way.into_iter().flat_map(|report| report.listed) {
        writeln!(text, "{damage}").unwrap();
    }
    text
}

/// Follows until there are no more events, and the checks find nothing; returns what was done.
pub(super) async fn caught_up(db: &Db, follower: &mut Follower) -> Vec<FollowedBatch> {
    let mut done = Vec::new();
    for _ in 0..40 {
        if let Some(batch) = soon(follower).await {
            done.push(batch);
            continue;
        }
        if damages(db).await.is_empty() {
            return done;
        }
    }
    panic!("{}{done:?}", damages(db).await);
}

/// Follows until the condition holds; returns what was done.
pub(super) async fn until(
    follower: &mut Follower,
    condition: impl AsyncFn() -> bool,
) -> Vec<FollowedBatch> {
    let mut done = Vec::new();
    for _ in 0..80 {
        done.extend(soon(follower).await);
        if condition().await {
            return done;
        }
    }
    panic!("{done:?}");
}

/// The next batch, if there are events.
pub(super) async fn soon(follower: &mut Follower) -> Option<FollowedBatch> {
    let wait = Duration::from_millis(250);
    let ready = tokio::time::timeout(wait, follower.ready()).await.ok()?;
    ready.unwrap();
    Some(follower.next().await.unwrap())
}

pub(super) async fn one(db: &Db, collection: &str, id: i32) -> BsonDocument {
    let find = doc! {"find": collection, "filter": {"_id": id}};
    let found = db.run_command(find).all().await.unwrap();
    found.into_iter().next().unwrap()
}

/// The numbers in a list of a document.
pub(super) async fn list(db: &Db, collection: &str, id: i32, field: &str) -> Vec<i32> {
    let found = one(db, collection, id).await;
    let list = found.get_array(field).unwrap().iter();
    list.map(|value| match value {
        Bson::Document(part) => part.get_i32("_id").unwrap(),
        value => value.as_i32().unwrap(),
    })
    .collect()
}
