//! Views and capped collections: commands create them, typed handles read them.

use futures::TryStreamExt;
use odm::bson::{Document as BsonDocument, doc};
use odm::prelude::*;

use crate::case::cases;

cases![
    a_view_is_read_as_a_collection,
    writes_to_views_are_refused,
    capped_collections_keep_the_newest_documents,
    tailable_cursors_continue,
    pipelines_nest_through_views,
    refusals_of_unsuitable_collections,
];

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "books")]
struct Book {
    #[serde(rename = "_id")]
    id: i32,
    stars: i32,
}

/// The documents of the view.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "good")]
struct Good {
    #[serde(rename = "_id")]
    id: i32,
    stars: i32,
    twice: i32,
}

async fn shelf(db: &Db) -> Collection<Good> {
    let books: Vec<_> = (0..6).map(|id| Book { id, stars: id }).collect();
    db.collection::<Book>().insert_many(&books).await.unwrap();
    let twice = doc! { "$set": { "twice": { "$multiply": ["$stars", 2] } } };
    let good = doc! { "$match": { "stars": { "$gte": 3 } } };
    db.run_command(doc! { "create": "good", "viewOn": "books", "pipeline": [good, twice] })
        .await
        .unwrap();
    db.collection::<Good>()
}

async fn a_view_is_read_as_a_collection(db: &Db) {
    let good = shelf(db).await;
    let ids = |found: Vec<Good>| found.into_iter().map(|good| good.id).collect::<Vec<_>>();
    let all = good.find_all().sort(|g| g.id.desc()).all().await.unwrap();
    assert_eq!(ids(all), [5, 4, 3]);
    let some = good
        .find(|g| g.twice.gt(6))
        .sort(|g| g.id.asc())
        .limit(1)
        .all()
        .await
        .unwrap();
    assert_eq!(ids(some), [4]);
    let streamed: Vec<Good> = good
        .find_all()
        .batch_size(1)
        .await
        .unwrap()
        .try_collect()
        .await
        .unwrap();
    assert_eq!(streamed.len(), 3);
    assert_eq!(good.count_documents(|g| g.stars.gt(3)).await.unwrap(), 2);
    assert_eq!(good.get(&3).await.unwrap().unwrap().twice, 6);
    assert!(good.get(&1).await.unwrap().is_none());
    let mut stars = good.distinct(|g| g.stars, |_| Filter::all()).await.unwrap();
    stars.sort_unstable();
    assert_eq!(stars, [3, 4, 5]);
    // The view shows the collection's new documents.
    db.collection::<Book>()
        .insert_one(&Book { id: 9, stars: 4 })
        .await
        .unwrap();
    assert_eq!(good.count_documents(|_| Filter::all()).await.unwrap(), 4);
}

async fn writes_to_views_are_refused(db: &Db) {
    let good = shelf(db).await;
    let one = Good {
        id: 7,
        stars: 5,
        twice: 10,
    };
    let refused = [
        good.insert_one(&one).await.map(|_| ()),
        good.update_one(|g| g.id.eq(3), |g| g.stars.inc(1))
            .await
            .map(|_| ()),
        good.delete_one(|g| g.id.eq(3)).await.map(|_| ()),
    ];
    for result in refused {
        let error = result.unwrap_err();
        assert_eq!(
            error.code(),
            Some(odm::Code::COMMAND_NOT_SUPPORTED_ON_VIEW),
            "{error}"
        );
    }
    let cycle = doc! { "collMod": "good", "viewOn": "good", "pipeline": [] };
    let error = db.run_command(cycle).await.unwrap_err();
    assert_eq!(error.code(), Some(odm::Code::GRAPH_CONTAINS_CYCLE));
    db.run_command(doc! { "drop": "good" }).await.unwrap();
    assert_eq!(good.count_documents(|_| Filter::all()).await.unwrap(), 0);
    assert_eq!(
        db.collection::<Book>()
            .count_documents(|_| Filter::all())
            .await
            .unwrap(),
        6
    );
}

async fn capped_collections_keep_the_newest_documents(db: &Db) {
    db.run_command(doc! { "create": "books", "capped": true, "size": 4096, "max": 3 })
        .await
        .unwrap();
    let books = db.collection::<Book>();
    for id in 0..5 {
        books.insert_one(&Book { id, stars: 0 }).await.unwrap();
    }
    books
        .update_one(|b| b.id.eq(3), |b| b.stars.set(1))
        .await
        .unwrap();
    let ids = |found: Vec<BsonDocument>| -> Vec<i32> {
        found
            .iter()
            .map(|book| book.get_i32("_id").unwrap())
            .collect()
    };
    for (direction, wanted) in [(1, [2, 3, 4]), (-1, [4, 3, 2])] {
        let find = doc! { "find": "books", "sort": { "$natural": direction } };
        assert_eq!(ids(db.run_command(find).all().await.unwrap()), wanted);
    }
}

async fn tailable_cursors_continue(db: &Db) {
    db.run_command(doc! { "create": "books", "capped": true, "size": 4096, "max": 3 })
        .await
        .unwrap();
    let books = db.collection::<Book>();
    books.insert_one(&Book { id: 0, stars: 0 }).await.unwrap();
    let opened = db
        .run_command(doc! { "find": "books", "tailable": true })
        .await
        .unwrap();
    let id = opened
        .get_document("cursor")
        .unwrap()
        .get_i64("id")
        .unwrap();
    let more = async || {
        let reply = db
            .run_command(doc! { "getMore": id, "collection": "books" })
            .await?;
        let batch = reply
            .get_document("cursor")
            .unwrap()
            .get_array("nextBatch")
            .unwrap()
            .len();
        Ok::<_, odm::Error>(batch)
    };
    assert_eq!(more().await.unwrap(), 0);
    books.insert_one(&Book { id: 1, stars: 0 }).await.unwrap();
    assert_eq!(more().await.unwrap(), 1);
    // The document at its position was overwritten.
    for id in 2..6 {
        books.insert_one(&Book { id, stars: 0 }).await.unwrap();
    }
    let error = more().await.unwrap_err();
    assert_eq!(error.code(), Some(odm::Code::CAPPED_POSITION_LOST));
}

/// Nested `$lookup`s of this depth; the innermost reads `from`.
fn nested(levels: usize, from: &str) -> BsonDocument {
    let mut stage = doc! { "$lookup": { "from": from, "pipeline": [], "as": "found" } };
    for _ in 1..levels {
        stage = doc! { "$lookup": { "from": "books", "pipeline": [stage], "as": "found" } };
    }
    stage
}

/// Nested views and nested pipelines count together: at most 20 levels.
async fn pipelines_nest_through_views(db: &Db) {
    db.run_command(doc! { "insert": "books", "documents": [{ "_id": 1 }] })
        .await
        .unwrap();
    let create = |name: &str, stage: BsonDocument| doc! { "create": name, "viewOn": "books", "pipeline": [stage] };
    db.run_command(create("ten", nested(10, "books")))
        .await
        .unwrap();
    let aggregate = async |stage: BsonDocument| {
        let command = doc! { "aggregate": "books", "pipeline": [stage], "cursor": {} };
        let code = db
            .run_command(command)
            .await
            .err()
            .map(|error| error.code());
        code.map(|code| code.unwrap())
    };
    let too_deep = Some(232.into());
    assert_eq!(aggregate(nested(10, "ten")).await, None);
    assert_eq!(aggregate(nested(11, "ten")).await, too_deep);
    let union = |levels: usize| {
        if levels == 0 {
            return doc! { "$unionWith": "ten" };
        }
        doc! { "$unionWith": { "coll": "books", "pipeline": [nested(levels, "ten")] } }
    };
    assert_eq!(aggregate(union(0)).await, None);
    assert_eq!(aggregate(union(9)).await, None);
    assert_eq!(aggregate(union(10)).await, too_deep);
    // The view can be created, but not read.
    db.run_command(create("deep", nested(11, "ten")))
        .await
        .unwrap();
    for command in [
        doc! { "find": "deep" },
        doc! { "count": "deep" },
        doc! { "distinct": "deep", "key": "_id" },
    ] {
        let refused = db.run_command(command).await.unwrap_err();
        assert_eq!(refused.code(), Some(232.into()), "{refused}");
    }
}

async fn refusals_of_unsuitable_collections(db: &Db) {
    let code = async |db: &Db, command: BsonDocument| {
        let error = db.run_command(command).await.unwrap_err();
        error.code().unwrap().number()
    };
    // The collation is checked before a cycle.
    let locale = |name: &str| doc! { "locale": name };
    let view =
        doc! { "create": "one", "viewOn": "other", "pipeline": [], "collation": locale("en") };
    db.run_command(view).await.unwrap();
    let back = doc! { "create": "other", "viewOn": "one", "pipeline": [] };
    let mut differs = back.clone();
    differs.insert("collation", locale("fr"));
    assert_eq!(code(db, differs).await, 167);
    let mut agrees = back;
    agrees.insert("collation", locale("en"));
    assert_eq!(code(db, agrees).await, 5);
    // Capped collections of missing databases and of the profiler.
    let missing = db.database("odm_missing");
    let convert = doc! { "convertToCapped": "c", "size": 5000 };
    let error = missing.run_command(convert).await.unwrap_err();
    assert!(
        error.to_string().contains("database odm_missing"),
        "{error}"
    );
    let clone = doc! { "cloneCollectionAsCapped": "c", "toCollection": "d", "size": 5000 };
    let error = missing.run_command(clone).await.unwrap_err();
    assert!(error.to_string().contains("not found"), "{error}");
    let profile = doc! { "create": "system.profile", "capped": true, "size": 4096 };
    db.run_command(profile).await.unwrap();
    let convert = doc! { "convertToCapped": "system.profile", "size": 5000 };
    assert_eq!(code(db, convert).await, 2);
    // System collections in transactions.
    let mut session = db.start_session().await.unwrap();
    session.start_transaction().await.unwrap();
    let modify = doc! { "findAndModify": "system.js", "query": {}, "remove": true };
    let refused = db
        .run_command(modify)
        .session(&mut session)
        .await
        .unwrap_err();
    assert_eq!(refused.code().unwrap().number(), 50781);
    let _ = session.abort_transaction().await;
}
