//! Which documents a check reads, and what it compares.

use std::time::Duration;

use odm::bson::{Bson, DateTime, doc, oid::ObjectId};
use odm::check::{Aspect, CheckReport, CheckToken};
use odm::prelude::*;

use super::{Author, Book, Review, Shelf, filled, insert, models, places, set, texts};

/// One damage of each kind.
async fn damaged(db: &Db) {
    filled(db).await;
    set(db, "books", 1, doc! {"$set": {"author": 9, "colour": 1}}).await;
    set(db, "books", 2, doc! {"$set": {"author_name": "x"}}).await;
    set(
        db,
        "books",
        3,
        doc! {"$set": {"title": "x", "tags": [1], "translator": {"$ref": "x", "$id": 1}}},
    )
    .await;
    set(
        db,
        "books",
        4,
        doc! {"$set": {"tags": ["a", "b", "c", "d"]}},
    )
    .await;
    set(db, "reviews", 1, doc! {"$set": {"reviewer": 2}}).await;
    set(db, "shelves", 3, doc! {"$set": {"depth": 9}}).await;
    db.run_command(doc! {"dropIndexes": "books", "index": "*"})
        .await
        .unwrap();
    let rename = db
        .collection::<Author>()
        .update_by_id(&2, |a| a.name.set("renamed"));
    rename.in_background().await.unwrap();
}

fn kinds(aspect: Aspect) -> &'static [&'static str] {
    match aspect {
        Aspect::References => &["dangling-reference"],
        Aspect::TwoWay => &["one-sided-reference"],
        Aspect::Copies => &["stale-copy"],
        Aspect::Summaries => &["stale-summary"],
        Aspect::Recent => &["stale-list"],
        Aspect::Validator => &["invalid-document", "long-list"],
        Aspect::UndeclaredFields => &["undeclared-field"],
        Aspect::Trees => &["tree-wrong-depth"],
        Aspect::Indexes => &["unindexed-relation"],
        Aspect::UnfinishedChanges => &["unfinished-change"],
        // The cases of `gridfs`, `sharding`, `schema_versions` and `buckets` have each of these kinds.
        Aspect::Buckets | Aspect::Files | Aspect::ShardKeys | Aspect::SchemaVersions => &[],
        other => panic!("{other:?} finds nothing"),
    }
}

pub(super) async fn each_aspect_finds_its_kinds(db: &Db) {
    damaged(db).await;
    let check = || db.check(models()).unfinished_after(Duration::ZERO);
    let all = check().await.unwrap();
    let mut parts = Vec::new();
    for aspect in Aspect::ALL {
        let only = check().only([aspect]).await.unwrap();
        let mut found: Vec<_> = only.listed.iter().map(|one| one.kind.code()).collect();
        found.sort();
        found.dedup();
        assert_eq!(found, kinds(aspect), "{only}");
        let without = check().without(aspect).await.unwrap();
        let mut joined = [texts(&only), texts(&without)].concat();
        joined.sort();
        assert_eq!(joined, texts(&all), "{aspect:?}");
        parts.extend(texts(&only));
    }
    parts.sort();
    assert_eq!(parts, texts(&all));
    let none = check().only([]).await.unwrap();
    assert!(none.is_sound() && none.read() == 0);
}

pub(super) async fn filters_and_ranges_choose(db: &Db) {
    damaged(db).await;
    let read = |report: &CheckReport| -> Vec<u64> {
        report.collections.iter().map(|one| one.read).collect()
    };
    let report = db
        .check(models())
        .filter::<Book>(|b| b.year.gt(1902))
        .await
        .unwrap();
    assert_eq!(read(&report), [2, 2, 2, 3]);
    assert!(!texts(&report).iter().any(|text| text.starts_with("Book 1")));
    let report = db
        .check(models())
        .range::<Book>(2..4)
        .filter::<Book>(|b| b.year.gt(1902));
    assert_eq!(read(&report.await.unwrap()), [2, 1, 2, 3]);
    for (report, count) in [
        (db.check(models![Book]).range::<Book>(..).await.unwrap(), 4),
        (
            db.check(models![Book]).range::<Book>(2..=3).await.unwrap(),
            2,
        ),
        (db.check(models![Book]).range::<Book>(9..).await.unwrap(), 0),
    ] {
        assert_eq!(report.read(), count);
    }
    // Parts of a tree say nothing.
    let report = db.check(models![Shelf]).range::<Shelf>(3..).await.unwrap();
    assert_eq!((report.findings, report.not_checked.len()), (0, 1));
    assert!(!report.is_sound(), "{report}");
}

pub(super) async fn checks_go_on_after_every_document(db: &Db) {
    filled(db).await;
    // `_id`s of every type, also of those that sort next to each other.
    let ids = [
        Bson::MinKey,
        Bson::Null,
        5_i64.into(),
        6.5.into(),
        "a".into(),
        "b".into(),
        doc! {"a": 1}.into(),
        ObjectId::new().into(),
        true.into(),
        DateTime::now().into(),
        Bson::MaxKey,
    ];
    insert(db, "reviews", ids.map(|id| doc! {"_id": id, "reviewer": 7})).await;
    let check = || db.check(models()).only([Aspect::References]);
    let all = check().await.unwrap();
    assert_eq!((all.read(), all.findings), (22, 11), "{all}");
    let find = doc! {"find": "reviews", "sort": {"_id": 1}};
    let stored = db.run_command(find).all().await.unwrap();
    for (position, document) in stored.iter().enumerate() {
        let token = doc! {"collection": "reviews", "after": document.get("_id").unwrap()};
        let token = Bson::Document(token).into_canonical_extjson().to_string();
        let token: CheckToken = token.parse().unwrap();
        assert_eq!(token.to_string().parse::<CheckToken>().unwrap(), token);
        let rest = check().resume(token).await.unwrap();
        let expected = stored.len() - position - 1;
        assert_eq!(rest.collections[0].read, expected as u64, "{document}");
        assert_eq!(rest.collections[1].read, 3);
    }
    // A check that stops at once, and each of its rests, read everything once.
    let mut token = None;
    let (mut read, mut found, mut rounds) = (0, Vec::new(), 0);
    loop {
        let mut check = db.check(models()).only([Aspect::References]);
        if let Some(token) = token.take() {
            check = check.resume(token);
        }
        // Long enough for one chunk, and for no second one.
        let limit = Duration::from_micros(if rounds % 2 == 0 { 0 } else { 1_000_000 });
        let report = check.time_limit(limit).await.unwrap();
        read += report.read();
        found.extend(texts(&report));
        rounds += 1;
        token = report.rest;
        if token.is_none() {
            break;
        }
    }
    found.sort();
    assert_eq!((read, found), (all.read(), texts(&all)));
    assert!(rounds > 1);
}

/// More documents than a check compares at once: the next ones are read meanwhile, and ids that were found are not looked up
/// again.
pub(super) async fn all_chunks_are_compared_once(db: &Db) {
    filled(db).await;
    // The same two reviewers in all chunks; at the ends of chunks, and in the last one, nobody.
    let dangling = [1_000, 1_997, 1_998, 1_999, 2_999, 4_499];
    let review = |id: i32| {
        let reviewer = if dangling.contains(&id) {
            7
        } else {
            1 + id % 2
        };
        doc! {"_id": id, "reviewer": reviewer}
    };
    insert(db, "reviews", (1_000..4_500).map(review)).await;
    let check = || db.check(models![Review]).only([Aspect::References]);
    let found = |report: &CheckReport| -> Vec<i32> {
        let ids = report.listed.iter().map(|finding| finding.id.clone());
        let mut ids: Vec<_> = ids.map(|id| id.unwrap().as_i32().unwrap()).collect();
        ids.sort_unstable();
        ids
    };
    // A check that is dropped leaves nothing behind.
    for micros in [1, 300, 3_000, 9_000] {
        drop(tokio::time::timeout(Duration::from_micros(micros), check().into_future()).await);
    }
    let all = check().await.unwrap();
    assert_eq!((all.read(), found(&all)), (3_502, dangling.to_vec()));

    // A check that stops between two chunks compares those that were read ahead when it goes on.
    let limit = Duration::from_millis(300);
    let late = check()
        .time_limit(limit)
        .on_progress(|_| std::thread::sleep(limit));
    let report = late.await.unwrap();
    let (mut read, mut ids) = (report.read(), found(&report));
    assert!(read < 3_502, "{report}");
    let rest = check().resume(report.rest.unwrap()).await.unwrap();
    read += rest.read();
    ids.extend(found(&rest));
    ids.sort_unstable();
    assert_eq!((read, ids), (3_502, dangling.to_vec()));
}

pub(super) async fn samples_are_parts(db: &Db) {
    damaged(db).await;
    let all = texts(&db.check(models()).await.unwrap());
    let report = db.check(models()).sample(2).await.unwrap();
    assert_eq!(report.read(), 8);
    assert!(
        texts(&report).iter().all(|text| all.contains(text)),
        "{report}"
    );
    assert_eq!(report.not_checked.len(), 1);
    let report = db
        .check(models())
        .sample(1_000)
        .without(Aspect::Trees)
        .await
        .unwrap();
    let trees = |text: &&String| !text.contains("wrong depth");
    assert_eq!(texts(&report).len(), all.iter().filter(trees).count());
    let report = db
        .check(models![Book])
        .sample(3)
        .filter::<Book>(|b| b.year.gt(1902));
    assert_eq!(report.await.unwrap().read(), 2);
    let slow = db
        .check(models![Review])
        .documents_per_second(100_000)
        .await
        .unwrap();
    assert_eq!(slow.read(), 2);
}

pub(super) async fn options_that_can_not_be_are_refused(db: &Db) {
    filled(db).await;
    let error = db
        .check(models![Book])
        .filter::<Author>(|a| a.id.eq(1))
        .await
        .unwrap_err();
    assert!(error.to_string().contains("`models![…]`"), "{error}");
    let token: CheckToken = r#"{"collection": "authors"}"#.parse().unwrap();
    let error = db.check(models![Book]).resume(token).await.unwrap_err();
    assert!(error.to_string().contains("checks `books`"), "{error}");
    for text in [
        "",
        "7",
        "{}",
        r#"{"collection": 1}"#,
        r#"{"collection":"a","x":1}"#,
    ] {
        assert!(text.parse::<CheckToken>().is_err(), "{text}");
    }
    // A collection that does not exist has no documents.
    db.drop().await.unwrap();
    let report = db.check(models()).await.unwrap();
    assert!(report.is_sound() && report.read() == 0, "{report}");
    assert_eq!(places(&report), [].into());
}

/// A thousand documents take as many commands as ten.
pub(super) async fn the_commands_do_not_grow(db: &Db) {
    filled(db).await;
    let books = |ids: std::ops::Range<i32>| ids.map(|id| super::book(id, 1 + id % 2));
    let mut commands = Vec::new();
    for ids in [10..12, 12..900] {
        db.collection()
            .insert_many(books(ids))
            .propagate()
            .await
            .unwrap();
        let budget = db.budget();
        let report = budget.check(models![Book]).await.unwrap();
        assert!(report.is_sound(), "{report}");
        commands.push(budget.commands().len());
    }
    assert_eq!(commands[0], commands[1]);
}
