//! Repairs that stop, that run beside writers, and that are undone.

use std::panic::{AssertUnwindSafe, resume_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures::FutureExt;
use odm::bson::{Document as BsonDocument, doc};
use odm::prelude::*;
use odm::repair::{Answer, RepairToken};

use super::damages::damages;
use super::repairs::{answered, stored};
use super::{Author, Book, Review, author, book, check, filled, models, set};

/// Everything that can be repaired is damaged.
pub(super) async fn damage_all(db: &Db) {
    filled(db).await;
    for (command, _) in damages() {
        let is_delete = command.contains_key("delete");
        let breaks_type =
            format!("{command}").contains("[1]") || format!("{command}").contains("$unset");
        if !is_delete && !breaks_type {
            db.run_command(command).await.unwrap();
        }
    }
    let delete = doc! {"delete": "authors", "deletes": [{"q": {"_id": 2}, "limit": 1}]};
    db.run_command(delete).await.unwrap();
}

pub(super) async fn repairs_go_on_after_every_batch(db: &Db) {
    damage_all(db).await;
    let expected = {
        answered(db).plan().await.unwrap().run().await.unwrap();
        stored(db).await
    };
    db.drop().await.unwrap();
    damage_all(db).await;
    let plan = answered(db).plan().await.unwrap();
    let mut report = plan.run().time_limit(Duration::ZERO).await.unwrap();
    let (mut stops, mut repaired) = (0, 0);
    while let Some(rest) = report.rest.take() {
        stops += 1;
        assert!(stops < 1_000);
        let token: RepairToken = rest.to_string().parse().unwrap();
        assert_eq!(token, rest);
        // One step of the repair: the time is over after it.
        let limit = Duration::from_micros(1 + stops % 3 * 500);
        report = answered(db)
            .resume(token)
            .unwrap()
            .time_limit(limit)
            .await
            .unwrap();
        repaired += report.repaired();
    }
    assert!(stops > 1, "{stops}");
    assert!(repaired > 5, "{repaired}");
    assert_eq!(stored(db).await, expected);
    assert!(check(db).await.is_sound());

    let token: RepairToken = r#"{"tasks":[{"phase":"copies","model":"Other"}]}"#.parse().unwrap();
    assert!(answered(db).resume(token).unwrap_err().is_usage());
    for text in [
        "",
        "{}",
        r#"{"tasks":[{"phase":"more","model":"Book"}]}"#,
        r#"{"tasks":[],"x":1}"#,
    ] {
        assert!(
            text.parse::<RepairToken>().unwrap_err().is_usage(),
            "{text}"
        );
    }
}

/// The panic of what is stopped.
pub(super) struct Stopped;

pub(super) async fn repairs_stop_after_every_command(db: &Db) {
    damage_all(db).await;
    let damaged = check(db).await;
    answered(db).plan().await.unwrap().run().await.unwrap();
    let repaired = stored(db).await;
    for stop in 1.. {
        db.drop().await.unwrap();
        damage_all(db).await;
        let count = AtomicUsize::new(0);
        let watched = db.on_command(move |_| {
            if count.fetch_add(1, Ordering::Relaxed) + 1 == stop {
                resume_unwind(Box::new(Stopped));
            }
        });
        let plan = answered(db).plan().await.unwrap();
        let repair = async {
            let plan = answered(&watched).plan().await?;
            plan.run().await
        };
        let ended = AssertUnwindSafe(repair).catch_unwind().await;
        if let Ok(report) = ended {
            assert!(report.unwrap().is_complete());
            break;
        }
        // It has repaired a part, and done no harm.
        let left = check(db).await;
        for finding in &left.listed {
            let is_same = |other: &odm::check::Finding| {
                (other.kind, other.model, &other.id, &other.path)
                    == (finding.kind, finding.model, &finding.id, &finding.path)
            };
            // A document that was deleted is still counted and listed until its author is repaired.
            let follows = [
                odm::check::FindingKind::StaleSummary,
                odm::check::FindingKind::StaleList,
            ];
            assert!(
                damaged.listed.iter().any(is_same) || follows.contains(&finding.kind),
                "{stop}: {finding}"
            );
        }
        let report = plan.run().await.unwrap();
        assert!(report.is_complete(), "{stop}: {report}");
        let left = check(db).await;
        assert!(left.is_sound(), "{stop}: {left}");
        assert_eq!(stored(db).await, repaired, "{stop}");
    }
}

async fn write(db: &Db) {
    let (authors, books) = (db.collection::<Author>(), db.collection::<Book>());
    let reviews = db.collection::<Review>();
    for round in 0..12 {
        let id = 100 + round;
        let insert = books.insert_one(&book(id, 1));
        insert.propagate().await.unwrap();
        let name = format!("name {round}");
        let rename = authors.update_by_id(&1, |a| a.name.set(name));
        rename.propagate().await.unwrap();
        let year = books.update_by_id(&id, |b| b.year.set(1 + round));
        year.propagate().await.unwrap();
        let review = Review {
            id,
            reviewer: Some(Ref::from(1)),
        };
        reviews.insert_one(&review).propagate().await.unwrap();
        if round % 2 == 0 {
            books.delete_by_id(&id).with_dependents().await.unwrap();
        }
        authors.insert_one(&author(id)).await.unwrap();
    }
}

/// Another program that damages what is repaired.
async fn damage(db: &Db) {
    for round in 0..12 {
        set(
            db,
            "books",
            1,
            doc! {"$set": {"author_name": format!("wrong {round}")}},
        )
        .await;
        set(
            db,
            "authors",
            1,
            doc! {"$set": {"book_count": 1_000_i64 + round}},
        )
        .await;
        set(db, "authors", 1, doc! {"$set": {"newest": []}}).await;
        set(db, "authors", 1, doc! {"$pull": {"reviews": 1}}).await;
        set(db, "books", 3, doc! {"$set": {"colour": round}}).await;
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

pub(super) async fn repairs_beside_writers(db: &Db) {
    filled(db).await;
    let repairs = async {
        for _ in 0..12 {
            let report = answered(db).plan().await.unwrap().run().await.unwrap();
            assert_eq!(report.failed, 0, "{report}");
        }
    };
    futures::future::join3(write(db), damage(db), repairs).await;
    let report = answered(db).plan().await.unwrap().run().await.unwrap();
    assert!(report.is_complete(), "{report}");
    let left = check(db).await;
    assert!(left.is_sound(), "{left}");
    // What the writers have written is there, and nothing else.
    let author = db.collection::<Author>().get(&1).await.unwrap().unwrap();
    assert_eq!((&*author.name, author.book_count), ("name 11", 9));
    assert_eq!(author.reviews.len(), 13);
    assert_eq!(author.newest.last().unwrap().year, 1903);
}

/// Documents with the values that each write changes left out.
fn plain(stored: Vec<(&'static str, Vec<BsonDocument>)>) -> Vec<(&'static str, Vec<BsonDocument>)> {
    let sorted = |documents: Vec<BsonDocument>| {
        let fields = |document: BsonDocument| {
            let mut fields: Vec<_> = document.into_iter().collect();
            fields.sort_by(|(one, _), (other, _)| one.cmp(other));
            fields.into_iter().collect::<BsonDocument>()
        };
        documents.into_iter().map(fields).collect()
    };
    let stored = stored.into_iter();
    stored
        .map(|(name, documents)| (name, sorted(documents)))
        .collect()
}

pub(super) async fn repairs_are_undone(db: &Db) {
    damage_all(db).await;
    let damaged = stored(db).await;
    let plan = answered(db).plan().await.unwrap();
    let report = plan.run().keep_images().await.unwrap();
    assert!(report.is_complete(), "{report}");
    let left = check(db).await;
    assert!(left.is_sound(), "{left}");
    let repaired = plain(stored(db).await);
    assert_ne!(repaired, plain(damaged.clone()));

    let images = report.images.unwrap();
    let undone = db.undo_repair(models(), images).await.unwrap();
    assert_eq!(undone.changed, 0, "{undone}");
    assert!(undone.undone >= 6, "{undone}");
    assert_eq!(plain(stored(db).await), plain(damaged));
    // Nothing is left to undo, and the repair is possible once more.
    assert_eq!(db.undo_repair(models(), images).await.unwrap().undone, 0);
    answered(db).plan().await.unwrap().run().await.unwrap();
    assert_eq!(plain(stored(db).await), repaired);

    let few = db.undo_repair([], images).await;
    assert!(few.unwrap_err().is_usage());
}

pub(super) async fn undone_repairs_leave_later_writes(db: &Db) {
    filled(db).await;
    set(
        db,
        "books",
        1,
        doc! {"$set": {"author_name": "wrong", "colour": "red"}},
    )
    .await;
    set(db, "books", 2, doc! {"$set": {"author_name": "wrong"}}).await;
    let repair = db
        .repair(models())
        .answer_at("Book", "colour", Answer::RemoveField);
    let report = repair
        .plan()
        .await
        .unwrap()
        .run()
        .keep_images()
        .await
        .unwrap();
    assert_eq!(report.repaired(), 3, "{report}");
    // Somebody else changes a field that was repaired, and one that was not.
    set(
        db,
        "books",
        1,
        doc! {"$set": {"author_name": "later", "title": "later"}},
    )
    .await;
    let undone = db
        .undo_repair(models(), report.images.unwrap())
        .await
        .unwrap();
    assert_eq!((undone.undone, undone.changed), (2, 1), "{undone}");
    assert_eq!(undone.listed, [("books".to_owned(), 1.into())]);
    let books = stored(db).await.remove(1).1;
    let text = |position: usize, field: &str| books[position].get_str(field).unwrap().to_owned();
    assert_eq!(text(0, "author_name"), "later");
    assert_eq!(text(0, "title"), "later");
    assert_eq!(text(0, "colour"), "red");
    assert_eq!(text(1, "author_name"), "wrong");
}
