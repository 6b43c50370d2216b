//! Scrubs: the ranges of collections, checked again and again by several processes.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, resume_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures::FutureExt;
use odm::bson::{Bson, Document as BsonDocument, doc};
use odm::check::{Aspect, CheckReport};
use odm::prelude::*;

use super::stopped_repairs::{Stopped, damage_all};
use super::{Review, check, filled, insert, models};
use crate::polls::dropped_after;

async fn ranges(db: &Db, collection: &str) -> Vec<BsonDocument> {
    let find = doc! {
        "find": "odm_scrubs",
        "filter": {"collection": collection, "_id.whole": {"$exists": false}},
        "sort": {"_id.from": 1},
    };
    db.run_command(find).all().await.unwrap()
}

/// Each range begins where one before it ends, or earlier; the last one has no end.
async fn assert_no_gap(db: &Db, collection: &str) {
    let ranges = ranges(db, collection).await;
    if ranges.is_empty() {
        return;
    }
    let bounds = |range: &BsonDocument| {
        let from = range
            .get_document("_id")
            .unwrap()
            .get("from")
            .unwrap()
            .clone();
        (from, range.get("to").unwrap().clone())
    };
    let bounds: Vec<_> = ranges.iter().map(bounds).collect();
    assert_eq!(bounds[0].0, Bson::MinKey, "{bounds:?}");
    let mut ends = vec![&bounds[0].1];
    for (from, to) in &bounds[1..] {
        let is_reached = ends.iter().any(|end| *end == from || **end == Bson::MaxKey);
        assert!(is_reached, "{from} begins behind a gap: {bounds:?}");
        ends.push(to);
    }
    assert!(ends.contains(&&Bson::MaxKey), "{bounds:?}");
}

/// No process has a range any more.
async fn end_leases(db: &Db) {
    let free = doc! {"q": {}, "u": {"$set": {"lease": DateTime::from_millis(0)}}, "multi": true};
    db.run_command(doc! {"update": "odm_scrubs", "updates": [free]})
        .await
        .unwrap();
}

pub(super) async fn scrubs_find_what_checks_find(db: &Db) {
    damage_all(db).await;
    let checked = check(db).await;
    let mut expected: BTreeMap<String, u64> = BTreeMap::new();
    for count in &checked.counts {
        *expected.entry(count.kind.code()).or_default() += count.count;
    }
    let mut heard = Vec::new();
    let scrub = db.scrub(models()).range_documents(2);
    let report = scrub
        .on_finding(|finding| heard.push(finding.to_string()))
        .await
        .unwrap();
    assert_eq!(
        (report.documents, report.findings),
        (checked.read(), checked.findings)
    );
    heard.sort();
    let mut listed: Vec<_> = checked.listed.iter().map(ToString::to_string).collect();
    listed.sort();
    assert_eq!(heard, listed);
    let status = db.scrub_status(models()).await.unwrap();
    assert_eq!(
        (&status.findings, status.documents),
        (&expected, checked.read())
    );
    assert_eq!(status.ranges, report.ranges);
    assert!(
        status
            .age()
            .is_some_and(|age| age < Duration::from_secs(60)),
        "{status}"
    );

    // All of it was checked; what is due again is checked again, once.
    let again = db.scrub(models()).await.unwrap();
    assert_eq!((again.ranges, again.documents), (0, 0));
    let due = doc! {"q": {}, "u": {"$set": {"due": DateTime::from_millis(0)}}, "multi": true};
    db.run_command(doc! {"update": "odm_scrubs", "updates": [due]})
        .await
        .unwrap();
    let again = db.scrub(models()).every(Duration::ZERO).await.unwrap();
    assert_eq!(
        (again.documents, again.findings),
        (checked.read(), checked.findings)
    );

    // Nothing is due for another day, and the end is asked for.
    let stop = tokio::time::sleep(Duration::from_millis(20));
    let only = db.scrub(models![Review]).only([Aspect::References]);
    let ended = only
        .every(Duration::from_secs(1_000_000))
        .until(stop)
        .await
        .unwrap();
    assert!(ended.documents <= 2, "{ended:?}");
}

pub(super) async fn ranges_are_divided_and_joined(db: &Db) {
    filled(db).await;
    // `_id`s of many types, which no query operator compares.
    let ids = [
        Bson::Null,
        Bson::Double(f64::NAN),
        Bson::Double(7.5),
        Bson::Int64(i64::MAX),
        "text".into(),
        doc! {"a": 1}.into(),
        ObjectId::new().into(),
        true.into(),
        DateTime::now().into(),
    ];
    let others = ids.into_iter().chain((100..150).map(Bson::from));
    insert(
        db,
        "reviews",
        others.map(|id| doc! {"_id": id, "reviewer": Bson::Null}),
    )
    .await;
    let scrub = || {
        db.scrub(models![Review])
            .range_documents(8)
            .every(Duration::ZERO)
    };
    let report = scrub().await.unwrap();
    assert_eq!(report.documents, 61);
    assert_eq!(ranges(db, "reviews").await.len(), 8);
    assert_no_gap(db, "reviews").await;
    assert_eq!(scrub().await.unwrap().documents, 61);

    // Most documents go, and the ranges with them.
    let gone = doc! {"q": {"_id": {"$gte": 100, "$lt": 150}}, "limit": 0};
    db.run_command(doc! {"delete": "reviews", "deletes": [gone]})
        .await
        .unwrap();
    let mut counts = Vec::new();
    for _ in 0..8 {
        let report = scrub().await.unwrap();
        assert!(report.documents >= 11, "{report:?}");
        assert_no_gap(db, "reviews").await;
        counts.push(ranges(db, "reviews").await.len());
    }
    assert!(counts.last().unwrap() < &5, "{counts:?}");
}

pub(super) async fn scrubs_share_the_work(db: &Db) {
    filled(db).await;
    let ids = 100..300;
    insert(
        db,
        "reviews",
        ids.map(|id| doc! {"_id": id, "reviewer": Bson::Null}),
    )
    .await;
    let scrub = || db.scrub(models()).range_documents(10);
    let run = || scrub().into_future();
    let reports = futures::future::try_join3(run(), run(), run())
        .await
        .unwrap();
    let [one, two, three] = [reports.0, reports.1, reports.2];
    // The first range is divided while it is checked, so that all may read; none reads what another has read.
    assert_eq!(one.documents + two.documents + three.documents, 211);
    assert_no_gap(db, "reviews").await;
    assert_eq!(scrub().await.unwrap().documents, 0);
}

/// As if nothing had been scrubbed.
async fn forget(db: &Db) {
    let all = doc! {"q": {}, "limit": 0};
    let delete = doc! {"delete": "odm_scrubs", "deletes": [all]};
    db.run_command(delete).await.unwrap();
}

/// The next process goes on with what one has left, once the lease is over.
async fn goes_on(db: &Db, expected: &CheckReport, stop: usize) {
    end_leases(db).await;
    db.scrub(models()).range_documents(2).await.unwrap();
    let status = db.scrub_status(models()).await.unwrap();
    let findings: u64 = status.findings.values().sum();
    assert_eq!(findings, expected.findings, "{stop}: {status}");
    assert_eq!(status.documents, expected.read(), "{stop}: {status}");
}

pub(super) async fn scrubs_are_dropped(db: &Db) {
    damage_all(db).await;
    let expected = check(db).await;
    // After each of the first polls, and after some of the later ones, which are much alike.
    let numbers = std::iter::successors(Some(0), |polls| Some(polls + 1 + polls / 8));
    for polls in numbers {
        forget(db).await;
        let scrub = db.scrub(models()).range_documents(2);
        let ended = dropped_after(polls, scrub.into_future()).await;
        if let Some(report) = ended {
            assert_eq!(report.unwrap().findings, expected.findings);
            return;
        }
        // A command that was sent may still run.
        tokio::time::sleep(Duration::from_millis(2)).await;
        for collection in ["authors", "books", "reviews", "shelves"] {
            assert_no_gap(db, collection).await;
        }
        goes_on(db, &expected, polls).await;
    }
}

pub(super) async fn scrubs_stop_after_every_command(db: &Db) {
    damage_all(db).await;
    let expected = check(db).await;
    for stop in 1.. {
        forget(db).await;
        let count = AtomicUsize::new(0);
        let watched = db.on_command(move |_| {
            if count.fetch_add(1, Ordering::Relaxed) + 1 == stop {
                resume_unwind(Box::new(Stopped));
            }
        });
        let scrub = async { watched.scrub(models()).range_documents(2).await };
        let ended = AssertUnwindSafe(scrub).catch_unwind().await;
        for collection in ["authors", "books", "reviews", "shelves"] {
            assert_no_gap(db, collection).await;
        }
        if let Ok(report) = ended {
            assert_eq!(report.unwrap().findings, expected.findings);
            break;
        }
        goes_on(db, &expected, stop).await;
    }
}
