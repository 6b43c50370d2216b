//! Text search: words, phrases, exclusions, languages and scores.

use odm::bson::Document as BsonDocument;
use odm::prelude::*;
use odm::query::raw;

use crate::case::cases;

cases![words_and_phrases, scores, signed_numbers_in_paths_are_names,];

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "notes")]
struct Note {
    #[serde(rename = "_id")]
    id: i32,
    title: String,
    body: String,
}

async fn signed_numbers_in_paths_are_names(db: &Db) {
    let keys = doc! {"a.+1": 1, "title": "text"};
    db.run_command(doc! {"createIndexes": "notes", "indexes": [{"key": keys, "name": "words"}]})
        .await
        .unwrap();
    let insert = doc! {"insert": "notes", "documents": [{"_id": 1, "a": [1, 2], "title": "x"}]};
    let reply = db.run_command(insert).await.unwrap();
    let error = reply.get_array("writeErrors").unwrap()[0].as_document();
    assert_eq!(error.unwrap().get_i32("code").unwrap(), 201, "{reply}");
}

async fn notes(db: &Db) -> Collection<Note> {
    db.run_command(doc! {"createIndexes": "notes", "indexes": [
        {"key": {"title": "text", "body": "text"}, "name": "words", "weights": {"title": 3}},
    ]})
    .await
    .unwrap();
    db.run_command(doc! {"insert": "notes", "documents": [
        {"_id": 1, "title": "Coffee shops", "body": "The best coffee of the town"},
        {"_id": 2, "title": "Running", "body": "She runs to the shop for cakes"},
        {"_id": 3, "title": "Café", "body": "a shop-window without coffee"},
    ]})
    .await
    .unwrap();
    db.collection::<Note>()
}

async fn found(notes: &Collection<Note>, text: BsonDocument) -> Vec<i32> {
    let rows = notes
        .find(|_| raw(doc! {"$text": text}))
        .all()
        .await
        .unwrap();
    let mut ids: Vec<_> = rows.into_iter().map(|note| note.id).collect();
    ids.sort_unstable();
    ids
}

async fn words_and_phrases(db: &Db) {
    let notes = notes(db).await;
    for (text, expected) in [
        (doc! {"$search": "coffee"}, vec![1, 3]),
        (doc! {"$search": "COFFEE cake"}, vec![1, 2, 3]),
        (doc! {"$search": "run"}, vec![2]),
        (doc! {"$search": "shopping -coffee"}, vec![2]),
        (doc! {"$search": "\"best coffee\""}, vec![1]),
        (doc! {"$search": "cafe"}, vec![3]),
        (
            doc! {"$search": "cafe", "$diacriticSensitive": true},
            vec![],
        ),
        (doc! {"$search": "Coffee", "$caseSensitive": true}, vec![1]),
        (doc! {"$search": "the"}, vec![]),
        (doc! {"$search": "shops", "$language": "none"}, vec![]),
    ] {
        assert_eq!(found(&notes, text.clone()).await, expected, "{text}");
    }
    let refused = notes
        .find(|_| raw(doc! {"$text": {"$search": "a", "$language": "klingon"}}))
        .all()
        .await
        .unwrap_err();
    assert_eq!(refused.code(), Some(odm::Code::BAD_VALUE), "{refused}");
}

async fn scores(db: &Db) {
    notes(db).await;
    let rows = db
        .run_command(
            doc! {"find": "notes", "filter": {"$text": {"$search": "coffee shop"}},
            "sort": {"score": {"$meta": "textScore"}},
            "projection": {"title": 1, "score": {"$meta": "textScore"}}},
        )
        .all()
        .await
        .unwrap();
    assert_eq!(
        rows,
        [
            doc! {"_id": 1, "title": "Coffee shops", "score": 5.166_666_666_666_666},
            doc! {"_id": 3, "title": "Café", "score": 1.25},
            doc! {"_id": 2, "title": "Running", "score": 0.666_666_666_666_666_6},
        ]
    );
}
