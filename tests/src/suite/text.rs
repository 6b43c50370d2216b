//! Text search: words, phrases, exclusions, languages and scores.

use odm::bson::Document as BsonDocument;
use odm::prelude::*;
use odm::query::raw;

use crate::case::cases;

cases![
    words_and_phrases,
    scores,
    scores_behind_stages,
    signed_numbers_in_paths_are_names,
    a_field_language_holds_anything,
    a_language_is_declared,
];

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

/// Scores belong to documents: facets, samples and look-ups keep them, and a group has none.
async fn scores_behind_stages(db: &Db) {
    notes(db).await;
    let score = || doc! {"$meta": "textScore"};
    let scored = || doc! {"$project": {"score": score()}};
    let by_id = || doc! {"$sort": {"_id": 1}};
    let best = [5.166_666_666_666_666, 0.666_666_666_666_666_6, 1.25];
    let each = |more: BsonDocument| -> Vec<BsonDocument> {
        let documents = (1_i32..).zip(best).map(|(id, score)| {
            let mut document = doc! {"_id": id};
            document.extend(more.clone());
            document.insert("score", score);
            document
        });
        documents.collect()
    };
    let cases = [
        (
            vec![doc! {"$facet": {
                "best": [{"$sort": {"s": score()}}, {"$limit": 2}, scored()],
                "all": [{"$count": "n"}],
                "each": [{"$group": {"_id": score()}}, {"$sort": {"_id": 1}}, {"$limit": 1}],
            }}],
            vec![doc! {
                "best": [{"_id": 1, "score": best[0]}, {"_id": 3, "score": best[2]}],
                "all": [{"n": 3}],
                "each": [{"_id": best[1]}],
            }],
        ),
        (
            vec![
                doc! {"$facet": {"all": [{"$count": "n"}]}},
                doc! {"$project": {"all.n": 1, "score": score()}},
            ],
            vec![doc! {"all": [{"n": 3}]}],
        ),
        (
            vec![doc! {"$sample": {"size": 9}}, by_id(), scored()],
            each(doc! {}),
        ),
        (
            vec![
                doc! {"$graphLookup": {"from": "notes", "startWith": "$_id", "connectFromField": "title",
                "connectToField": "_id", "as": "same"}},
                by_id(),
                doc! {"$project": {"same": {"$size": "$same"}, "score": score()}},
            ],
            each(doc! {"same": 1}),
        ),
        (
            vec![
                doc! {"$group": {"_id": null, "n": {"$sum": score()}}},
                doc! {"$project": {"n": {"$gt": ["$n", 7]}, "score": score()}},
            ],
            vec![doc! {"_id": null, "n": true}],
        ),
        (
            vec![doc! {"$count": "n"}, doc! {"$set": {"score": score()}}],
            vec![doc! {"n": 3}],
        ),
        (
            vec![
                doc! {"$sortByCount": {"$gt": [score(), 1]}},
                doc! {"$set": {"score": score()}},
            ],
            vec![
                doc! {"_id": true, "count": 2},
                doc! {"_id": false, "count": 1},
            ],
        ),
        (
            vec![
                doc! {"$bucket": {"groupBy": score(), "boundaries": [0, 1, 10]}},
                doc! {"$set": {"score": score()}},
            ],
            vec![doc! {"_id": 0, "count": 1}, doc! {"_id": 1, "count": 2}],
        ),
        (
            vec![
                doc! {"$bucketAuto": {"groupBy": {"$lt": [score(), 1]}, "buckets": 2,
                "output": {"best": {"$max": score()}}}},
                doc! {"$project": {"_id": 0, "best": 1, "score": score()}},
            ],
            vec![doc! {"best": best[0]}, doc! {"best": best[1]}],
        ),
    ];
    for (stages, wanted) in cases {
        let mut pipeline = vec![doc! {"$match": {"$text": {"$search": "coffee shop"}}}];
        pipeline.extend(stages);
        let shown = format!("{pipeline:?}");
        let found = db.run_command(doc! {"aggregate": "notes", "pipeline": pipeline, "cursor": {}});
        assert_eq!(found.all().await.unwrap(), wanted, "{shown}");
    }
    // A facet has no score where nothing searched.
    let facet = doc! {"$facet": {"a": [scored()]}};
    let refused = db.run_command(doc! {"aggregate": "notes", "pipeline": [facet], "cursor": {}});
    let refused = refused.all().await.unwrap_err();
    assert_eq!(refused.code(), Some(odm::Code::from(40218)), "{refused}");
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "films", text(title, language_override = "text_language"))]
struct Film {
    #[serde(rename = "_id")]
    id: i32,
    title: String,
    language: Vec<String>,
}

async fn a_field_language_holds_anything(db: &Db) {
    let plan = db.sync(models![Film]).plan().await.unwrap();
    plan.apply(Allow::CREATE).await.unwrap();
    let films = db.collection::<Film>();
    let film = |id, title: &str, language: &[&str]| Film {
        id,
        title: title.to_owned(),
        language: language.iter().map(|&one| one.to_owned()).collect(),
    };
    let stored = [film(1, "Running", &["Quenya"]), film(2, "Walking", &[])];
    films.insert_many(stored).await.unwrap();
    let found = films.find(|_| Filter::text("runs")).all().await.unwrap();
    assert_eq!(found.iter().map(|film| film.id).collect::<Vec<_>>(), [1]);
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "songs", text(title, language_override = "language"))]
struct Song {
    #[serde(rename = "_id")]
    id: i32,
    title: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    language: Option<String>,
}

async fn a_language_is_declared(db: &Db) {
    let plan = db.sync(models![Song]).plan().await.unwrap();
    plan.apply(Allow::CREATE).await.unwrap();
    let songs = db.collection::<Song>();
    let song = |id, title: &str, language: Option<&str>| Song {
        id,
        title: title.to_owned(),
        language: language.map(str::to_owned),
    };
    songs.insert_one(song(1, "Running", None)).await.unwrap();
    let none = song(2, "Running", Some("none"));
    songs.insert_one(none).await.unwrap();
    let found = songs.find(|_| Filter::text("runs")).all().await.unwrap();
    assert_eq!(found.iter().map(|song| song.id).collect::<Vec<_>>(), [1]);
    let refused = songs.insert_one(song(3, "Running", Some("Quenya"))).await;
    let refused = refused.unwrap_err();
    let code = refused.code().map(odm::Code::number);
    assert_eq!(code, Some(17262), "{refused}");
}
