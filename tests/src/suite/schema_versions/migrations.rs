//! Migrations, and checks.

use std::future::poll_fn;
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::Duration;

use odm::bson::oid::ObjectId;
use odm::bson::raw::RawDocumentBuf;
use odm::check::{Aspect, FindingKind};
use odm::migrate::{MigrationToken, upgrade};

use super::{
    Allow, Bson, BsonDocument, DateTime, Db, Deserialize, Document, Odd, Person, Serialize, ada,
    bson, doc, emmy, first, grace, is_current, models, person, store, stored, three,
};

pub(super) async fn migrations_rewrite_all(db: &Db) {
    let people = three(db).await;
    store(db, "people", (10..1_300).map(|id| first(id, "A B", 1))).await;
    let plan = db.migrate(models![Person, Odd]).plan().await.unwrap();
    let steps = plan.steps();
    assert_eq!(
        (
            steps[0].model,
            steps[0].outdated,
            steps[0].newer,
            steps[0].version
        ),
        ("Person", 1_292, 0, 3)
    );
    assert_eq!((steps[1].model, steps[1].outdated), ("Odd", 0));
    assert_eq!(
        plan.to_string(),
        "Person: 1292 documents before version 3\nOdd: 0 documents before version 3\n"
    );
    assert_eq!(
        people.count_outdated().await.unwrap(),
        1_292,
        "a plan writes nothing"
    );
    let heard = Mutex::new(Vec::new());
    let run = plan.run().on_progress(|now| {
        assert_eq!((now.model, now.failed, now.planned), ("Person", 0, 1_292));
        heard.lock().unwrap().push(now.rewritten);
    });
    let report = run.await.unwrap();
    assert!(report.is_complete());
    assert_eq!(report.rewritten(), 1_292);
    assert_eq!(
        (report.collections[0].model, report.collections[0].rewritten),
        ("Person", 1_292)
    );
    let heard = heard.into_inner().unwrap();
    assert_eq!(
        (heard.len() > 2, heard.is_sorted(), heard.last()),
        (true, true, Some(&1_292))
    );
    for one in [ada(), grace(), emmy(), person(500, "A", "B", 1)] {
        is_current(db, &one).await;
    }
    assert_eq!(people.count_outdated().await.unwrap(), 0);
    let again = db.migrate(models![Person]).await.unwrap();
    assert_eq!((again.rewritten(), again.is_complete()), (0, true));
    let upgraded: Person = upgrade(first(1, "Ada Lovelace", 10)).unwrap();
    assert_eq!(upgraded, ada());
}

/// Any `_id`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "things", schema(version = 2, steps(rename_n)))]
struct Thing {
    #[serde(rename = "_id")]
    id: Bson,
    count: i32,
}

fn rename_n(thing: &mut BsonDocument) -> Result<(), &'static str> {
    let count = thing.remove("n").ok_or("no `n`")?;
    thing.insert("count", count);
    Ok(())
}

fn ids() -> Vec<Bson> {
    vec![
        Bson::MinKey,
        Bson::Null,
        Bson::Int32(-1),
        Bson::Int64(2),
        Bson::Double(2.5),
        Bson::Decimal128("3.5".parse().unwrap()),
        "$a".into(),
        "b".into(),
        doc! {"$x": 1}.into(),
        doc! {"a": 1, "b": 2}.into(),
        doc! {"b": 2, "a": 1}.into(),
        Bson::Binary(bson::Uuid::from_bytes([7; 16]).into()),
        ObjectId::from_bytes([1; 12]).into(),
        Bson::Boolean(false),
        DateTime::from_millis(5).into(),
        Bson::Timestamp(bson::Timestamp {
            time: 1,
            increment: 1,
        }),
        Bson::MaxKey,
    ]
}

pub(super) async fn migrations_of_any_ids_are_complete(db: &Db) {
    // mongod takes no `_id` with a `$` in its first name.
    let ids: Vec<_> = ids()
        .into_iter()
        .filter(|id| id.as_document().is_none_or(|id| !id.contains_key("$x")))
        .collect();
    let odd = [
        doc! {"nested": [1, [2, {"x": Bson::Undefined}], "$y"], "NaN": f64::NAN, "$d": {"$e": 1}, "a.b": 1},
        doc! {"time": Bson::Timestamp(bson::Timestamp { time: 0, increment: 0 })},
        doc! {"code": Bson::JavaScriptCode("x".to_owned()), "": 1, "e": {}, "l": []},
    ];
    let documents: Vec<_> = ids
        .iter()
        .zip(odd.iter().cycle())
        .map(|(id, other)| {
            let mut document = doc! {"_id": id.clone(), "n": 1};
            document.extend(other.clone());
            document
        })
        .collect();
    store(db, "things", documents.clone()).await;
    let before: Vec<BsonDocument> =
        futures::future::join_all(ids.iter().map(|id| stored(db, "things", id.clone()))).await;
    let report = db
        .migrate(models![Thing])
        .documents_per_second(50)
        .time_limit(Duration::from_secs(60));
    let report = report.await.unwrap();
    assert!(report.is_complete(), "{report}");
    assert_eq!(report.rewritten(), ids.len() as u64);
    for (id, before) in ids.iter().zip(before) {
        let mut expected = before;
        let n = expected.remove("n").unwrap();
        expected.insert("count", n);
        expected.insert("schema_version", 2);
        let found = stored(db, "things", id.clone()).await;
        let bytes = |document: &BsonDocument| RawDocumentBuf::try_from(document).unwrap();
        assert_eq!(bytes(&found), bytes(&expected), "{found}");
    }
}

pub(super) async fn migrations_go_on_from_a_token(db: &Db) {
    let people = db.collection::<Person>();
    store(db, "people", (0..1_200).map(|id| first(id, "A B", 1))).await;
    store(db, "things", [doc! {"_id": "x", "n": 1}]).await;
    let stopped = db
        .migrate(models![Person, Thing])
        .time_limit(Duration::ZERO)
        .await
        .unwrap();
    let token = stopped.rest.clone().unwrap();
    assert_eq!(stopped.rewritten(), 0);
    assert!(!stopped.is_complete() && stopped.to_string().contains("go on with"));
    let text = token.to_string();
    assert_eq!(text.parse::<MigrationToken>().unwrap(), token);
    // What is inserted behind the end is not a part of it.
    store(db, "people", [first(5_000, "A B", 1)]).await;
    // A process hears where it is, and is killed.
    let heard = Mutex::new(Vec::new());
    let run = db.migrate(models![Person, Thing]).resume(token).unwrap();
    let run = run.on_progress(|now| heard.lock().unwrap().push(now.token.to_string()));
    assert_eq!(run.await.unwrap().rewritten(), 1_201);
    let first_batch: MigrationToken = heard.lock().unwrap()[0].parse().unwrap();
    assert_eq!(people.count_outdated().await.unwrap(), 1);
    // The rest of it has nothing left to do, but for documents that have been put back before the end.
    let replace = doc! {"q": {"_id": 1_000}, "u": first(1_000, "A B", 1)};
    db.run_command(doc! {"update": "people", "updates": [replace]})
        .await
        .unwrap();
    let replace = doc! {"q": {"_id": 3}, "u": first(3, "A B", 1)};
    db.run_command(doc! {"update": "people", "updates": [replace]})
        .await
        .unwrap();
    let report = db
        .migrate(models![Person, Thing])
        .resume(first_batch)
        .unwrap()
        .await
        .unwrap();
    assert_eq!(report.rewritten(), 1, "document 3 stands before the token");
    assert_eq!(people.count_outdated().await.unwrap(), 2);
    assert_eq!(db.migrate(models![Person]).await.unwrap().rewritten(), 2);
}

pub(super) async fn tokens_of_other_models_are_refused(db: &Db) {
    let text = r#"{"collections":[{"collection":"people","last":1}]}"#;
    let token: MigrationToken = text.parse().unwrap();
    let error = db
        .migrate(models![Thing])
        .resume(token.clone())
        .unwrap_err();
    assert!(
        error.is_usage() && error.to_string().contains("`people`"),
        "{error}"
    );
    let error = db.migrate(models![]).resume(token).unwrap_err();
    assert!(error.to_string().contains("migrates none"), "{error}");
    for text in [
        "",
        "{}",
        "{\"collections\":[{}]}",
        r#"{"collections":[],"x":1}"#,
    ] {
        let error = text.parse::<MigrationToken>().unwrap_err();
        assert!(error.is_usage(), "{text}: {error}");
    }
}

pub(super) async fn dropped_migrations_leave_whole_documents(db: &Db) {
    let people = db.collection::<Person>();
    store(db, "people", (0..600).map(|id| first(id, "A B", 1))).await;
    for polls in 1..8 {
        let mut migration = std::pin::pin!(db.migrate(models![Person]).into_future());
        let mut left = polls;
        // Drops the future after some polls.
        poll_fn(|cx| {
            let polled = migration.as_mut().poll(cx);
            left -= 1;
            if polled.is_ready() || left == 0 {
                Poll::Ready(())
            } else {
                Poll::Pending
            }
        })
        .await;
    }
    let all = people.find_all().all().await.unwrap();
    assert_eq!(all.len(), 600);
    assert!(all.iter().all(|one| *one == person(one.id, "A", "B", 1)));
    assert!(db.migrate(models![Person]).await.unwrap().is_complete());
    assert_eq!(people.count_outdated().await.unwrap(), 0);
}

pub(super) async fn failing_documents_do_not_stop_a_migration(db: &Db) {
    let people = db.collection::<Person>();
    store(
        db,
        "people",
        (0..700).map(|id| first(id, if id % 5 == 0 { "x" } else { "A B" }, 1)),
    )
    .await;
    let versions = [Bson::Null, "2".into(), (-3).into()];
    let odd = (1_000..)
        .zip(versions)
        .map(|(id, version)| doc! {"_id": id, "schema_version": version});
    store(db, "people", odd).await;
    store(db, "people", [doc! {"_id": 2_000, "schema_version": 9}]).await;
    let plan = db.migrate(models![Person]).plan().await.unwrap();
    assert_eq!((plan.steps()[0].outdated, plan.steps()[0].newer), (703, 1));
    assert!(plan.to_string().contains("1 of newer versions"), "{plan}");
    let report = plan.run().await.unwrap();
    assert!(!report.is_complete());
    assert_eq!(
        (report.rewritten(), report.failed, report.not_migrated.len()),
        (560, 143, 100)
    );
    let first_failure = &report.not_migrated[0];
    assert_eq!(
        (first_failure.model, &first_failure.id),
        ("Person", &Bson::Int32(0))
    );
    assert!(first_failure.error.is_schema_upgrade());
    assert!(
        first_failure
            .to_string()
            .contains("`split_name` failed: one word"),
        "{first_failure}"
    );
    assert_eq!(people.count_outdated().await.unwrap(), 143);
    // A document that no model could read is not stored.
    store(
        db,
        "odd",
        [doc! {"_id": 1, "n": "many"}, doc! {"_id": 2, "n": 2}],
    )
    .await;
    let report = db.migrate(models![Odd]).await.unwrap();
    assert_eq!((report.rewritten(), report.failed), (1, 1));
    assert!(report.not_migrated[0].error.is_decode());
    assert_eq!(stored(db, "odd", 1).await, doc! {"_id": 1, "n": "many"});
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(
    collection = "bounded",
    schema(version = 2, steps(rename_n)),
    rule("count is not 5", |b| b.count.ne(5))
)]
struct Bounded {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(range(max = 10))]
    count: i32,
}

pub(super) async fn documents_that_the_validator_refuses_stay(db: &Db) {
    store(db, "bounded", (1..=12).map(|n| doc! {"_id": n, "n": n})).await;
    db.sync(models![Bounded])
        .plan()
        .await
        .unwrap()
        .apply(Allow::CREATE | Allow::CHANGE)
        .await
        .unwrap();
    let report = db.migrate(models![Bounded]).await.unwrap();
    assert_eq!((report.rewritten(), report.failed), (9, 3));
    let ids: Vec<_> = report
        .not_migrated
        .iter()
        .map(|one| one.id.clone())
        .collect();
    assert_eq!(ids, [Bson::Int32(5), Bson::Int32(11), Bson::Int32(12)]);
    for failed in &report.not_migrated {
        assert!(failed.error.is_validation_failure(), "{failed}");
    }
    assert!(
        report.not_migrated[0]
            .error
            .to_string()
            .contains("count is not 5"),
        "{report}"
    );
    assert_eq!(stored(db, "bounded", 5).await, doc! {"_id": 5, "n": 5});
}

pub(super) async fn large_documents_are_migrated(db: &Db) {
    let pad = "x".repeat(3_000_000);
    let large = |id: i32| doc! {"_id": id, "n": 1, "pad": &pad};
    for id in 0..6 {
        store(db, "things", [large(id)]).await;
    }
    let report = db.migrate(models![Thing]).await.unwrap();
    assert!(report.is_complete(), "{report}");
    assert_eq!(report.rewritten(), 6);
    // A statement has the document twice.
    let huge = doc! {"_id": 10, "n": 1, "pad": pad.repeat(3)};
    store(db, "things", [huge]).await;
    let report = db.migrate(models![Thing]).await.unwrap();
    assert_eq!((report.rewritten(), report.failed), (0, 1));
    let error = &report.not_migrated[0].error;
    assert!(
        error.is_schema_upgrade() && error.to_string().contains("transaction"),
        "{error}"
    );
    if !db.capability().await.unwrap().transactions {
        return;
    }
    let things = db.collection::<Thing>();
    let mut session = db.start_session().await.unwrap();
    session.start_transaction().await.unwrap();
    let id = Bson::Int32(10);
    let mut loaded = things
        .load(&id)
        .session(&mut session)
        .await
        .unwrap()
        .unwrap();
    things
        .save(&mut loaded)
        .session(&mut session)
        .await
        .unwrap();
    session.commit_transaction().await.unwrap();
    assert_eq!(things.count_outdated().await.unwrap(), 0);
}

pub(super) async fn checks_find_other_versions(db: &Db) {
    let people = three(db).await;
    store(
        db,
        "people",
        [
            doc! {"_id": 4, "schema_version": 9},
            doc! {"_id": 5, "schema_version": "x"},
        ],
    )
    .await;
    let report = db
        .check(models![Person])
        .only([Aspect::SchemaVersions])
        .await
        .unwrap();
    let mut found: Vec<_> = report
        .listed
        .iter()
        .map(|one| (one.id.clone().unwrap(), one.kind))
        .collect();
    found.sort_by_key(|(id, _)| id.as_i32());
    let outdated = FindingKind::OutdatedSchema;
    assert_eq!(
        found,
        [
            (1.into(), outdated),
            (2.into(), outdated),
            (4.into(), FindingKind::NewerSchema),
            (5.into(), outdated)
        ]
    );
    assert_eq!(outdated.code(), "outdated-schema");
    let of_grace = |one: &&odm::check::Finding| one.id == Some(2.into());
    let grace = report.listed.iter().find(of_grace).unwrap();
    assert_eq!(
        (&grace.stored, &grace.expected),
        (&Some(2.into()), &Some(3.into()))
    );
    let plan = db
        .repair(models![Person])
        .only([Aspect::SchemaVersions])
        .plan()
        .await
        .unwrap();
    assert!(
        plan.steps().iter().all(|step| !step.action.writes()),
        "{plan}"
    );
    people.delete_many(|p| p.id.gt(3)).await.unwrap();
    db.migrate(models![Person]).await.unwrap();
    let report = db.check(models![Person]).await.unwrap();
    assert!(
        report.is_sound(),
        "the version is no undeclared field: {report}"
    );
    let shared = Arc::new(Mutex::new(0));
    let counted = Arc::clone(&shared);
    db.migrate(models![Person])
        .on_progress(move |_| *counted.lock().unwrap() += 1)
        .await
        .unwrap();
    assert_eq!(*shared.lock().unwrap(), 0);
}
