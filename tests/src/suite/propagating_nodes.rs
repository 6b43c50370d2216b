//! Inserts of nodes, and of documents with their rest, which have derived data.

use odm::bson::{Bson, doc};
use odm::error::TreeRefusal;
use odm::prelude::*;
use odm::tree::prelude::*;

use super::dependents::{insert, stored};
use super::relations::watched;
use crate::case::cases;

cases![
    nodes_are_filled,
    loads_are_filled,
    a_refused_node_leaves_nothing_written,
    the_references_of_nodes_are_checked,
    nodes_in_a_transaction_of_the_caller,
    a_rest_is_filled_and_followed,
    a_rest_that_is_refused_leaves_nothing_written,
];

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[odm(collection = "authors", has_many(all: Comment, by = author))]
struct Author {
    #[serde(rename = "_id")]
    id: i32,
    name: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(
    collection = "comments",
    tree(materialized_path, parent = parent, order = order, count(children = below)),
    has_many(all: Like, by = comment)
)]
struct Comment {
    #[serde(rename = "_id")]
    id: i32,
    path: Materialized<Comment>,
    parent: Parent<Comment>,
    order: Rank,
    below: NodeCount,
    #[odm(index)]
    author: Option<Ref<Author>>,
    #[odm(copy_of(author.name))]
    author_name: Option<String>,
    #[odm(count_of(all))]
    likes: i64,
    #[odm(recent(Like, max = 2, sort = at))]
    newest: Vec<Line>,
}

/// Likes are stored before the comments that they are of.
#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[odm(collection = "likes")]
struct Like {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(index, recent_in = newest)]
    comment: Ref<Comment>,
    at: i32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded, Projection)]
#[odm(of = Like)]
struct Line {
    at: i32,
}

fn comment(id: i32, author: i32) -> Comment {
    Comment {
        id,
        path: Materialized::default(),
        parent: Parent::default(),
        order: Rank::default(),
        below: NodeCount::default(),
        author: Some(Ref::from(author)),
        author_name: Some("?".to_owned()),
        likes: 77,
        newest: vec![Line { at: 77 }],
    }
}

/// Two authors, and three likes of each comment from 1 to 3.
async fn fill(db: &Db) {
    let author = |id, name: &str| Author {
        id,
        name: name.to_owned(),
    };
    let both = [author(1, "Ada"), author(2, "Bob")];
    db.collection().insert_many(both).await.unwrap();
    let likes = (0..9).map(|id| doc! {"_id": id, "comment": 1 + id % 3, "at": id});
    insert(db, "likes", likes).await;
}

/// Whether everything that the comments hold is right.
async fn assert_in_step(db: &Db) {
    let comments = db.collection::<Comment>();
    assert!(comments.check_copies().await.unwrap().is_sound());
    assert!(comments.check_summaries().await.unwrap().is_sound());
    assert!(comments.check_recent().await.unwrap().is_sound());
    assert!(db.tree::<Comment>().check().await.unwrap().is_sound());
}

async fn nodes_are_filled(db: &Db) {
    fill(db).await;
    let tree = db.tree::<Comment>();
    let first = tree
        .insert(comment(1, 1), Position::root())
        .propagate()
        .await
        .unwrap();
    assert_eq!(first.node.author_name.as_deref(), Some("Ada"));
    let newest: Vec<i32> = first.node.newest.iter().map(|line| line.at).collect();
    assert_eq!((first.node.likes, newest), (3, vec![3, 6]));
    assert_eq!(first.written.inserted, 1);
    for (id, author, position) in [
        (2, 1, Position::child_of(&first.node)),
        (3, 2, Position::first_child_of(&first.node)),
        (4, 1, Position::before(Ref::<Comment>::from(1))),
    ] {
        let insert = tree.insert(comment(id, author), position).propagate();
        assert_eq!(insert.await.unwrap().node.id, id);
    }
    assert_in_step(db).await;
    assert_eq!(tree.children(&first.node).ids().await.unwrap(), [3, 2]);
}

async fn loads_are_filled(db: &Db) {
    fill(db).await;
    let tree = db.tree::<Comment>();
    let edges = (1..=40).map(|id| {
        let parent = (id > 1).then(|| Ref::<Comment>::from(id / 2));
        (comment(id, 1 + id % 2), parent)
    });
    let written = tree.insert_edges(edges).propagate().await.unwrap();
    assert_eq!(written.inserted, 40);
    assert_in_step(db).await;
    let nothing = tree.insert_edges(Vec::<(Comment, Option<Ref<Comment>>)>::new());
    assert_eq!(nothing.propagate().await.unwrap().inserted, 0);
}

async fn a_refused_node_leaves_nothing_written(db: &Db) {
    fill(db).await;
    let tree = db.tree::<Comment>();
    let nowhere = Position::child_of(Ref::<Comment>::from(9));
    let error = tree
        .insert(comment(1, 1), nowhere)
        .propagate()
        .await
        .unwrap_err();
    assert_eq!(error.tree_refusal(), Some(TreeRefusal::NotFound));
    let edges = [
        (comment(1, 1), None),
        (comment(2, 1), Some(Ref::<Comment>::from(9))),
    ];
    let error = tree.insert_edges(edges).propagate().await.unwrap_err();
    assert_eq!(error.tree_refusal(), Some(TreeRefusal::NotFound));
    assert_eq!(stored(db, "comments").await.len(), 0);
    let (watched, log) = watched(db);
    let tree = watched.tree::<Comment>();
    let none = tree
        .insert(comment(1, 1), Position::root())
        .propagate()
        .non_atomic();
    assert!(none.await.unwrap_err().to_string().contains("non_atomic()"));
    assert!(log.lock().unwrap().is_empty());
}

async fn the_references_of_nodes_are_checked(db: &Db) {
    fill(db).await;
    let tree = db.tree::<Comment>();
    let insert = tree.insert(comment(1, 7), Position::root()).propagate();
    assert!(insert.check_references().await.unwrap_err().is_dangling());
    let insert = tree.insert(comment(1, 2), Position::root()).propagate();
    let inserted = insert.check_references().await.unwrap();
    assert_eq!(inserted.node.author_name.as_deref(), Some("Bob"));
    assert_in_step(db).await;
}

async fn nodes_in_a_transaction_of_the_caller(db: &Db) {
    fill(db).await;
    let tree = db.tree::<Comment>();
    odm::transaction!(db, |tx| {
        let one = tree.insert(comment(1, 1), Position::root()).propagate();
        one.session(tx).await?;
        let two = [(comment(2, 2), None::<Ref<Comment>>), (comment(3, 2), None)];
        tree.insert_edges(two).propagate().session(tx).await?;
        Ok(())
    })
    .await
    .unwrap();
    assert_in_step(db).await;
    assert_eq!(tree.roots().ids().await.unwrap(), [1, 2, 3]);
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[odm(
    collection = "movies",
    subset(details: Details, by = movie),
    has_many(all: Details, by = movie)
)]
struct Movie {
    #[serde(rename = "_id")]
    id: i32,
    title: String,
    #[odm(max_of(all.length))]
    length: Option<i32>,
    sequel_of: Option<Ref<Movie>>,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[odm(collection = "details")]
struct Details {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(unique, rest_of = details)]
    movie: Ref<Movie>,
    #[odm(copy_of(movie.title))]
    title: String,
    length: i32,
}

fn movie(id: i32) -> (Movie, Details) {
    let movie = Movie {
        id,
        title: format!("movie {id}"),
        length: None,
        sequel_of: None,
    };
    let details = Details {
        id: id + 100,
        movie: Ref::to(&movie),
        title: String::new(),
        length: id * 10,
    };
    (movie, details)
}

async fn a_rest_is_filled_and_followed(db: &Db) {
    let movies = db.collection::<Movie>();
    let (one, details) = movie(1);
    let unsaid = movies.insert_with_rest(&one, |m| m.details, &details).await;
    assert!(
        unsaid
            .unwrap_err()
            .to_string()
            .contains("write `.propagate()`")
    );
    let insert = movies
        .insert_with_rest(&one, |m| m.details, &details)
        .propagate();
    let inserted = insert.await.unwrap();
    assert_eq!((inserted.inserted_id, inserted.rest_id), (1, 101));
    assert_eq!(stored(db, "movies").await[0]["length"], Bson::Int32(10));
    let rest = db.collection::<Details>().get(&101).await.unwrap().unwrap();
    assert_eq!(rest.title, "movie 1");

    // In a transaction of the caller.
    let (two, details) = movie(2);
    odm::transaction!(db, |tx| {
        let insert = movies.insert_with_rest(&two, |m| m.details, &details);
        insert
            .propagate()
            .check_references()
            .session(tx)
            .await
            .map(drop)
    })
    .await
    .unwrap();
    assert!(movies.check_summaries().await.unwrap().is_sound());
    let rests = db.collection::<Details>();
    assert!(rests.check_copies().await.unwrap().is_sound());
    assert_eq!(rests.count_documents(|_| Filter::all()).await.unwrap(), 2);
}

async fn a_rest_that_is_refused_leaves_nothing_written(db: &Db) {
    let movies = db.collection::<Movie>();
    let (mut one, details) = movie(1);
    let insert = movies
        .insert_with_rest(&one, |m| m.details, &details)
        .propagate();
    assert!(
        insert
            .non_atomic()
            .await
            .unwrap_err()
            .to_string()
            .contains("non_atomic()")
    );
    one.sequel_of = Some(Ref::from(7));
    let insert = movies
        .insert_with_rest(&one, |m| m.details, &details)
        .propagate();
    assert!(insert.check_references().await.unwrap_err().is_dangling());
    db.run_command(doc! {"insert": "details", "documents": [{"_id": 101, "movie": 5}]})
        .await
        .unwrap();
    let insert = movies
        .insert_with_rest(&one, |m| m.details, &details)
        .propagate();
    let error = insert.await.unwrap_err();
    assert!(error.is_duplicate_key(), "{error}");
    assert_eq!(stored(db, "movies").await.len(), 0);
}
