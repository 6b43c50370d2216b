//! `created_at` and `updated_at`.

use odm::bson::{self, Bson, DateTime};
use odm::collection::ReturnDocument;
use odm::prelude::*;
use odm::query::raw;

use crate::case::cases;

cases![
    inserts_set_both_times,
    inserts_in_bulk_set_both_times,
    typed_updates_set_the_time_of_the_change,
    updates_by_pipelines_set_the_time_of_the_change,
    upserts_set_both_times,
    replacements_keep_the_time_of_the_insert,
    saves_set_the_time_of_the_change,
    saves_without_changes_send_nothing,
    retried_transactions_save_the_time_of_the_last_try,
    the_clock_of_the_server_sets_updates,
    optional_times_are_filled,
    updates_that_name_a_time_are_refused,
    raw_updates_set_no_time,
    copies_have_the_times_of_their_sources,
    validators_require_the_times,
    times_of_other_crates_are_set,
];

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "articles")]
struct Article {
    #[serde(rename = "_id")]
    id: i32,
    title: String,
    #[odm(created_at)]
    created_at: DateTime,
    #[odm(updated_at, index)]
    updated_at: DateTime,
}

/// The clock of the server, and names of its own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "notes")]
struct Note {
    #[serde(rename = "_id")]
    id: i32,
    text: String,
    #[serde(rename = "created", skip_serializing_if = "Option::is_none")]
    #[odm(created_at)]
    created_at: Option<DateTime>,
    #[serde(rename = "updated")]
    #[odm(updated_at(server))]
    updated_at: Option<DateTime>,
    #[odm(version)]
    version: i64,
}

/// Times of other crates, which their modules store as dates.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "entries")]
struct Entry {
    #[serde(rename = "_id")]
    id: i32,
    text: String,
    #[serde(with = "odm::chrono_0_4")]
    #[odm(created_at)]
    created_at: chrono::DateTime<chrono::Utc>,
    #[serde(default, with = "odm::jiff_0_2")]
    #[odm(updated_at)]
    updated_at: Option<jiff::Timestamp>,
}

const EPOCH: DateTime = DateTime::from_millis(0);

fn article(id: i32) -> Article {
    Article {
        id,
        title: "one".to_owned(),
        created_at: EPOCH,
        updated_at: EPOCH,
    }
}

fn note(id: i32) -> Note {
    Note {
        id,
        text: "one".to_owned(),
        created_at: None,
        updated_at: None,
        version: 0,
    }
}

/// An article from long ago, which no typed write inserts.
async fn old(db: &Db) -> Collection<Article> {
    let stored = bson::serialize_to_document(&article(1)).unwrap();
    let insert = doc! {"insert": "articles", "documents": [stored]};
    db.run_command(insert).await.unwrap();
    db.collection::<Article>()
}

async fn stored(articles: &Collection<Article>, id: i32) -> Article {
    articles.get(&id).await.unwrap().unwrap()
}

/// Asserts that the time is between `start` and now.
fn assert_since(start: DateTime, time: DateTime) {
    let now = DateTime::now();
    assert!(start <= time && time <= now, "{start} {time} {now}");
}

async fn inserts_set_both_times(db: &Db) {
    let articles = db.collection::<Article>();
    let start = DateTime::now();
    let inserted = article(1);
    articles.insert_one(&inserted).await.unwrap();
    // The value in memory stays as it is.
    assert_eq!(inserted.created_at, EPOCH);
    let found = stored(&articles, 1).await;
    assert_since(start, found.created_at);
    assert_eq!(found.created_at, found.updated_at);

    let command = articles.insert_one(&inserted).command().unwrap();
    let documents = command.get_array("documents").unwrap();
    let document = documents[0].as_document().unwrap();
    let keys: Vec<_> = document.keys().map(String::as_str).collect();
    assert_eq!(keys, ["_id", "title", "created_at", "updated_at"]);
}

async fn inserts_in_bulk_set_both_times(db: &Db) {
    let articles = db.collection::<Article>();
    let start = DateTime::now();
    articles
        .insert_many([article(1), article(2)])
        .await
        .unwrap();
    articles
        .bulk_write(|w| {
            [
                w.insert_one(article(3)),
                w.update_one(|a| a.id.eq(4), |a| a.title.set("four"))
                    .upsert(true),
            ]
        })
        .await
        .unwrap();
    for id in 1..=4 {
        let found = stored(&articles, id).await;
        assert_since(start, found.created_at);
        assert_eq!(found.created_at, found.updated_at);
    }
    articles
        .bulk_write(|w| {
            [
                w.update_one(|a| a.id.eq(1), |a| a.title.set("new")),
                w.replace_one(|a| a.id.eq(2), article(2)),
            ]
        })
        .await
        .unwrap();
    for id in [1, 2] {
        assert_since(start, stored(&articles, id).await.created_at);
    }
}

async fn typed_updates_set_the_time_of_the_change(db: &Db) {
    let articles = old(db).await;
    let start = DateTime::now();
    articles
        .update_one(|a| a.id.eq(1), |a| a.title.set("two"))
        .await
        .unwrap();
    let found = stored(&articles, 1).await;
    assert_since(start, found.updated_at);
    assert_eq!((found.created_at, found.title.as_str()), (EPOCH, "two"));

    let start = DateTime::now();
    articles.update_all(|a| a.title.set("three")).await.unwrap();
    assert_since(start, stored(&articles, 1).await.updated_at);

    let start = DateTime::now();
    let found = articles
        .find_one_and_update(|a| a.id.eq(1), |a| a.title.set("four"))
        .return_document(ReturnDocument::After)
        .await
        .unwrap()
        .unwrap();
    assert_since(start, found.updated_at);
    assert_eq!(found.created_at, EPOCH);

    // Without `upsert`, nothing is sent for `created_at`.
    let command = articles
        .update_one(|a| a.id.eq(1), |a| a.title.set("five"))
        .command()
        .unwrap();
    assert!(!command.to_string().contains("created_at"), "{command}");
}

async fn updates_by_pipelines_set_the_time_of_the_change(db: &Db) {
    let articles = old(db).await;
    let start = DateTime::now();
    articles
        .update_one(
            |a| a.id.eq(1),
            |a| a.title.set_expr(a.title.expr().concat("!")),
        )
        .upsert(true)
        .await
        .unwrap();
    let found = stored(&articles, 1).await;
    assert_since(start, found.updated_at);
    assert_eq!((found.created_at, found.title.as_str()), (EPOCH, "one!"));

    articles
        .update_one(|a| a.id.eq(2), |a| a.title.set_literal("two"))
        .upsert(true)
        .await
        .unwrap();
    let found = stored(&articles, 2).await;
    assert_since(start, found.updated_at);
    assert_eq!(found.created_at, found.updated_at);
}

async fn upserts_set_both_times(db: &Db) {
    let articles = old(db).await;
    let start = DateTime::now();
    for id in [1, 2] {
        articles
            .update_one(|a| a.id.eq(id), |a| a.title.set_on_insert("inserted"))
            .upsert(true)
            .await
            .unwrap();
    }
    let (first, second) = (stored(&articles, 1).await, stored(&articles, 2).await);
    assert_eq!((first.created_at, first.title.as_str()), (EPOCH, "one"));
    assert_eq!(second.title, "inserted");
    assert_since(start, second.created_at);
    assert_eq!(second.created_at, second.updated_at);

    let found = articles
        .find_one_and_update(|a| a.id.eq(3), |a| a.title.set("three"))
        .upsert(true)
        .return_document(ReturnDocument::After)
        .await
        .unwrap()
        .unwrap();
    assert_since(start, found.created_at);
}

async fn replacements_keep_the_time_of_the_insert(db: &Db) {
    let articles = old(db).await;
    let start = DateTime::now();
    let mut replacement = article(1);
    replacement.title = "two".into();
    // What the replacement says of its times does not count.
    replacement.created_at = DateTime::from_millis(5);
    articles
        .replace_one(|a| a.id.eq(1), &replacement)
        .await
        .unwrap();
    let found = stored(&articles, 1).await;
    assert_eq!((found.created_at, found.title.as_str()), (EPOCH, "two"));
    assert_since(start, found.updated_at);

    let found = articles
        .find_one_and_replace(|a| a.id.eq(1), article(1))
        .return_document(ReturnDocument::After)
        .await
        .unwrap()
        .unwrap();
    assert_eq!((found.created_at, found.title.as_str()), (EPOCH, "one"));

    articles
        .replace_one(|a| a.id.eq(2), article(2))
        .upsert(true)
        .await
        .unwrap();
    let found = stored(&articles, 2).await;
    assert_since(start, found.created_at);
    assert_eq!(found.created_at, found.updated_at);
}

async fn saves_set_the_time_of_the_change(db: &Db) {
    let articles = old(db).await;
    let start = DateTime::now();
    let mut loaded = articles.load(&1).await.unwrap().unwrap();
    loaded.title = "two".into();
    // What memory says of the times does not count.
    loaded.created_at = DateTime::from_millis(5);
    loaded.updated_at = DateTime::from_millis(5);
    assert!(articles.save(&mut loaded).await.unwrap());
    assert_since(start, loaded.updated_at);
    assert_eq!(loaded.created_at, EPOCH);
    assert_eq!(*loaded, stored(&articles, 1).await);

    loaded.title = "three".into();
    let command = articles.save(&mut loaded).command().unwrap().unwrap();
    let updates = command.get_array("updates").unwrap();
    let update = updates[0].as_document().unwrap();
    let update = update.get_document("u").unwrap();
    let set = update.get_document("$set").unwrap();
    let keys: Vec<_> = set.keys().map(String::as_str).collect();
    assert_eq!((update.len(), keys), (1, vec!["title", "updated_at"]));
}

async fn saves_without_changes_send_nothing(db: &Db) {
    let articles = old(db).await;
    let mut loaded = articles.load(&1).await.unwrap().unwrap();
    assert!(!articles.save(&mut loaded).await.unwrap());
    loaded.updated_at = DateTime::now();
    assert!(!articles.save(&mut loaded).await.unwrap());
    assert_eq!(stored(&articles, 1).await.updated_at, EPOCH);
}

async fn retried_transactions_save_the_time_of_the_last_try(db: &Db) {
    let articles = old(db).await;
    let others = db.collection::<Note>();
    others.insert_one(note(1)).await.unwrap();
    let mut loaded = articles.load(&1).await.unwrap().unwrap();
    loaded.title = "two".into();
    let mut runs = 0;
    let mut start = DateTime::now();
    transaction!(db, |tx| -> odm::Result<_> {
        runs += 1;
        start = DateTime::now();
        assert_eq!(loaded.updated_at, EPOCH, "an abort restores the time");
        assert!(articles.save(&mut loaded).session(tx).await?);
        if runs == 1 {
            // This write is between the transaction's snapshot and its write.
            others
                .update_one(|n| n.id.eq(1), |n| n.text.set("first"))
                .await?;
        }
        others
            .update_one(|n| n.id.eq(1), |n| n.text.set("second"))
            .session(tx)
            .await?;
        Ok(())
    })
    .await
    .unwrap();
    assert_eq!(runs, 2);
    let found = stored(&articles, 1).await;
    assert_since(start, found.updated_at);
    assert_eq!(*loaded, found);
    assert_eq!(found.created_at, EPOCH);
}

async fn the_clock_of_the_server_sets_updates(db: &Db) {
    let notes = db.collection::<Note>();
    notes.insert_one(note(1)).await.unwrap();
    let inserted = notes.get(&1).await.unwrap().unwrap();
    assert!(inserted.created_at.is_some());
    assert_eq!(inserted.created_at, inserted.updated_at);

    let update = |command: &bson::Document| {
        let updates = command.get_array("updates").unwrap();
        updates[0].as_document().unwrap().get("u").unwrap().clone()
    };
    let command = notes
        .update_one(|n| n.id.eq(1), |n| n.text.set("two"))
        .command()
        .unwrap();
    let sent = doc! {
        "$set": {"text": "two"},
        "$inc": {"version": 1_i64},
        "$currentDate": {"updated": true},
    };
    assert_eq!(update(&command), Bson::Document(sent));
    let command = notes
        .update_one(|n| n.id.eq(1), |n| n.text.set_literal("two"))
        .command()
        .unwrap();
    assert!(
        command.to_string().contains(r#""updated": "$$NOW""#),
        "{command}"
    );

    let mut loaded = notes.load(&1).await.unwrap().unwrap();
    let before = loaded.updated_at;
    loaded.text = "two".into();
    assert!(notes.save(&mut loaded).await.unwrap());
    // The value in memory is that of the load: only the server knows the new one.
    assert_eq!((loaded.updated_at, loaded.version), (before, 1));
    let found = notes.get(&1).await.unwrap().unwrap();
    assert!(found.updated_at >= before);
    assert_eq!(found.created_at, inserted.created_at);

    // On insertion as well.
    notes
        .update_one(|n| n.id.eq(2), |n| n.text.set("two"))
        .upsert(true)
        .await
        .unwrap();
    let found = notes.get(&2).await.unwrap().unwrap();
    assert!(found.created_at.is_some() && found.updated_at.is_some());
    notes.replace_one(|n| n.id.eq(2), note(2)).await.unwrap();
    let replaced = notes.get(&2).await.unwrap().unwrap();
    assert_eq!(
        (replaced.created_at, replaced.version),
        (found.created_at, 2)
    );
    assert!(replaced.updated_at >= found.updated_at);
}

async fn optional_times_are_filled(db: &Db) {
    let insert = doc! {"insert": "notes", "documents": [
        {"_id": 1, "text": "one", "created": null, "version": 0_i64},
    ]};
    db.run_command(insert).await.unwrap();
    let notes = db.collection::<Note>();
    assert_eq!(notes.get(&1).await.unwrap().unwrap().updated_at, None);
    notes
        .update_one(|n| n.id.eq(1), |n| n.text.set("two"))
        .await
        .unwrap();
    let found = notes.get(&1).await.unwrap().unwrap();
    assert!(found.updated_at.is_some());
    assert_eq!(found.created_at, None);

    let mut loaded = notes.load(&1).await.unwrap().unwrap();
    loaded.text = "three".into();
    assert!(notes.save(&mut loaded).await.unwrap());
    assert_eq!(loaded.created_at, None);
}

async fn updates_that_name_a_time_are_refused(db: &Db) {
    let articles = old(db).await;
    let now = DateTime::now();
    let errors = [
        articles.update_all(|a| a.updated_at.set(now)).await,
        articles.update_all(|a| a.created_at.set(now)).await,
        articles
            .update_all(|a| a.title.set("x") & a.created_at.set_on_insert(now))
            .await,
        articles.update_all(|a| a.updated_at.set_literal(now)).await,
        articles.update_all(|a| a.updated_at.current_date()).await,
    ];
    for result in errors {
        let error = result.unwrap_err();
        let path = error.path().unwrap_or_default();
        assert!(error.is_usage() && path.ends_with("ed_at"), "{error}");
    }
    assert_eq!(stored(&articles, 1).await, article(1));
}

async fn raw_updates_set_no_time(db: &Db) {
    let articles = old(db).await;
    articles
        .update_all(|_| {
            raw(doc! {"$set": {"title": "two", "created_at": DateTime::from_millis(5)}})
        })
        .await
        .unwrap();
    let found = stored(&articles, 1).await;
    assert_eq!(found.created_at, DateTime::from_millis(5));
    assert_eq!(found.updated_at, EPOCH);
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "blogs")]
struct Blog {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(recent(Post, max = 3, sort = created_at))]
    posts: Vec<PostLine>,
    #[odm(updated_at)]
    updated_at: DateTime,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "posts")]
struct Post {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(index, recent_in = posts)]
    blog: Ref<Blog>,
    #[odm(created_at)]
    created_at: DateTime,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded, Projection)]
#[odm(of = Post)]
struct PostLine {
    #[serde(rename = "_id")]
    id: i32,
    created_at: DateTime,
}

async fn copies_have_the_times_of_their_sources(db: &Db) {
    let insert = doc! {"insert": "blogs", "documents": [
        {"_id": 1, "posts": [], "updated_at": EPOCH},
    ]};
    db.run_command(insert).await.unwrap();
    let posts = db.collection::<Post>();
    // The collection must exist before the transaction.
    db.run_command(doc! {"create": "posts"}).await.unwrap();
    let start = DateTime::now();
    let post = Post {
        id: 1,
        blog: Ref::from(1),
        created_at: EPOCH,
    };
    posts.insert_one(&post).propagate().await.unwrap();
    let post = posts.get(&1).await.unwrap().unwrap();
    let blog = db.collection::<Blog>().get(&1).await.unwrap().unwrap();
    assert_since(start, post.created_at);
    assert_since(start, blog.updated_at);
    assert_eq!(blog.posts[0].created_at, post.created_at);
}

async fn validators_require_the_times(db: &Db) {
    db.sync(models![Article, Note])
        .plan()
        .await
        .unwrap()
        .apply(Allow::CREATE)
        .await
        .unwrap();
    let articles = db.collection::<Article>();
    articles.insert_one(article(1)).await.unwrap();
    articles
        .update_one(|a| a.id.eq(2), |a| a.title.set("two"))
        .upsert(true)
        .await
        .unwrap();
    let notes = db.collection::<Note>();
    notes.insert_one(note(1)).await.unwrap();
    notes
        .update_one(|n| n.id.eq(2), |n| n.text.set("two"))
        .upsert(true)
        .await
        .unwrap();
    let missing = articles
        .update_all(|_| raw(doc! {"$unset": {"created_at": true}}))
        .await
        .unwrap_err();
    assert!(missing.is_validation_failure(), "{missing}");
}

async fn times_of_other_crates_are_set(db: &Db) {
    let plan = db.sync(models![Entry]).plan().await.unwrap();
    plan.apply(Allow::CREATE).await.unwrap();
    let start = chrono::Utc::now() - chrono::TimeDelta::milliseconds(1);
    let entries = db.collection::<Entry>();
    let entry = Entry {
        id: 1,
        text: "one".to_owned(),
        created_at: chrono::DateTime::UNIX_EPOCH,
        updated_at: None,
    };
    entries.insert_one(&entry).await.unwrap();
    let mut loaded = entries.load(&1).await.unwrap().unwrap();
    let created = loaded.created_at;
    assert!(created >= start, "{created} is before {start}");
    let updated = loaded.updated_at.unwrap();
    assert_eq!(updated.as_millisecond(), created.timestamp_millis());

    tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    loaded.text = "two".into();
    entries.save(&mut loaded).await.unwrap();
    assert!(loaded.updated_at.unwrap() > updated);
    let stored = entries.get(&1).await.unwrap().unwrap();
    assert_eq!(stored, *loaded);
    assert_eq!(stored.created_at, created);

    let upsert = entries.update_by_id(&2, |e| e.text.set("three"));
    upsert.upsert(true).await.unwrap();
    let found = entries.find(|e| e.created_at.gt(created) & e.updated_at.gt(updated));
    assert_eq!(found.all().await.unwrap()[0].id, 2);

    // What another program has stored there is not a time.
    let foreign = doc! {"_id": 3, "text": "x", "created_at": "today", "updated_at": null};
    let insert =
        doc! {"insert": "entries", "documents": [foreign], "bypassDocumentValidation": true};
    db.run_command(insert).await.unwrap();
    let unread = entries.get(&3).await.unwrap_err();
    assert_eq!(
        (unread.is_decode(), unread.path()),
        (true, Some("created_at"))
    );
}
