//! Lists that always have the same number of elements, which are updated by their positions.

use odm::bson::{self, Bson, doc};
use odm::collection::WithheldReason;
use odm::prelude::*;

use crate::case::cases;

cases![
    elements_are_set_by_position,
    positions_past_the_end_are_refused,
    short_lists_are_not_filled_up,
    upserts_are_refused,
    an_hour_is_inserted_whole,
    arrays_have_a_length,
    lists_in_subdocuments,
    concurrent_increments,
    bulk_writes_and_find_one_and_update,
    stored_names_are_short,
];

/// The visits in each minute of an hour, with short names.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "hours")]
struct Hour {
    #[serde(rename = "_id")]
    id: i32,
    #[serde(rename = "m")]
    #[odm(length = 60)]
    minutes: Vec<i32>,
    #[serde(rename = "t")]
    total: i64,
}

fn hour(id: i32) -> Hour {
    Hour {
        id,
        minutes: vec![0; 60],
        total: 0,
    }
}

async fn day(db: &Db) -> Collection<Hour> {
    let plan = db.sync(models![Hour]).plan().await.unwrap();
    plan.apply(Allow::CREATE).await.unwrap();
    let hours = db.collection::<Hour>();
    hours.insert_one(hour(1)).await.unwrap();
    hours
}

async fn elements_are_set_by_position(db: &Db) {
    let hours = day(db).await;
    for minute in [0, 17, 59] {
        let visit = hours.update_by_id(&1, |h| h.minutes.at(minute).inc(2) & h.total.inc(2));
        let result = visit.await.unwrap();
        assert_eq!((result.matched, result.withheld.len()), (1, 0));
    }
    hours
        .update_by_id(&1, |h| h.minutes.at(3).set(9) & h.minutes.at(4).max(5))
        .await
        .unwrap();
    let stored = hours.get(&1).await.unwrap().unwrap();
    let mut expected = vec![0; 60];
    for (minute, count) in [(0, 2), (17, 2), (59, 2), (3, 9), (4, 5)] {
        expected[minute] = count;
    }
    assert_eq!((stored.minutes, stored.total), (expected, 6));
    assert_eq!(
        hours
            .count_documents(|h| h.minutes.at(17).gte(2))
            .await
            .unwrap(),
        1
    );
    // The whole list may be set, too.
    hours
        .update_by_id(&1, |h| h.minutes.set(vec![1; 60]))
        .await
        .unwrap();
    assert_eq!(hours.get(&1).await.unwrap().unwrap().minutes, [1; 60]);
}

async fn positions_past_the_end_are_refused(db: &Db) {
    let hours = day(db).await;
    let before = hours.get(&1).await.unwrap();
    for position in [60, 61, u32::MAX] {
        let error = hours
            .update_by_id(&1, |h| h.minutes.at(position).inc(1))
            .await
            .unwrap_err();
        assert!(error.is_usage(), "{error}");
        assert_eq!((error.model(), error.path()), (Some("Hour"), Some("m")));
        assert!(error.to_string().contains("at most 60 elements"), "{error}");
        let update = hours.update_by_id(&1, |h| h.minutes.at(position).set(1));
        assert!(update.command().is_err());
    }
    for wrong in [59, 61] {
        let update = hours.update_by_id(&1, |h| h.minutes.set(vec![0; wrong]));
        update.await.unwrap_err();
        let insert = Hour {
            minutes: vec![0; wrong],
            ..hour(2)
        };
        assert!(
            hours
                .insert_one(&insert)
                .await
                .unwrap_err()
                .is_validation_failure()
        );
        assert!(insert.validate().is_err());
    }
    assert!(
        hours
            .update_by_id(&1, |h| h.minutes.push(1))
            .await
            .unwrap()
            .is_full()
    );
    assert_eq!(hours.get(&1).await.unwrap(), before);
}

/// MongoDB would pad them with nulls, and make a subdocument of a missing one.
async fn short_lists_are_not_filled_up(db: &Db) {
    day(db).await;
    let documents = vec![
        doc! {"_id": 2, "m": [1, 2], "t": 0_i64},
        doc! {"_id": 3, "t": 0_i64},
        doc! {"_id": 4, "m": Bson::Null, "t": 0_i64},
        doc! {"_id": 5, "m": {"17": 1}, "t": 0_i64},
    ];
    let insert =
        doc! {"insert": "hours", "documents": &documents, "bypassDocumentValidation": true};
    db.run_command(insert).await.unwrap();
    let hours = db.collection::<Hour>();
    for id in 2..=5 {
        let update = hours.update_by_id(&id, |h| h.minutes.at(17).inc(1) & h.minutes.at(18).inc(1));
        let result = update.bypass_document_validation(true).await.unwrap();
        assert_eq!(result.matched, 0, "{id}");
        let [withheld] = result.withheld.as_slice() else {
            panic!("{result:?}")
        };
        assert!(result.is_short() && !result.is_full());
        assert_eq!(withheld.path, "m");
        assert_eq!(withheld.reason, WithheldReason::Short { length: 60 });
        assert!(withheld.to_string().contains("set the whole list first"));
        let error = hours
            .find_one_and_update(|h| h.id.eq(id), |h| h.minutes.at(0).set(1))
            .await;
        assert_eq!(error.unwrap_err().withheld().len(), 1);
    }
    let raw = doc! {"find": "hours", "filter": {"_id": {"$gt": 1}}, "sort": {"_id": 1}};
    assert_eq!(db.run_command(raw).all().await.unwrap(), documents);
    // Many at once: the whole one is changed.
    let result = hours
        .update_all(|h| h.minutes.at(17).inc(1))
        .bypass_document_validation(true)
        .await;
    let result = result.unwrap();
    assert_eq!((result.matched, result.withheld[0].documents), (1, 4));
    // With the whole list set, the next update finds it.
    let whole = hours.update_by_id(&3, |h| h.minutes.set(vec![0; 60]));
    assert_eq!(whole.await.unwrap().matched, 1);
    assert_eq!(
        hours
            .update_by_id(&3, |h| h.minutes.at(17).inc(1))
            .await
            .unwrap()
            .matched,
        1
    );
    // A check finds them.
    let report = db.check(models![Hour]).await.unwrap();
    assert_eq!(report.findings, 3, "{report}");
}

async fn upserts_are_refused(db: &Db) {
    let hours = day(db).await;
    let upsert = hours
        .update_by_id(&7, |h| h.minutes.at(17).inc(1))
        .upsert(true);
    let error = upsert.await.unwrap_err();
    assert!(error.is_usage(), "{error}");
    assert!(error.to_string().contains("find_one_or_insert"), "{error}");
    assert_eq!(hours.get(&7).await.unwrap(), None);
}

async fn an_hour_is_inserted_whole(db: &Db) {
    let hours = day(db).await;
    for expected in 1..=3 {
        hours
            .find_one_or_insert(|h| h.id.eq(9), hour(9))
            .await
            .unwrap();
        let changed = hours.find_one_and_update(|h| h.id.eq(9), |h| h.minutes.at(30).inc(1));
        let changed = changed.return_document(odm::collection::ReturnDocument::After);
        assert_eq!(changed.await.unwrap().unwrap().minutes[30], expected);
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "weeks")]
struct Week {
    #[serde(rename = "_id")]
    id: i32,
    days: [i32; 7],
    log: Option<Log>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
struct Log {
    #[odm(embed(few, max = 3), items(min = 3))]
    slots: Vec<Slot>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
struct Slot {
    n: i32,
}

fn week(id: i32) -> Week {
    Week {
        id,
        days: [0; 7],
        log: Some(Log {
            slots: vec![Slot { n: 0 }, Slot { n: 0 }, Slot { n: 0 }],
        }),
    }
}

async fn arrays_have_a_length(db: &Db) {
    let weeks = db.collection::<Week>();
    weeks.insert_one(week(1)).await.unwrap();
    weeks
        .update_by_id(&1, |w| w.days.at(6).set(5))
        .await
        .unwrap();
    assert_eq!(
        weeks.get(&1).await.unwrap().unwrap().days,
        [0, 0, 0, 0, 0, 0, 5]
    );
    let error = weeks
        .update_by_id(&1, |w| w.days.at(7).set(5))
        .await
        .unwrap_err();
    assert!(error.is_usage(), "{error}");
    assert_eq!(error.path(), Some("days"));
}

async fn lists_in_subdocuments(db: &Db) {
    let weeks = db.collection::<Week>();
    weeks
        .insert_many([
            week(1),
            Week {
                log: None,
                ..week(2)
            },
        ])
        .await
        .unwrap();
    let result = weeks
        .update_by_id(&1, |w| w.log.slots.at(2).n.inc(4))
        .await
        .unwrap();
    assert_eq!(result.matched, 1);
    assert_eq!(
        weeks.get(&1).await.unwrap().unwrap().log.unwrap().slots[2].n,
        4
    );
    let error = weeks
        .update_by_id(&1, |w| w.log.slots.at(3).n.inc(4))
        .await
        .unwrap_err();
    assert_eq!(error.path(), Some("log.slots"));
    let result = weeks
        .update_by_id(&2, |w| w.log.slots.at(2).n.inc(4))
        .await
        .unwrap();
    assert_eq!(result.withheld[0].path, "log.slots");
    assert_eq!(weeks.get(&2).await.unwrap().unwrap().log, None);
}

async fn concurrent_increments(db: &Db) {
    let hours = day(db).await;
    let visits = (0..60).map(|visit| {
        hours
            .update_by_id(&1, |h| h.minutes.at(visit % 5).inc(1) & h.total.inc(1))
            .into_future()
    });
    futures::future::try_join_all(visits).await.unwrap();
    let stored = hours.get(&1).await.unwrap().unwrap();
    assert_eq!((&stored.minutes[..5], stored.total), (&[12; 5][..], 60));
}

async fn bulk_writes_and_find_one_and_update(db: &Db) {
    let hours = day(db).await;
    let written = hours.bulk_write(|w| {
        [
            w.update_one(|h| h.id.eq(1), |h| h.minutes.at(1).inc(1)),
            w.update_one(|h| h.id.eq(1), |h| h.minutes.at(1).inc(1)),
        ]
    });
    written.await.unwrap();
    let refused = hours.bulk_write(|w| [w.update_one(|h| h.id.eq(1), |h| h.minutes.at(60).inc(1))]);
    let error = refused.await.unwrap_err();
    assert_eq!(error.path(), Some("m"), "{error}");
    assert_eq!(hours.get(&1).await.unwrap().unwrap().minutes[1], 2);
}

/// Filters, updates, logged commands, plans and errors have the stored names, as the documents have.
async fn stored_names_are_short(db: &Db) {
    let hours = day(db).await;
    let command = hours
        .update_by_id(&1, |h| h.minutes.at(5).inc(1))
        .command()
        .unwrap();
    let update: &bson::Document = command.get_array("updates").unwrap()[0]
        .as_document()
        .unwrap();
    assert_eq!(
        update.get_document("u").unwrap(),
        &doc! {"$inc": {"m.5": 1}}
    );
    let raw = db.run_command(doc! {"find": "hours"}).all().await.unwrap();
    assert_eq!(raw[0].keys().collect::<Vec<_>>(), ["_id", "m", "t"]);
    let diagram = odm::schema::Diagram::of(models![Hour]).unwrap().mermaid();
    assert!(diagram.contains("int[] m"), "{diagram}");
    let plan = db.sync(models![Hour]).plan().await.unwrap();
    assert!(plan.is_empty(), "{plan}");
}
